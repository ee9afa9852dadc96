//! Every limit of the servers, with its reason: what one caller, one connection and all of them
//! together may use. It decides nothing; `docs/limits.md` is its table.

use std::time::Duration;

/// How many connections one listener may have at once. Each listener has its own slots, so that
/// clients that fill one port do not block the health port or the Unix sockets.
pub(super) const CONNECTIONS: usize = 2048;
/// How many descriptors connections leave free: for the terminal, the agent's files, the scan of
/// processes at the end, and connections that are being refused.
pub(super) const DESCRIPTOR_RESERVE: usize = 128;
/// How many connections are told at once that no slot is free. Those beyond are closed unanswered.
pub(super) const REFUSALS: usize = 32;
/// How many calls and streams one HTTP/2 connection may have open.
pub(super) const STREAMS: u32 = 256;
/// How much one HTTP/2 stream may buffer for a slow reader.
pub(super) const SEND_BUFFER: usize = 16 << 10;
/// How long a TLS handshake may take.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take until its protocol is known. The limits of that protocol apply after
/// that.
pub(super) const OPENING: Duration = Duration::from_secs(10);
/// How long an HTTP/1.1 client may take to send the headers of its next request.
pub(super) const HEADERS: Duration = Duration::from_secs(60);
/// How often a silent HTTP/2 peer is pinged, and how long it may take to answer.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The pause after a failed accept, for example when no descriptor is left.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How many WebSockets may wait for their token at once.
pub(super) const WAITING_SOCKETS: usize = 64;
/// How much is read at most after the response to a request that was not read whole, and for how
/// long.
pub(super) const LINGER_BYTES: usize = 64 << 20;
pub(super) const LINGER_TIME: Duration = Duration::from_secs(5);

// Where a token is configured, a connection that has shown none is a stranger's.

/// How many connections of strangers there may be, over all listeners but the health port, which
/// has as many of its own. A new one replaces the oldest, if possible one without open calls.
pub(super) const STRANGERS: usize = 256;
/// How many of them one source address may have. It is more than the sockets that wait for their
/// token, so that these get their own error.
pub(super) const STRANGERS_PER_SOURCE: usize = 128;
/// How many connections that were replaced may still be ending. Beyond that none is accepted until
/// one has ended, so that a flood of new ones is not faster than what frees their memory. It is
/// more than the sockets that wait for their token, which are not ended early.
pub(super) const STRANGERS_ENDING: usize = 96;
/// How many calls a stranger's connection may have open.
pub(super) const STRANGER_CALLS: usize = 8;
/// Beyond how many open calls, which are being refused, nothing more is read from it.
pub(super) const STRANGER_EXCESS: usize = 16;
/// The largest body of a call that needs no token: such a request is empty or a short name.
pub(super) const EXEMPT_BODY: usize = 4 << 10;
/// The largest message of the health service, which is the name of a service.
pub(super) const HEALTH_MESSAGE: usize = 1 << 10;
/// How many health streams strangers may hold open on the health port, where they need no token:
/// half of its connections, so that probes find a slot.
pub(super) const STRANGER_WATCHES: usize = 128;
/// The windows of an HTTP/2 connection and of each of its streams, where a token is configured.
pub(super) const STRANGER_WINDOW: u32 = 64 << 10;
/// The most bytes of a request's headers, where a token is configured.
pub(super) const STRANGER_HEADERS: u32 = 16 << 10;
/// How many bytes of a stranger are read at once: a few requests.
pub(super) const STRANGER_READ: usize = 256;
/// How many bytes of a stranger are read without a pause: its first request, with its token.
pub(super) const STRANGER_OPENING: usize = 1 << 10;
/// The pause after each read beyond that.
pub(super) const STRANGER_PAUSE: Duration = Duration::from_millis(1);
/// How long a stranger's connection may have no call open.
pub(super) const STRANGER_IDLE: Duration = Duration::from_secs(10);
/// How long a stranger's call protects its connection, for example while a page is loaded over a
/// slow line. A client that does not read would hold it for ever.
pub(super) const STRANGER_CALL_TIME: Duration = Duration::from_secs(30);
/// How long a connection that is told to end may take for it.
pub(super) const GOODBYE: Duration = Duration::from_secs(2);
/// How much is read after the response to a stranger: the largest message, so that a caller that
/// forgot its token is told so.
pub(super) const STRANGER_LINGER_BYTES: usize = 17 << 20;

/// How many wrong tokens a source address may show in a burst before it is slowed down.
pub(super) const FREE_FAILURES: u32 = 16;
/// The time between two answers to wrong tokens of one source, after that.
pub(super) const FAILURE_INTERVAL: Duration = Duration::from_millis(20);
/// The longest delay of one such answer.
pub(super) const FAILURE_DELAY: Duration = Duration::from_secs(2);
/// How long a burst of wrong tokens lasts. It has one line in the log.
pub(super) const FAILURE_BURST: Duration = Duration::from_secs(60);
/// How many source addresses are remembered for their wrong tokens; all others count as one.
pub(super) const FAILURE_SOURCES: usize = 256;

