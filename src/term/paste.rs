//! Encodes text input as a terminal sends it: typed, or as a bracketed paste if it spans lines.
//! It does not write the bytes.

/// Starts a bracketed paste.
pub(crate) const PASTE_START: &str = "\x1b[200~";
/// Ends a bracketed paste.
pub(crate) const PASTE_END: &str = "\x1b[201~";

/// The encodings of the end of a paste that a program may recognise: seven-bit and eight-bit.
const END_MARKERS: [&str; 2] = [PASTE_END, "\u{9b}201~"];

/// Puts `text` between the brackets of a paste. The text must not contain the end of a paste.
pub(crate) fn bracket(text: &str) -> String {
    format!("{PASTE_START}{text}{PASTE_END}")
}

/// Encodes `text`, with Enter after it if `enter` is set.
///
/// Line breaks, however written, become carriage returns, because that is what the Enter key and
/// a paste send. If the program enabled bracketed paste and a line break comes before the last
/// character, the text is sent as one paste, so that no line of it is taken for a command of its
/// own; a line break at the very end stays outside of the paste and submits it.
pub fn encode_text(text: &str, enter: bool, bracketed_paste: bool) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    let (body, trailing) = match text.strip_suffix('\r') {
        Some(body) => (body, "\r"),
        None => (text.as_str(), ""),
    };
    let mut out = Vec::with_capacity(text.len() + PASTE_START.len() + PASTE_END.len() + 1);
    if bracketed_paste && body.contains('\r') {
        out.extend_from_slice(bracket(&without_end_markers(body)).as_bytes());
    } else {
        out.extend_from_slice(body.as_bytes());
    }
    out.extend_from_slice(trailing.as_bytes());
    if enter {
        out.push(b'\r');
    }
    out
}

/// Removes every end of a paste, also those that only a removal puts together.
fn without_end_markers(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        clean.push(c);
        if c == '~'
            && let Some(marker) = END_MARKERS.iter().find(|marker| clean.ends_with(**marker))
        {
            clean.truncate(clean.len() - marker.len());
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, enter: bool, bracketed_paste: bool) -> String {
        String::from_utf8(encode_text(text, enter, bracketed_paste)).unwrap()
    }

    #[test]
    fn only_text_with_an_inner_line_break_is_pasted() {
        let cases = [
            // text, enter, without bracketed paste, with it
            ("", false, "", ""),
            ("", true, "\r", "\r"),
            ("one", false, "one", "one"),
            ("one", true, "one\r", "one\r"),
            ("one\n", false, "one\r", "one\r"),
            ("one\r\n", false, "one\r", "one\r"),
            ("\n", false, "\r", "\r"),
            ("a\nb", false, "a\rb", "\x1b[200~a\rb\x1b[201~"),
            ("a\nb", true, "a\rb\r", "\x1b[200~a\rb\x1b[201~\r"),
            ("a\r\nb\r\n", false, "a\rb\r", "\x1b[200~a\rb\x1b[201~\r"),
            ("a\n\n", false, "a\r\r", "\x1b[200~a\r\x1b[201~\r"),
            ("a\rb", false, "a\rb", "\x1b[200~a\rb\x1b[201~"),
            ("tab\tand é", false, "tab\tand é", "tab\tand é"),
        ];
        for (text, enter, typed, pasted) in cases {
            assert_eq!(encoded(text, enter, false), typed, "{text:?}");
            assert_eq!(encoded(text, enter, true), pasted, "{text:?}");
        }
    }

    #[test]
    fn the_end_of_a_paste_is_removed_from_the_text() {
        let hostile = [
            "a\n\x1b[201~rm",
            "a\n\x1b[20\x1b[201~1~rm",
            "a\n\x1b[2\x1b[20\x1b[201~1~01~rm",
            "a\n\u{9b}201~rm",
            "a\n\x1b[20\u{9b}201~1~rm",
        ];
        for text in hostile {
            assert_eq!(encoded(text, false, true), "\x1b[200~a\rrm\x1b[201~", "{text:?}");
        }
        assert_eq!(encoded("a\n\x1b[31mred~", false, true), "\x1b[200~a\r\x1b[31mred~\x1b[201~");
    }
}
