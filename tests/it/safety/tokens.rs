//! Tokens and their scopes on every transport. The tests read the RPCs from the descriptor, so they
//! cover every new RPC, and an RPC that needs no token has to be added to a list here.

use http::Method;
use tonic::Code;

use crate::support::api::{Route, Rpc, routes, rpcs};
use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::grpc::{Grpc, UNREADABLE, framed, web};
use crate::support::http::Http;
use crate::support::session::refusal;

const TOKEN: &str = "correct-horse-battery";

/// The methods that need no token, besides `grpc.health.v1` and the static files of the page.
const EXEMPT: [&str; 5] =
    ["GetHealth", "GetReady", "GET /api/v1/health", "GET /api/v1/livez", "GET /api/v1/ready"];

/// The methods that the child of the session may call without a token.
const HOOKS: [&str; 6] = [
    "StopHook",
    "StartHook",
    "ResolveStop",
    "POST /api/v1/hooks/stop",
    "POST /api/v1/hooks/start",
    "POST /api/v1/stop/resolve",
];

/// Headers without the right token. The empty list has no header.
const WRONG: [&[(&str, &str)]; 10] = [
    &[],
    &[("authorization", "Bearer wrong")],
    &[("authorization", "Bearer correct-horse-batterz")],
    &[("authorization", "Bearer correct-horse-batter")],
    &[("authorization", "Bearer correct-horse-battery2")],
    &[("authorization", "Bearer ")],
    &[("authorization", "")],
    &[("authorization", "correct-horse-battery")],
    &[("authorization", "Basic correct-horse-battery")],
    &[("coop-hook-nonce", "0123456789abcdef"), ("x-token", TOKEN)],
];

/// A coop that needs a token, with every kind of listener.
async fn with_token() -> Coop {
    let args =
        ["--port", "0", "--grpc-port", "0", "--socket", "here.sock", "--host", "127.0.0.1", "--"];
    let setup = Setup::new(args.iter().chain(&SHELL)).env("COOP_AUTH_TOKEN", TOKEN);
    let mut coop = setup.start().await;
    coop.socket = Some(coop.home.path().join("here.sock"));
    coop
}

fn exempt(name: &str) -> bool {
    EXEMPT.contains(&name)
}

/// A client of each listener that serves gRPC.
async fn listeners(coop: &Coop) -> Vec<(&'static str, Grpc)> {
    vec![
        ("TCP", Grpc::tcp(coop.address()).await),
        ("the gRPC port", Grpc::tcp(coop.grpc.expect("a port")).await),
        ("the socket", Grpc::unix(coop.socket.as_ref().expect("a socket")).await),
    ]
}

fn with<T>(client: &T, headers: &[(&str, &str)], add: fn(&T, &str, &str) -> T) -> T
where
    T: Clone,
{
    headers.iter().fold(client.clone(), |client, (name, value)| add(&client, name, value))
}

fn grpc_with(client: &Grpc, headers: &[(&str, &str)]) -> Grpc {
    with(client, headers, |client, name, value| client.header(name, value))
}

fn http_with(client: &Http, headers: &[(&str, &str)]) -> Http {
    with(client, headers, Http::header)
}

#[tokio::test]
async fn no_rpc_answers_without_the_token() {
    let coop = with_token().await;
    let listeners = listeners(&coop).await;
    for rpc in rpcs() {
        for headers in WRONG {
            for (listener, client) in &listeners {
                let answer = grpc_with(client, headers).call(&rpc.path, b"").await;
                match answer {
                    Ok(_) => {
                        assert!(exempt(&rpc.name), "{} over {listener} with {headers:?}", rpc.name);
                    }
                    Err(status) => {
                        assert!(
                            !exempt(&rpc.name),
                            "{} over {listener} with {headers:?}: {status}",
                            rpc.name
                        );
                        assert_eq!(
                            status.code(),
                            Code::Unauthenticated,
                            "{} over {listener}",
                            rpc.name
                        );
                        assert_eq!(refusal(&status).code, "UNAUTHORIZED");
                    }
                }
            }
        }
        for (listener, client) in &listeners {
            let status = client
                .token(TOKEN)
                .end(&rpc.path, framed(UNREADABLE))
                .await
                .expect_err("unreadable");
            assert_ne!(
                status.code(),
                Code::Unauthenticated,
                "{} over {listener} with the token",
                rpc.name
            );
        }
    }
}

#[tokio::test]
async fn no_rpc_answers_over_grpc_web_without_the_token() {
    let coop = with_token().await;
    let clients = [coop.address(), coop.grpc.expect("a port")].map(Http::tcp);
    for rpc in rpcs() {
        for headers in WRONG {
            for http in &clients {
                let status = web(&http_with(http, headers), &rpc.path, b"").await;
                if exempt(&rpc.name) {
                    assert_eq!(status.code(), Code::Ok, "{}: {status}", rpc.name);
                } else {
                    assert_eq!(status.code(), Code::Unauthenticated, "{}: {status}", rpc.name);
                    assert_eq!(refusal(&status).code, "UNAUTHORIZED");
                }
            }
        }
    }
}

