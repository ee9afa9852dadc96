use super::*;
use crate::term::{Size, Terminal};

/// Sequences that a terminal answers.
const QUESTIONS: &[&[u8]] = &[
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
    b"\x1b]1337;ReportCellSize\x07",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e;436f\x1b\\",
    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
];

/// Everything else that programs write, down to what looks like a question and is none.
const STATEMENTS: &[&[u8]] = &[
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
    b"\x1b]52;c;aGVsbG8/\x07",
    b"\x1b]52;c;!\x07",
    b"\x1b]104\x07",
    b"\x1b]133;A\x07",
    b"\x1b]1337;File=inline=1:AAAA?\x07",
    b"\x1b]1337;Report\x07",
    b"\x1b]99;i=1;Hello?\x1b\\",
    b"\x1b]7501;{\"q\":\"?\"}\x1b\\",
    b"\x1bPq#0;2;0;0;0~~\x1b\\",
    b"\x1bP1;2|a\x1b\\",
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

fn muted(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Mute::new().feed(bytes, &mut out);
    out
}

/// Whole, bytewise, and in random chunks.
fn muted_in_all_ways(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let whole = muted(bytes);
    let (mut mute, mut bytewise) = (Mute::new(), Vec::new());
    for byte in bytes {
        mute.feed(&[*byte], &mut bytewise);
        assert!(mute.held.len() <= STRING_LIMIT && mute.body.len() <= SEQUENCE_LIMIT);
    }
    assert_eq!(bytewise.escape_ascii().to_string(), whole.escape_ascii().to_string());
    let (mut mute, mut chunked, mut rest) = (Mute::new(), Vec::new(), bytes);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(1 + random.below(rest.len().min(9)));
        mute.feed(chunk, &mut chunked);
        rest = after;
    }
    assert_eq!(chunked.escape_ascii().to_string(), whole.escape_ascii().to_string());
    whole
}

#[test]
fn questions_go_and_everything_else_stays() {
    let mut random = Random(0x5eed);
    for question in QUESTIONS {
        assert_eq!(muted_in_all_ways(question, &mut random), b"", "{}", question.escape_ascii());
    }
    for statement in STATEMENTS {
        let out = muted_in_all_ways(statement, &mut random);
        assert_eq!(out.escape_ascii().to_string(), statement.escape_ascii().to_string());
    }
}

#[test]
fn questions_go_from_anywhere_between() {
    let mut random = Random(0xc0_0b);
    for _ in 0..500 {
        let (mut bytes, mut wanted) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            if random.below(2) == 0 {
                bytes.extend_from_slice(QUESTIONS[random.below(QUESTIONS.len())]);
            } else {
                let statement = STATEMENTS[random.below(STATEMENTS.len())];
                bytes.extend_from_slice(statement);
                wanted.extend_from_slice(statement);
            }
        }
        let out = muted_in_all_ways(&bytes, &mut random);
        assert_eq!(out.escape_ascii().to_string(), wanted.escape_ascii().to_string());
    }
}

/// coop's own terminal is the judge: it answers nothing that has passed, and draws the same.
#[test]
fn whatever_comes_nothing_that_passes_is_answered_and_the_screen_is_the_same() {
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
        let out = muted_in_all_ways(&bytes, &mut random);
        let (mut with, mut without) = (screen(), screen());
        with.feed(&bytes);
        let fed = without.feed(&out);
        let case = bytes.escape_ascii();
        assert_eq!(fed.replies.escape_ascii().to_string(), "", "{case}");
        let (with, without) = (with.screen(), without.screen());
        assert_eq!(with.lines().collect::<Vec<_>>(), without.lines().collect::<Vec<_>>(), "{case}");
        assert_eq!(muted(&out).escape_ascii().to_string(), out.escape_ascii().to_string(), "{case}");
    }
}

#[test]
fn a_question_after_something_broken_off_still_breaks_it_off() {
    assert_eq!(muted(b"\x1b\x1b[6nc"), b"\x1b\x1b\x18c");
    assert_eq!(muted(b"\x1b[3\x1b[6nm"), b"\x1b[3\x1b\x18m");
    assert_eq!(muted(b"\x1b]2;title\x1b[6nmore"), b"\x1b]2;title\x1b\x18more");
    assert_eq!(muted(b"\x1b]11;?\x1b[1mbold"), b"\x1b[1mbold");
}

#[test]
fn controls_inside_a_question_still_work() {
    assert_eq!(muted(b"a\x1b[\r\n6\x08nb"), b"a\r\n\x08b");
}

#[test]
fn c1_controls_start_nothing() {
    assert_eq!(muted("a\u{9b}6nb\u{9d}11;?\u{9c}£".as_bytes()), "a6nb11;?£".as_bytes());
    // Nor do their halves, when what stood between them goes.
    for between in [&b"\x05"[..], b"\x1b[6n", b"\xc2\x9b"] {
        let bytes = [b"a\xc2", between, b"\x9b6n"].concat();
        assert_eq!(muted(&bytes), b"a\xc2\0\x9b6n");
    }
}

#[test]
fn what_never_ends_takes_no_memory_and_hides_no_question() {
    let mut long = b"\x1b[".to_vec();
    long.extend(std::iter::repeat_n(b'0', 100_000));
    long.extend_from_slice(b"6nafter");
    assert_eq!(muted(&long), b"after");

    let mut colours = b"\x1b]4".to_vec();
    colours.extend(b";1;red".repeat(10_000));
    colours.extend_from_slice(b";1;?\x07after");
    assert_eq!(muted(&colours), b"after");

    let mut clipboard = b"\x1b]52;c;".to_vec();
    clipboard.extend(std::iter::repeat_n(b'A', 1_000_000));
    let mut mute = Mute::new();
    let mut out = Vec::new();
    mute.feed(&clipboard, &mut out);
    assert_eq!(out.len(), clipboard.len());
    assert!(mute.held.capacity() <= STRING_LIMIT);
}

#[test]
fn what_has_passed_in_part_can_be_ended() {
    for (bytes, end) in [
        (&b"text"[..], &b""[..]),
        (b"\x1b[3", b""),
        (b"\x1b]11;", b""),
        (b"\x1b]2;title", b"\x18"),
        (b"\x1bPq#0", b"\x18"),
        (b"\x1b(", b"\x18"),
        (b"\x1b[3\x1b[", b"\x18"),
    ] {
        let mut mute = Mute::new();
        mute.feed(bytes, &mut Vec::new());
        assert_eq!(mute.settle(), end, "{}", bytes.escape_ascii());
    }
}
