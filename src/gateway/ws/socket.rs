//! The socket under the frames: its limits, and how it is closed so that the peer learns why.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::FusedStream as _;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::error::{Error as Broken, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use crate::error::{Code, Error};

/// The most bytes of one message, in one piece or in many.
pub const FRAME_LIMIT: u32 = 16 << 20;
/// What a client may send before it has shown its token.
const UNPROVEN_LIMIT: usize = 64 << 10;
/// How long a peer may take to answer a close.
const CLOSE_TIME: Duration = Duration::from_millis(250);
/// How much of an oversized message is read and dropped, and for how long: closing on a peer that
/// still sends would reset the connection under the reason.
const DRAIN_LIMIT: u64 = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);
/// Every connection has a read buffer of this size at all times.
const READ_BUFFER: usize = 16 << 10;

pub type Socket = WebSocketStream<Metered<TokioIo<Upgraded>>>;

/// A socket whose peer is still unproven.
pub async fn open(upgraded: Upgraded) -> Socket {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_frame_size(Some(FRAME_LIMIT as usize))
        .max_message_size(Some(FRAME_LIMIT as usize));
    let io = Metered { io: TokioIo::new(upgraded), allowance: Some(UNPROVEN_LIMIT) };
    WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await
}

/// How a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The peer has left.
    Gone,
    /// We close, and say why.
    Close { code: u16, reason: String },
}

impl End {
    fn close(code: u16, reason: impl Into<String>) -> Self {
        Self::Close { code, reason: reason.into() }
    }

    pub fn unauthorized() -> Self {
        Self::close(4401, "a valid token is needed")
    }

    /// Coop goes while the client is here.
    pub fn shutdown() -> Self {
        Self::close(CloseCode::Away.into(), Error::shutting_down().message)
    }

    /// The connection cannot begin at all.
    pub fn refused(error: &Error) -> Self {
        let code = match error.code {
            Code::NotReady => 4503,
            Code::Unauthorized => 4401,
            Code::TooLarge => CloseCode::Size.into(),
            Code::Forbidden => CloseCode::Policy.into(),
            Code::Exited
            | Code::WriterBusy
            | Code::BadRequest
            | Code::NotFound
            | Code::MethodNotAllowed
            | Code::NoDriver
            | Code::Unsupported
            | Code::AgentBusy
            | Code::NoPrompt
            | Code::StalePrompt
            | Code::SwitchInProgress
            | Code::Timeout
            | Code::Internal => CloseCode::Error.into(),
        };
        Self::close(code, error.message.as_str())
    }

    /// What the end of reading means.
    pub fn of_reading(error: &Broken) -> Self {
        match error {
            Broken::Capacity(_) => {
                Self::close(CloseCode::Size.into(), format!("a message has at most {FRAME_LIMIT} bytes"))
            }
            Broken::Utf8(_) => Self::close(CloseCode::Invalid.into(), "text is UTF-8"),
            Broken::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::Gone,
            Broken::Protocol(error) => Self::close(CloseCode::Protocol.into(), error.to_string()),
            Broken::Io(error) if error.kind() == io::ErrorKind::QuotaExceeded => Self::unauthorized(),
            Broken::Io(_)
            | Broken::ConnectionClosed
            | Broken::AlreadyClosed
            | Broken::Tls(_)
            | Broken::WriteBufferFull(_)
            | Broken::AttackAttempt
            | Broken::Url(_)
            | Broken::Http(_)
            | Broken::HttpFormat(_) => Self::Gone,
        }
    }
}

/// Ends the connection so that the peer can learn why.
pub async fn finish(mut socket: Socket, end: End) {
    let End::Close { code, reason } = end else { return };
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    let broken = socket.is_terminated();
    let farewell = async {
        socket.send(Message::Close(Some(frame))).await?;
        while let Some(message) = socket.next().await {
            message?;
        }
        Ok::<_, Broken>(())
    };
    // Whether the peer has answered or not: that it could is all it was owed.
    _ = timeout(CLOSE_TIME, farewell).await;
    if !broken {
        return;
    }
    // After a broken message nothing can be understood any more: what still comes is only taken
    // off the line.
    let io = socket.get_mut();
    io.allowance = None;
    let drained = async {
        io.shutdown().await?;
        tokio::io::copy(&mut io.take(DRAIN_LIMIT), &mut tokio::io::sink()).await
    };
    // However that went, the connection is over.
    _ = timeout(DRAIN_TIME, drained).await;
}

/// A stream of which only so many bytes can be read, until the limit is lifted.
pub struct Metered<S> {
    io: S,
    allowance: Option<usize>,
}

impl<S> Metered<S> {
    pub fn lift_limit(&mut self) {
        self.allowance = None;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.allowance == Some(0) {
            return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(cx, buf);
        let read = buf.filled().len() - before;
        self.allowance = self.allowance.map(|left| left.saturating_sub(read));
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
