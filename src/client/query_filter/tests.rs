use super::*;
use crate::term::{Size, Terminal};

/// Sequences that a terminal answers.
const QUERIES: &[&[u8]] = &[
    b"\x1b[c",
    b"\x1b[0c",
    b"\x1b[>c",
    b"\x1b[>0c",
    b"\x1b[=c",
    b"\x1b[5n",
    b"\x1b[6n",
    b"\x1b[?6n",
    b"\x1b[?996n",
    b"\x1b[?2026$p",
    b"\x1b[20$p",
    b"\x1b[>q",
    b"\x1b[>0q",
    b"\x1b[?u",
    b"\x1b[?4m",
    b"\x1b[?1;1;0S",
    b"\x1b[0x",
    b"\x1b[11t",
    b"\x1b[14t",
    b"\x1b[14;2t",
    b"\x1b[16t",
    b"\x1b[18t",
    b"\x1b[21t",
    b"\x1b[1;1;1;1;1;1*y",
    b"\x1b[1$w",
    b"\x1b[#R",
    b"\x1bZ",
    b"\x05",
    b"\x1b]10;?\x07",
    b"\x1b]11;?\x1b\\",
    b"\x1b]12;?\x07",
    b"\x1b]4;1;?\x07",
    b"\x1b]4;1;?;2;?\x1b\\",
    b"\x1b]10;red;?\x07",
    b"\x1b]1\n1;\r?\x07",
    b"\x1b]52;c;?\x07",
    b"\x1b]21;foreground=?\x1b\\",
    b"\x1b]50;?\x07",
    b"\x1b]60\x1b\\",
    b"\x1b]99;i=1:p=?;\x1b\\",
    b"\x1b]7501;?\x07",
    b"\x1b]7501; ?:states=idle\x1b\\",
    b"\x1b]1337;ReportCellSize\x07",
    b"\x1b]1337;RequestUpload=format=tgz\x07",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e;436f\x1b\\",
    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
];

/// Sequences that set the clipboard.
const CLIPBOARD: &[&[u8]] = &[
    b"\x1b]52;c;aGVsbG8/\x07",
    b"\x1b]52;c;!\x07",
    b"\x1b]052;;aGVsbG8=\x1b\\",
    b"\x1b]5\x002;p;aGVsbG8=\x1b\\",
];

/// Sequences that act on other things than the screen: a printer, fonts, files, another clipboard,
/// or the terminal around tmux.
const BEYOND_THE_SCREEN: &[&[u8]] = &[
    b"\x1b[5i",
    b"\x1b[4i",
    b"\x1b[i",
    b"\x1b[?5i",
    b"\x1b[5\x00i",
    b"\x1b[5 ?i",
    b"\x1b]50;fixed\x07",
    b"\x1b]50;#1\x1b\\",
    b"\x1b]1337;File=inline=1:AAAA?\x07",
    b"\x1b]1337;CopyToClipboard=\x07",
    b"\x1b]1337;Report\x07",
    b"\x1b]1337\x07",
    b"\x1b]5113;ac=send\x1b\\",
    b"\x1b]5522;type=write;AAAA\x1b\\",
    b"\x1b]52\x07",
    b"\x1b]65588;c;aGVsbG8=\x07",
    b"\x1b]00000000000000000000000000000000000000000000000000000000000000000000052;c;AA==\x07",
    b"\x1bPtmux;text\x1b\\",
    b"\x1bP0tmux;text\x1b\\",
    b"\x1bPt\x00mux;text\x1b\\",
];

