//! Repeats what the fuzzers found, and the recordings that they start from.

use std::fs;
use std::path::Path;

use super::*;
use crate::fixtures;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 12] = [
    ("client_frame", client_frame),
    ("config", config),
    ("hook_lines", hook_lines),
    ("input", input),
    ("json", json),
    ("log_lines", log_lines),
    ("query", query),
    ("query_filter", query_filter),
    ("screens", screens),
    ("tail", tail),
    ("terminal", terminal),
    ("websocket", websocket),
];

/// The files of a folder; none if it does not exist.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn what_the_fuzzers_found_does_not_happen_again() {
    let folder = fixtures::folder("fuzz");
    for (name, target) in TARGETS {
        for (file, bytes) in files(&folder.join(name)) {
            eprintln!("{file}");
            target(&bytes);
        }
    }
    for entry in fs::read_dir(&folder).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(TARGETS.iter().any(|(target, _)| *target == name), "there is no target {name}");
    }
}

#[test]
fn every_target_has_a_program_in_the_fuzz_crate() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let programs: Vec<&str> = manifest
        .split("[[bin]]\nname = \"")
        .skip(1)
        .map(|text| text.split('"').next().unwrap())
        .collect();
    assert_eq!(programs, TARGETS.map(|(name, _)| name));
}

/// The recordings are seeds of the fuzzers; no target may fail on one of them, or on a part.
#[test]
fn no_target_fails_on_the_start_of_a_recording() {
    let recordings = files(&fixtures::folder("term")).into_iter().map(|(_, bytes)| bytes);
    for recording in recordings {
        for length in [0, 1, 3, 4, 5, 300, 2000] {
            let stream =
                [b"\x50\x17\0\x07", recording.get(..length).unwrap_or(&recording)].concat();
            for (_, target) in TARGETS {
                target(&stream);
            }
        }
    }
}
