//! The rules of ARCHITECTURE.md about which module may know what, checked on the sources. Each rule
//! has its reason, and a piece of code that breaks it. A file that has to break a rule is listed in
//! `EXCEPTIONS`; an exception that no file needs any more fails the test.

mod scanner;
mod surface;

use scanner::{Kind, Mention};

/// A rule about what the files of `src` may name.
struct Rule {
    name: &'static str,
    because: &'static str,
    /// The files that the rule applies to: paths below `src`, or prefixes of them. Empty: all.
    applies_to: &'static [&'static str],
    /// Files that the rule does not apply to: paths below `src`, or prefixes of them.
    except: &'static [&'static str],
    forbids: &'static [Forbidden],
    /// A file and its content that break the rule.
    violation: (&'static str, &'static str),
}

enum Forbidden {
    /// This path, and everything below it.
    In(&'static str),
    /// Calls of a method of this name.
    Method(&'static str),
    /// Building messages of this module, apart from requests.
    Messages(&'static str),
}

use Forbidden::{In, Messages, Method};

const FILES: [Forbidden; 4] = [In("std::fs"), In("tokio::fs"), In("rustix::fs"), In("notify")];
const PROGRAMS: [Forbidden; 5] = [
    In("std::process::Command"),
    In("std::process::Child"),
    In("std::process::ChildStdout"),
    In("std::process::Stdio"),
    In("tokio::process"),
];
const NETWORK: [Forbidden; 4] = [
    In("std::net::TcpListener"),
    In("std::net::TcpStream"),
    In("std::os::unix::net"),
    In("tokio::net"),
];

const RULES: &[Rule] = &[
    Rule {
        name: "wire",
        because: "only the layers that own a wire know its protocol; others have coop's own errors",
        applies_to: &[],
        except: &["service/", "gateway/", "server/", "client/"],
        forbids: &[
            In("tonic"),
            In("tonic_health"),
            In("tonic_reflection"),
            In("tonic_types"),
            In("tonic_web"),
            In("axum"),
            In("hyper"),
            In("hyper_util"),
            In("http"),
            In("http_body"),
            In("http_body_util"),
            In("tower"),
            In("tokio_tungstenite"),
        ],
        violation: ("session/run.rs", "fn code() -> tonic::Code { tonic::Code::Ok }"),
    },
    Rule {
        name: "messages",
        because: "only convert knows the session's vocabulary and that of the wire together",
        applies_to: &[],
        except: &["service/convert", "client/", "gateway/gen.rs", "service/gen.rs"],
        forbids: &[Messages("coop_client::v1")],
        violation: (
            "service/terminal.rs",
            "use coop_client::v1; fn gap() -> v1::Gap { v1::Gap { missed: 1 } }",
        ),
    },
    Rule {
        name: "environment",
        because: "config reads the environment once; everything else gets values",
        applies_to: &[],
        except: &["config/"],
        forbids: &[In("std::env")],
        violation: ("session/run.rs", "fn home() { drop(std::env::var_os(\"HOME\")); }"),
    },
    Rule {
        name: "files",
        because: "the session, its drivers and the API do no I/O, so that nothing waits for a disk",
        applies_to: &[],
        except: &[
            "app/", "client/", "config/", "launch/", "mux/", "os/", "pty/", "server/", "source/",
        ],
        forbids: &FILES,
        violation: ("service/agent.rs", "use std::fs; fn f() { drop(fs::read(\"a\")); }"),
    },
    Rule {
        name: "programs",
        because: "pty and mux start programs, so that every child is reaped and its group ended",
        applies_to: &[],
        except: &["os/", "pty/", "mux/"],
        forbids: &PROGRAMS,
        violation: ("source/tail.rs", "use tokio::process::Command as Program;"),
    },
    Rule {
        name: "network",
        because: "the server listens, the client connects, and no other module knows sockets",
        applies_to: &[],
        except: &["app/", "client/", "server/", "os/", "pty/", "source/"],
        forbids: &NETWORK,
        violation: ("session/run.rs", "use tokio::{net::TcpListener, sync::mpsc};"),
    },
    Rule {
        name: "driver clock",
        because: "a driver gets the time with each observation, so that recordings replay exactly",
        applies_to: &["driver/"],
        except: &[],
        forbids: &[
            In("std::time::Instant::now"),
            In("std::time::SystemTime"),
            In("tokio"),
            Method("elapsed"),
        ],
        violation: (
            "driver/tracker/mod.rs",
            "fn f(t: std::time::Instant) { assert!(t.elapsed()); }",
        ),
    },
    Rule {
        name: "driver I/O",
        because: "a driver turns observations into findings; other modules do its I/O",
        applies_to: &["driver/"],
        except: &[],
        forbids: &[
            In("std::net"),
            In("std::process"),
            In("std::thread"),
            In("std::io::stdin"),
            In("std::io::stdout"),
            In("rustix"),
        ],
        violation: ("driver/layout.rs", "use std::{net, process::Command};"),
    },
    Rule {
        name: "driver neighbours",
        because: "a driver sees the screen and nothing else of coop",
        applies_to: &["driver/"],
        except: &[],
        forbids: &[
            In("crate::session"),
            In("crate::source"),
            In("crate::pty"),
            In("crate::mux"),
            In("crate::os"),
            In("crate::error"),
            In("crate::config"),
        ],
        violation: ("driver/evidence.rs", "use super::super::session::Session;"),
    },
    Rule {
        name: "session clock",
        because: "the session's state machine is given the time; one file reads the clock",
        applies_to: &["session/"],
        except: &["session/clock.rs"],
        forbids: &[
            In("std::time::Instant::now"),
            In("std::time::SystemTime::now"),
            In("tokio::time::Instant::now"),
            In("tokio::time::sleep"),
            Method("elapsed"),
        ],
        violation: (
            "session/typist.rs",
            "use std::time::Instant; fn f() { drop(Instant::now()); }",
        ),
    },
    Rule {
        name: "terminal",
        because: "one module knows the terminal emulator, so that it can be replaced",
        applies_to: &[],
        except: &["term/"],
        forbids: &[In("avt")],
        violation: ("service/convert.rs", "fn f(vt: &avt::Vt) {}"),
    },
    Rule {
        name: "system calls",
        because: "everything that depends on the operating system is behind one interface",
        applies_to: &[],
        except: &["os/", "pty/"],
        forbids: &[In("libc")],
        violation: ("mux/command.rs", "fn f() -> i32 { libc::SIGKILL }"),
    },
];

/// The top-level modules. Each may use itself and those after it, and no module before it.
const ORDER: &[&str] = &[
    "main",
    "fuzzing",
    "app",
    "client",
    "config",
    "server",
    "gateway",
    "service",
    "session",
    "launch",
    "source",
    "mux",
    "pty",
    "log",
    "cli",
    "driver",
    "term",
    "os",
    "error",
    "timestamp",
];

/// The files that may break a rule, and why.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    // rule, file, path, reason
    ("environment", "main.rs", "std::env::args_os", "main hands the arguments to cli"),
    (
        "session clock",
        "session/handle.rs",
        "std::time::Instant::now",
        "a handle runs in the task of its caller, outside of the state machine",
    ),
    (
        "environment",
        "pty/spawn.rs",
        "std::env::split_paths",
        "it splits a PATH that it is given, and does not read the environment",
    ),
];

impl Rule {
    fn covers(&self, file: &str) -> bool {
        let starts = |files: &[&str]| files.iter().any(|start| file.starts_with(start));
        (self.applies_to.is_empty() || starts(self.applies_to)) && !starts(self.except)
    }

    fn breaks(&self, mention: &Mention) -> bool {
        self.covers(&mention.file)
            && self.forbids.iter().any(|forbidden| match forbidden {
                In(path) => mention.kind == Kind::Path && mention.is_below(path),
                Method(name) => mention.kind == Kind::Method && mention.path == *name,
                Messages(module) => {
                    mention.kind == Kind::Build
                        && mention.is_below(module)
                        && mention.path.matches("::").count() == module.matches("::").count() + 1
                        && !mention.path.ends_with("Request")
                }
            })
    }
}

/// The two top-level modules that a mention connects: the file's own, and the one that it names.
fn dependency(mention: &Mention) -> Option<(String, String)> {
    let from = mention.file.split(['/', '.']).next()?.to_owned();
    let to = mention.path.strip_prefix("crate::")?.split("::").next()?.to_owned();
    // A name in upper case is an item of the crate's root, not a module.
    (from != "lib" && from != to && to.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .then_some((from, to))
}

/// Every mention that breaks a rule, as the rule's name, the mention and what is wrong.
fn broken(mentions: &[Mention]) -> Vec<(&'static str, &Mention, String)> {
    let mut broken = Vec::new();
    for mention in mentions {
        for rule in RULES.iter().filter(|rule| rule.breaks(mention)) {
            broken.push((rule.name, mention, rule.because.to_owned()));
        }
        let Some((from, to)) = dependency(mention) else { continue };
        let rank = |module: &str| ORDER.iter().position(|name| *name == module);
        match (rank(&from), rank(&to)) {
            (Some(from), Some(to)) if from < to => {}
            (Some(_), Some(_)) => {
                let because = format!("{from} is below {to}: dependencies point one way");
                broken.push(("order", mention, because));
            }
            _ => broken.push(("order", mention, format!("ORDER lacks {from} or {to}"))),
        }
    }
    broken
}

#[test]
fn the_sources_keep_every_rule() {
    let mentions = &scanner::src().mentions;
    assert!(mentions.len() > 10_000, "src has only {} mentions", mentions.len());
    let found = broken(mentions);
    let excused: Vec<(&str, &str, &str)> =
        EXCEPTIONS.iter().map(|(rule, file, path, _)| (*rule, *file, *path)).collect();
    let is_excused = |rule: &str, mention: &Mention| {
        excused.iter().any(|(excused, file, path)| {
            *excused == rule && *file == mention.file && mention.is_below(path)
        })
    };
    let mut wrong: Vec<String> = found
        .iter()
        .filter(|(rule, mention, _)| !is_excused(rule, mention))
        .map(|(rule, mention, because)| {
            let Mention { file, line, path, .. } = mention;
            format!("src/{file}:{line} names {path} ({rule}: {because})")
        })
        .collect();
    wrong.dedup();
    let stale: Vec<_> = excused
        .iter()
        .filter(|(excused, file, path)| {
            !found.iter().any(|(rule, mention, _)| {
                rule == excused && mention.file == *file && mention.is_below(path)
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(stale.is_empty(), "these exceptions are no longer needed: {stale:#?}");
}

#[test]
fn every_rule_finds_the_code_that_breaks_it() {
    for rule in RULES {
        let (file, text) = rule.violation;
        let tree = syn::parse_file(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mentions = scanner::mentions(file, &tree);
        assert!(mentions.iter().any(|mention| rule.breaks(mention)), "{}: {mentions:?}", rule.name);
        let elsewhere = rule.except.first().map_or("term/screen.rs", |place| *place);
        let allowed = scanner::mentions(elsewhere, &tree);
        assert!(!allowed.iter().any(|mention| rule.breaks(mention)), "{}: {allowed:?}", rule.name);
    }
}

#[test]
fn a_dependency_on_a_module_above_is_found() {
    let tree = syn::parse_file("use crate::{error, service::Service};").expect("code");
    let up = scanner::mentions("session/run.rs", &tree);
    assert_eq!(broken(&up).len(), 1, "{up:?}");
    let down = scanner::mentions("gateway/http.rs", &tree);
    assert_eq!(broken(&down).len(), 0, "{down:?}");
    let new = scanner::mentions("invented/mod.rs", &tree);
    assert!(broken(&new).iter().all(|(rule, ..)| *rule == "order"), "{new:?}");
    assert_eq!(broken(&new).len(), 2, "{new:?}");
}

#[test]
fn the_scanner_sees_through_imports_and_leaves_out_tests_and_comments() {
    let text = r#"
        //! std::comment::module
        use std::{fs::{self, File as Opened}, time};
        mod child;
        /// std::comment::item
        fn f() {
            let text = "std::string::literal";
            fs::read(text);
            Opened::open(text);
            time::Instant::now();
            super::g();
            self::h();
            child::i();
            tokio::select! { _ = time::sleep() => fs::write(v1::Built { a: 1 }).elapsed() }
        }
        #[cfg(test)]
        mod tests { fn f() { std::tested::module(); } }
        #[cfg(all(test, unix))]
        use std::tested::import;
        impl S { #[cfg(test)] fn f() { std::tested::method(); } }
    "#;
    let tree = syn::parse_file(text).expect("code");
    let mentions = scanner::mentions("a/b.rs", &tree);
    let has = |kind: Kind, path: &str| mentions.iter().any(|m| m.kind == kind && m.path == path);
    for path in [
        "std::fs",
        "std::fs::read",
        "std::fs::write",
        "std::fs::File",
        "std::fs::File::open",
        "std::time::Instant::now",
        "std::time::sleep",
        "crate::a::g",
        "crate::a::b::h",
        "crate::a::b::child::i",
        "tokio::select",
    ] {
        assert!(has(Kind::Path, path), "{path}: {mentions:#?}");
    }
    assert!(has(Kind::Build, "v1::Built"), "{mentions:#?}");
    assert!(has(Kind::Method, "elapsed"), "{mentions:#?}");
    for absent in ["comment", "string", "tested"] {
        assert!(!mentions.iter().any(|m| m.path.contains(absent)), "{absent}: {mentions:#?}");
    }
}