#[tokio::test]
async fn no_route_answers_without_the_token() {
    let coop = with_token().await;
    let clients = [coop.http(), Http::unix(coop.socket.as_ref().expect("a socket"))];
    let rpcs = rpcs();
    for (_, route) in routes(&rpcs) {
        for headers in WRONG {
            for http in &clients {
                refused_without_token(&http_with(http, headers), route).await;
            }
        }
        for method in [Method::HEAD, Method::OPTIONS, Method::PATCH] {
            let answer = coop.http().call(method.clone(), &route.path, "{}".into()).await;
            let expected = if !exempt(&route.to_string()) {
                401
            } else if method == Method::HEAD {
                200
            } else {
                405
            };
            assert_eq!(answer.status, expected, "{method} {}", route.path);
        }
    }
}

async fn refused_without_token(http: &Http, route: &Route) {
    let answer = http.call(route.verb.clone(), &route.path, "{}".into()).await;
    if exempt(&route.to_string()) {
        assert_eq!(answer.status, 200, "{route}: {}", answer.text());
    } else {
        assert_eq!(answer.status, 401, "{route}: {}", answer.text());
        assert_eq!(answer.code(), "UNAUTHORIZED", "{route}");
        assert_eq!(answer.headers["www-authenticate"], "Bearer", "{route}");
    }
}

