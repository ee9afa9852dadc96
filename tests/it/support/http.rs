//! A client for HTTP/1.1 over TCP or a Unix socket.

use std::net::SocketAddr;
use std::path::PathBuf;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpStream, UnixStream};

use super::soon;

/// The address of coop, and the headers of each request.
#[derive(Clone)]
pub struct Http {
    address: Address,
    headers: Vec<(String, String)>,
}

#[derive(Clone)]
enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A whole response.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The code of an error. Checks that the body has the form of every error.
    pub fn code(&self) -> String {
        let body = self.json();
        assert_eq!(body["code"], body["error"]["code"], "{body}");
        assert_eq!(body["message"], body["error"]["message"], "{body}");
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
        body["code"].as_str().expect("a code").to_owned()
    }
}

impl Http {
    pub fn tcp(address: SocketAddr) -> Self {
        Self { address: Address::Tcp(address), headers: Vec::new() }
    }

    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self { address: Address::Unix(path.into()), headers: Vec::new() }
    }

    /// The same client with one more header; `host` replaces the default one.
    #[must_use]
    pub fn header(&self, name: &str, value: &str) -> Self {
        let mut with = self.clone();
        with.headers.push((name.to_owned(), value.to_owned()));
        with
    }

    #[must_use]
    pub fn token(&self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, Bytes::new()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, body.to_string().into()).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.call(Method::PUT, path, body.to_string().into()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, Bytes::new()).await
    }

    pub async fn call(&self, method: Method, path: &str, body: Bytes) -> Answer {
        let response = self.open(method, path, body).await;
        let (parts, body) = response.into_parts();
        let body = soon("the body", body.collect()).await.expect("a whole body").to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Sends a request and returns the response without reading its body, for streams.
    pub async fn open(&self, method: Method, path: &str, body: Bytes) -> Response<Incoming> {
        let mut request = Request::builder().method(method).uri(path);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            request = request.header("host", "localhost");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).expect("a request");
        match &self.address {
            Address::Tcp(address) => {
                send(TcpStream::connect(address).await.expect("connected"), request).await
            }
            Address::Unix(path) => {
                send(UnixStream::connect(path).await.expect("connected"), request).await
            }
        }
    }
}

async fn send<S>(stream: S, request: Request<Full<Bytes>>) -> Response<Incoming>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a connection");
    tokio::spawn(connection);
    soon("a response", sender.send_request(request)).await.expect("a response")
}
