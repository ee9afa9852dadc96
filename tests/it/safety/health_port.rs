//! The health port needs no token, so it shows health and nothing else.

use http::Method;
use serde_json::Value;
use tonic::Code;

use crate::support::api::{routes, rpcs};
use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::grpc::{Grpc, web};
use crate::support::http::Http;
use crate::support::session::refusal;

const OPEN: [&str; 5] = ["health", "ready", "livez", "agent", "agent/state"];

async fn probed() -> Coop {
    let args =
        ["--port", "0", "--health-port", "0", "--auth-token", "t0ken", "--host", "127.0.0.1", "--"];
    Setup::new(args.iter().chain(&SHELL)).start().await
}

fn health(coop: &Coop) -> Http {
    let mut address = coop.health.expect("a health port");
    assert!(address.ip().is_unspecified(), "probes come from outside: {address}");
    address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    Http::tcp(address)
}

#[tokio::test]
async fn the_health_port_has_its_own_routes_and_no_others() {
    let coop = probed().await;
    let http = health(&coop).header("host", "whatever.example");
    for name in OPEN {
        for path in [format!("/api/v1/{name}"), format!("/{name}")] {
            assert_eq!(http.get(&path).await.status, 200, "{path}");
            for verb in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let answer = http.call(verb.clone(), &path, "{}".into()).await;
                assert_eq!(
                    (answer.status.as_u16(), answer.code().as_str()),
                    (405, "METHOD_NOT_ALLOWED"),
                    "{verb} {path}"
                );
                assert_eq!(answer.headers["allow"], "GET,HEAD", "{verb} {path}");
            }
        }
    }
    let rpcs = rpcs();
    let with_token = http.token("t0ken");
    for (_, route) in routes(&rpcs) {
        if !OPEN.iter().any(|name| route.path == format!("/api/v1/{name}")) {
            let answer = with_token.call(route.verb.clone(), &route.path, "{}".into()).await;
            assert_eq!(
                (answer.status.as_u16(), answer.code().as_str()),
                (404, "NOT_FOUND"),
                "{route}"
            );
        }
    }
    for path in ["/", "/page.js", "/ws"] {
        assert_eq!(with_token.get(path).await.code(), "NOT_FOUND", "{path}");
    }
}

#[tokio::test]
async fn the_health_port_shows_only_the_agents_state() {
    let coop = probed().await;
    let http = health(&coop);
    for path in ["/api/v1/agent/state", "/api/v1/agent", "/agent", "/agent/state"] {
        let Value::Object(state) = http.get(path).await.json() else { panic!("no object") };
        let mut fields: Vec<_> = state.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["agent", "detection_tier", "state", "state_since_epoch_ms"], "{path}");
    }
    let main = coop.http().get("/api/v1/health").await.json();
    let probe = http.get("/api/v1/health").await.json();
    assert_eq!(main["session_id"], probe["session_id"]);
    assert_eq!(main["pid"], probe["pid"]);
}

#[tokio::test]
async fn the_health_port_serves_grpc_health_and_not_coop() {
    let coop = probed().await;
    let mut address = coop.health.expect("a health port");
    address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    let grpc = Grpc::tcp(address).await;
    for service in ["", "coop.v1.Coop", "ready"] {
        let mut request = vec![0x0a, u8::try_from(service.len()).expect("short")];
        request.extend_from_slice(service.as_bytes());
        let answer = grpc.call("/grpc.health.v1.Health/Check", &request).await.expect("health");
        assert_eq!(answer[..], [0, 0, 0, 0, 2, 8, 1], "{service:?} is SERVING");
    }
    let unknown = grpc
        .call("/grpc.health.v1.Health/Check", &[0x0a, 1, b'x'])
        .await
        .expect_err("no such service");
    assert_eq!((unknown.code(), refusal(&unknown).code.as_str()), (Code::NotFound, "NOT_FOUND"));
    for rpc in rpcs() {
        let status = grpc.token("t0ken").call(&rpc.path, b"").await.expect_err("not here");
        assert_eq!(status.code(), Code::Unimplemented, "{}: {status}", rpc.name);
        assert_eq!(refusal(&status).code, "UNSUPPORTED", "{}", rpc.name);
        let status = web(&health(&coop).token("t0ken"), &rpc.path, b"").await;
        assert_eq!(status.code(), Code::Unimplemented, "{}: {status}", rpc.name);
    }
}
