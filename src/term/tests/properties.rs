//! Properties that hold for any bytes, at any size, however the bytes are cut.

use proptest::prelude::*;

use super::{history, lines, size, terminal};
use crate::term::{Fed, Modes, Size, Terminal};

/// Pieces of which hostile and ordinary output is made.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let csi = (
        prop::sample::select(vec!["", "?", ">", "<", "=", "!"]),
        prop::collection::vec(
            prop_oneof![
                Just(String::new()),
                (0_u32..12).prop_map(|n| n.to_string()),
                any::<u64>().prop_map(|n| n.to_string())
            ],
            0..5,
        ),
        prop::sample::select(vec!["", "$", " ", "!", "\"", "\x1b", "\n", "\x18"]),
        0x40_u8..0x7f,
    )
        .prop_map(|(prefix, params, intermediate, last)| {
            let mut bytes = format!("\x1b[{prefix}{}{intermediate}", params.join(";")).into_bytes();
            bytes.push(last);
            bytes
        });
    let mode = (
        prop::sample::select(vec![
            1, 4, 6, 7, 9, 20, 25, 47, 66, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004,
        ]),
        prop::sample::select(vec!["?", ""]),
        prop::sample::select(vec!['h', 'l']),
    )
        .prop_map(|(mode, prefix, last)| format!("\x1b[{prefix}{mode}{last}").into_bytes());
    let osc = (
        prop::sample::select(vec![
            "0;",
            "2;",
            "9;",
            "9;4;1;",
            "777;notify;a;",
            "7501;",
            "10;?",
            "11;?;?",
            "52;c;",
            "",
            "x",
        ]),
        "[ -~é界]{0,12}",
        prop::sample::select(vec!["\x07", "\x1b\\", "", "\x18", "\x1b"]),
    )
        .prop_map(|(number, text, end)| format!("\x1b]{number}{text}{end}").into_bytes());
    let fixed = prop::sample::select(vec![
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1bH",
        "\x1bc",
        "\x1b=",
        "\x1b>",
        "\x1b(0",
        "\x1b(B",
        "\x1b)0",
        "\x1b#8",
        "\x0e",
        "\x0f",
        "\r\n",
        "\n",
        "\r",
        "\t",
        "\x08",
        "\x7f",
        "\x1bP$qm\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b_apc\x1b\\",
        "\x1bX",
        "\x1b[6n",
        "\x1b[c",
        "\x1b[?2004$p",
        "\x1b[!p",
        "\x1b[3J",
        "\x1b[2J",
        "\x1b[22;0t",
        "\x1b[23;0t",
        "\x1b[2;3r",
        "\x1b[8;99;99t",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    prop_oneof![
        4 => "[a-z ]{1,30}".prop_map(String::into_bytes),
        3 => "[é界😀e\u{301}─\u{200d}\u{fe0f}あ]{1,12}".prop_map(String::into_bytes),
        3 => csi,
        2 => mode,
        1 => osc,
        3 => fixed,
        1 => prop::collection::vec(any::<u8>(), 1..8),
        1 => (1_u8..110, 0_u8..30).prop_map(|(a, b)| format!("\x1b[{a};{b}m").into_bytes()),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..60).prop_map(|pieces| pieces.concat())
}

/// Small screens, where every edge is near.
fn any_size() -> impl Strategy<Value = Size> {
    (1_u32..14, 1_u32..8).prop_map(|(cols, rows)| size(cols, rows))
}

fn feed_in_chunks(terminal: &mut Terminal, bytes: &[u8], cuts: &[usize]) -> Fed {
    let mut all = Fed::default();
    let mut rest = bytes;
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at((*cut).min(rest.len()));
        let fed = terminal.feed(chunk);
        all.replies.extend(fed.replies);
        all.signals.extend(fed.signals);
        rest = after;
    }
    all
}

