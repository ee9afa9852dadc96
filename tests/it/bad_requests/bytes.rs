//! Bytes that are not HTTP, incomplete requests, and requests whose end is ambiguous.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Random, Session};
use crate::support::soon;

/// Sends these bytes, closes the sending side, and returns the answer. It is empty if coop resets
/// the connection.
async fn exchange(session: &Session, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(session.coop.address()).await.expect("connected");
    // Coop may close the connection before everything is sent.
    drop(stream.write_all(bytes).await);
    drop(stream.shutdown().await);
    let mut answer = Vec::new();
    drop(soon("the end", stream.read_to_end(&mut answer)).await);
    String::from_utf8_lossy(&answer).into_owned()
}

/// The statuses of all answers on one connection.
fn statuses(answer: &str) -> Vec<&str> {
    answer.match_indices("HTTP/1.").filter_map(|(at, _)| answer.get(at + 9..at + 12)).collect()
}

#[tokio::test]
async fn ambiguous_requests_are_refused() {
    let session = Session::start().await;
    let typed = "{\"text\":\"smuggled\",\"enter\":true}";
    let inner = format!(
        "POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{typed}",
        typed.len()
    );
    let head = "POST /api/v1/nothing HTTP/1.1\r\nhost: localhost\r\n";
    for (what, request) in [
        (
            "two lengths",
            format!("{head}content-length: 0\r\ncontent-length: {}\r\n\r\n{inner}", inner.len()),
        ),
        ("a list of lengths", format!("{head}content-length: 0, {}\r\n\r\n{inner}", inner.len())),
        ("a signed length", format!("{head}content-length: +{}\r\n\r\n{inner}", inner.len())),
        ("a negative length", format!("{head}content-length: -1\r\n\r\n{inner}")),
        ("an endless length", format!("{head}content-length: 99999999999999999999\r\n\r\n{inner}")),
        (
            "an unknown coding",
            format!("{head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{inner}"),
        ),
        ("a hidden coding", format!("{head}transfer-encoding : chunked\r\n\r\n0\r\n\r\n{inner}")),
        ("a broken chunk", format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n{inner}")),
        (
            "an endless chunk",
            format!("{head}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{inner}"),
        ),
        ("a folded header", format!("{head}x: a\r\n content-length: 0\r\n\r\n{inner}")),
        ("a bare return", format!("{head}x: a\rcontent-length: 5\r\n\r\n{inner}")),
        ("a null", format!("{head}x: a\0b\r\n\r\n{inner}")),
    ] {
        let answer = exchange(&session, request.as_bytes()).await;
        let statuses = statuses(&answer);
        assert!(!statuses.contains(&"200"), "{what}: {answer}");
        assert!(statuses.iter().all(|status| status.starts_with('4')), "{what}: {answer}");
    }
    // With a length and chunks, coop uses the chunks, and closes the connection after the answer.
    let both = format!(
        "{head}content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}",
        inner.len() + 5
    );
    let answer = exchange(&session, both.as_bytes()).await;
    assert!(!statuses(&answer).contains(&"200"), "both lengths: {answer}");
    session.is_unharmed().await;
}

#[tokio::test]
async fn bytes_that_are_not_http_are_refused() {
    let session = Session::start().await;
    for bytes in [
        &b"\0\0\0\0"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\nhost: a b\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
        b"GET http://evil.example/api/v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n",
        b"CONNECT localhost:22 HTTP/1.1\r\nhost: localhost:22\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x05\x01\x05\x00\x00\x00\x01\xff\xff\xff\xff\xff",
    ] {
        let answer = exchange(&session, bytes).await;
        let statuses = statuses(&answer);
        let refused = statuses.iter().all(|status| status.starts_with('4'));
        assert!(refused, "{}: {answer}", String::from_utf8_lossy(bytes));
    }
    let mut random = Random(0x5eed_0004);
    for _ in 0..200 {
        let bytes = random.bytes();
        let answer = exchange(&session, &bytes).await;
        assert!(
            statuses(&answer).iter().all(|status| status.starts_with('4')),
            "{bytes:?}: {answer}"
        );
    }
    session.is_unharmed().await;
}

#[tokio::test]
async fn incomplete_requests_do_no_harm() {
    let session = Session::start().await;
    let whole = b"POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\ncontent-length: 30\r\n\r\n{\"text\":\"half\",\"enter\":true}";
    let mut open = Vec::new();
    for length in 0..whole.len() {
        let mut stream = TcpStream::connect(session.coop.address()).await.expect("connected");
        stream.write_all(&whole[..length]).await.expect("sent");
        // Every other connection is closed; the others stay open and send no more.
        if length % 2 == 0 {
            open.push(stream);
        }
    }
    for length in [0, 40, 80, whole.len()] {
        let answer = exchange(&session, &whole[..length]).await;
        assert!(!statuses(&answer).contains(&"200"), "{length}: {answer}");
    }
    session.is_unharmed().await;
    drop(open);
}
