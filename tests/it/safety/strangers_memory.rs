//! What strangers send to any port takes little memory, and a caller with the token is served
//! meanwhile.

use std::net::SocketAddr;

use bytes::BytesMut;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::h2::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GET, HEADERS, PING, POST, RST_STREAM,
    SETTINGS, fields, flood, frame, opening,
};
use crate::support::http::Http;

const TOKEN: &str = "a token of enough length";
/// The most memory that coop may ever have held, in KiB.
const MEMORY: u64 = 64 << 10;
const HEALTH: &str = "/coop.v1.Coop/GetHealth";
const CHECK: &str = "/grpc.health.v1.Health/Check";

/// A coop with a token and every port, under attack.
struct Attacked {
    coop: Coop,
    ports: [SocketAddr; 3],
}

impl Attacked {
    async fn start() -> Self {
        // Both ends need a descriptor for each connection, and the usual soft limit is 1024.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("raised");
        let flags =
            ["--port", "0", "--grpc-port", "0", "--health-port", "0", "--auth-token", TOKEN];
        let host = ["--host", "127.0.0.1", "--"];
        let coop = Setup::new(flags.iter().chain(&host).chain(&SHELL)).start().await;
        let mut health = coop.health.expect("a health port");
        health.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        let ports = [coop.address(), coop.grpc.expect("a gRPC port"), health];
        Self { coop, ports }
    }

    /// The caller with the token and the probe are served, and coop is small.
    async fn is_well(&self, after: &str) {
        let http = self.coop.http().token(TOKEN);
        assert_eq!(http.get("/api/v1/screen").await.status, 200, "{after}");
        assert_eq!(Http::tcp(self.ports[2]).get("/health").await.status, 200, "{after}");
        let peak = self.coop.peak_memory();
        assert!(peak < MEMORY, "coop held {peak} KiB after {after}");
    }

    /// Sends these bytes on several connections to every port, and holds those that stay open.
    async fn flood(&self, what: &str, connections: usize, bytes: &BytesMut) -> Vec<TcpStream> {
        self.floods(what, connections, std::slice::from_ref(bytes)).await
    }

    /// Sends each of these floods on several connections to every port, all at once.
    async fn floods(&self, what: &str, connections: usize, kinds: &[BytesMut]) -> Vec<TcpStream> {
        let mut floods = JoinSet::new();
        for port in self.ports {
            for bytes in kinds.iter().flat_map(|kind| std::iter::repeat_n(kind, connections)) {
                floods.spawn(flood(port, bytes.clone()));
            }
        }
        self.is_well(what).await;
        let held = floods.join_all().await.into_iter().flatten().collect();
        self.is_well(what).await;
        held
    }
}

/// Calls whose message is announced with 15 MiB and begins with `sent` bytes.
fn announced(calls: u32, sent: usize) -> BytesMut {
    let mut bytes = opening();
    for number in 0..calls {
        let path = if number % 2 == 0 { HEALTH } else { CHECK };
        let stream = number * 2 + 1;
        frame(&mut bytes, HEADERS, END_HEADERS, stream, &fields(POST, path));
        let mut message = vec![0; 5 + sent];
        message[1..5].copy_from_slice(&(15_u32 << 20).to_be_bytes());
        for part in message.chunks(16 << 10) {
            frame(&mut bytes, DATA, 0, stream, part);
        }
    }
    bytes
}

#[tokio::test]
async fn announced_messages_take_no_memory() {
    let attacked = Attacked::start().await;
    let _held = attacked.flood("announced messages", 60, &announced(200, 0)).await;
    // Each connection stays within its window.
    let _more = attacked.flood("begun messages", 60, &announced(8, 7 << 10)).await;
}

