//! Times as text, as agents write them into their logs and as the command line prints them. It has
//! no clock.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970 of a time such as `2026-11-16T00:13:20.773Z`.
pub(crate) fn parse(time: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(time, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp_nanos().div_euclid(1_000_000)).ok()
}

/// The time, such as `2026-11-16T00:13:20.773Z`, of a number of milliseconds since 1970.
pub(crate) fn format(epoch_ms: u64) -> String {
    let Ok(time) = OffsetDateTime::from_unix_timestamp_nanos(i128::from(epoch_ms) * 1_000_000)
    else {
        // Only a year of five digits gets here.
        return format!("{epoch_ms} ms since 1970");
    };
    let (year, month, day) = time.to_calendar_date();
    let (hour, minute, second, millis) = time.to_hms_milli();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn log_times_are_parsed() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.5Z", 500),
            ("2000-02-29T12:00:00.000Z", 951_825_600_000),
            ("2000-03-01T00:00:00Z", 951_868_800_000),
            ("2026-11-16T00:13:20.773Z", 1_794_788_000_773),
            ("2026-11-16T00:13:20.773999Z", 1_794_788_000_773),
        ];
        for (time, epoch_ms) in cases {
            assert_eq!(parse(time), Some(epoch_ms), "{time}");
        }
        for time in
            ["", "Z", "2026-11-16", "2026-11-16T00:13:20", "2026-13-16T00:13:20Z", "-1-+1-1T1:1:1Z"]
        {
            assert_eq!(parse(time), None, "{time}");
        }
    }

    #[test]
    fn times_are_formatted_with_milliseconds() {
        for (epoch_ms, wanted) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (u64::MAX, "18446744073709551615 ms since 1970"),
        ] {
            assert_eq!(format(epoch_ms), wanted);
        }
    }

    proptest! {
        #[test]
        fn parsing_any_text_does_not_panic(time in "\\PC{0,40}|[0-9TZ:.-]{0,30}") {
            parse(&time);
        }
    }
}
