//! HTTP/2 frames written and read by hand, for clients that no library would write.

use std::net::SocketAddr;

use bytes::{BufMut as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const CONTINUATION: u8 = 9;
pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

pub fn frame(out: &mut BytesMut, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.put_uint(payload.len() as u64, 3);
    out.put_slice(&[kind, flags]);
    out.put_u32(stream);
    out.put_slice(payload);
}

/// The beginning of every connection.
pub fn opening() -> BytesMut {
    let mut opening = BytesMut::from(PREFACE);
    frame(&mut opening, SETTINGS, 0, 0, &[]);
    opening
}

/// The header fields of a GET, or of a gRPC call.
pub fn fields(method: u8, path: &str) -> BytesMut {
    let mut fields = BytesMut::from(&[method, 0x86, 0x01, 9][..]);
    fields.put_slice(b"localhost");
    fields.put_slice(&[0x04, u8::try_from(path.len()).expect("short")]);
    fields.put_slice(path.as_bytes());
    if method == POST {
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            fields.put_u8(0);
            for text in [name, value] {
                fields.put_u8(u8::try_from(text.len()).expect("short"));
                fields.put_slice(text.as_bytes());
            }
        }
    }
    fields
}

/// The method as the first header field.
pub const GET: u8 = 0x82;
pub const POST: u8 = 0x83;

/// The kind, the stream and the payload of the next frame; `None` if the connection has ended.
pub async fn next_frame(stream: &mut TcpStream) -> Option<(u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.ok()?;
    Some((head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload))
}

/// The same, of a connection that is open.
pub async fn read_frame(stream: &mut TcpStream) -> (u8, u32, Vec<u8>) {
    next_frame(stream).await.expect("a frame")
}

/// Sends bytes on a new connection and waits until coop has read all of them, or ended the
/// connection. Returns the connection if it is open.
pub async fn flood(address: SocketAddr, bytes: BytesMut) -> Option<TcpStream> {
    flood_over(TcpStream::connect(address).await.ok()?, bytes).await
}

/// The same on an open connection.
pub async fn flood_over<S>(stream: S, bytes: BytesMut) -> Option<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut incoming, mut outgoing) = tokio::io::split(stream);
    let sending = async {
        let mut bytes = bytes;
        frame(&mut bytes, PING, 0, 0, b"all read");
        // coop may end the connection meanwhile.
        drop(outgoing.write_all(&bytes).await);
        outgoing
    };
    let reading = async {
        let mut head = [0; 9];
        loop {
            incoming.read_exact(&mut head).await.ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let mut payload = vec![0; length];
            incoming.read_exact(&mut payload).await.ok()?;
            if head[3] == PING && payload == b"all read" {
                return Some(incoming);
            }
        }
    };
    let (outgoing, incoming) = tokio::join!(sending, reading);
    Some(incoming?.unsplit(outgoing))
}
