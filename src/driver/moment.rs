//! Moments as agents write them. It knows no clock.

/// The moment that a time like `2026-11-16T00:13:20.773Z` names. No other form is read.
pub fn epoch_ms(time: &str) -> Option<u64> {
    let (date, clock) = time.strip_suffix('Z')?.split_once('T')?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    // Years are counted from March, so that the day a leap year adds is its last.
    let shifted = (month + 9) % 12;
    let year = if month <= 2 { year - 1 } else { year };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 + day - 1;
    let since_1970 = days.checked_sub(719_468)?;
    Some((((since_1970 * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millis)
}

fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let parsed: Option<Vec<u64>> = text
        .split(between)
        .map(|part| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit())))
        .collect();
    parsed?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_moments() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.5Z", 500),
            ("2000-02-29T12:00:00.000Z", 951_825_600_000),
            ("2000-03-01T00:00:00Z", 951_868_800_000),
            ("2026-11-16T00:13:20.773Z", 1_794_788_000_773),
            ("2026-11-16T00:13:20.773999Z", 1_794_788_000_773),
        ];
        for (time, moment) in cases {
            assert_eq!(epoch_ms(time), Some(moment), "{time}");
        }
        for time in ["", "Z", "2026-11-16", "2026-11-16T00:13:20", "2026-13-16T00:13:20Z", "-1-+1-1T1:1:1Z"] {
            assert_eq!(epoch_ms(time), None, "{time}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_to_be_a_time(time in "\\PC{0,40}|[0-9TZ:.-]{0,30}") {
            epoch_ms(&time);
        }
    }
}
