//! The same steps over every transport, with the same results: type, read the screen, resize,
//! signal, exit.

use coop_client::v1;
use coop_client::v1::coop_client::CoopClient;
use serde_json::{Value, json};
use tonic::Code as Grpc;
use tonic::body::Body;
use tonic::codegen::{Bytes, StdError};

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::http::Http;
use crate::support::until;
use crate::support::ws::Socket;

/// The calls of the test, over one transport.
trait Terminal {
    async fn type_line(&mut self, text: &str) -> Result<i64, String>;
    async fn lines(&mut self) -> Vec<String>;
    async fn resize(&mut self, cols: i64, rows: i64) -> Result<(), String>;
    async fn signal(&mut self, name: &str) -> Result<(), String>;
    /// State, exit code and signal of the process.
    async fn process(&mut self) -> (String, Option<i64>, Option<i64>);
}

/// A shell command that traps SIGINT. The command itself does not contain the lines that it prints.
const TRAPS_SIGINT: &str =
    r#"sh -c 'trap "echo got""-int; exit" INT; echo trap""-set; while :; do sleep 0.02; done'"#;

async fn run_all_steps(terminal: &mut impl Terminal) {
    let written = terminal.type_line("printf 'a%sb\\n' 1").await;
    assert_eq!(written, Ok(18), "17 characters and Enter");
    see(terminal, "a1b").await;

    terminal.resize(91, 17).await.expect("resized");
    terminal.type_line("stty size").await.expect("typed");
    see(terminal, "17 91").await;
    for (cols, rows) in [(0, 10), (10, 0), (65535, 65535), (-1, 5)] {
        assert_eq!(
            terminal.resize(cols, rows).await,
            Err("BAD_REQUEST".to_owned()),
            "{cols}x{rows}"
        );
    }
    assert_eq!(terminal.lines().await.len(), 17, "a refused resize changes nothing");

    // The foreground job gets the signal; so does the shell, which survives it.
    terminal.type_line(TRAPS_SIGINT).await.expect("typed");
    see(terminal, "trap-set").await;
    terminal.signal("int").await.expect("sent");
    see(terminal, "got-int").await;
    assert_eq!(terminal.signal("SIGNOTHING").await, Err("BAD_REQUEST".to_owned()));

    terminal.type_line("exit 3").await.expect("typed");
    until("the exit", async || {
        let (state, code, signal) = terminal.process().await;
        (state == "exited").then_some((code, signal))
    })
    .await;
    assert_eq!(terminal.process().await, ("exited".to_owned(), Some(3), None));
    assert_eq!(terminal.type_line("echo late").await, Err("EXITED".to_owned()));
    assert_eq!(terminal.lines().await.len(), 17, "reads still work");
}

async fn see(terminal: &mut impl Terminal, wanted: &str) {
    until(wanted, async || terminal.lines().await.iter().any(|line| line == wanted).then_some(()))
        .await;
}

fn strings(lines: &Value) -> Vec<String> {
    let lines = lines.as_array().expect("lines").iter();
    lines.map(|line| line.as_str().expect("text").to_owned()).collect()
}

// ---- gRPC and grpc-web ----

fn refused(status: &tonic::Status) -> String {
    coop_client::reason(status).map_or_else(|| format!("{status:?}"), |reason| reason.code)
}

impl<T> Terminal for CoopClient<T>
where
    T: tonic::client::GrpcService<Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: http_body::Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<StdError> + Send,
{
    async fn type_line(&mut self, text: &str) -> Result<i64, String> {
        let request = v1::SendInputRequest { text: text.to_owned(), enter: true };
        let answer = self.send_input(request).await;
        answer
            .map(|answer| answer.into_inner().bytes_written.into())
            .map_err(|status| refused(&status))
    }

    async fn lines(&mut self) -> Vec<String> {
        self.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner().lines
    }

    async fn resize(&mut self, cols: i64, rows: i64) -> Result<(), String> {
        let request = v1::ResizeRequest { cols: cols as i32, rows: rows as i32 };
        CoopClient::resize(self, request).await.map(drop).map_err(|status| {
            assert_eq!(status.code(), Grpc::InvalidArgument);
            refused(&status)
        })
    }

    async fn signal(&mut self, name: &str) -> Result<(), String> {
        let request = v1::SendSignalRequest { signal: name.to_owned() };
        self.send_signal(request).await.map(drop).map_err(|status| refused(&status))
    }

    async fn process(&mut self) -> (String, Option<i64>, Option<i64>) {
        let status = self.get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
        (status.state, status.exit_code.map(Into::into), status.exit_signal.map(Into::into))
    }
}

