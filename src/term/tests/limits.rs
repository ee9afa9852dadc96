//! Memory and work stay bounded, whatever the child sends.

use super::{history, lines, size, terminal};
use crate::term::Terminal;

#[test]
fn endless_strings_are_not_kept() {
    let endless = [
        ("\x1b]2;", b'0'),
        ("\x1bP", b'0'),
        ("\x1b_", b'0'),
        ("\x1bX", b'0'),
        ("\x1b^", b'0'),
        ("\x1b[", b'0'),
        ("\x1b[?", b';'),
        ("\x1b[", b' '),
        ("\x1b(", b'('),
    ];
    for (opening, filler) in endless {
        let mut terminal = terminal(20, 4);
        terminal.feed(opening.as_bytes());
        for _ in 0..1000 {
            terminal.feed(&[filler; 1000]);
        }
        assert!(terminal.dump().len() < 5000, "{opening:?}");
        terminal.feed(b"\x1b\\\x18ok");
        assert!(lines(&mut terminal).concat().contains("ok"), "{opening:?}");
    }
}

#[test]
fn a_long_title_is_cut_and_what_follows_is_not_lost() {
    let mut terminal = terminal(20, 4);
    let long = "é".repeat(10_000);
    terminal.feed(format!("\x1b]2;{long}\x07after").as_bytes());
    assert!(terminal.title().len() <= 4096 + 3 && terminal.title().starts_with("ééé"));
    assert_eq!(lines(&mut terminal), ["after", "", "", ""]);
}

#[test]
fn saved_titles_are_bounded() {
    let mut terminal = terminal(20, 4);
    for n in 0..1000 {
        terminal.feed(format!("\x1b]2;{n}\x07\x1b[22;0t").as_bytes());
    }
    let popped =
        (0..1000).filter(|_| !terminal.feed(b"\x1b[23;0t\x1b]2;\x07").signals.is_empty()).count();
    assert!(popped <= 17, "{popped}");
}

/// Each would be hours of work or gigabytes of memory without a limit on its number.
#[test]
fn huge_numbers_mean_the_edge_of_the_screen() {
    let mut terminal = Terminal::new(size(1000, 1000), 10, "0");
    for last in (0x40..0x7f_u8).map(char::from) {
        for number in ["999999999", "4294967296", "18446744073709551616", "65536", "65535"] {
            for prefix in ["", "?", ">"] {
                terminal.feed(format!("x\x1b[{prefix}{number};{number}{last}").as_bytes());
            }
        }
    }
    terminal.feed(b"\x1b[m\x1b[r\x1b[1;1H\x1b[2J\x1b[65536Cx\x1b[65536Bx");
    let cursor = terminal.screen().cursor();
    assert_eq!((cursor.row, cursor.col), (999, 999));
}

#[test]
fn repetition_ends_with_the_row() {
    let mut terminal = terminal(10, 3);
    terminal.feed(b"ab\x1b[999999b");
    assert_eq!(lines(&mut terminal), ["abbbbbbbbb", "bb", ""]);
}

#[test]
fn one_column_and_one_row_are_enough() {
    for (cols, rows) in [(1, 1), (1, 3), (2, 1), (3, 1)] {
        let mut terminal = terminal(cols, rows);
        terminal.feed(
            "界a😀\x1b[?7l界b\x1b[4h界\x1b[?7h\t\x1b[5@\x1b[5P\x1b[2;1r\x1bM\x1b[9L\x1b[9M\x1b#8界"
                .as_bytes(),
        );
        terminal.resize(size(10, 5));
        terminal.feed("界界界\x1b[?1049h界界".as_bytes());
        terminal.resize(size(cols, rows));
        terminal.feed(b"\x1b[?1049l");
        assert_eq!(terminal.screen().lines().len(), rows as usize);
    }
}

#[test]
fn many_scrolled_lines_stay_within_the_limits() {
    let mut terminal = Terminal::new(size(200, 50), 10_000, "0");
    let mut flood = Vec::new();
    for n in 0..30_000 {
        flood.extend_from_slice(format!("\x1b[3{}m{n:>100}\x1b[0m{n:>99}\r\n", n % 8).as_bytes());
    }
    terminal.feed(&flood);
    assert_eq!(terminal.scrollback().len(), 10_000);
    let memory: usize = terminal.scrollback().last(usize::MAX).map(|(_, row)| row.memory()).sum();
    assert!(memory < 4 * 1024 * 1024, "{memory}");
    assert_eq!(terminal.scrollback().next_line().0, 30_000 - 49);
    // Cells that all look different cost more than text; then the memory is the limit.
    let mut dense = Vec::new();
    for cell in 0..200_000_u32 {
        dense.extend_from_slice(format!("\x1b[38;5;{}mx", cell % 256).as_bytes());
    }
    for _ in 0..10 {
        terminal.feed(&dense);
    }
    let memory: usize = terminal.scrollback().last(usize::MAX).map(|(_, row)| row.memory()).sum();
    assert!(memory <= 16 * 1024 * 1024, "{memory}");
    assert!(!history(&terminal).is_empty());
}
