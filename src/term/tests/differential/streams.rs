//! Random streams of what coop and xterm.js both implement, on small screens, where every edge is
//! near. What the two disagree about is left out here and listed in `docs/quality.md`.

use proptest::prelude::*;

use crate::term::Size;

/// The wide characters of the streams.
pub(super) const WIDE: [char; 4] = ['界', 'あ', '✅', '😀'];

/// A size and the pieces of a stream.
pub(super) fn sized() -> impl Strategy<Value = (Size, Vec<String>)> {
    let size = (2_u32..14, 2_u32..8).prop_map(|(cols, rows)| Size::new(cols, rows).unwrap());
    // Every other stream has no wide characters.
    let pieces = prop_oneof![
        prop::collection::vec(piece(), 1..40),
        prop::collection::vec(piece().prop_map(|text| text.replace(WIDE, "é")), 1..40),
    ];
    (size, pieces)
}

fn piece() -> impl Strategy<Value = String> {
    let csi = (
        prop::collection::vec(0_u32..9, 0..3),
        prop::sample::select(vec![
            "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "P", "S", "T", "X",
            "Z", "@", "`", "a", "d", "e", "f", "g", " @", " A", "'}", "'~",
        ]),
    )
        .prop_map(|(params, last)| {
            let params: Vec<_> = params.iter().map(u32::to_string).collect();
            // An erased scrollback is not compared.
            let params = if last == "J" || last == "K" {
                params.join(";").replace('3', "2")
            } else {
                params.join(";")
            };
            // Where the cursor waits to wrap, xterm.js takes these for the first column.
            let before = match last {
                "'}" | "'~" => "\x08",
                // It leaves the background out here.
                "T" => "\x1b[49m",
                _ => "",
            };
            format!("{before}\x1b[{params}{last}")
        });
    let mode = (prop::sample::select(vec!["4", "20", "?45", "?1047", "?1049"]), any::<bool>())
        .prop_map(|(mode, on)| {
            // In xterm.js each screen has its own margins.
            let before = if mode.contains("104") { "\x1b[?6l\x1b[r" } else { "" };
            format!("{before}\x1b[{mode}{}", if on { 'h' } else { 'l' })
        });
    let rendition = prop::sample::select(vec![
        "",
        "22;1",
        "22;2",
        "3",
        "4",
        "7",
        "9",
        "22",
        "23",
        "24",
        "27",
        "29",
        "31",
        "42",
        "39",
        "49",
        "38;5;200",
        "48;2;1;2;3",
        "22;1;91;103",
        "4;7;41",
    ])
    .prop_map(|params| format!("\x1b[{params}m"));
    let fixed = prop::sample::select(vec![
        "\r\n",
        "\n",
        "\r",
        "\t",
        "\x08",
        "\x0b",
        "\x0c",
        "\x1b[?6l\x1b7",
        "\x1b[?6l\x1b8",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1bH",
        "\x1b(0",
        "\x1b(B",
        "\x1b[?J",
        "\x1b[?1K",
        "\x1b[?2K",
        "\x1b[2;3r",
        "\x1b[r",
        // In origin mode, xterm.js moves the cursor down when it moves it sideways.
        "\x1b[?6h\x1b[2;2Hx\x1b[?6l",
        "\x1b[!p",
        "\x1b[?6l\x1b[s",
        "\x1b[?6l\x1b[u",
    ])
    .prop_map(str::to_owned);
    prop_oneof![
        5 => "[a-zA-Z ]{1,20}",
        3 => "([a-zé─界あ✅😀][\u{301}\u{e35}\u{200b}\u{fe0f}]{0,2}){1,6}",
        // xterm.js breaks wide characters that do not fit where text does not wrap.
        1 => "([a-z]\u{301}?){1,20}".prop_map(|text| format!("\r\x1b[?7l{text}\x1b[?7h")),
        // In coop a repetition ends with the row, and attributes may come before it.
        1 => ("[a-z界]\u{301}?", 0_u32..3).prop_map(|(text, count)| format!("{text}\x1b[{count}b")),
        // In xterm.js the column that a wide character leaves out is protected, too.
        1 => "[a-z]{1,4}".prop_map(|text| format!("\x1b[1\"q{text}\x1b[0\"q")),
        4 => csi,
        1 => mode,
        2 => rendition,
        3 => fixed,
    ]
}
