//! The cost of an idle coop, its start-up time, and the latency of probes during a flood of output.

mod support;

use std::time::{Duration, Instant};

use coop_client::v1;
use support::{Coop, heading, micros, percentiles, row};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const STARTS: usize = 15;
const CALLS: usize = 2000;
const IDLE: Duration = Duration::from_secs(5);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    heading("start and idle");
    let starts = (0..STARTS).map(|_| runtime.block_on(first_response())).collect();
    row(
        "exec to the first response of /health",
        &format!("p50 {:.1} ms", micros(percentiles(starts).p50) / 1000.0),
    );
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_coop")).expect("the binary").len();
    row("size of the binary", &format!("{:.1} MB", size as f64 / 1e6));

    let coop = Coop::start(&["cat"]);
    runtime.block_on(probes("idle", &coop));
    let before = coop.ticks();
    runtime.block_on(async { tokio::time::sleep_until((Instant::now() + IDLE).into()).await });
    row("idle RSS", &format!("{:.1} MiB", coop.memory("VmRSS")));
    row(
        &format!("processor time in {} idle seconds", IDLE.as_secs()),
        &format!("{} ms", (coop.ticks() - before) * 10),
    );

    heading("probes while output floods");
    let flood = Coop::start(&["yes", "the quick brown fox jumps over the lazy dog"]);
    runtime.block_on(async {
        let mut client = flood.grpc().await;
        let mut read = async || {
            client
                .get_status(v1::GetStatusRequest {})
                .await
                .expect("a status")
                .into_inner()
                .bytes_read
        };
        let (start, before) = (Instant::now(), read().await);
        probes("flooded", &flood).await;
        let read_meanwhile = read().await - before;
        let speed = read_meanwhile as f64 / 1e6 / start.elapsed().as_secs_f64();
        row("output meanwhile", &format!("{speed:.0} MB/s"));
    });
}

async fn first_response() -> Duration {
    let start = Instant::now();
    let coop = Coop::start(&["cat"]);
    let mut stream = TcpStream::connect(coop.address).await.expect("connected");
    health(&mut stream).await;
    start.elapsed()
}

async fn health(stream: &mut TcpStream) {
    stream
        .write_all(b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .expect("sent");
    let mut response = [0; 2048];
    let count = stream.read(&mut response).await.expect("a response");
    assert!(response.iter().take(count).take(12).eq(b"HTTP/1.1 200"), "not healthy");
}

async fn probes(name: &str, coop: &Coop) {
    let mut stream = TcpStream::connect(coop.address).await.expect("connected");
    stream.set_nodelay(true).expect("no delay");
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        health(&mut stream).await;
        times.push(start.elapsed());
    }
    let http = percentiles(times);
    let mut client = coop.grpc().await;
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        client.get_status(v1::GetStatusRequest {}).await.expect("a status");
        times.push(start.elapsed());
    }
    let grpc = percentiles(times);
    for (call, times) in [("GET /health", http), ("gRPC GetStatus", grpc)] {
        let value = format!("p50 {:6.0} us   p99 {:6.0} us", micros(times.p50), micros(times.p99));
        row(&format!("{call}, {name}"), &value);
    }
}
