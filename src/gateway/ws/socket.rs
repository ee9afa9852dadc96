//! The socket below the frames: its limits, and closing it so that the peer receives the reason.

use std::io;
use std::time::Duration;

use coop_client::MESSAGE_LIMIT;
use futures_util::stream::FusedStream as _;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::error::{Error as Broken, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use super::super::intake::Intake;
use super::frame_meter::{BAD_GATEWAY, FrameMeter};
use crate::error::{Code, Error};
use crate::service::wire;

/// How long to wait for the peer's close frame.
const CLOSE_TIME: Duration = Duration::from_millis(250);
/// How much of an oversized message is read and dropped, and for how long. Closing while the peer
/// still sends would reset the connection before the peer reads the reason.
const DRAIN_LIMIT: u64 = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);
/// The read buffer that every connection keeps.
const READ_BUFFER: usize = 16 << 10;

pub(super) type Socket = WebSocketStream<FrameMeter<TokioIo<Upgraded>>>;

/// The limits of every socket.
pub(super) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_frame_size(Some(MESSAGE_LIMIT))
        .max_message_size(Some(MESSAGE_LIMIT))
}

/// A socket whose peer is not authenticated yet.
pub(super) async fn open(upgraded: Upgraded, intake: Intake) -> Socket {
    let io = FrameMeter::new(TokioIo::new(upgraded), intake);
    WebSocketStream::from_raw_socket(io, Role::Server, Some(config())).await
}

/// How a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The peer has disconnected.
    Gone,
    /// coop closes the connection and sends the reason.
    Close { code: u16, reason: String },
}

impl End {
    fn close(code: u16, reason: impl Into<String>) -> Self {
        Self::Close { code, reason: reason.into() }
    }

    /// The client's token is missing, wrong or late.
    pub(super) fn unauthorized() -> Self {
        Self::close(wire(Code::Unauthorized).close, "a valid token is needed")
    }

    /// coop shuts down while the client is connected.
    pub(super) fn shutdown() -> Self {
        Self::close(CloseCode::Away.into(), Error::shutting_down().message)
    }

    /// The connection ends because of an error.
    pub(super) fn error(error: &Error) -> Self {
        Self::close(wire(error.code).close, error.message.as_str())
    }

    /// The end that follows from a read error.
    pub(super) fn read_error(error: &Broken) -> Self {
        match error {
            Broken::Capacity(_) => Self::close(
                CloseCode::Size.into(),
                format!("a message has at most {MESSAGE_LIMIT} bytes"),
            ),
            Broken::Utf8(_) => Self::close(CloseCode::Invalid.into(), "text frames must be UTF-8"),
            Broken::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::Gone,
            Broken::Protocol(error) => Self::close(CloseCode::Protocol.into(), error.to_string()),
            Broken::Io(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
                Self::unauthorized()
            }
            Broken::Io(error) if error.kind() == io::ErrorKind::ConnectionAborted => {
                Self::close(BAD_GATEWAY, "")
            }
            Broken::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Self::close(CloseCode::Size.into(), error.to_string())
            }
            Broken::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
                Self::error(&Error::new(Code::Timeout, "the rest of a message did not come"))
            }
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

/// Closes the connection so that the peer can read the reason.
pub(super) async fn finish(mut socket: Socket, end: End) {
    let End::Close { code, reason } = end else { return };
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    let broken = socket.is_terminated();
    let closed = async {
        socket.send(Message::Close(Some(frame))).await?;
        while let Some(message) = socket.next().await {
            message?;
        }
        Ok::<_, Broken>(())
    };
    // The peer may not answer in time; the connection ends either way.
    _ = timeout(CLOSE_TIME, closed).await;
    if !broken {
        return;
    }
    // After a broken message frames cannot be parsed: the remaining bytes are read and dropped.
    let io = socket.get_mut();
    io.stop_metering();
    let drained = async {
        io.shutdown().await?;
        tokio::io::copy(&mut io.take(DRAIN_LIMIT), &mut tokio::io::sink()).await
    };
    // The connection ends whether or not this succeeded.
    _ = timeout(DRAIN_TIME, drained).await;
}