#[tokio::test]
async fn an_unknown_path_needs_the_token() {
    let coop = with_token().await;
    for path in [
        "/api/v1",
        "/api/v1/",
        "/api/v2/health",
        "/api/v1/health/",
        "//api/v1/health",
        "/metrics",
        "/x",
    ] {
        assert_eq!(coop.http().get(path).await.code(), "UNAUTHORIZED", "{path}");
        assert_eq!(coop.http().token(TOKEN).get(path).await.code(), "NOT_FOUND", "{path}");
    }
    for path in ["/coop.v1.Coop/Nothing", "/coop.v2.Coop/GetHealth", "/other.Service/Call"] {
        let client = Grpc::tcp(coop.address()).await;
        let status = client.call(path, b"").await.expect_err("no such method");
        assert_eq!(refusal(&status).code, "UNAUTHORIZED", "{path}");
        let status = client.token(TOKEN).call(path, b"").await.expect_err("no such method");
        assert_eq!(
            (status.code(), refusal(&status).code.as_str()),
            (Code::Unimplemented, "UNSUPPORTED"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn reflection_needs_the_token_and_health_needs_none() {
    let coop = with_token().await;
    for (listener, client) in listeners(&coop).await {
        for version in ["v1", "v1alpha"] {
            let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
            let list_services = [0x3a, 0x00];
            let status = client.call(&path, &list_services).await.expect_err("no token");
            assert_eq!(status.code(), Code::Unauthenticated, "{path} over {listener}");
            let listed = client.token(TOKEN).call(&path, &list_services).await.expect("a list");
            assert!(
                String::from_utf8_lossy(&listed).contains("coop.v1.Coop"),
                "{path} over {listener}"
            );
        }
        let health = client.call("/grpc.health.v1.Health/Check", b"").await.expect("health");
        assert_eq!(health[..], [0, 0, 0, 0, 2, 8, 1], "SERVING over {listener}");
    }
}

#[tokio::test]
async fn the_child_may_call_only_the_hooks_without_a_token() {
    let coop = with_token().await;
    let private = coop.private_socket();
    let environment = coop.child_environment().await;
    let nonce = environment["COOP_HOOK_NONCE"].as_str();
    let ways = [
        ("the private socket", Http::unix(&private), Grpc::unix(&private).await),
        (
            "the nonce",
            coop.http().header("coop-hook-nonce", nonce),
            Grpc::tcp(coop.address()).await.header("coop-hook-nonce", nonce),
        ),
    ];
    let rpcs = rpcs();
    for (way, http, grpc) in &ways {
        for rpc in &rpcs {
            let answer = grpc.call(&rpc.path, b"").await;
            let code = answer.err().map(|status| refusal(&status).code);
            assert_eq!(code.as_deref(), error_for_the_child(&rpc.name), "{} by {way}", rpc.name);
        }
        for (_, route) in routes(&rpcs) {
            let answer = http.call(route.verb.clone(), &route.path, "{}".into()).await;
            let code = (answer.status != 200).then(|| answer.code());
            assert_eq!(
                code.as_deref(),
                error_for_the_child(&route.to_string()),
                "{route} by {way}"
            );
        }
    }
    for wrong in ["", "0", &nonce[1..], &format!("{nonce}0"), &nonce.to_uppercase()] {
        let http = coop.http().header("coop-hook-nonce", wrong);
        assert_eq!(
            http.post("/api/v1/hooks/stop", serde_json::json!({})).await.code(),
            "UNAUTHORIZED",
            "{wrong:?}"
        );
    }
}

/// The error that the child gets. There is no driver, so an accepted hook call has no receiver.
fn error_for_the_child(name: &str) -> Option<&'static str> {
    match name {
        name if exempt(name) => None,
        name if HOOKS.contains(&name) => Some("NO_DRIVER"),
        _ => Some("UNAUTHORIZED"),
    }
}

#[tokio::test]
async fn each_token_is_limited_to_its_scope() {
    let tokens =
        "# token scopes\nreader read\nresponder respond\n\nwriter read,write\nadmin admin\nall\n";
    let setup = Setup::new([
        "--port",
        "0",
        "--host",
        "127.0.0.1",
        "--auth-token-file",
        "tokens",
        "--",
        "cat",
    ]);
    setup.file("tokens", tokens, 0o600);
    let coop = setup.start().await;
    let rpcs = rpcs();
    let scopes = ["read", "respond", "write", "admin"];
    for (token, highest) in
        [("reader", 0), ("responder", 1), ("writer", 2), ("admin", 3), ("all", 3)]
    {
        let grpc = Grpc::tcp(coop.address()).await.token(token);
        let http = coop.http().token(token);
        for rpc in &rpcs {
            let needed = if rpc.scope == "hook" { "admin" } else { &rpc.scope };
            let permitted = rpc.scope == "exempt"
                || scopes.iter().position(|scope| *scope == needed).expect("a scope") <= highest;
            check_rpc(&grpc, rpc, permitted, token).await;
            for route in &rpc.routes {
                check_route(&http, route, permitted, token).await;
            }
        }
    }
    let pid = coop.http().get("/api/v1/health").await.json()["pid"].clone();
    let status = coop.http().token("reader").get("/api/v1/status").await.json();
    assert_eq!(
        (&status["pid"], &status["generation"]),
        (&pid, &1.into()),
        "no call has restarted the child"
    );
}

async fn check_rpc(grpc: &Grpc, rpc: &Rpc, permitted: bool, token: &str) {
    let status = grpc.end(&rpc.path, framed(UNREADABLE)).await.expect_err("unreadable");
    let expected = if permitted { Code::InvalidArgument } else { Code::PermissionDenied };
    assert_eq!(status.code(), expected, "{} for {token}: {status}", rpc.name);
    assert_eq!(refusal(&status).code, if permitted { "BAD_REQUEST" } else { "FORBIDDEN" });
}

async fn check_route(http: &Http, route: &Route, permitted: bool, token: &str) {
    // A route with a body refuses this one, so no call restarts the child or shuts coop down.
    let response = http.open(route.verb.clone(), &route.path, "[".into()).await;
    let takes_body = [Method::POST, Method::PUT, Method::PATCH].contains(&route.verb);
    match (permitted, takes_body) {
        (false, _) => assert_eq!(response.status(), 403, "{route} for {token}"),
        (true, true) => assert_eq!(response.status(), 400, "{route} for {token}"),
        (true, false) => {
            assert!(![401, 403].contains(&response.status().as_u16()), "{route} for {token}");
        }
    }
}

#[tokio::test]
async fn a_token_in_the_query_works_for_streams_only() {
    let coop = with_token().await;
    let rpcs = rpcs();
    let grpc = Grpc::tcp(coop.address()).await;
    for rpc in rpcs.iter().filter(|rpc| rpc.scope != "exempt") {
        let path = format!("{}?token={TOKEN}", rpc.path);
        let status = grpc.call(&path, b"").await.expect_err("no header");
        assert_eq!(status.code(), Code::Unauthenticated, "{path}");
    }
    for (rpc, route) in routes(&rpcs).filter(|(rpc, _)| rpc.scope != "exempt") {
        let path = format!("{}?token={TOKEN}", route.path);
        let response = coop.http().open(route.verb.clone(), &path, "[".into()).await;
        let stream = rpc.streams && route.verb == Method::GET;
        assert_eq!(response.status() != 401, stream, "{route}");
        let path = format!("{}?token={TOKEN}x", route.path);
        assert_eq!(
            coop.http().call(route.verb.clone(), &path, "[".into()).await.status,
            401,
            "{route}"
        );
        if stream {
            let answer = coop
                .http()
                .call(Method::POST, &format!("{}?token={TOKEN}", route.path), "".into())
                .await;
            assert_eq!(answer.status, 401, "POST {}", route.path);
        }
    }
}
