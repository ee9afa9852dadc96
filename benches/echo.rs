//! The time from a key to its echo in the output: with the raw PTY, and with coop over each
//! transport.

mod support;

use std::time::{Duration, Instant};

use coop::pty::{Launch, Reaper, WindowSize};
use coop_client::{Client, v1};
use futures_util::{SinkExt as _, StreamExt as _};
use support::{Coop, Percentiles, heading, micros, percentiles, row};
use tokio::net::TcpStream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

const KEYS: usize = 2000;
/// The terminal limits a line to 4095 bytes, so each line ends earlier.
const LINE: usize = 1000;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        heading(&format!("echo: one key typed to `cat`, {KEYS} times"));
        let floor = raw_pty().await;
        show("raw PTY", &floor, &floor);
        let coop = Coop::start(&["cat"]);
        show("gRPC: SendInputRaw, StreamOutput", &grpc(coop.grpc().await).await, &floor);
        show("gRPC: Attach", &attach(coop.grpc().await).await, &floor);
        show("WebSocket", &websocket(&coop).await, &floor);
    });
}

fn show(name: &str, times: &Percentiles, floor: &Percentiles) {
    let ratio = micros(times.p50) / micros(floor.p50);
    row(
        name,
        &format!(
            "p50 {:7.0} us   p99 {:7.0} us   {ratio:5.1} x raw PTY",
            micros(times.p50),
            micros(times.p99)
        ),
    );
}

fn key(n: usize) -> &'static [u8] {
    if n % LINE == LINE - 1 { b"\r" } else { b"x" }
}

async fn raw_pty() -> Percentiles {
    let reaper = Reaper::install(None).expect("a reaper");
    let mut reaping = tokio::task::JoinSet::new();
    reaping.spawn(reaper.run());
    let launch = Launch {
        program: "cat".into(),
        args: vec![],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        size: WindowSize { cols: 200, rows: 50 },
    };
    let mut spawned = launch.spawn(&reaper).expect("cat starts");
    let mut times = Vec::new();
    for n in 0..KEYS {
        let start = Instant::now();
        spawned.writer.write(key(n)).await.expect("written");
        spawned.reader.read().await.expect("read").expect("an echo");
        times.push(start.elapsed());
    }
    percentiles(times)
}

/// Records only keys that echo as one byte; the end of a line echoes as more.
fn record(times: &mut Vec<Duration>, n: usize, start: Instant) {
    if key(n) == b"x" {
        times.push(start.elapsed());
    }
}

async fn grpc(mut client: Client) -> Percentiles {
    let tail = v1::StreamOutputRequest { tail: true, ..Default::default() };
    let mut output = client.stream_output(tail).await.expect("a stream").into_inner();
    output.message().await.expect("a message").expect("the opening");
    let mut times = Vec::new();
    for n in 0..KEYS {
        let start = Instant::now();
        let data = key(n).into();
        let sent = client.send_input_raw(v1::SendInputRawRequest { data });
        let echoed = output.message();
        let (sent, echoed) = tokio::join!(sent, echoed);
        sent.expect("sent");
        echoed.expect("a message").expect("an echo");
        record(&mut times, n, start);
    }
    percentiles(times)
}

async fn attach(mut client: Client) -> Percentiles {
    use v1::attach_request::Message as Request;
    use v1::attach_response::Message as Response;
    let (sender, requests) = tokio::sync::mpsc::channel(1);
    let mut responses =
        client.attach(ReceiverStream::new(requests)).await.expect("attached").into_inner();
    responses.message().await.expect("a message").expect("the snapshot");
    let mut times = Vec::new();
    for n in 0..KEYS {
        let start = Instant::now();
        let input = v1::AttachRequest { message: Some(Request::Input(key(n).into())) };
        sender.send(input).await.expect("sent");
        loop {
            let message = responses.message().await.expect("a message").expect("an echo");
            if matches!(message.message, Some(Response::Output(_))) {
                break;
            }
        }
        record(&mut times, n, start);
    }
    percentiles(times)
}

async fn websocket(coop: &Coop) -> Percentiles {
    let request =
        format!("ws://{}/ws?mode=raw", coop.address).into_client_request().expect("a request");
    let stream = TcpStream::connect(coop.address).await.expect("connected");
    stream.set_nodelay(true).expect("no delay");
    let (mut socket, _) = client_async(request, stream).await.expect("a WebSocket");
    let mut times = Vec::new();
    for n in 0..KEYS {
        let start = Instant::now();
        let frame = if key(n) == b"x" {
            r#"{"type":"input_raw","data":"eA=="}"#
        } else {
            r#"{"type":"input_raw","data":"DQ=="}"#
        };
        socket.send(Message::text(frame)).await.expect("sent");
        loop {
            match socket.next().await.expect("open").expect("a frame") {
                Message::Text(text) if text.contains(r#""type":"output""#) => break,
                _ => {}
            }
        }
        record(&mut times, n, start);
    }
    percentiles(times)
}
