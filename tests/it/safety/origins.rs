//! Which host names are accepted, and which web pages may call coop.

use http::Method;
use serde_json::json;
use tokio_tungstenite::tungstenite::Error as WsError;
use tonic::Code;

use crate::support::api::{routes, rpcs};
use crate::support::coop::{Coop, SHELL};
use crate::support::grpc::{Grpc, web};
use crate::support::http::{Answer, Http};
use crate::support::session::refusal;
use crate::support::ws::Socket;

const OTHER_HOSTS: [&str; 7] = [
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost:80@evil.example",
    "localhost.",
    "",
];

const OTHER_ORIGINS: [&str; 9] = [
    "http://evil.example",
    "https://localhost",
    "http://localhost:1",
    "http://127.0.0.1",
    "null",
    "",
    "file://",
    "garbage",
    "http://localhost, http://evil.example",
];

fn forbidden(answer: &Answer, what: &str) {
    assert_eq!(answer.status, 403, "{what}: {}", answer.text());
    assert_eq!(answer.code(), "FORBIDDEN", "{what}");
}

/// The HTTP status of an upgrade to a WebSocket.
async fn upgrade(coop: &Coop, headers: &[(&str, &str)]) -> u16 {
    match Socket::try_connect(coop, "mode=state", headers).await {
        Ok(_) => 101,
        Err(WsError::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn no_route_accepts_an_unknown_host_name() {
    let coop = Coop::shell().await;
    let rpcs = rpcs();
    for host in OTHER_HOSTS {
        let http = coop.http().header("host", host);
        for (_, route) in routes(&rpcs) {
            forbidden(
                &http.call(route.verb.clone(), &route.path, "{}".into()).await,
                &format!("{route} at {host}"),
            );
        }
        for path in ["/", "/page.js", "/nowhere"] {
            forbidden(&http.get(path).await, &format!("{path} at {host}"));
        }
        assert_eq!(upgrade(&coop, &[("host", host)]).await, 403, "{host}");
        let status = web(&http, "/coop.v1.Coop/GetHealth", b"").await;
        assert_eq!(refusal(&status).code, "FORBIDDEN", "grpc-web at {host}");
    }
    let grpc = Grpc::tcp(coop.address()).await;
    for host in ["evil.example", "evil.example:8080", "localhost.evil.example"] {
        for rpc in &rpcs {
            let status =
                grpc.authority(host).call(&rpc.path, b"").await.expect_err("an unknown host name");
            assert_eq!(status.code(), Code::PermissionDenied, "{} at {host}", rpc.name);
            assert_eq!(refusal(&status).code, "FORBIDDEN");
        }
        let status = grpc
            .authority(host)
            .call("/grpc.health.v1.Health/Check", b"")
            .await
            .expect_err("an unknown host name");
        assert_eq!(status.code(), Code::PermissionDenied, "health at {host}");
    }
}

#[tokio::test]
async fn loopback_names_are_accepted() {
    let coop = Coop::with(&["--allow-host", "box.example", "--allow-host", "[::2]"], SHELL).await;
    let names = [
        "localhost",
        "LocalHost:1",
        "127.0.0.1",
        "127.0.0.1:99",
        "10.1.2.3:80",
        "[::1]:8080",
        "[::1]",
        "box.example",
        "BOX.example:4",
    ];
    for host in names {
        let answer = coop.http().header("host", host).get("/api/v1/status").await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.text());
        assert_eq!(upgrade(&coop, &[("host", host)]).await, 101, "{host}");
        let grpc = Grpc::tcp(coop.address()).await.authority(host);
        grpc.call("/coop.v1.Coop/GetStatus", b"")
            .await
            .unwrap_or_else(|status| panic!("{host}: {status}"));
    }
    forbidden(
        &coop.http().header("host", "other.example").get("/api/v1/status").await,
        "a name that is not allowed",
    );
    let two = coop.http().header("host", "localhost").header("host", "evil.example");
    forbidden(&two.get("/api/v1/status").await, "two names");
}

#[tokio::test]
async fn a_caller_with_the_token_in_a_header_may_use_any_host_name() {
    let coop = Coop::with(&["--auth-token", "t0ken", "--host", "127.0.0.1"], SHELL).await;
    let http = coop.http().header("host", "box.example");
    assert_eq!(http.token("t0ken").get("/api/v1/status").await.status, 200);
    forbidden(&http.get("/api/v1/health").await, "no token, on a route that needs none");
    forbidden(&http.token("wrong").get("/api/v1/status").await, "a wrong token");
    forbidden(
        &http.header("authorization", "Basic t0ken").get("/api/v1/status").await,
        "another scheme",
    );
    forbidden(&http.get("/api/v1/stream/state?token=t0ken").await, "a token that a link can carry");
    let grpc = Grpc::tcp(coop.address()).await.authority("box.example");
    grpc.token("t0ken").call("/coop.v1.Coop/GetStatus", b"").await.expect("a status");
    let upgraded =
        upgrade(&coop, &[("host", "box.example"), ("authorization", "Bearer t0ken")]).await;
    assert_eq!(upgraded, 101);
}

#[tokio::test]
async fn a_page_of_another_origin_may_not_call() {
    let coop = Coop::shell().await;
    let host = coop.address().to_string();
    let rpcs = rpcs();
    for origin in OTHER_ORIGINS {
        let http = coop.http().header("host", &host).header("origin", origin);
        for (_, route) in routes(&rpcs) {
            for verb in [&route.verb, &Method::OPTIONS] {
                let answer = http.call(verb.clone(), &route.path, "{}".into()).await;
                forbidden(&answer, &format!("{verb} {} from {origin}", route.path));
                assert!(!answer.headers.contains_key("access-control-allow-origin"), "{origin}");
            }
        }
        assert_eq!(upgrade(&coop, &[("origin", origin)]).await, 403, "{origin}");
        for rpc in &rpcs {
            let status = web(&http, &rpc.path, b"").await;
            assert_eq!(refusal(&status).code, "FORBIDDEN", "grpc-web {} from {origin}", rpc.name);
        }
        let grpc = Grpc::tcp(coop.address()).await.authority(&host).header("origin", origin);
        let status =
            grpc.call("/coop.v1.Coop/GetHealth", b"").await.expect_err("a page of another origin");
        assert_eq!(status.code(), Code::PermissionDenied, "{origin}");
    }
    let unreadable = Grpc::tcp(coop.address()).await.header("origin", b"http://\xff");
    let status = unreadable.call("/coop.v1.Coop/GetHealth", b"").await.expect_err("no text");
    assert_eq!(status.code(), Code::PermissionDenied);
}

#[tokio::test]
async fn coops_own_page_may_call() {
    let coop = Coop::shell().await;
    let host = coop.address().to_string();
    let origin = format!("http://{host}");
    let http = coop.http().header("host", &host).header("origin", &origin);
    assert_eq!(http.get("/api/v1/status").await.status, 200);
    assert_eq!(http.post("/api/v1/input", json!({"text": ""})).await.status, 200);
    assert_eq!(web(&http, "/coop.v1.Coop/GetStatus", b"").await.code(), Code::Ok);
    assert_eq!(upgrade(&coop, &[("origin", &origin)]).await, 101);
    assert!(!http.get("/api/v1/status").await.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn an_allowed_page_may_call_and_read_the_answer() {
    let flags = [
        "--allow-origin",
        "https://app.example:8443",
        "--auth-token",
        "t0ken",
        "--host",
        "127.0.0.1",
    ];
    let coop = Coop::with(&flags, SHELL).await;
    let page = "https://app.example:8443";
    let http = coop.http().header("origin", page);
    let preflight = http.header("access-control-request-method", "PUT").header(
        "access-control-request-headers",
        "authorization,content-type,coop-lease,x-grpc-web,grpc-timeout,last-event-id",
    );
    for path in ["/api/v1/env/X", "/coop.v1.Coop/SendInput", "/api/v1/stream/state", "/nowhere"] {
        let answer = preflight.call(Method::OPTIONS, path, "".into()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.body.len()),
            (204, 0),
            "{path}: {}",
            answer.text()
        );
        let header = |name: &str| answer.headers[name].to_str().expect("text").to_owned();
        assert_eq!(header("access-control-allow-origin"), page);
        for verb in ["GET", "POST", "PUT", "DELETE"] {
            assert!(header("access-control-allow-methods").contains(verb), "{verb}");
        }
        for name in [
            "authorization",
            "content-type",
            "coop-lease",
            "x-grpc-web",
            "grpc-timeout",
            "last-event-id",
        ] {
            assert!(header("access-control-allow-headers").contains(name), "{name}");
        }
        assert_eq!(header("vary"), "origin");
        assert!(!answer.headers.contains_key("access-control-allow-credentials"));
    }
    // A refusal has the header too. Otherwise a page cannot tell a wrong token from a dead server.
    for (http, status) in
        [(http.token("t0ken"), 200), (http.clone(), 401), (http.token("wrong"), 401)]
    {
        let answer = http.get("/api/v1/status").await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers["access-control-allow-origin"], page);
    }
    let status = web(&http.token("t0ken"), "/coop.v1.Coop/GetStatus", b"").await;
    assert_eq!(status.code(), Code::Ok, "{status}");
    assert_eq!(upgrade(&coop, &[("origin", page), ("authorization", "Bearer t0ken")]).await, 101);
    for other in [
        "https://app.example",
        "http://app.example:8443",
        "https://app.example:8443.evil.example",
        "null",
    ] {
        let answer = coop.http().header("origin", other).token("t0ken").get("/api/v1/status").await;
        forbidden(&answer, other);
    }
}

#[tokio::test]
async fn the_unix_socket_checks_the_origin_but_not_the_host() {
    let args = ["--socket", "here.sock", "--"];
    let coop = crate::support::coop::Setup::new(args.iter().chain(&SHELL)).start().await;
    let http = Http::unix(coop.home.path().join("here.sock")).header("host", "anything.example");
    assert_eq!(http.get("/api/v1/status").await.status, 200);
    forbidden(
        &http.header("origin", "http://evil.example").get("/api/v1/status").await,
        "a page of another origin",
    );
}

#[tokio::test]
async fn pages_of_other_sites_load_nothing_without_an_origin() {
    let coop = Coop::with(&["--allow-origin", "https://friend.example"], SHELL).await;
    let fetched = |site: &str, mode: &str, dest: &str| {
        let http = coop.http().header("sec-fetch-site", site);
        http.header("sec-fetch-mode", mode).header("sec-fetch-dest", dest)
    };
    for site in ["cross-site", "same-site", "anything"] {
        for path in ["/api/v1/health", "/api/v1/screen", "/page.js", "/", "/nowhere"] {
            for dest in ["script", "image", "empty", "iframe"] {
                forbidden(&fetched(site, "no-cors", dest).get(path).await, path);
            }
            forbidden(&fetched(site, "navigate", "iframe").get(path).await, path);
        }
        forbidden(&fetched(site, "navigate", "document").get("/api/v1/screen").await, site);
        let page = fetched(site, "navigate", "document").get("/").await;
        assert_eq!(page.status, 200, "a link may open the page");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(fetched(site, "cors", "empty").get("/api/v1/screen").await.status, 200);
    }
    let friend = fetched("cross-site", "cors", "empty").header("origin", "https://friend.example");
    let answer = friend.get("/api/v1/screen").await;
    assert_eq!(answer.status, 200);
    for answer in [answer, coop.http().get("/nowhere").await, coop.http().get("/page.js").await] {
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["cross-origin-resource-policy"], "same-origin");
    }
}
