//! gRPC and grpc-web clients that send any bytes, for requests that no correct client sends.

use std::net::SocketAddr;
use std::path::Path;

use base64::Engine as _;
use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tonic::{Code, Status};

use super::http::{Answer, Http};
use super::soon;

/// A message that no protobuf parser accepts.
pub const UNREADABLE: &[u8] = &[0x07];

/// One HTTP/2 connection.
#[derive(Clone)]
pub struct Grpc {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    headers: HeaderMap,
}

impl Grpc {
    pub async fn tcp(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("connected");
        stream.set_nodelay(true).expect("set");
        Self::over(stream).await
    }

    pub async fn unix(path: &Path) -> Self {
        Self::over(UnixStream::connect(path).await.expect("connected")).await
    }

    pub async fn over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) -> Self {
        let (sender, connection) =
            soon("HTTP/2", handshake(TokioExecutor::new(), TokioIo::new(stream)))
                .await
                .expect("HTTP/2");
        tokio::spawn(connection);
        Self { sender, authority: "localhost".to_owned(), headers: HeaderMap::new() }
    }

    /// The same connection, with one more header on every call.
    #[must_use]
    pub fn header(&self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let mut with = self.clone();
        let name = HeaderName::try_from(name).expect("a header name");
        with.headers.append(name, HeaderValue::from_bytes(value.as_ref()).expect("a header value"));
        with
    }

    #[must_use]
    pub fn token(&self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// The same connection, calling the server by another name.
    #[must_use]
    pub fn authority(&self, authority: &str) -> Self {
        Self { authority: authority.to_owned(), ..self.clone() }
    }

    /// Calls with one message; returns the first bytes of the response, or the error.
    pub async fn call(&self, path: &str, message: &[u8]) -> Result<Bytes, Status> {
        self.send(path, framed(message)).await
    }

    /// Calls with this body; returns the first bytes of the response, or the error.
    pub async fn send(&self, path: &str, body: Bytes) -> Result<Bytes, Status> {
        let mut answer = self.open(path, body).await?;
        next(&mut answer).await.map(Option::unwrap_or_default)
    }

    /// Calls with this body, reads the whole response, and returns its status.
    pub async fn end(&self, path: &str, body: Bytes) -> Result<(), Status> {
        let mut answer = self.open(path, body).await?;
        while next(&mut answer).await?.is_some() {}
        Ok(())
    }

    /// Calls with this body; returns the body of the response, or the error in its headers.
    pub async fn open(&self, path: &str, body: Bytes) -> Result<Incoming, Status> {
        let uri = format!("http://{}{path}", self.authority);
        let mut request = Request::post(uri).body(Full::new(body)).expect("a request");
        request.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
        request.headers_mut().extend(self.headers.clone());
        let mut sender = self.sender.clone();
        let response = soon("a response", sender.send_request(request)).await.expect("a response");
        assert_eq!(response.status(), 200, "{path}: gRPC has its errors in grpc-status");
        match Status::from_header_map(response.headers()) {
            Some(status) => Err(status),
            None => Ok(response.into_body()),
        }
    }
}

/// The next bytes of a response; `None` if it ended without an error.
async fn next(answer: &mut Incoming) -> Result<Option<Bytes>, Status> {
    let Some(frame) = soon("a frame", answer.frame()).await else { return Ok(None) };
    match frame.expect("a frame").into_data() {
        Ok(data) => Ok(Some(data)),
        Err(frame) => {
            let trailers = frame.into_trailers().expect("trailers");
            let status = Status::from_header_map(&trailers).expect("a status");
            if status.code() == Code::Ok { Ok(None) } else { Err(status) }
        }
    }
}

/// A message with its length before it.
pub fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("a length"));
    frame.put_slice(message);
    frame.freeze()
}

/// A grpc-web call with one message.
pub async fn web(http: &Http, path: &str, message: &[u8]) -> Status {
    let http = http.header("content-type", "application/grpc-web+proto").header("x-grpc-web", "1");
    web_status(&http.call(http::Method::POST, path, framed(message)).await)
}

/// The status of a grpc-web response, from its headers or from the frame of trailers at its end.
pub fn web_status(answer: &Answer) -> Status {
    assert_eq!(answer.status, 200, "{}", answer.text());
    if let Some(status) = Status::from_header_map(&answer.headers) {
        return status;
    }
    let kind = answer.headers["content-type"].to_str().expect("text");
    let mut body = match kind.starts_with("application/grpc-web-text") {
        true => {
            base64::engine::general_purpose::STANDARD.decode(&answer.body).expect("base64").into()
        }
        false => answer.body.clone(),
    };
    loop {
        assert!(body.len() >= 5, "no trailers in {:?}", answer.text());
        let flag = body[0];
        let length = u32::from_be_bytes(body[1..5].try_into().expect("four bytes")) as usize;
        let mut frame = body.split_to(5 + length);
        if flag & 0x80 != 0 {
            return trailers(&frame.split_off(5));
        }
    }
}

fn trailers(text: &[u8]) -> Status {
    let text = String::from_utf8_lossy(text);
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    let headers = pairs.map(|(name, value)| {
        (
            name.trim().parse::<HeaderName>().expect("a name"),
            value.trim().parse::<HeaderValue>().expect("a value"),
        )
    });
    Status::from_header_map(&headers.collect()).expect("a status")
}