/// Everything else that programs write, including sequences that only look like queries.
const OTHERS: &[&[u8]] = &[
    b"plain text\r\n\tand\x08\x07 controls\x0e\x0f",
    "ünïcode 界 😀 £ \u{a0}".as_bytes(),
    b"\xff\xfe broken utf-8 \xe7\x95",
    b"\x1b[1;31m",
    b"\x1b[38:2::1:2:3m",
    b"\x1b[2J\x1b[H",
    b"\x1b[?1049h",
    b"\x1b[?2004h\x1b[?1000;1006h",
    b"\x1b[?25l",
    b"\x1b[?6c",
    b"\x1b[>4;2m",
    b"\x1b[>4n",
    b"\x1b[>1u",
    b"\x1b[<u",
    b"\x1b[u",
    b"\x1b[s",
    b"\x1b[!p",
    b"\x1b[2 q",
    b"\x1b[\"q",
    b"\x1b[S",
    b"\x1b[3b",
    b"\x1b[22;0t",
    b"\x1b[8;24;80t",
    b"\x1b[1;1;2;2$x",
    b"\x1b[ \x07m",
    b"\x1b[\r\n3m",
    b"\x1b[1\x18",
    b"\x1b(B\x1b)0",
    b"\x1b7\x1b8\x1b=\x1b>\x1bM\x1bc",
    b"\x1b#8",
    b"\x1b]0;what? ;?\x07",
    b"\x1b]2;?\x1b\\",
    b"\x1b]8;;http://x/?\x1b\\link\x1b]8;;\x1b\\",
    b"\x1b]9;?\x07",
    b"\x1b]11;#102030\x07",
    b"\x1b]4;1;rgb:ff/00/00\x1b\\",
    b"\x1b]104\x07",
    b"\x1b]133;A\x07",
    b"\x1b]99;i=1;Hello?\x1b\\",
    b"\x1b]7501;{\"q\":\"?\"}\x1b\\",
    b"\x1b]7501;state=blocked:kind=question:msg=SGk/\x1b\\",
    b"\x1b]7501;\x07\x1b]7501; \x07",
    b"\x1bPq#0;2;0;0;0~~\x1b\\",
    b"\x1bP1;2|a\x1b\\",
    b"\x1bPtmuxed;\x1b\\",
    b"\x1bPt\x1b\\",
    b"\x1b_Ga=T,f=100;a=q\x1b\\",
    b"\x1b_other\x1b\\",
    b"\x1b^private\x1b\\",
    b"\x1bXstring\x1b\\",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

fn filtered(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    QueryFilter::new(false).feed(bytes, &mut out);
    out
}

fn filtered_with_clipboard(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    QueryFilter::new(true).feed(bytes, &mut out);
    out
}

/// Whole, bytewise, and in random chunks.
fn filtered_in_all_ways(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let whole = filtered(bytes);
    let (mut query_filter, mut bytewise) = (QueryFilter::new(false), Vec::new());
    for byte in bytes {
        query_filter.feed(&[*byte], &mut bytewise);
        assert!(
            query_filter.held.len() <= STRING_LIMIT && query_filter.body.len() <= SEQUENCE_LIMIT
        );
    }
    assert_eq!(bytewise.escape_ascii().to_string(), whole.escape_ascii().to_string());
    let (mut query_filter, mut chunked, mut rest) = (QueryFilter::new(false), Vec::new(), bytes);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(1 + random.below(rest.len().min(9)));
        query_filter.feed(chunk, &mut chunked);
        rest = after;
    }
    assert_eq!(chunked.escape_ascii().to_string(), whole.escape_ascii().to_string());
    whole
}

#[test]
fn queries_are_dropped_and_everything_else_passes() {
    let mut random = Random(0x5eed);
    for query in QUERIES {
        assert_eq!(filtered_in_all_ways(query, &mut random), b"", "{}", query.escape_ascii());
    }
    for unwanted in BEYOND_THE_SCREEN.iter().chain(CLIPBOARD) {
        let out = filtered_in_all_ways(unwanted, &mut random);
        let controls: Vec<u8> = out.into_iter().filter(|byte| *byte != 0).collect();
        assert_eq!(controls, b"", "{}", unwanted.escape_ascii());
    }
    for other in OTHERS {
        let out = filtered_in_all_ways(other, &mut random);
        assert_eq!(out.escape_ascii().to_string(), other.escape_ascii().to_string());
    }
}

