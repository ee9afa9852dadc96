//! The README is correct: its commands run as pasted, and its tables match the code.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use coop::error::Code;
use coop::gateway::ROUTES;
use coop::service::wire;

use crate::support::coop::{Coop, SHELL};

const README: &str = include_str!("../../README.md");
/// The address of the README's `coop --port 8080`.
const ADDRESS: &str = "localhost:8080";

/// The lines of the code block that is marked to be run.
fn commands() -> Vec<&'static str> {
    let (_, marked) = README.split_once("<!-- run:").expect("a marked block");
    let (_, block) = marked.split_once("```sh\n").expect("the beginning of the block");
    let (block, _) = block.split_once("\n```").expect("the end of the block");
    block.lines().collect()
}

/// The rows of the table whose header starts with this cell.
fn table(first_cell: &str) -> Vec<Vec<&'static str>> {
    let start = README.find(&format!("| {first_cell} |")).expect("the table");
    let rows = README[start..].lines().take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[tokio::test]
async fn every_command_of_the_readme_works_as_pasted() {
    let mut coop = Coop::run(SHELL).await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools =
        Command::new(root.join("tools/setup")).arg("path").output().expect("tools/setup runs");
    let tools = String::from_utf8(tools.stdout).expect("a PATH");
    let binary = Path::new(env!("CARGO_BIN_EXE_coop")).parent().expect("a directory");
    let path =
        format!("{}:{}:{}", binary.display(), tools.trim(), std::env::var("PATH").expect("a PATH"));
    std::fs::write(coop.home.path().join(".curlrc"), "fail-with-body\nsilent\nshow-error\n")
        .expect("written");
    for command in commands() {
        let here = command.replace(ADDRESS, &format!("localhost:{}", coop.address().port()));
        let home = coop.home.path().to_owned();
        let path = path.clone();
        let run = move || {
            let mut bash = Command::new("bash");
            bash.args(["-c", &here]).env("PATH", path).env("HOME", &home).env("CURL_HOME", home);
            bash.output().expect("bash runs")
        };
        let output = tokio::task::spawn_blocking(run).await.expect("done");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{command}\n{stderr} (is everything installed? run `make test`)"
        );
    }
    // The last command is the shutdown, so the shell ended by SIGHUP.
    assert_eq!(coop.ended().await.code(), Some(129));
}

#[test]
fn the_route_table_is_the_generated_one() {
    let written: BTreeSet<(String, String)> = table("route")
        .iter()
        .flat_map(|row| row[0].split(", ").map(|route| (route.to_owned(), row[1].to_owned())))
        .collect();
    let generated: BTreeSet<(String, String)> = ROUTES
        .iter()
        .map(|route| {
            (format!("{} {}", route.verb.as_str(), route.path), route.rpc.method().name.to_owned())
        })
        .collect();
    assert_eq!(written, generated);
}

#[test]
fn the_error_table_is_the_one_in_the_code() {
    let written: Vec<(String, String, String)> = table("code")
        .iter()
        .map(|row| (row[0].into(), row[1].into(), row[2].replace('_', "")))
        .collect();
    let code: Vec<(String, String, String)> = Code::ALL
        .iter()
        .map(|code| {
            let grpc = format!("{:?}", wire(*code).grpc).to_uppercase();
            (code.as_str().to_owned(), wire(*code).http.to_string(), grpc)
        })
        .collect();
    assert_eq!(written, code);
}
