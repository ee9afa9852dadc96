//! What strangers do over TLS takes little memory, too, and a caller with the token is served
//! meanwhile: handshakes that stop half-way, connections that say nothing, and floods of calls.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::BytesMut;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::h2::{
    END_HEADERS, END_STREAM, GET, HEADERS, fields, flood_over, frame, opening,
};
use crate::support::{soon, until};

const TOKEN: &str = "a token of enough length";
/// The most memory that coop may ever have held, in KiB.
const MEMORY: u64 = 64 << 10;

/// A coop with a token and TLS, under attack.
struct Attacked {
    coop: Coop,
    ports: [SocketAddr; 2],
    /// Trusts the certificate of this coop.
    config: ClientConfig,
}

impl Attacked {
    async fn start() -> Self {
        // Both ends need a descriptor for each connection, and the usual soft limit is 1024.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("raised");
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("signed");
        let flags = ["--port", "0", "--grpc-port", "0", "--host", "127.0.0.1"];
        let tls = ["--auth-token", TOKEN, "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--"];
        let setup = Setup::new(flags.iter().chain(&tls).chain(&SHELL));
        setup.file("cert.pem", &signed.cert.pem(), 0o600);
        setup.file("key.pem", &signed.signing_key.serialize_pem(), 0o600);
        let mut roots = RootCertStore::empty();
        let pem = signed.cert.pem();
        roots
            .add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate"))
            .expect("a root");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let coop = setup.start().await;
        let ports = [coop.address(), coop.grpc.expect("a gRPC port")];
        Self { coop, ports, config }
    }

    /// A TLS connection for this protocol; `None` if coop ended it during the handshake.
    async fn connect(&self, port: SocketAddr, protocol: &str) -> Option<TlsStream<TcpStream>> {
        let mut config = self.config.clone();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(port).await.expect("connected");
        let connector = TlsConnector::from(Arc::new(config));
        soon("a handshake", connector.connect(name(), stream)).await.ok()
    }

    /// The caller with the token is served, and coop is small. Strangers that arrive from the same
    /// address while the caller's handshake runs can replace the caller, which then tries again.
    async fn is_well(&self, after: &str) {
        let answer = until("an answer", async || self.ask().await.ok()).await;
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{after}");
        let peak = self.coop.peak_memory();
        assert!(peak < MEMORY, "coop held {peak} KiB after {after}");
    }

    /// One request with the token, on a connection of its own.
    async fn ask(&self) -> io::Result<Vec<u8>> {
        let stream = self.connect(self.ports[0], "http/1.1").await;
        let mut stream = stream.ok_or(io::ErrorKind::ConnectionReset)?;
        let request = format!(
            "GET /api/v1/screen HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\
             connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        soon("an answer", stream.read_to_end(&mut answer)).await?;
        Ok(answer)
    }
}

fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").expect("a name")
}

#[tokio::test]
async fn handshakes_that_stop_take_little_memory() {
    let attacked = Attacked::start().await;
    let config = Arc::new(attacked.config.clone());
    let mut client = ClientConnection::new(config, name()).expect("a client");
    let mut hello = Vec::new();
    client.write_tls(&mut hello).expect("a first message");
    // A first message that announces 64 KiB, in the longest records there are.
    let mut long = [&[1, 0, 0xff, 0xff][..], &[0; 0xffff]].concat();
    long.truncate(0xffff);
    let long: Vec<u8> = long
        .chunks(16 << 10)
        .flat_map(|part| {
            let length = u16::try_from(part.len()).expect("a record").to_be_bytes();
            [&[22, 3, 1][..], &length, part].concat()
        })
        .collect();
    let mut held = Vec::new();
    for (what, bytes) in
        [("half a hello", &hello[..hello.len() / 2]), ("a hello", &hello), ("a long one", &long)]
    {
        for port in attacked.ports {
            for _ in 0..300 {
                let stream = TcpStream::connect(port).await.expect("connected");
                // As much as the kernel takes; coop may end the connection meanwhile.
                drop(stream.try_write(bytes));
                held.push(stream);
            }
        }
        attacked.is_well(what).await;
    }
}

#[tokio::test]
async fn idle_connections_and_floods_of_calls_take_little_memory() {
    let attacked = Attacked::start().await;
    let mut calls = opening();
    let get = fields(GET, "/api/v1/health");
    for number in 0..100 {
        frame(&mut calls, HEADERS, END_HEADERS | END_STREAM, number * 2 + 1, &get);
    }
    let mut idle = Vec::new();
    for port in attacked.ports {
        for _ in 0..90 {
            idle.extend(attacked.connect(port, "h2").await);
        }
    }
    attacked.is_well("idle connections").await;
    let mut floods: JoinSet<Option<TlsStream<TcpStream>>> = JoinSet::new();
    for stream in idle {
        floods.spawn(flood_over(stream, calls.clone()));
    }
    attacked.is_well("the beginning of a flood").await;
    let _held = floods.join_all().await;
    attacked.is_well("a flood of calls").await;
    // None of these reads an answer.
    let mut unread: Vec<TlsStream<TcpStream>> = Vec::new();
    let pages = pages();
    for port in attacked.ports {
        for _ in 0..60 {
            let Some(mut stream) = attacked.connect(port, "h2").await else { continue };
            drop(stream.write_all(&pages).await);
            unread.push(stream);
        }
    }
    attacked.is_well("answers that are not read").await;
}

/// Calls for the largest file of the page.
fn pages() -> BytesMut {
    let mut pages = opening();
    let page = fields(GET, "/page.js");
    for number in 0..100 {
        frame(&mut pages, HEADERS, END_HEADERS | END_STREAM, number * 2 + 1, &page);
    }
    pages
}