#[test]
fn queries_are_dropped_from_between_other_sequences() {
    let mut random = Random(0xc0_0b);
    for _ in 0..500 {
        let (mut bytes, mut wanted) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            if random.below(2) == 0 {
                bytes.extend_from_slice(QUERIES[random.below(QUERIES.len())]);
            } else {
                let other = OTHERS[random.below(OTHERS.len())];
                bytes.extend_from_slice(other);
                wanted.extend_from_slice(other);
            }
        }
        let out = filtered_in_all_ways(&bytes, &mut random);
        assert_eq!(out.escape_ascii().to_string(), wanted.escape_ascii().to_string());
    }
}

#[test]
fn the_clipboard_is_set_but_never_read_if_the_user_allows_it() {
    for clipboard in CLIPBOARD {
        let out = filtered_with_clipboard(clipboard);
        assert_eq!(out.escape_ascii().to_string(), clipboard.escape_ascii().to_string());
    }
    assert_eq!(filtered_with_clipboard(b"\x1b]52;c;?\x07"), b"");
    assert_eq!(filtered_with_clipboard(b"\x1b]50;fixed\x07\x1b[5i"), b"");
}

/// Inside of tmux or screen, a string can contain a sequence for the terminal around them.
#[test]
fn a_sequence_inside_of_a_string_is_dropped_too() {
    for wrapped in [
        &b"\x1bPtmux;\x1b\x1b]52;c;AA==\x07\x1b\\"[..],
        b"\x1bPtmux;\x1b\x1b[5i\x1b\\",
        b"\x1bP\x1b]52;c;AA==\x07\x1b\\",
        b"\x1b_\x1b]1337;File=:AA\x07\x1b\\",
    ] {
        let mut random = Random(0x7a11);
        let out = filtered_in_all_ways(wrapped, &mut random).escape_ascii().to_string();
        for unwanted in ["52", "5i", "1337", "tmux"] {
            assert!(!out.contains(unwanted), "{}: {out}", wrapped.escape_ascii());
        }
    }
}

/// coop's own terminal decides: it answers nothing that has passed, and draws the same.
#[test]
fn random_output_is_not_answered_after_filtering_and_draws_the_same() {
    const ALPHABET: &[&[u8]] = &[
        b"\x1b",
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b"\x1b_",
        b"\x1b\\",
        b"\x07",
        b"\x18",
        b"\x1a",
        b"\x05",
        b"\n",
        b"?",
        b">",
        b"=",
        b";",
        b":",
        b"0",
        b"1",
        b"6",
        b"11",
        b"4",
        b"10",
        b"$",
        b"+",
        b" ",
        b"n",
        b"c",
        b"p",
        b"q",
        b"u",
        b"t",
        b"m",
        b"H",
        b"Z",
        b"a",
        b"G",
        b"a=q",
        b"\xc2",
        b"\x9b",
        b"\x9c",
        b"\xe7\x95\x8c",
        b"\x7f",
    ];
    let mut random = Random(0xfeed_beef);
    let screen = || Terminal::new(Size::new(40, 10).unwrap(), 0, "test");
    for _ in 0..4000 {
        let mut bytes = Vec::new();
        for _ in 0..40 {
            bytes.extend_from_slice(ALPHABET[random.below(ALPHABET.len())]);
        }
        // Nothing is held at the end.
        bytes.extend_from_slice(b"\x18.");
        let out = filtered_in_all_ways(&bytes, &mut random);
        let (mut with, mut without) = (screen(), screen());
        with.feed(&bytes);
        let fed = without.feed(&out);
        let case = bytes.escape_ascii();
        assert_eq!(fed.replies.escape_ascii().to_string(), "", "{case}");
        let (with, without) = (with.screen(), without.screen());
        assert_eq!(with.lines().collect::<Vec<_>>(), without.lines().collect::<Vec<_>>(), "{case}");
        assert_eq!(
            filtered(&out).escape_ascii().to_string(),
            out.escape_ascii().to_string(),
            "{case}"
        );
    }
}

