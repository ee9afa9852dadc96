//! TLS on the TCP ports, and client certificates instead of tokens. The tests create the
//! certificates, so that none expires.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use coop_client::{Client, ConnectError, Credentials, Target, connect, v1};
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, SanType,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::Code;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::grpc::Grpc;
use crate::support::http::Http;
use crate::support::session::{event, refusal};
use crate::support::{soon, until};

/// A certificate authority.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key, as PEM.
struct Identity {
    cert: String,
    key: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let pem = params.self_signed(&key).expect("signed").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    fn server(&self) -> Identity {
        self.issue(ExtendedKeyUsagePurpose::ServerAuth)
    }

    fn client(&self) -> Identity {
        self.issue(ExtendedKeyUsagePurpose::ClientAuth)
    }

    /// A client certificate with this common name.
    fn client_named(&self, name: Option<&str>) -> Identity {
        let mut subject = DistinguishedName::new();
        if let Some(name) = name {
            subject.push(DnType::CommonName, name);
        }
        self.issue_to(Some(subject), ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue(&self, usage: ExtendedKeyUsagePurpose) -> Identity {
        self.issue_to(None, usage)
    }

    fn issue_to(
        &self,
        subject: Option<DistinguishedName>,
        usage: ExtendedKeyUsagePurpose,
    ) -> Identity {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
        params.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        params.distinguished_name = subject.unwrap_or(params.distinguished_name);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().expect("a key");
        let cert = params.signed_by(&key, &self.issuer).expect("signed").pem();
        Identity { cert, key: key.serialize_pem() }
    }
}

fn write(home: &Path, name: &str, text: &str) {
    std::fs::write(home.join(name), text).expect("written");
}

const TLS: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

/// A coop with a certificate of this authority, and more flags.
async fn serve(authority: &Authority, flags: &[&str]) -> Coop {
    let args: Vec<_> =
        ["--port", "0"].iter().chain(&TLS).chain(flags).chain(&["--"]).chain(&SHELL).collect();
    let setup = Setup::new(args);
    let identity = authority.server();
    write(setup.home(), "cert.pem", &identity.cert);
    write(setup.home(), "key.pem", &identity.key);
    write(setup.home(), "ca.pem", &authority.pem);
    setup.start().await
}

fn local(coop: &Coop) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), coop.address().port())
}

/// A TLS connection that trusts this authority, with a client certificate if there is one.
async fn connect_tls(
    address: SocketAddr,
    authority: &Authority,
    identity: Option<&Identity>,
    protocol: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).expect("PEM"))
        .expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(identity) => {
            let cert = CertificateDer::from_pem_slice(identity.cert.as_bytes()).expect("PEM");
            let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("PEM");
            config.with_client_auth_cert(vec![cert], key).expect("an identity")
        }
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").expect("a name");
    let stream =
        soon("a handshake", TlsConnector::from(Arc::new(config)).connect(name, stream)).await?;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol), "the protocol is agreed on");
    Ok(stream)
}

/// One request over HTTP/1.1 and TLS.
async fn get(
    stream: TlsStream<TcpStream>,
    path: &str,
    token: Option<&str>,
) -> std::io::Result<(u16, Value)> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(std::io::Error::other)?;
    tokio::spawn(connection);
    let mut request = http::Request::get(path).header("host", "localhost");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).expect("a request");
    let response =
        soon("an answer", sender.send_request(request)).await.map_err(std::io::Error::other)?;
    let status = response.status().as_u16();
    let body = soon("a body", response.into_body().collect())
        .await
        .map_err(std::io::Error::other)?
        .to_bytes();
    Ok((status, serde_json::from_slice(&body).expect("JSON")))
}

