//! The library exists for its own binary, tests, benches and examples. What they import is its
//! public surface; everything else is visible to the crate at most.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use super::scanner::{self, Mention};
use crate::sources::{Source, root, rust_files};

/// What main, tests, benches and examples import from the library.
const SURFACE: &[&str] = &[
    "cli::USAGE",
    "app::run",
    "cli::Hook",
    "cli::Invocation",
    "cli::Serve",
    "cli::Verb",
    "cli::parse",
    "client::run",
    "config::Config",
    "config::Environment",
    "config::environment",
    "config::hide_secrets",
    "config::hook_pipe",
    "driver::Driver",
    "driver::UNKNOWN",
    "driver::maker",
    "driver::names",
    "driver::screen_reading::ScreenReading",
    "driver::testing::screens::describe",
    "driver::testing::screens::screen",
    "driver::testing::screens::size_of",
    "error::Code",
    "gateway::ROUTES",
    "log::Outlet",
    "log::install",
    "pty::Guard",
    "pty::Launch",
    "pty::Reaper",
    "pty::WindowSize",
    "service::wire",
    "source::HookCall",
    "source::HookCommand",
    "source::HookReply",
    "source::Observation",
    "source::Observations",
    "source::SourceConfig",
    "source::SourceCounters",
    "source::Sources",
    "source::observations",
    "term::Offset",
    "term::OutputLog",
    "term::Screen",
    "term::Size",
    "term::Terminal",
];

/// What the fuzz targets import. It exists only with the feature of this name, and in unit tests.
const FUZZING: &[&str] = &[
    "fuzzing::client_frame",
    "fuzzing::config",
    "fuzzing::hook_lines",
    "fuzzing::input",
    "fuzzing::json",
    "fuzzing::log_lines",
    "fuzzing::query",
    "fuzzing::query_filter",
    "fuzzing::screens",
    "fuzzing::tail",
    "fuzzing::terminal",
    "fuzzing::websocket",
];

/// What the files outside of the library mention, test code included. They are read once for all
/// tests.
fn outside() -> &'static [Mention] {
    static MENTIONS: LazyLock<Vec<Mention>> = LazyLock::new(|| {
        let mut files: Vec<Source> =
            rust_files("src").into_iter().filter(|file| file.path == "main.rs").collect();
        for directory in ["tests", "benches", "examples", "fuzz/fuzz_targets"] {
            files.extend(
                rust_files(directory)
                    .into_iter()
                    .map(|file| Source { path: format!("{directory}/{}", file.path), ..file }),
            );
        }
        let mentions = |file: &Source| scanner::mentions(&file.path, &scanner::parse(file));
        files.iter().flat_map(mentions).collect()
    });
    &MENTIONS
}

/// The modules that the library declares as public.
fn public_modules() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("src/lib.rs")).expect("the library");
    let public = |item: &syn::Item| match item {
        syn::Item::Mod(module) if matches!(module.vis, syn::Visibility::Public(_)) => {
            Some(module.ident.to_string())
        }
        _ => None,
    };
    syn::parse_file(&text).expect("code").items.iter().filter_map(public).collect()
}

#[test]
fn the_public_surface_is_the_listed_one() {
    let imported: BTreeSet<String> = outside()
        .iter()
        .filter_map(|mention| Some(mention.path.strip_prefix("coop::")?.to_owned()))
        // The methods and variants of an imported type come with it.
        .map(|path| {
            let item = path.split("::").position(|part| part.starts_with(char::is_uppercase));
            path.split("::")
                .take(item.map_or(usize::MAX, |at| at + 1))
                .collect::<Vec<_>>()
                .join("::")
        })
        .collect();
    // A module that is imported itself only shortens the paths of its items.
    let is_module =
        |path: &String| imported.iter().any(|item| item.starts_with(&format!("{path}::")));
    let imported: BTreeSet<String> =
        imported.iter().filter(|path| !is_module(path)).cloned().collect();
    let listed: BTreeSet<String> =
        SURFACE.iter().chain(FUZZING).map(|path| (*path).to_owned()).collect();
    assert_eq!(imported, listed, "change SURFACE if the library is to have another surface");
    let modules: BTreeSet<String> =
        listed.iter().filter_map(|path| Some(path.split("::").next()?.to_owned())).collect();
    assert_eq!(public_modules(), modules, "public modules, and those that are used outside");
}

/// A build for use has nothing of what the fuzz targets need.
#[test]
fn what_the_fuzz_targets_need_is_behind_their_feature() {
    let gate = "#[cfg(any(test, feature = \"fuzzing\"))]";
    let mut declared = 0;
    for file in rust_files("src") {
        for (line, next) in file.text.lines().zip(file.text.lines().skip(1)) {
            if next.trim_end().ends_with("mod fuzzing;") {
                assert_eq!(line, gate, "src/{}", file.path);
                declared += 1;
            }
        }
    }
    assert!(declared > 5, "only {declared} modules of fuzz targets were found");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("\nfuzzing = []\n") && !manifest.contains("default ="));
    for (file, outside) in [("src/main.rs", "fuzzing"), (".ci/run", "--features")] {
        let text = fs::read_to_string(root().join(file)).expect("a file");
        assert!(!text.contains(outside), "{file}");
    }
}

#[test]
fn a_public_item_is_used_outside_of_its_file() {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let src = scanner::src();
    for mention in src.mentions.iter().chain(outside()) {
        for part in mention.path.split("::") {
            users.entry(part.to_owned()).or_default().insert(mention.file.clone());
        }
    }
    let mut unused = Vec::new();
    for (file, name) in &src.public_items {
        let used = users.get(name).is_some_and(|files| files.iter().any(|user| user != file));
        if !used {
            unused.push(format!("src/{file}: {name}"));
        }
    }
    assert!(unused.is_empty(), "public, but used in their own file only: {unused:#?}");
}