#[tokio::test]
async fn unfinished_bodies_take_no_memory() {
    let attacked = Attacked::start().await;
    let mut held = Vec::new();
    for head in [
        "POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\ncontent-length: 15000000\r\n\r\n",
        "POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n",
        "GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000\r\n\r\n",
        "POST /coop.v1.Coop/GetHealth HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000\r\n\
         content-type: application/grpc-web+proto\r\n\r\n\0\0\0\0",
        "GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\nx: ",
    ] {
        for port in attacked.ports {
            for _ in 0..100 {
                let mut stream = TcpStream::connect(port).await.expect("connected");
                // coop may end the connection meanwhile.
                drop(stream.write_all(head.as_bytes()).await);
                drop(stream.try_write(&[b'7'; 200_000]));
                held.push(stream);
            }
        }
        attacked.is_well(head).await;
    }
}

#[tokio::test]
async fn held_connections_take_little_memory_and_leave_room() {
    let attacked = Attacked::start().await;
    let mut held = Vec::new();
    let begun = opening();
    for number in 0..2048 {
        let mut stream = TcpStream::connect(attacked.ports[0]).await.expect("connected");
        if number % 2 == 0 {
            // coop may end the connection meanwhile.
            drop(stream.write_all(&begun).await);
        }
        held.push(stream);
        if number % 256 == 0 {
            attacked.is_well("connections").await;
        }
    }
    attacked.is_well("2048 connections").await;
    for port in &attacked.ports[1..] {
        for _ in 0..300 {
            held.push(TcpStream::connect(port).await.expect("connected"));
        }
    }
    attacked.is_well("connections to every port").await;
}

#[tokio::test]
async fn floods_of_frames_take_no_memory() {
    let attacked = Attacked::start().await;
    let get = fields(GET, "/api/v1/health");
    let mut resets = opening();
    for number in 0..2000 {
        frame(&mut resets, HEADERS, END_HEADERS, number * 2 + 1, &get);
        frame(&mut resets, RST_STREAM, 0, number * 2 + 1, &[0, 0, 0, 8]);
    }

    let mut continued = opening();
    let mut header = BytesMut::from(&b"\0\x01x\x7f\x81\x7f"[..]);
    header.extend_from_slice(&[b'y'; 16 << 10]);
    frame(&mut continued, HEADERS, 0, 1, &get);
    for _ in 0..200 {
        frame(&mut continued, CONTINUATION, 0, 1, &header[..16 << 10]);
    }

    let mut large = opening();
    for number in 0..60 {
        let mut block = get.clone();
        // A literal of 16 KiB less its own header, without indexing.
        block.extend_from_slice(b"\0\x01x\x7f\x80\x7f");
        block.extend_from_slice(&[b'y'; 127 + (127 << 7)]);
        let (first, rest) = block.split_at(16 << 10);
        frame(&mut large, HEADERS, END_STREAM, number * 2 + 1, first);
        frame(&mut large, CONTINUATION, END_HEADERS, number * 2 + 1, rest);
    }

    let (mut settings, mut pings) = (opening(), opening());
    for _ in 0..10_000 {
        frame(&mut settings, SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff]);
        frame(&mut pings, PING, 0, 0, b"a flood!");
    }
    frame(&mut settings, SETTINGS, ACK, 0, &[]);
    let kinds = [resets, continued, large, settings, pings];
    attacked.floods("floods of frames", 4, &kinds).await;

    let mut streams = opening();
    for number in 0..100 {
        let page = fields(GET, "/page.js");
        frame(&mut streams, HEADERS, END_HEADERS | END_STREAM, number * 2 + 1, &page);
    }
    let _held = attacked.flood("streams that are not read", 60, &streams).await;
}

/// A client that reads nothing does not make coop keep its answers.
#[tokio::test]
async fn answers_that_are_not_read_take_no_memory() {
    let attacked = Attacked::start().await;
    let mut pings = opening();
    for _ in 0..100_000 {
        frame(&mut pings, PING, 0, 0, b"a flood!");
    }
    let mut held = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(attacked.ports[0]).await.expect("connected");
        drop(stream.write_all(&pings[..64 << 10]).await);
        drop(stream.try_write(&pings[64 << 10..]));
        held.push(stream);
    }
    attacked.is_well("pings without readers").await;
}