async fn client(
    address: SocketAddr,
    authority: &Authority,
    identity: Option<&Identity>,
    token: Option<&str>,
) -> Result<Client, ConnectError> {
    let target = Target::parse(&format!("https://{address}")).expect("a target");
    let credentials = Credentials {
        ca: Some(authority.pem.clone().into_bytes()),
        identity: identity.map(|identity| {
            (identity.cert.clone().into_bytes(), identity.key.clone().into_bytes())
        }),
        token: token.map(str::to_owned),
        ..Credentials::default()
    };
    soon("a connection", connect(&target, credentials)).await
}

async fn status(client: &mut Client) -> Result<v1::GetStatusResponse, tonic::Status> {
    client.get_status(v1::GetStatusRequest {}).await.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn every_protocol_is_served_over_tls() {
    let authority = Authority::new();
    let coop = serve(&authority, &["--grpc-port", "0", "--health-port", "0"]).await;
    let address = local(&coop);
    let stream = connect_tls(address, &authority, None, b"http/1.1").await.expect("TLS");
    assert_eq!(get(stream, "/api/v1/status", None).await.expect("an answer").0, 200);
    let grpc_port = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), coop.grpc.expect("a port").port());
    for address in [address, grpc_port] {
        let mut client = client(address, &authority, None, None).await.expect("connected");
        assert_eq!(status(&mut client).await.expect("a status").state, "running");
    }
    let stream = connect_tls(address, &authority, None, b"http/1.1").await.expect("TLS");
    let request = format!("ws://{address}/ws?mode=state");
    let (mut socket, _) =
        soon("an upgrade", Box::pin(tokio_tungstenite::client_async(request, stream)))
            .await
            .expect("upgraded");
    let first = soon("a frame", futures_util::StreamExt::next(&mut socket))
        .await
        .expect("a frame")
        .expect("a frame");
    assert!(first.into_text().expect("text").contains("\"state\""));

    let port = coop.health.expect("a port").port();
    let health = Http::tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    assert_eq!(health.get("/health").await.status, 200, "the health port has no TLS");
    let private = Http::unix(coop.private_socket());
    assert_eq!(private.get("/api/v1/status").await.status, 200, "a Unix socket has no TLS");
    let url = private.get("/api/v1/env/COOP_URL").await.json()["value"].clone();
    assert_eq!(url, json!(format!("https://127.0.0.1:{}", address.port())));
}

#[tokio::test]
async fn a_client_with_another_authority_or_without_tls_gets_nothing() {
    let authority = Authority::new();
    let coop = serve(&authority, &["--auth-token", "t0ken"]).await;
    let address = local(&coop);
    let other_authority = Authority::new();
    assert!(
        connect_tls(address, &other_authority, None, b"http/1.1").await.is_err(),
        "another authority"
    );
    assert!(
        client(address, &other_authority, None, Some("t0ken")).await.is_err(),
        "another authority"
    );

    let garbage: [&[u8]; 6] = [
        b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\xff\xff\x01\xff\xff\xff",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x00\x00\x00\x00\x00\x00",
        &[0xff; 70_000],
    ];
    let mut open = Vec::new();
    for bytes in garbage {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        drop(stream.write_all(bytes).await);
        drop(stream.shutdown().await);
        let mut answer = Vec::new();
        drop(soon("the end", stream.read_to_end(&mut answer)).await);
        assert!(!answer.starts_with(b"HTTP"), "{:?}", String::from_utf8_lossy(&answer));
        // A connection that stays open after three bytes.
        let mut half = TcpStream::connect(address).await.expect("connected");
        half.write_all(&bytes[..3]).await.expect("sent");
        open.push(half);
    }
    let mut client = client(address, &authority, None, Some("t0ken")).await.expect("connected");
    assert_eq!(status(&mut client).await.expect("a status").generation, 1);
    drop(open);
}

