//! The limits on the length of lines and files that rustfmt does not check: rustfmt leaves comments
//! and the insides of macros as they are.

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::sources::rust_files;

const MAX_COLUMNS: usize = 100;
const MAX_LINES: usize = 400;

/// The numbers of the lines that are too long and could be broken. String literals and the rows of
/// tables in doc comments cannot.
fn long_lines(text: &str) -> Vec<usize> {
    let long: Vec<(usize, &str)> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.chars().count() > MAX_COLUMNS && !is_table_row(line))
        .collect();
    if long.is_empty() {
        return Vec::new();
    }
    let mut strings = Vec::new();
    find_strings(text.parse().expect("Rust code"), &mut strings);
    let in_a_string = |number| strings.iter().any(|string| reaches_the_limit(*string, number));
    // proc_macro2 reads a doc comment as a string.
    let can_be_broken = |number, line| is_comment(line) || !in_a_string(number);
    long.into_iter()
        .filter_map(|(number, line)| can_be_broken(number, line).then_some(number))
        .collect()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn is_table_row(line: &str) -> bool {
    ["//! | ", "/// | "].iter().any(|start| line.trim_start().starts_with(start))
}

fn find_strings(tokens: TokenStream, found: &mut Vec<Span>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => find_strings(group.stream(), found),
            TokenTree::Literal(literal) if literal.to_string().contains('"') => {
                found.push(literal.span());
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Whether a token begins within the limit and reaches it, on the line of this number.
fn reaches_the_limit(token: Span, number: usize) -> bool {
    let (start, end) = (token.start(), token.end());
    (start.line, start.column) < (number, MAX_COLUMNS)
        && (end.line, end.column) >= (number, MAX_COLUMNS)
}

#[test]
fn no_line_is_too_long() {
    let mut long = Vec::new();
    let mut files = 0;
    for directory in
        ["src", "tests", "benches", "examples", "clients/rust/src", "fuzz/fuzz_targets", "tools"]
    {
        for file in rust_files(directory).iter().filter(|file| !file.is_generated()) {
            files += 1;
            let lines = long_lines(&file.text);
            long.extend(lines.iter().map(|line| format!("{directory}/{}:{line}", file.path)));
        }
    }
    assert!(files > 200, "only {files} files were read");
    assert!(long.is_empty(), "lines of more than {MAX_COLUMNS} characters: {long:#?}");
}

#[test]
fn no_file_of_src_is_too_long() {
    let files = rust_files("src");
    let long: Vec<String> = files
        .iter()
        .filter(|file| !file.is_test() && !file.is_generated())
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(file, lines)| format!("src/{} has {lines} lines", file.path))
        .collect();
    assert!(files.len() > 100, "only {} files were read", files.len());
    assert!(long.is_empty(), "files of more than {MAX_LINES} lines: {long:#?}");
}

#[test]
fn a_long_line_is_found_unless_it_cannot_be_broken() {
    let word = "é".repeat(MAX_COLUMNS);
    let text = [
        format!("//! {word}"),
        format!("//! | a | {word} |"),
        format!("/// {word}"),
        "fn f() {".to_owned(),
        format!("    // {word}"),
        format!("    let a = \"{word}\";"),
        "    let b = r#\"short".to_owned(),
        format!("{word} {word}\"#;"),
        format!("    {}{}", "g(\"ab\", \"b\"); ".repeat(10), "g();"),
        format!("    let c = \"short\"; // {word}"),
        format!("    // {}", &word[..2 * (MAX_COLUMNS - 7)]),
        "}".to_owned(),
    ];
    assert_eq!(long_lines(&text.join("\n")), [1, 3, 5, 9, 10]);
}
