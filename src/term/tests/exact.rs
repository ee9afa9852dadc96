//! Where avt differs from real terminals, and the terminal does not.

use super::{lines, terminal};

/// The rows of a small screen after the bytes, without the empty ones at the end.
fn shown(cols: u32, rows: u32, bytes: &str) -> Vec<String> {
    let mut terminal = terminal(cols, rows);
    terminal.feed(bytes.as_bytes());
    let mut lines = lines(&mut terminal);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

#[test]
fn each_sequence_does_what_it_does_on_xterm() {
    let cases: &[(u32, u32, &str, &[&str])] = &[
        // A mark belongs to the character before, wherever the cursor came from.
        (20, 2, "cafe\u{301}\x08\x08Z", &["caZe\u{301}"]),
        (20, 2, "ef\x08\u{301}", &["e\u{301}f"]),
        (4, 2, "abce\u{301}f", &["abce\u{301}", "f"]),
        (4, 2, "\x1b[?7labcde\u{301}", &["abce\u{301}"]),
        (20, 2, "\u{feff}x\u{200b}y\u{ad}z", &["\u{feff}x\u{200b}y\u{ad}z"]),
        (20, 2, "\x1b[31me\x1b[32m\u{301}f", &["e\u{301}f"]),
        // A code point that stands for a cluster inside is still itself for a program.
        (
            20,
            2,
            "e\u{301}\u{100000}\u{38000}\u{f0001}|",
            &["e\u{301}\u{100000}\u{38000}\u{f0001}|"],
        ),
        // The character sets are saved with the cursor and with the screen.
        (20, 2, "\x1b[?1049h\x1b(0lqk\x1b[?1049lls -l", &["ls -l"]),
        (20, 2, "\x1b7\x1b(0q\x1b8q\x1b(0\x1b7\x1b(B\x1b8q", &["q─"]),
        // Wrapping is not.
        (
            20,
            2,
            "\x1b[?7l\x1b7\x1b[?7h\x1b8abcdefghijklmnopqrstuvwx",
            &["abcdefghijklmnopqrst", "uvwx"],
        ),
        // A saved cursor that waits to wrap still waits.
        (4, 2, "abcd\x1b7\x1b[H\x1b8e", &["abcd", "e"]),
        (4, 2, "\x1b[2;3H\x1b#8x", &["xEEE", "EEEE"]),
        (4, 3, "\x1b[2;3r\x1b#8\x1b[3;1H\n", &["EEEE", "EEEE"]),
        (10, 2, "abc\x1b[2D\x1b[bZ", &["aZc"]),
        (10, 2, "e\u{301}\x1b[3b|", &["e\u{301}e\u{301}e\u{301}e\u{301}|"]),
        (10, 2, "a\x1b[1m\x1b[2b|", &["aaa|"]),
        (6, 3, "one\r\ntwo\x1b[1;3H\x1b[Lx", &["x", "one", "two"]),
        (6, 3, "one\r\ntwo\x1b[1;3H\x1b[Mx", &["xwo"]),
        (4, 2, "\r\nabcd\x1bDx", &["abcd", "   x"]),
        (4, 2, "\r\nabcd\x0bx", &["abcd", "   x"]),
        (4, 2, "1234\x1b[2;1Hxyz\x1b[1;4H4\x1b[4hAB", &["1234", "ABxy"]),
        (6, 2, "abcdef\x1b[1;2H\x1b[4h界", &["a界bcd"]),
        (6, 6, "\x1b[1;3r\x1b[2;1H\x1b[9ex", &["", "", "", "", "", "x"]),
        (6, 2, "abcdef\x1b[1;6Hg界", &["abcdeg", "界"]),
        (6, 2, "abcdef\x1b[1;6H界", &["abcde", "界"]),
        // Columns.
        (6, 2, "abcdef\r\nghijkl\x1b[2 @", &["cdef", "ijkl"]),
        (6, 2, "abcdef\r\nghijkl\x1b[ A", &[" abcde", " ghijk"]),
        (6, 2, "abcdef\r\nghijkl\x1b[1;3H\x1b[2'}", &["ab  cd", "gh  ij"]),
        (6, 2, "abcdef\r\nghijkl\x1b[1;3H\x1b[2'~", &["abef", "ghkl"]),
        // Protection.
        (8, 2, "a\x1b[1\"qbc\x1b[0\"qd\x1b[?2K|", &[" bc |"]),
        (8, 2, "a\x1b[1\"qb\x1b[2\"qc\x1b[2;1Hd\x1b[?J\x1b[?1J", &[" b"]),
        (8, 2, "\x1b[1\"qab\x1b[2K|", &["  |"]),
        // Side margins.
        (8, 3, "\x1b[?69h\x1b[3;5sabcd\x1b[1;3Habcd", &["ababc", "  d"]),
        (8, 2, "12345678\r\n12345678\x1b[?69h\x1b[3;5s\x1b[1;4H\x1b[@", &["123 4678", "12345678"]),
        (8, 2, "12345678\r\nabcdefgh\x1b[?69h\x1b[3;5s\x1b[1;4H\x1b[M", &["12cde678", "ab   fgh"]),
        (8, 2, "12345678\r\nabcdefgh\x1b[?69h\x1b[3;5s\x1b[2;4H\nx", &["12cde678", "ab x fgh"]),
        (8, 2, "\x1b[?69h\x1b[3;5s\x1b[?6hx\x1b[9Dy\rz", &["  z"]),
        (8, 2, "\x1b[?69h\x1b[3;5s\x1b[?69l\x1b[1;1H12345678", &["12345678"]),
        // Reverse wrap.
        (4, 2, "\x1b[?45habcde\x08\x08Z", &["abcZ", "e"]),
        (4, 2, "abcde\x08\x08Z", &["abcd", "Z"]),
    ];
    for (cols, rows, bytes, wanted) in cases {
        assert_eq!(shown(*cols, *rows, bytes), *wanted, "{bytes:?} at {cols}x{rows}");
    }
}

#[test]
fn a_table_loses_no_field_at_any_width() {
    let fields: Vec<String> = ('a'..='z').map(String::from).collect();
    for cols in 1..=200 {
        let mut terminal = terminal(cols, 40);
        terminal.feed(fields.join("\t").as_bytes());
        let text = terminal.screen().lines().collect::<Vec<_>>().join(" ");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().concat(), fields.concat(), "{cols}");
    }
}