fn assert_same(one: &mut Terminal, other: &mut Terminal) {
    let (left, right) = (one.screen(), other.screen());
    assert_eq!(left.ansi_lines().collect::<Vec<_>>(), right.ansi_lines().collect::<Vec<_>>());
    assert_eq!(left.cursor(), right.cursor());
    assert_eq!(left.modes(), right.modes());
    assert!(left.shows_the_same(&right));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_result_is_the_same_however_the_bytes_are_cut(
        bytes in stream(),
        size in any_size(),
        cuts in prop::collection::vec(1_usize..9, 1..8),
    ) {
        let mut whole = Terminal::new(size, 50, "1");
        let wanted = whole.feed(&bytes);
        for cuts in [&cuts[..], &[1]] {
            let mut cut = Terminal::new(size, 50, "1");
            prop_assert_eq!(&feed_in_chunks(&mut cut, &bytes, cuts), &wanted);
            assert_same(&mut whole, &mut cut);
            prop_assert_eq!(history(&whole), history(&cut));
            prop_assert_eq!(whole.dump(), cut.dump());
        }
    }

    #[test]
    fn a_dump_replays_to_the_same_terminal(
        before in stream(),
        after in stream(),
        size in any_size(),
    ) {
        let mut original = Terminal::new(size, 50, "1");
        original.feed(&before);
        let mut replayed = Terminal::new(size, 50, "1");
        let dump = original.dump();
        replayed.feed(&dump);
        assert_same(&mut original, &mut replayed);
        // Nothing but the saved titles is lost: both continue in the same way.
        let after: Vec<u8> = String::from_utf8_lossy(&after).replace("\x1b[23;0t", "").into_bytes();
        prop_assert_eq!(original.feed(&after).replies, replayed.feed(&after).replies);
        let (left, right) = (original.screen(), replayed.screen());
        let rows = |screen: &crate::term::Screen| screen.ansi_lines().collect::<Vec<_>>();
        prop_assert_eq!(rows(&left), rows(&right));
        prop_assert_eq!(left.cursor(), right.cursor());
    }

    #[test]
    fn no_bytes_and_no_sizes_cause_a_panic(
        steps in prop::collection::vec((stream(), any_size()), 1..6),
        wide in 1_u32..1001,
    ) {
        let mut terminal = terminal(10, 3);
        for (bytes, size) in steps {
            terminal.feed(&bytes);
            terminal.resize(size);
            let screen = terminal.screen();
            prop_assert_eq!(screen.lines().len(), usize::from(size.rows()));
            prop_assert!(screen.cursor().col < size.cols() && screen.cursor().row < size.rows());
            terminal.dump();
        }
        terminal.resize(Size::new(wide, 3).unwrap());
        terminal.reset_for_new_child();
        prop_assert_eq!(terminal.modes(), Modes::default());
        prop_assert!(lines(&mut terminal).iter().all(String::is_empty));
    }

    #[test]
    fn a_snapshot_reuses_only_rows_that_did_not_change(
        steps in prop::collection::vec(stream(), 1..5),
        size in any_size(),
    ) {
        let mut with_snapshots = Terminal::new(size, 50, "1");
        let mut without_snapshots = Terminal::new(size, 50, "1");
        for bytes in &steps {
            let before = with_snapshots.screen();
            with_snapshots.feed(bytes);
            without_snapshots.feed(bytes);
            let after = with_snapshots.screen();
            prop_assert_eq!(before.shows_the_same(&after) || before.seq() != after.seq(), true);
        }
        assert_same(&mut with_snapshots, &mut without_snapshots);
    }

    #[test]
    fn random_bytes_give_the_same_screen_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        cuts in prop::collection::vec(1_usize..99, 1..4),
    ) {
        let mut whole = terminal(11, 5);
        let wanted = whole.feed(&bytes);
        let mut cut = terminal(11, 5);
        prop_assert_eq!(feed_in_chunks(&mut cut, &bytes, &cuts), wanted);
        assert_same(&mut whole, &mut cut);
    }
}