#[test]
fn a_dropped_query_still_breaks_off_the_sequence_before_it() {
    assert_eq!(filtered(b"\x1b\x1b[6nc"), b"\x1b\x1b\x18c");
    assert_eq!(filtered(b"\x1b[3\x1b[6nm"), b"\x1b[3\x1b\x18m");
    assert_eq!(filtered(b"\x1b]2;title\x1b[6nmore"), b"\x1b]2;title\x1b\x18more");
    assert_eq!(filtered(b"\x1b]11;?\x1b[1mbold"), b"\x1b[1mbold");
}

#[test]
fn controls_inside_a_query_pass() {
    assert_eq!(filtered(b"a\x1b[\r\n6\x08nb"), b"a\r\n\x08b");
}

#[test]
fn c1_controls_are_dropped() {
    assert_eq!(filtered("a\u{9b}6nb\u{9d}11;?\u{9c}£".as_bytes()), "a6nb11;?£".as_bytes());
    // Nor do their halves become one when what is between them is dropped.
    for between in [&b"\x05"[..], b"\x1b[6n", b"\xc2\x9b"] {
        let bytes = [b"a\xc2", between, b"\x9b6n"].concat();
        assert_eq!(filtered(&bytes), b"a\xc2\xef\xbf\xbd6n");
    }
    // Codes of one byte are obeyed by terminals that do not decode UTF-8.
    let bytes = b"a\x9d52;c;AA==\x9cb\x9b5i\x90tmux;\xe2\x9d\x9d";
    let shown = "a\u{fffd}52;c;AA==\u{fffd}b\u{fffd}5i\u{fffd}tmux;\u{275d}";
    let out = filtered_in_all_ways(bytes, &mut Random(0x9d));
    assert_eq!(String::from_utf8(out).unwrap(), shown);
}

#[test]
fn an_endless_sequence_takes_no_memory_and_hides_no_query() {
    let mut long = b"\x1b[".to_vec();
    long.extend(std::iter::repeat_n(b'0', 100_000));
    long.extend_from_slice(b"6nafter");
    assert_eq!(filtered(&long), b"after");

    let mut colours = b"\x1b]4".to_vec();
    colours.extend(b";1;red".repeat(10_000));
    colours.extend_from_slice(b";1;?\x07after");
    assert_eq!(filtered(&colours), b"after");

    let mut clipboard = b"\x1b]52;c;".to_vec();
    clipboard.extend(std::iter::repeat_n(b'A', 1_000_000));
    let mut query_filter = QueryFilter::new(true);
    let mut out = Vec::new();
    query_filter.feed(&clipboard, &mut out);
    assert_eq!(out.len(), clipboard.len());
    assert!(query_filter.held.capacity() <= STRING_LIMIT);
}

#[test]
fn a_sequence_that_passed_in_part_can_be_ended() {
    for (bytes, end) in [
        (&b"text"[..], &b""[..]),
        (b"\x1b[3", b""),
        (b"\x1b]11;", b""),
        (b"\x1b]2;title", b"\x18"),
        (b"\x1bPq#0", b"\x18"),
        (b"\x1b(", b"\x18"),
        (b"\x1b[3\x1b[", b"\x18"),
    ] {
        let mut query_filter = QueryFilter::new(false);
        query_filter.feed(bytes, &mut Vec::new());
        assert_eq!(query_filter.sequence_end(), end, "{}", bytes.escape_ascii());
    }
}

#[test]
fn characters_after_a_sequence_that_is_too_long_stay_whole() {
    let mut long = b"a\xc3\x1b[".to_vec();
    long.extend(std::iter::repeat_n(b'0', 1000));
    let with = |rest: &[u8]| [&long, rest].concat();
    assert_eq!(filtered(&with("é".as_bytes())), b"a\xc3\xc3\xa9");
    assert_eq!(filtered(&with(b"\xa9")), b"a\xc3\0\xa9", "two halves must not become one");
}