#[tokio::test]
async fn over_grpc_on_tcp() {
    let coop = Coop::shell().await;
    run_all_steps(&mut coop.grpc().await).await;
}

#[tokio::test]
async fn over_grpc_on_its_own_port() {
    let args = ["--grpc-port", "0", "--socket", "here.sock", "--"];
    let coop = Setup::new(args.iter().chain(&SHELL)).start().await;
    let target = coop_client::Target::parse(&format!("http://{}", coop.grpc.expect("a port")))
        .expect("a target");
    let mut client = coop_client::connect(&target, coop_client::Credentials::default())
        .await
        .expect("connected");
    run_all_steps(&mut client).await;
}

#[tokio::test]
async fn over_grpc_on_a_unix_socket() {
    let args = ["--socket", "here.sock", "--"];
    let mut coop = Setup::new(args.iter().chain(&SHELL)).start().await;
    coop.socket = Some(coop.home.path().join("here.sock"));
    run_all_steps(&mut coop.grpc_unix().await).await;
}

#[tokio::test]
async fn over_grpc_web() {
    let coop = Coop::shell().await;
    let http = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build_http();
    let web =
        tower::ServiceBuilder::new().layer(tonic_web::GrpcWebClientLayer::new()).service(http);
    let uri = format!("http://{}", coop.address()).parse().expect("a URI");
    run_all_steps(&mut CoopClient::with_origin(web, uri)).await;
}

// ---- HTTP/JSON ----

impl Terminal for Http {
    async fn type_line(&mut self, text: &str) -> Result<i64, String> {
        let answer = self.post("/api/v1/input", json!({"text": text, "enter": true})).await;
        if answer.status == 200 {
            Ok(answer.json()["bytes_written"].as_i64().expect("a number"))
        } else {
            Err(answer.code())
        }
    }

    async fn lines(&mut self) -> Vec<String> {
        strings(&self.get("/api/v1/screen").await.json()["lines"])
    }

    async fn resize(&mut self, cols: i64, rows: i64) -> Result<(), String> {
        let answer = self.post("/api/v1/resize", json!({"cols": cols, "rows": rows})).await;
        if answer.status == 200 { Ok(()) } else { Err(answer.code()) }
    }

    async fn signal(&mut self, name: &str) -> Result<(), String> {
        let answer = self.post("/api/v1/signal", json!({"signal": name})).await;
        if answer.status == 200 { Ok(()) } else { Err(answer.code()) }
    }

    async fn process(&mut self) -> (String, Option<i64>, Option<i64>) {
        process(&self.get("/api/v1/status").await.json())
    }
}

fn process(status: &Value) -> (String, Option<i64>, Option<i64>) {
    let state = status["state"].as_str().expect("a state").to_owned();
    (state, status["exit_code"].as_i64(), status["exit_signal"].as_i64())
}

#[tokio::test]
async fn over_http() {
    let coop = Coop::shell().await;
    run_all_steps(&mut coop.http()).await;
}

#[tokio::test]
async fn over_http_on_a_unix_socket() {
    let args = ["--socket", "here.sock", "--"];
    let coop = Setup::new(args.iter().chain(&SHELL)).start().await;
    run_all_steps(&mut Http::unix(coop.home.path().join("here.sock"))).await;
}

// ---- WebSocket ----

impl Terminal for Socket {
    async fn type_line(&mut self, text: &str) -> Result<i64, String> {
        let reply = self.ask(json!({"type": "input", "text": text, "enter": true})).await;
        reply
            .map(|reply| reply["bytes_written"].as_i64().expect("a number"))
            .map_err(|error| code(&error))
    }

    async fn lines(&mut self) -> Vec<String> {
        strings(&self.ask(json!({"type": "screen_request"})).await.expect("a screen")["lines"])
    }

    async fn resize(&mut self, cols: i64, rows: i64) -> Result<(), String> {
        let reply = self.ask(json!({"type": "resize", "cols": cols, "rows": rows})).await;
        reply.map(drop).map_err(|error| code(&error))
    }

    async fn signal(&mut self, name: &str) -> Result<(), String> {
        let reply = self.ask(json!({"event": "signal:send", "signal": name})).await;
        reply.map(drop).map_err(|error| code(&error))
    }

    async fn process(&mut self) -> (String, Option<i64>, Option<i64>) {
        process(&self.ask(json!({"event": "status:get"})).await.expect("a status"))
    }
}

fn code(error: &Value) -> String {
    error["code"].as_str().expect("a code").to_owned()
}

#[tokio::test]
async fn over_websocket() {
    let coop = Coop::shell().await;
    run_all_steps(&mut Socket::connect(&coop, "mode=all").await).await;
}