/// How many connections each of `listeners` may have if coop may open this many descriptors.
pub(super) fn connections(descriptors: Option<u64>, listeners: usize) -> usize {
    let descriptors = descriptors.and_then(|limit| usize::try_from(limit).ok());
    let free = descriptors.map_or(usize::MAX, |limit| limit.saturating_sub(DESCRIPTOR_RESERVE));
    (free / listeners.max(1)).clamp(1, CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use coop_client::MESSAGE_LIMIT;

    use super::*;
    use crate::gateway::{
        PAUSE, SMALL_MESSAGE, SMALL_RESERVE, STRANGER_INPUT, STRANGER_MESSAGE_TIME, TRUSTED_INPUT,
    };
    use crate::service::SUBSCRIBERS;
    use crate::source::{OBSERVATION_BYTES, OBSERVATIONS};

    const DOCUMENT: &str = include_str!("../../docs/limits.md");

    fn count(number: usize) -> String {
        number.to_string()
    }

    fn size(bytes: usize) -> String {
        if bytes >= 1 << 20 {
            format!("{} MiB", bytes >> 20)
        } else {
            format!("{} KiB", bytes >> 10)
        }
    }

    fn time(time: Duration) -> String {
        if time.as_secs() > 0 {
            format!("{} s", time.as_secs())
        } else {
            format!("{} ms", time.as_millis())
        }
    }

    #[test]
    fn the_table_of_the_docs_is_the_one_in_the_code() {
        let limits = [
            ("connections of one listener", count(CONNECTIONS)),
            ("descriptors that connections leave free", count(DESCRIPTOR_RESERVE)),
            ("connections that are told at once that none is free", count(REFUSALS)),
            ("open calls of a connection", count(STREAMS as usize)),
            ("buffer of a stream for a slow reader", size(SEND_BUFFER)),
            ("one message or body", size(MESSAGE_LIMIT)),
            ("unfinished input, with a token", size(TRUSTED_INPUT)),
            ("of it, for small messages", size(SMALL_RESERVE)),
            ("a small message", size(SMALL_MESSAGE)),
            ("unfinished input, without a token", size(STRANGER_INPUT)),
            ("pause within a message, with a token", time(PAUSE)),
            ("time for a whole message, without a token", time(STRANGER_MESSAGE_TIME)),
            ("subscribers", count(SUBSCRIBERS)),
            ("WebSockets that wait for their token", count(WAITING_SOCKETS)),
            ("TLS handshake", time(HANDSHAKE)),
            ("time until the protocol is known", time(OPENING)),
            ("time for the headers of a request", time(HEADERS)),
            ("ping of a silent peer, and its answer", time(KEEP_ALIVE)),
            ("read after the response, with a token", size(LINGER_BYTES)),
            ("read after the response, without a token", size(STRANGER_LINGER_BYTES)),
            ("time for that", time(LINGER_TIME)),
            ("connections without a token", count(STRANGERS)),
            ("of one source address", count(STRANGERS_PER_SOURCE)),
            ("replaced connections that are still ending", count(STRANGERS_ENDING)),
            ("open calls without a token", count(STRANGER_CALLS)),
            ("open calls beyond which nothing is read", count(STRANGER_EXCESS)),
            ("bytes read at a time without a token", count(STRANGER_READ)),
            ("bytes read without a pause, without a token", size(STRANGER_OPENING)),
            ("pause after each read beyond that", time(STRANGER_PAUSE)),
            ("body of a call that needs no token", size(EXEMPT_BODY)),
            ("message of the health service", size(HEALTH_MESSAGE)),
            ("health streams without a token", count(STRANGER_WATCHES)),
            ("windows", size(STRANGER_WINDOW as usize)),
            ("headers", size(STRANGER_HEADERS as usize)),
            ("time without a call, without a token", time(STRANGER_IDLE)),
            ("time of a call, without a token", time(STRANGER_CALL_TIME)),
            ("time to end a connection", time(GOODBYE)),
            ("wrong tokens before a delay", count(FREE_FAILURES as usize)),
            ("time between the answers after that", time(FAILURE_INTERVAL)),
            ("longest delay of an answer", time(FAILURE_DELAY)),
            ("a burst of wrong tokens", time(FAILURE_BURST)),
            ("sources that are remembered", count(FAILURE_SOURCES)),
            ("reports of the agent that wait", count(OBSERVATIONS)),
            ("memory of those", size(OBSERVATION_BYTES)),
        ];
        let code: Vec<_> = limits.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let rows = DOCUMENT.lines().filter(|line| line.starts_with("| ")).skip(1);
        let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        let docs: Vec<_> = cells.map(|cells| (cells[1], cells[2])).collect();
        assert_eq!(docs, code);
    }

    #[test]
    fn connections_follow_the_descriptor_limit() {
        assert_eq!(connections(None, 2), CONNECTIONS);
        assert_eq!(connections(Some(1 << 20), 5), CONNECTIONS);
        assert_eq!(connections(Some(1024), 2), (1024 - DESCRIPTOR_RESERVE) / 2);
        assert_eq!(connections(Some(64), 2), 1);
    }

    #[test]
    fn waiting_sockets_do_not_stop_the_accepting() {
        const { assert!(STRANGERS_ENDING > WAITING_SOCKETS) };
    }

    /// What strangers may hold in all their calls fits into their budget.
    #[test]
    fn the_calls_of_strangers_fit_into_their_budget() {
        const { assert!(STRANGERS * STRANGER_CALLS * EXEMPT_BODY <= STRANGER_INPUT) };
    }
}