#[test]
fn every_script_and_emoji_comes_out_as_it_went_in() {
    let texts = [
        ("cafe\u{301}", 4),
        ("ที่นี่", 2),
        ("कुछ", 2),
        ("\u{628}\u{64e}\u{62a}", 2),
        ("\u{5e9}\u{5c1}\u{5dc}", 2),
        ("\u{1112}\u{1161}\u{11ab}", 2),
        ("1\u{fe0f}\u{20e3}", 1),
        ("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", 2),
        ("👩\u{200d}👩\u{200d}👧\u{200d}👦", 2),
        ("👍\u{1f3fd}", 2),
        ("\u{1f3fd}", 2),
        ("🇩🇪", 2),
        ("⚠\u{fe0f}", 1),
        ("a\u{200b}b\u{200e}c\u{ad}d", 5),
        ("\u{feff}a", 1),
    ];
    for (text, columns) in texts {
        for row in [1, 2] {
            let mut terminal = terminal(20, 2);
            terminal.feed(format!("{text}\x1b[6n").as_bytes());
            assert_eq!(terminal.screen().line(0), Some(text));
            assert_eq!(terminal.screen().cursor().col, columns, "{text:?}");
            assert_eq!(terminal.screen().ansi_lines().next().as_deref(), Some(text));
            let mut other = super::terminal(20, 2);
            other.feed(&terminal.dump());
            assert!(other.screen().shows_the_same(&terminal.screen()), "{text:?}");
            // It keeps its text on the way into the scrollback.
            terminal.feed("\n".repeat(row + 1).as_bytes());
            assert_eq!(super::history(&terminal).first().map(String::as_str), Some(text));
        }
    }
}

#[test]
fn a_screen_full_of_different_clusters_stays_within_the_limits() {
    let mut terminal = terminal(200, 50);
    let mark = |n: u32| char::from_u32(0x300 + n % 0x60).unwrap();
    for round in 0..4_u32 {
        for n in 0..10_000_u32 {
            let base = char::from_u32(0x4e00 + n % 5000).unwrap();
            let text = format!("{base}{}{}", mark(n / 50 + round), mark(n + round));
            terminal.feed(text.as_bytes());
        }
        let rows = terminal.screen();
        let row = rows.line(10).unwrap();
        assert_eq!(row.chars().filter(|c| *c >= '\u{4e00}').count(), 100);
        assert_eq!(row.chars().count(), 300);
    }
    // Beyond the limit a character loses its marks, and nothing else.
    let mut huge = super::terminal(1000, 40);
    let mut printed = 0;
    for n in 0..40_000_u32 {
        let text = format!("a{}{}{}", mark(n), mark(n / 0x60), mark(n / 0x60 / 0x60));
        printed += 1;
        huge.feed(text.as_bytes());
    }
    let text = lines(&mut huge).concat();
    assert_eq!(text.chars().filter(|c| *c == 'a').count(), printed);
}