#[tokio::test]
async fn a_token_is_needed_over_tls_too() {
    let authority = Authority::new();
    let coop = serve(&authority, &["--auth-token", "t0ken"]).await;
    let address = local(&coop);
    for (token, expected) in [(None, 401), (Some("wrong"), 401), (Some("t0ken"), 200)] {
        let stream = connect_tls(address, &authority, None, b"http/1.1").await.expect("TLS");
        assert_eq!(
            get(stream, "/api/v1/status", token).await.expect("an answer").0,
            expected,
            "{token:?}"
        );
    }
    let mut anonymous = client(address, &authority, None, None).await.expect("connected");
    let refused = status(&mut anonymous).await.expect_err("no token");
    assert_eq!(
        (refused.code(), refusal(&refused).code.as_str()),
        (Code::Unauthenticated, "UNAUTHORIZED")
    );
    // Without --tls-client-ca a client certificate is ignored.
    let certificate = authority.client();
    let stream =
        connect_tls(address, &authority, Some(&certificate), b"http/1.1").await.expect("TLS");
    assert_eq!(get(stream, "/api/v1/status", None).await.expect("an answer").0, 401);
}

#[tokio::test]
async fn a_client_certificate_replaces_a_token() {
    let authority = Authority::new();
    let coop = serve(&authority, &["--tls-client-ca", "ca.pem"]).await;
    assert!(
        coop.address().ip().is_unspecified(),
        "with --tls-client-ca coop listens on all addresses"
    );
    let address = local(&coop);
    let certificate = authority.client();
    let stream =
        connect_tls(address, &authority, Some(&certificate), b"http/1.1").await.expect("TLS");
    assert_eq!(
        get(stream, "/api/v1/env", None).await.expect("an answer").0,
        200,
        "a client certificate has the scope admin"
    );
    let mut known = client(address, &authority, Some(&certificate), None).await.expect("connected");
    status(&mut known).await.expect("a status");
    let answer = known.get_env(v1::GetEnvRequest::default()).await.expect("admin");
    assert!(!answer.into_inner().vars.is_empty());

    for (path, expected) in [("/api/v1/status", 401), ("/api/v1/env", 401), ("/api/v1/health", 200)]
    {
        let stream = connect_tls(address, &authority, None, b"http/1.1").await.expect("TLS");
        let (status, body) = get(stream, path, None).await.expect("an answer");
        assert_eq!(status, expected, "{path} without a certificate: {body}");
    }
    let stream = connect_tls(address, &authority, None, b"http/1.1").await.expect("TLS");
    assert_eq!(
        get(stream, "/api/v1/status", Some("any")).await.expect("an answer").0,
        401,
        "there is no token"
    );
    let mut anonymous = client(address, &authority, None, None).await.expect("connected");
    assert_eq!(
        status(&mut anonymous).await.expect_err("neither token nor certificate").code(),
        Code::Unauthenticated
    );
    let mut anonymous = client(address, &authority, None, Some("any")).await.expect("connected");
    assert_eq!(
        status(&mut anonymous).await.expect_err("an unknown token").code(),
        Code::Unauthenticated
    );
    let owner = Http::unix(coop.private_socket());
    assert_eq!(
        owner.get("/api/v1/status").await.status,
        200,
        "the private socket needs no certificate"
    );
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let authority = Authority::new();
    let coop = serve(&authority, &["--tls-client-ca", "ca.pem", "--auth-token", "t0ken"]).await;
    let address = local(&coop);
    let other_authority = Authority::new();
    // A certificate of another authority is refused, and so is a certificate for servers.
    for identity in [other_authority.client(), authority.server()] {
        // With TLS 1.3 the client's handshake ends before the server checks the certificate. The
        // client gets the error when it reads.
        let answer = match connect_tls(address, &authority, Some(&identity), b"http/1.1").await {
            Ok(stream) => get(stream, "/api/v1/health", Some("t0ken")).await,
            Err(error) => Err(error),
        };
        assert!(answer.is_err(), "{answer:?}");
    }
    let stream = connect_tls(address, &authority, None, b"http/1.1").await.expect("TLS");
    assert_eq!(
        get(stream, "/api/v1/status", Some("t0ken")).await.expect("an answer").0,
        200,
        "a token is enough, without a certificate"
    );
    let certificate = authority.client();
    let grpc =
        Grpc::over(connect_tls(address, &authority, Some(&certificate), b"h2").await.expect("TLS"))
            .await;
    grpc.call("/coop.v1.Coop/GetStatus", b"")
        .await
        .expect("a certificate is enough, without a token");
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused() {
    let authority = Authority::new();
    let (one, other) = (authority.server(), authority.server());
    let broken =
        "-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";
    let all: &[&str] =
        &["--tls-cert", "cert.pem", "--tls-key", "key.pem", "--tls-client-ca", "ca.pem"];
    let files = [
        ("cert.pem", one.cert.as_str()),
        ("key.pem", one.key.as_str()),
        ("ca.pem", authority.pem.as_str()),
    ];
    let cases: [(&[&str], &str, Option<&str>, &str); 13] = [
        (&all[..4], "cert.pem", None, "cert.pem"),
        (&all[..4], "cert.pem", Some(""), "cert.pem"),
        (&all[..4], "cert.pem", Some("certainly"), "cert.pem"),
        (&all[..4], "cert.pem", Some(broken), "certificate"),
        (&all[..4], "cert.pem", Some(&one.key), "cert.pem"),
        (&all[..4], "key.pem", None, "key.pem"),
        (&all[..4], "key.pem", Some(""), "key.pem"),
        (&all[..4], "key.pem", Some(&one.cert), "key.pem"),
        (&all[..4], "key.pem", Some(&other.key), "key"),
        (all, "ca.pem", None, "ca.pem"),
        (all, "ca.pem", Some("-----BEGIN"), "ca.pem"),
        (all, "ca.pem", Some(broken), "ca.pem"),
        (&all[..2], "cert.pem", Some(&one.cert), "--tls-key"),
    ];
    for (flags, file, content, says) in cases {
        let setup = Setup::new(["--port", "0"].iter().chain(flags).chain(&["--", "cat"]));
        for (name, text) in files {
            write(setup.home(), name, text);
        }
        match content {
            Some(text) => write(setup.home(), file, text),
            None => std::fs::remove_file(setup.home().join(file)).expect("removed"),
        }
        let (status, stderr) = setup.fail().await;
        assert_eq!(status.code(), Some(64), "{file} {content:?}: {stderr}");
        assert!(
            stderr.starts_with("coop: ") && stderr.contains(says),
            "{file} {content:?}: {stderr}"
        );
        assert!(!stderr.contains("PRIVATE"), "{stderr}");
    }
}

#[tokio::test]
async fn a_certificate_is_limited_to_the_scope_of_its_name() {
    let authority = Authority::new();
    let flags = ["--tls-client-ca", "ca.pem", "--auth-token", "t0ken"];
    let scopes = ["--tls-client-scope", "viewer=read,typist=write"];
    let coop = serve(&authority, &[&flags[..], &scopes].concat()).await;
    let address = local(&coop);
    let mut sizes = 90..;
    let mut log = client(address, &authority, None, Some("t0ken"))
        .await
        .expect("connected")
        .stream_events(v1::StreamEventsRequest::default())
        .await
        .expect("events")
        .into_inner();
    for (name, token, may_write, may_all, by) in [
        (Some("viewer"), None, false, false, ""),
        (Some("typist"), None, true, false, "cert:typist"),
        (Some("chief"), None, true, true, "cert:chief"),
        (Some("a\nb"), None, true, true, "cert:a\u{fffd}b"),
        (None, None, true, true, "cert"),
        // A token with a wider scope than the certificate's counts instead.
        (Some("viewer"), Some("t0ken"), true, true, "token"),
        (Some("viewer"), Some("wrong"), false, false, ""),
    ] {
        let certificate = authority.client_named(name);
        let mut client =
            client(address, &authority, Some(&certificate), token).await.expect("connected");
        status(&mut client).await.expect("every certificate may read");
        let size = v1::ResizeRequest { cols: sizes.next().expect("a size"), rows: 30 };
        let resized = client.resize(size).await;
        let env = client.get_env(v1::GetEnvRequest::default()).await;
        assert_eq!((resized.is_ok(), env.is_ok()), (may_write, may_all), "{name:?} {token:?}");
        match resized {
            Ok(_) => assert_eq!(event(&mut log, "resize").await.by.as_deref(), Some(by)),
            Err(status) => {
                assert_eq!(refusal(&status).code, "FORBIDDEN");
                assert!(status.message().contains("cert:viewer"), "{status}");
            }
        }
    }
}

#[tokio::test]
async fn a_bad_scope_of_a_certificate_is_wrong_usage() {
    let ca = ["--tls-client-ca", "ca.pem"];
    for (flags, says) in [
        (&["--tls-client-scope", "viewer=root"][..], "\"root\" is not a scope"),
        (&["--tls-client-scope", "viewer"], "CN=scope"),
        (&["--tls-client-scope", "a=read", "--tls-client-scope", "a=write"], "\"a\""),
    ] {
        let args = ["--port", "0"].iter().chain(&TLS).chain(&ca).chain(flags).chain(&["--", "cat"]);
        let (status, stderr) = Setup::new(args).fail().await;
        assert_eq!(status.code(), Some(64), "{stderr}");
        assert!(stderr.contains("--tls-client-scope") && stderr.contains(says), "{stderr}");
    }
    let args = ["--port", "0"].iter().chain(&TLS).chain(&ca).chain(&["--", "cat"]);
    let by_variable = Setup::new(args).env("COOP_TLS_CLIENT_SCOPE", "a=read,b=root");
    let (status, stderr) = by_variable.fail().await;
    assert_eq!(status.code(), Some(64), "{stderr}");
    assert!(stderr.contains("b=root"), "{stderr}");
    let without_authority = ["--port", "0", "--tls-client-scope", "a=read", "--", "cat"];
    let (status, stderr) = Setup::new(without_authority).fail().await;
    assert_eq!(status.code(), Some(64), "{stderr}");
    assert!(stderr.contains("needs --tls-client-ca"), "{stderr}");
}

#[tokio::test]
async fn new_certificates_count_from_the_next_connection_on() {
    let (authority, next) = (Authority::new(), Authority::new());
    let coop = serve(&authority, &["--tls-client-ca", "ca.pem"]).await;
    let address = local(&coop);
    let certificate = authority.client_named(Some("ada"));
    let mut open = client(address, &authority, Some(&certificate), None).await.expect("connected");
    status(&mut open).await.expect("a status");

    // A key that is not the certificate's changes nothing.
    let home = coop.home.path();
    let identity = next.server();
    write(home, "key.pem", &identity.key);
    let stream = connect_tls(address, &authority, Some(&certificate), b"http/1.1").await;
    stream.expect("the certificate from before");

    write(home, "cert.pem", &identity.cert);
    write(home, "ca.pem", &next.pem);
    let renewed = next.client_named(Some("eve"));
    until("the new certificate", async || {
        let stream = connect_tls(address, &next, Some(&renewed), b"http/1.1").await.ok()?;
        let (status, _) = get(stream, "/api/v1/status", None).await.ok()?;
        (status == 200).then_some(())
    })
    .await;
    assert!(connect_tls(address, &authority, None, b"http/1.1").await.is_err(), "the old one");
    let old = async {
        let stream = connect_tls(address, &next, Some(&certificate), b"http/1.1").await?;
        get(stream, "/api/v1/status", None).await
    };
    assert!(old.await.is_err(), "the old client authority is not trusted any more");
    status(&mut open).await.expect("an open connection goes on");
}
