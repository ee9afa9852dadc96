//! What `--attach` does not support, and the errors that it gives then.

use bytes::Bytes;

use super::multiplexer::Multiplexer;
use crate::support::api::{routes, rpcs};
use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::grpc::{Grpc, framed};
use crate::support::session::{refusal, see, status, type_line};

#[tokio::test]
async fn unsupported_methods_are_refused_on_every_transport() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let listed = status(&mut coop.grpc().await).await.unsupported;
    for name in [
        "RestartSession",
        "SwitchSession",
        "GetEnv",
        "PutEnv",
        "DeleteEnv",
        "GetOutput",
        "StreamOutput",
    ] {
        assert!(listed.iter().any(|listed| listed == name), "{name} is not in {listed:?}");
    }
    let rpcs = rpcs();
    let (grpc, http) = (Grpc::tcp(coop.address()).await, coop.http());
    for name in &listed {
        let rpc = rpcs.iter().find(|rpc| rpc.name == *name).expect("a method of the proto");
        let refused = grpc.end(&rpc.path, framed(b"")).await.expect_err(name);
        assert_eq!(
            (refused.code(), refusal(&refused).code.as_str()),
            (tonic::Code::Unimplemented, "UNSUPPORTED")
        );
    }
    for (rpc, route) in routes(&rpcs).filter(|(rpc, _)| listed.contains(&rpc.name)) {
        let answer = http.call(route.verb.clone(), &route.path, Bytes::new()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (501, "UNSUPPORTED"),
            "{} {route}",
            rpc.name
        );
    }
    let history = http.get("/api/v1/screen/text?scrollback=true").await;
    assert_eq!(history.code(), "UNSUPPORTED");

    let native = Coop::run(SHELL).await;
    let status = status(&mut native.grpc().await).await;
    assert_eq!(status.backend, "native");
    assert!(status.unsupported.is_empty() && status.degraded.is_empty());
}

#[tokio::test]
async fn a_missing_session_is_reported_as_missing() {
    let tmux = Multiplexer::tmux("work");
    for name in [
        "wor",
        "work2",
        "w*",
        "=work",
        "work:0.0",
        "work:",
        "$0",
        "@0",
        "%0",
        "{last}",
        "-d",
        "--",
        "-S/x",
        "#{pid}",
        "#(touch pwned)",
        "work;kill-server",
        "work ; kill-server",
        "\u{1f4a3}",
    ] {
        let (exit, stderr) = tmux.setup(&["--attach", &format!("tmux:{name}")]).fail().await;
        assert_eq!(exit.code(), Some(64), "{name}: {stderr}");
        assert!(stderr.contains("tmux:work"), "{name}: {stderr}");
    }
    for name in ["a\nb", "a\x1b[2Jb", "\u{9b}5n"] {
        let (exit, stderr) = tmux.setup(&["--attach", &format!("tmux:{name}")]).fail().await;
        assert_eq!(exit.code(), Some(64));
        assert!(stderr.contains("no control characters") && !stderr.contains(name), "{stderr:?}");
    }
    assert_eq!(tmux.ask(&["list-sessions", "-F", "#{session_name}"]), "work");
    assert!(!tmux.path().join("pwned").exists() && !std::path::Path::new("pwned").exists());

    let screen = Multiplexer::screen("work").await;
    for name in ["wor", "work2", "-ls", "-X", "1.work", "$HOME", "work\\"] {
        let (exit, stderr) = screen.setup(&["--attach", &format!("screen:{name}")]).fail().await;
        assert_eq!(exit.code(), Some(64), "{name}: {stderr}");
        assert!(stderr.contains(".work"), "{name}: {stderr}");
    }
    assert_eq!(screen.screens().len(), 1);
}

#[tokio::test]
async fn a_session_with_special_characters_in_its_name_is_served() {
    let name = "-x 'y\"; kill-server";
    let tmux = Multiplexer::tmux(name);
    let coop = tmux.attach(&format!("tmux:{name}")).await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo served-$((1 + 1))").await;
    see(&mut client, "served-2").await;
}

#[tokio::test]
async fn coop_does_not_start_without_a_tmux_or_with_a_command() {
    let empty = Multiplexer::tmux("work");
    empty.ask(&["kill-server"]);
    let (exit, stderr) = empty.setup(&["--attach", "tmux:work"]).fail().await;
    assert_eq!(exit.code(), Some(64));
    assert!(stderr.contains("tmux new-session -d -s work"), "{stderr}");
    for host in ["tmux", "screen"] {
        let nowhere = Setup::new(["--port", "0"]).env("COOP_ATTACH", &format!("{host}:work"));
        let (exit, stderr) = nowhere.env("PATH", "/nowhere").fail().await;
        assert_eq!(exit.code(), Some(64));
        assert!(stderr.contains(&format!("{host} is not installed")), "{stderr}");
    }
    let (exit, stderr) =
        Setup::new(["--port", "0", "--attach", "tmux:work", "--", "bash"]).fail().await;
    assert_eq!(exit.code(), Some(64));
    assert!(stderr.contains("COMMAND"), "{stderr}");
}
