//! The effect of each query, signal, mode and reset.

use std::sync::Arc;

use super::{history, lines, size, terminal};
use crate::term::{
    Fed, LineNumber, Modes, MouseEncoding, MouseTracking, Notification, Progress, Signal, Terminal,
};

fn fed(bytes: &str) -> (Terminal, Fed) {
    let mut terminal = terminal(20, 4);
    let fed = terminal.feed(bytes.as_bytes());
    (terminal, fed)
}

fn replies(bytes: &str) -> String {
    String::from_utf8(fed(bytes).1.replies).unwrap()
}

fn signals(bytes: &str) -> Vec<Signal> {
    fed(bytes).1.signals
}

#[test]
fn each_query_is_answered_once() {
    let cases = [
        ("\x1b[c", "\x1b[?62;22c"),
        ("\x1b[0c", "\x1b[?62;22c"),
        ("\x1b[1c", ""),
        ("\x1bZ", "\x1b[?62;22c"),
        ("\x1b[>c", "\x1b[>0;10;0c"),
        ("\x1b[>0c", "\x1b[>0;10;0c"),
        ("\x1b[=c", ""),
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[6n", "\x1b[1;1R"),
        ("ab\r\ncd\x1b[6n", "\x1b[2;3R"),
        ("\x1b[3;7H\x1b[?6n", "\x1b[?3;7R"),
        // A cursor that waits to wrap is on the last column.
        ("01234567890123456789\x1b[6n", "\x1b[1;20R"),
        // In origin mode rows count from the margin.
        ("\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[6n", "\x1b[2;3R"),
        ("\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[?6l\x1b[3;3H\x1b[6n", "\x1b[3;3R"),
        // DECRC brings the origin mode back with the cursor.
        ("\x1b[2;4r\x1b[?6h\x1b7\x1b[?6l\x1b8\x1b[6n", "\x1b[1;1R"),
        ("\x1b[7n", ""),
        ("\x1b[>q", "\x1bP>|coop 1.2.3\x1b\\"),
        ("\x1b[>0q", "\x1bP>|coop 1.2.3\x1b\\"),
        ("\x1b[?u", "\x1b[?0u"),
        ("\x1b]10;?\x07", "\x1b]10;rgb:d8d8/d8d8/d8d8\x07"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"),
        ("\x1b]12;?\x07", "\x1b]12;rgb:d8d8/d8d8/d8d8\x07"),
        ("\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
        (
            "\x1b]7501;?\x1b\\",
            "\x1b]7501;?:states=idle,working,done,blocked,error:kinds=permission,question,auth\x1b\\",
        ),
        (
            "\x1b]7501;?\x07",
            "\x1b]7501;?:states=idle,working,done,blocked,error:kinds=permission,question,auth\x07",
        ),
        ("\x1b]7501;state=idle:app=?\x07\x1b]7501; ?\x07\x1b]7501;?:\x07\x1b]7501\x07", ""),
        // What was set is what is answered, until it is reset.
        ("\x1b]11;#102030\x07\x1b]11;?\x07", "\x1b]11;rgb:1000/2000/3000\x07"),
        ("\x1b]4;7;rgb:1/2/3\x07\x1b]4;7;?\x07", "\x1b]4;7;rgb:1111/2222/3333\x07"),
        ("\x1b]12;#fff\x07\x1b]112\x07\x1b]12;?\x07", "\x1b]12;rgb:d8d8/d8d8/d8d8\x07"),
        ("\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
        ("\x1b[1;38;5;9mx\x1bP$qm\x1b\\", "\x1bP1$r0;1;91m\x1b\\"),
        ("\x1b[2;3r\x1bP$qr\x1b\\", "\x1bP1$r2;3r\x1b\\"),
        ("\x1b[?69h\x1b[3;9s\x1bP$qs\x1b\\", "\x1bP1$r3;9s\x1b\\"),
        ("\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"),
        ("\x1bP$q\"p\x1b\\", "\x1bP1$r62;1\"p\x1b\\"),
        ("\x1bP$qx\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1b[18t", "\x1b[8;4;20t"),
        ("\x1b[21t", ""),
        ("\x1b]52;c;?\x07", ""),
        ("\x1b[?2004$p", "\x1b[?2004;2$y"),
        ("\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"),
        ("\x1b[?1$p\x1b[?6$p\x1b[?7$p", "\x1b[?1;2$y\x1b[?6;2$y\x1b[?7;1$y"),
        // DECRC does not bring the wrapping back.
        ("\x1b[?7l\x1b7\x1b[?7h\x1b8\x1b[?7$p", "\x1b[?7;1$y"),
        ("\x1b[?45;69h\x1b[?45$p\x1b[?69$p", "\x1b[?45;1$y\x1b[?69;1$y"),
        ("\x1b[?1048$p\x1b[?2027$p", "\x1b[?1048;1$y\x1b[?2027;3$y"),
        ("\x1b[?7l\x1b[?7s\x1b[?7h\x1b[?7r\x1b[?7$p", "\x1b[?7;2$y"),
        ("\x1b[?2004h\x1b[?2004;25s\x1b[?2004;25l\x1b[?2004;25r\x1b[?2004$p", "\x1b[?2004;1$y"),
        ("\x1b[?1049h\x1b[?1049$p\x1b[?47$p", "\x1b[?1049;1$y\x1b[?47;1$y"),
        (
            "\x1b[?1002;1006h\x1b[?1002$p\x1b[?1000$p\x1b[?1006$p",
            "\x1b[?1002;1$y\x1b[?1000;2$y\x1b[?1006;1$y",
        ),
        ("\x1b[?2026$p\x1b[?9999999$p", "\x1b[?2026;0$y\x1b[?9999;0$y"),
        ("\x1b[4$p\x1b[4h\x1b[4$p\x1b[20$p\x1b[3$p", "\x1b[4;2$y\x1b[4;1$y\x1b[20;2$y\x1b[3;0$y"),
        ("\x1b[c\x1b[5n\x1b[c", "\x1b[?62;22c\x1b[0n\x1b[?62;22c"),
        // Queries inside strings are text of those strings.
        ("\x1b]2;[c\x07\x1b_\x1b[c", "\x1b[?62;22c"),
        ("\x1b]2;a[6n\x07", ""),
    ];
    for (asked, wanted) in cases {
        assert_eq!(replies(asked), wanted, "{asked:?}");
        // A terminal that echoes sends the reply back as output.
        assert_eq!(replies(wanted), "", "the reply to {asked:?} is a query itself");
    }
}

#[test]
fn a_query_with_more_than_its_own_parameters_is_none() {
    for other in [
        "\x1b[0;0c",
        "\x1b[>0;10;0c",
        "\x1b[>;c",
        "\x1b[5;1n",
        "\x1b[6;1n",
        "\x1b[?6;1n",
        "\x1b[?0u",
        "\x1b[?1u",
        "\x1b[>0;1q",
        "\x1b[?2004;1$p",
        "\x1b[4;1$p",
        "\x1b[18;1t",
        "\x1b[0:1c",
    ] {
        assert_eq!(replies(other), "", "{other:?}");
    }
}

#[test]
fn replies_never_repeat_what_the_child_sent() {
    let hostile = "\x1b]2;rm -rf\x07\x1b[21t\x1b[20t\x1bP$qrm -rf\r\x1b\\\
                   \x1bP+q726d\x1b\\\x1b]4;0;?\x07\x1b]52;c;?\x07\x1b]11;?;rm\x07";
    let reply = replies(hostile);
    assert!(!reply.contains("rm") && !reply.contains('\r') && !reply.contains("726d"), "{reply:?}");
    let mut odd = Terminal::new(size(10, 2), 0, "1\x1b\\\rls");
    assert_eq!(odd.feed(b"\x1b[>q").replies, b"\x1bP>|coop 1\\ls\x1b\\");
}

#[test]
fn each_message_of_the_program_is_a_signal() {
    let title = |text: &str| Signal::Title(text.to_owned());
    let cases: Vec<(&str, Vec<Signal>)> = vec![
        ("\x1b]0;one\x07\x1b]2;two\x1b\\", vec![title("one"), title("two")]),
        ("\x1b]2;same\x07\x1b]2;same\x07", vec![title("same")]),
        ("\x1b]2;\u{2733} é\x07", vec![title("\u{2733} é")]),
        ("\x1b]2;a\x1b[22;0t\x1b]2;b\x07", vec![title("b")]),
        (
            "\x1b]2;a\x07\x1b[22;0t\x1b]2;b\x07\x1b[23;0t\x1b[23;0t",
            vec![title("a"), title("b"), title("a")],
        ),
        (
            "\x1b]9;4;1;10\x07\x1b]9;4;1;10\x07\x1b]9;4;0\x07",
            vec![
                Signal::Progress(Progress::Running { percent: 10 }),
                Signal::Progress(Progress::Cleared),
            ],
        ),
        (
            "\x1b]9;hey\x07",
            vec![Signal::Notification(Notification { title: None, body: "hey".into() })],
        ),
        (
            "\x1b]777;notify;T;b\x1b\\",
            vec![Signal::Notification(Notification { title: Some("T".into()), body: "b".into() })],
        ),
        ("\x1b]7501;busy\x07", vec![Signal::ProgramStatus("busy".into())]),
        ("\x1b]52;c;aGk=\x07\x1b]8;;http://x\x07link\x07", vec![]),
        // Cancelled, or cut off by another sequence.
        ("\x1b]2;no\x18\x1b]2;no\x1b[m", vec![]),
        (
            "\x1b[?2004h\x1b[?2004h\x1b[?25l",
            vec![
                Signal::Modes(Modes { bracketed_paste: true, ..Modes::default() }),
                Signal::Modes(Modes {
                    bracketed_paste: true,
                    cursor_visible: false,
                    ..Modes::default()
                }),
            ],
        ),
    ];
    for (bytes, wanted) in cases {
        assert_eq!(signals(bytes), wanted, "{bytes:?}");
    }
}

#[test]
fn modes_are_recorded() {
    let (terminal, _) = fed("\x1b[?1;1004;1003;1006;2004;1049h\x1b=\x1b[?25l");
    let all = Modes {
        alt_screen: true,
        cursor_visible: false,
        application_cursor: true,
        application_keypad: true,
        bracketed_paste: true,
        focus_events: true,
        mouse_tracking: MouseTracking::Motion,
        mouse_encoding: MouseEncoding::Sgr,
    };
    assert_eq!(terminal.modes(), all);
    for mode in ["47", "1047", "1049"] {
        let (terminal, _) = fed(&format!("\x1b[?{mode}h"));
        assert!(terminal.modes().alt_screen, "{mode}");
    }
}

#[test]
fn soft_and_hard_resets_reset_their_modes() {
    let (mut terminal, _) =
        fed("\x1b]2;t\x07\x1b[?1;2004;1000h\x1b=\x1b[?25l\x1b[4h\x1b[2;3r\x1b[?6h");
    terminal.feed(b"\x1b[!p");
    let soft =
        Modes { bracketed_paste: true, mouse_tracking: MouseTracking::Buttons, ..Modes::default() };
    assert_eq!(terminal.modes(), soft);
    assert_eq!(
        terminal.feed(b"\x1b[4$p\x1b[?6$p\x1b[?1$p").replies,
        b"\x1b[4;2$y\x1b[?6;2$y\x1b[?1;2$y"
    );

    let (mut terminal, _) = fed("1\r\n2\r\n3\r\n4\r\n5\x1b]2;t\x07\x1b[?1049;2004;1004h");
    assert_eq!(history(&terminal), ["1"]);
    terminal.feed(b"\x1bc");
    assert_eq!(terminal.modes(), Modes::default());
    assert_eq!(
        (lines(&mut terminal).concat(), history(&terminal).len(), terminal.title()),
        (String::new(), 0, "t")
    );
}

#[test]
fn lines_that_scroll_off_are_kept_with_their_colours() {
    let mut terminal = terminal(6, 2);
    terminal.feed(b"one\r\n\x1b[31mtwo\x1b[m\r\n\r\nlong line\r\nend");
    assert_eq!(history(&terminal), ["one", "\x1b[0;31mtwo\x1b[0m", "", "long l"]);
    assert_eq!(lines(&mut terminal), ["ine", "end"]);
    // The alternate screen leaves nothing behind.
    terminal.feed(b"\x1b[?1049h1\r\n2\r\n3\r\n4\x1b[5S\x1b[?1049l");
    assert_eq!(terminal.scrollback().len(), 4);
    // What a shrinking screen pushes out is kept, also while the alternate screen is shown.
    terminal.feed(b"\x1b[?1049h");
    terminal.resize(size(6, 1));
    terminal.feed(b"\x1b[?1049l");
    assert_eq!(history(&terminal).last().unwrap(), "ine");
    terminal.feed(b"\x1b[3J");
    assert!(terminal.scrollback().is_empty());
    assert_eq!(terminal.scrollback().next_line(), LineNumber(5));
    assert_eq!(lines(&mut terminal), ["end"]);
}

#[test]
fn lines_of_a_scrolling_region_are_not_kept() {
    let mut terminal = terminal(6, 4);
    terminal.feed(b"a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nx\ny");
    assert!(terminal.scrollback().is_empty());
    assert_eq!(lines(&mut terminal), ["a", "x", " y", "d"]);
}

#[test]
fn an_impossible_region_changes_nothing_and_a_long_one_is_cut() {
    for impossible in ["\x1b[3;3r", "\x1b[4;2r", "\x1b[9;10r"] {
        let (mut terminal, fed) = fed(&format!("\x1b[2;5H{impossible}\x1b[6n"));
        assert_eq!(fed.replies, b"\x1b[2;5R", "{impossible:?}");
        terminal.feed(b"\x1b[4;1Hlast\n");
        assert_eq!(lines(&mut terminal), ["", "", "last", ""], "{impossible:?}");
    }
    let (mut terminal, _) = fed("top\x1b[2;99r\x1b[4;1Hlast\n");
    assert_eq!(lines(&mut terminal), ["top", "", "last", ""]);
}

#[test]
fn lines_are_inserted_and_deleted_inside_the_region_only() {
    for sequence in ["\x1b[L", "\x1b[M"] {
        for outside in ["\x1b[1;1H", "\x1b[4;1H"] {
            let (mut terminal, _) = fed(&format!("a\r\nb\r\nc\r\nd\x1b[2;3r{outside}{sequence}"));
            assert_eq!(lines(&mut terminal), ["a", "b", "c", "d"], "{sequence:?}");
        }
    }
    let (mut terminal, _) = fed("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1b[L");
    assert_eq!(lines(&mut terminal), ["a", "", "b", "d"]);
}

#[test]
fn reverse_index_moves_one_row_in_origin_mode() {
    let mut terminal = terminal(6, 6);
    terminal.feed(b"\x1b[3;6r\x1b[?6h\x1b[3;1H\x1bMx");
    assert_eq!(lines(&mut terminal), ["", "", "", "x", "", ""]);
    terminal.feed(b"\x1bM\x1bMy");
    assert_eq!(lines(&mut terminal), ["", "", " y", "", "x", ""]);
}

#[test]
fn the_counter_grows_with_visible_changes_only() {
    let mut terminal = terminal(10, 3);
    let changing: [&[u8]; 9] = [
        b"x",
        b"\r",
        b"\x1b[2J",
        b"\x1b]2;t\x07",
        b"\x1b[?25l",
        b"\x1b[?1049h",
        b"\x1b[?2004h",
        b"\x1b[2;2H",
        b"\x1b[K",
    ];
    for bytes in changing {
        let before = terminal.screen();
        terminal.feed(bytes);
        assert_eq!(terminal.seq().0, before.seq().0 + 1, "{bytes:?}");
        assert_eq!(terminal.screen().seq(), terminal.seq());
    }
    let unchanging: [&[u8]; 6] =
        [b"", b"\x1b[1m", b"\x1b[c", b"\x1b]2;t\x07", b"\x1b[?2004h", b"\x07"];
    for bytes in unchanging {
        let before = terminal.screen();
        terminal.feed(bytes);
        assert!(Arc::ptr_eq(&before, &terminal.screen()), "{bytes:?}");
    }
    let before = terminal.seq();
    terminal.resize(size(10, 3));
    assert_eq!(terminal.seq(), before);
    terminal.resize(size(11, 3));
    assert!(terminal.seq() > before);
    let before = terminal.seq();
    terminal.reset_for_new_child();
    assert!(terminal.seq() > before);
}

#[test]
fn rows_that_did_not_change_are_shared() {
    let mut terminal = terminal(10, 3);
    terminal.feed(b"one\r\ntwo\r\nthree");
    let before = terminal.screen();
    terminal.feed(b"\x1b[2;1HTWO");
    let after = terminal.screen();
    assert_eq!(after.lines().collect::<Vec<_>>(), ["one", "TWO", "three"]);
    let shared: Vec<_> =
        before.rows().zip(after.rows()).map(|(one, other)| std::ptr::eq(one, other)).collect();
    assert_eq!(shared, [true, false, true]);
}

#[test]
fn another_child_gets_a_reset_terminal() {
    let mut terminal = terminal(10, 3);
    terminal.feed(
        b"1\r\n2\r\n3\r\n4\x1b]2;t\x07\x1b]9;4;3\x07\
          \x1b[?1049;2004h\x1b[2;3r\x1b[?6h\x1b[31mALT\x1b]2;unfinish",
    );
    terminal.reset_for_new_child();
    assert_eq!(history(&terminal), ["1", "2", "3", "4"]);
    assert_eq!(
        (terminal.title(), terminal.modes(), terminal.progress()),
        ("", Modes::default(), Progress::Cleared)
    );
    let fed = terminal.feed(b"new\x1b[6n\x1b[?6$p");
    assert_eq!(fed.replies, b"\x1b[1;4R\x1b[?6;2$y");
    assert_eq!(terminal.screen().ansi_lines().collect::<Vec<_>>(), ["new", "", ""]);
}

#[test]
fn the_program_cannot_resize_the_terminal() {
    let (mut terminal, _) = fed("\x1b[8;10;10t\x1b[4;9;9t\x1b[?3h");
    assert_eq!(terminal.size(), size(20, 4));
    assert_eq!(terminal.screen().lines().len(), 4);
}

#[test]
fn text_is_decoded_as_utf_8() {
    let cases: [(&[u8], &str); 12] = [
        ("é界😀".as_bytes(), "é界😀"),
        (b"a\xffb", "a\u{fffd}b"),
        (b"a\xe7\x95b", "a\u{fffd}b"),
        (b"a\xe7\x95\rb", "b\u{fffd}"),
        (b"\xf0\x9f\x98\xf0\x9f\x98\x80", "\u{fffd}😀"),
        (b"a\xc2\x9b1mb", "a1mb"),
        (b"a\x9b1mb", "a\u{fffd}1mb"),
        (b"a\x7fb\0c", "abc"),
        ("\u{26a0}\u{fe0f}x".as_bytes(), "\u{26a0}\u{fe0f}x"),
        ("👩\u{200d}👩\u{200d}👧x".as_bytes(), "👩\u{200d}👩\u{200d}👧x"),
        ("👍\u{1f3fd}👍x".as_bytes(), "👍\u{1f3fd}👍x"),
        ("👩\u{200d}\x1b[m👧x\u{200d}y".as_bytes(), "👩\u{200d}👧x\u{200d}y"),
    ];
    for (bytes, wanted) in cases {
        let mut terminal = terminal(20, 1);
        for byte in bytes {
            terminal.feed(&[*byte]);
        }
        assert_eq!(lines(&mut terminal), [wanted], "{bytes:?}");
    }
}

#[test]
fn the_cursor_is_where_the_program_left_it() {
    let (mut terminal, _) = fed("\x1b[2;5H\x1b[?25l");
    let cursor = terminal.screen().cursor();
    assert_eq!((cursor.row, cursor.col, cursor.visible), (1, 4, false));
    terminal.feed(b"\x1b[1;1H01234567890123456789");
    assert_eq!(terminal.screen().cursor().col, 19);
}

#[test]
fn a_dump_carries_modes_title_and_half_a_sequence() {
    let mut original = terminal(20, 4);
    original.feed("text\x1b]2;T\x07\x1b[?1;1004;1002;1006;2004h\x1b=\x1b[31mre\x1b[3".as_bytes());
    let mut replayed = terminal(20, 4);
    replayed.feed(&original.dump());
    assert_eq!((replayed.title(), replayed.modes()), ("T", original.modes()));
    for terminal in [&mut original, &mut replayed] {
        terminal.feed(b"2mgreen");
        assert_eq!(terminal.screen().line(0), Some("textregreen"));
    }
    assert!(original.screen().shows_the_same(&replayed.screen()));
    assert!(!original.dump().contains(&0x9b), "8-bit controls are not understood everywhere");
}
