//! `coop attach` as a user sees it. It runs in the terminal of a second coop. That terminal answers
//! queries, as every terminal does, so a query that `coop attach` lets through gets two answers.

use coop_client::v1::attach_request::Message as ClientMessage;
use coop_client::v1::attach_response::Message as ServerMessage;
use coop_client::{Client, v1};
use rustix::process::Signal;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::session::{exited, rows, see, status, type_line};
use crate::support::{soon, until};

const COOP: &str = env!("CARGO_BIN_EXE_coop");

/// A terminal in which `coop attach` runs.
struct UserTerminal {
    _coop: Coop,
    terminal: Client,
}

impl UserTerminal {
    async fn attach_to(target: &str, flags: &[&str]) -> Self {
        let words = [COOP, "attach", target].into_iter().chain(flags.iter().copied());
        let coop = Coop::with(&["--cols", "100", "--rows", "20"], words).await;
        let terminal = coop.grpc().await;
        Self { _coop: coop, terminal }
    }

    async fn press(&mut self, keys: &[&str]) {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        soon("keys", self.terminal.send_keys(v1::SendKeysRequest { keys })).await.expect("pressed");
    }

    async fn resize(&mut self, cols: i32, rows: i32) {
        soon("a resize", self.terminal.resize(v1::ResizeRequest { cols, rows }))
            .await
            .expect("resized");
    }

    /// The modes of the terminal, from a new snapshot.
    async fn modes(&mut self) -> v1::TerminalModes {
        let nothing = tokio_stream::empty::<v1::AttachRequest>();
        let mut stream =
            soon("a stream", self.terminal.attach(nothing)).await.expect("attached").into_inner();
        let first =
            soon("a snapshot", stream.message()).await.expect("no error").expect("a message");
        match first.message {
            Some(v1::attach_response::Message::Snapshot(snapshot)) => {
                snapshot.modes.expect("modes")
            }
            other => panic!("{other:?} came first"),
        }
    }
}

fn url(coop: &Coop) -> String {
    format!("http://{}", coop.address())
}

async fn size(client: &mut Client) -> (i32, i32) {
    let request = v1::GetScreenRequest::default();
    let screen = soon("a screen", client.get_screen(request)).await.expect("a screen").into_inner();
    (screen.cols, screen.rows)
}

async fn see_size(client: &mut Client, wanted: (i32, i32)) {
    until("the size", async || (size(client).await == wanted).then_some(())).await;
}

/// Waits until both screens are the same.
async fn see_the_same(user: &mut UserTerminal, session: &mut Client) {
    until("the same on both screens", async || {
        (rows(&mut user.terminal).await == rows(session).await).then_some(())
    })
    .await;
}

#[tokio::test]
async fn attach_takes_the_terminal_over_and_restores_it() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    type_line(&mut session, "echo printed-before").await;
    see(&mut session, "printed-before").await;
    let mut user = UserTerminal::attach_to(&url(&coop), &[]).await;
    see_size(&mut session, (100, 20)).await;
    see(&mut user.terminal, "printed-before").await;
    type_line(&mut user.terminal, "echo $((6 * 7)) typed").await;
    see(&mut session, "42 typed").await;
    see_the_same(&mut user, &mut session).await;

    // After detaching, the modes that the program has set are reset.
    let modes = r"printf '\e[?1049h\e[?1000h\e[?1006h\e[?1004h\e[?1h\e[?25l\e[5;9r'; printf 'in the %s' alternate";
    type_line(&mut user.terminal, modes).await;
    until("the modes", async || user.modes().await.mouse.then_some(())).await;
    see_the_same(&mut user, &mut session).await;
    user.press(&["C-]"]).await;
    assert_eq!(exited(&mut user.terminal).await, (Some(0), None));
    let modes = user.modes().await;
    assert!(modes.cursor_visible);
    let others = (
        modes.alt_screen,
        modes.mouse,
        modes.focus_events,
        modes.application_cursor,
        modes.bracketed_paste,
    );
    assert_eq!(others, (false, false, false, false, false));
    let last_screen = rows(&mut user.terminal).await.join("");
    assert!(
        last_screen.contains(&format!("to come back: coop attach {}", url(&coop))),
        "{last_screen}"
    );
    assert_eq!(status(&mut session).await.state, "running");
}

#[tokio::test]
async fn a_terminal_query_is_answered_once_with_several_clients_attached() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let mut first = UserTerminal::attach_to(&url(&coop), &[]).await;
    let mut second = UserTerminal::attach_to(&url(&coop), &[]).await;
    see(&mut first.terminal, "$").await;
    see(&mut second.terminal, "$").await;
    // It reads until both users have typed. An answer from their terminals would come before that.
    let asks = r#"clear; stty raw -echo; printf '\e[c\e[5n\e]11;?\a\e[>q\e[18taske%s' d; a=
        while [[ $a != *X* || $a != *Y* ]]; do IFS= read -rN1 c; a+=$c; done; stty sane; printf '\r\n%q\r\n' "$a""#;
    type_line(&mut session, &asks.replace('\n', ";")).await;
    see(&mut first.terminal, "asked").await;
    see(&mut second.terminal, "asked").await;
    first.press(&["X"]).await;
    second.press(&["Y"]).await;
    let answer = until("the answer", async || {
        rows(&mut session).await.into_iter().find(|row| row.starts_with(r"$'\E"))
    })
    .await;
    for once in [r"\E[?62;", r"\E[0n", r"\E]11;rgb:", r"\EP>|coop", r"\E[8;20;100t"] {
        assert_eq!(answer.matches(once).count(), 1, "{once} in {answer}");
    }
}

#[tokio::test]
async fn a_new_size_reaches_the_session_and_every_screen_is_drawn_for_it() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let mut user = UserTerminal::attach_to(&url(&coop), &[]).await;
    see_size(&mut session, (100, 20)).await;
    type_line(&mut user.terminal, "seq -s ' ' 1 200").await;
    for (cols, rows) in [(40, 10), (120, 30), (33, 7), (100, 20)] {
        user.resize(cols, rows).await;
        see_size(&mut session, (cols, rows)).await;
        see_the_same(&mut user, &mut session).await;
    }

    // Another attached client shows the new screen too, on a terminal that stays larger.
    let mut other = UserTerminal::attach_to(&url(&coop), &["--no-resize"]).await;
    type_line(&mut user.terminal, "clear; seq 1 30").await;
    see(&mut other.terminal, "30").await;
    user.resize(60, 12).await;
    see_size(&mut session, (60, 12)).await;
    until("the new screen", async || {
        let (shown, wanted) = (rows(&mut other.terminal).await, rows(&mut session).await);
        let (screen, below) = shown.split_at(12);
        (screen == wanted && below.iter().all(String::is_empty)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn attach_exits_with_the_childs_exit_code() {
    for (line, wanted) in [("exit 7", 7), ("kill -KILL $$", 137)] {
        let coop = Coop::shell().await;
        let mut user = UserTerminal::attach_to(&url(&coop), &[]).await;
        see(&mut user.terminal, "$").await;
        type_line(&mut user.terminal, line).await;
        assert_eq!(exited(&mut user.terminal).await, (Some(wanted), None), "{line}");
    }
}

#[tokio::test]
async fn a_lock_keeps_other_clients_from_typing() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let mut user = UserTerminal::attach_to(&url(&coop), &["--lock"]).await;
    let input = async |session: &mut Client| {
        let request = v1::SendInputRequest { text: String::new(), enter: true };
        session
            .send_input(request)
            .await
            .err()
            .and_then(|status| coop_client::reason(&status))
            .map(|reason| reason.code)
    };
    until("the lock", async || {
        (input(&mut session).await.as_deref() == Some("WRITER_BUSY")).then_some(())
    })
    .await;
    type_line(&mut user.terminal, "echo $((6 * 7)) typed").await;
    see(&mut session, "42 typed").await;
    user.press(&["C-]"]).await;
    assert_eq!(exited(&mut user.terminal).await, (Some(0), None));
    until("the lock to end", async || input(&mut session).await.is_none().then_some(())).await;
}

#[tokio::test]
async fn attach_reconnects_after_a_lost_connection() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let socket = directory.path().join("coop.sock").to_string_lossy().into_owned();
    let shell = || Setup::new(["--socket", socket.as_str(), "--"].into_iter().chain(SHELL));
    let mut before = shell().start().await;
    let mut user = UserTerminal::attach_to(&socket, &[]).await;
    see(&mut user.terminal, "$").await;
    before.signal(Signal::KILL);
    before.ended().await;
    until("the message about the lost connection", async || {
        rows(&mut user.terminal)
            .await
            .iter()
            .any(|row| row.starts_with("coop: trying again"))
            .then_some(())
    })
    .await;
    let after = shell().start().await;
    type_after_reconnecting(&mut user).await;
    let mut session = after.grpc_unix().await;
    see(&mut session, "42 again").await;
    see_the_same(&mut user, &mut session).await;

    drop(after);
    until("the message about the lost connection", async || {
        rows(&mut user.terminal)
            .await
            .iter()
            .any(|row| row.starts_with("coop: trying again"))
            .then_some(())
    })
    .await;
    user.press(&["C-]"]).await;
    assert_eq!(exited(&mut user.terminal).await, (Some(0), None), "Ctrl-] stops the attempts");
}

/// Keys that are pressed without a connection are lost, so wait for the screen first.
async fn type_after_reconnecting(user: &mut UserTerminal) {
    until("the new screen", async || {
        let rows = rows(&mut user.terminal).await;
        (rows.first().is_some_and(|row| row == "$") && rows.iter().skip(1).all(String::is_empty))
            .then_some(())
    })
    .await;
    type_line(&mut user.terminal, "echo $((6 * 7)) again").await;
}

#[tokio::test]
async fn attach_refuses_its_own_terminal() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    type_line(&mut session, &format!("{COOP} attach; echo code=$?")).await;
    see(&mut session, "code=64").await;
}

/// An Attach stream without `coop attach`.
struct RawAttach {
    requests: mpsc::Sender<v1::AttachRequest>,
    responses: Streaming<v1::AttachResponse>,
}

impl RawAttach {
    async fn open(client: &mut Client) -> Self {
        let (requests, stream) = mpsc::channel(8);
        let stream = soon("a stream", client.attach(ReceiverStream::new(stream))).await;
        let mut responses = stream.expect("attached").into_inner();
        let first = soon("a snapshot", responses.message()).await.expect("no error");
        assert!(matches!(first.and_then(|first| first.message), Some(ServerMessage::Snapshot(_))));
        Self { requests, responses }
    }

    async fn send(&self, message: ClientMessage) {
        let request = v1::AttachRequest { message: Some(message) };
        soon("room", self.requests.send(request)).await.expect("sent");
    }

    /// The next message that is neither output nor a snapshot.
    async fn next(&mut self) -> ServerMessage {
        loop {
            let response = soon("a message", self.responses.message()).await.expect("no error");
            match response.and_then(|response| response.message).expect("not the end") {
                ServerMessage::Output(_) | ServerMessage::Snapshot(_) => {}
                other => return other,
            }
        }
    }
}

fn barrier(id: u64) -> v1::AttachBarrier {
    v1::AttachBarrier { id }
}

#[tokio::test]
async fn a_barrier_comes_back_after_the_input_before_it_was_written() {
    let coop =
        Coop::with(&[], ["sh", "-c", "stty raw -echo; echo ready; exec cat >/dev/null"]).await;
    let mut session = coop.grpc().await;
    see(&mut session, "ready").await;
    let mut attach = RawAttach::open(&mut session).await;
    let before = status(&mut session).await.bytes_written;
    let input = vec![b'x'; 100_000];
    attach.send(ClientMessage::Input(input.clone().into())).await;
    attach.send(ClientMessage::Barrier(barrier(7))).await;
    assert_eq!(attach.next().await, ServerMessage::Barrier(barrier(7)));
    assert_eq!(status(&mut session).await.bytes_written - before, input.len() as u64);
    attach.send(ClientMessage::Barrier(barrier(0))).await;
    assert_eq!(attach.next().await, ServerMessage::Barrier(barrier(0)));
}

#[tokio::test]
async fn a_barrier_comes_back_after_the_refusal_of_the_input_before_it() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let lease = v1::AcquireLeaseRequest::default();
    soon("a lease", session.acquire_lease(lease)).await.expect("a lease");
    let mut attach = RawAttach::open(&mut session).await;
    attach.send(ClientMessage::Input("x".into())).await;
    attach.send(ClientMessage::Barrier(barrier(1))).await;
    // Older clients use the refusal of an impossible size as their barrier.
    attach.send(ClientMessage::Resize(v1::ResizeRequest { cols: 0, rows: 0 })).await;
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(match attach.next().await {
            ServerMessage::Error(error) => error.code,
            ServerMessage::Barrier(barrier) => format!("barrier {}", barrier.id),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(codes, ["WRITER_BUSY", "barrier 1", "BAD_REQUEST"]);
}

/// Sets the clipboard and the font, sends a file, and switches a printer on.
const BEYOND_THE_SCREEN: &str = r"printf '\e]52;c;aGVsbG8=\a\e]50;fixed\a\e]1337;File=:AA\a\e[5i\ePtmux;\e\e]52;c;eA==\a\e\\'; printf 'in %s\n' between";

#[tokio::test]
async fn a_program_acts_on_nothing_beyond_the_users_screen() {
    for flags in [&[][..], &["--allow-clipboard"]] {
        let coop = Coop::shell().await;
        let mut session = coop.grpc().await;
        let mut user = UserTerminal::attach_to(&url(&coop), flags).await;
        see_size(&mut session, (100, 20)).await;
        type_line(&mut user.terminal, BEYOND_THE_SCREEN).await;
        see(&mut user.terminal, "in between").await;
        let request = v1::GetOutputRequest { offset: 0, limit: None };
        let output = soon("the output", user.terminal.get_output(request)).await.expect("output");
        let output = output.into_inner().data.escape_ascii().to_string();
        for unwanted in [r"\x1b]50", r"\x1b]1337", r"\x1b[5i", r"\x1bPtmux"] {
            assert!(!output.contains(unwanted), "{flags:?}: {output}");
        }
        let clipboard = output.contains(r"\x1b]52;c;aGVsbG8=\x07");
        assert_eq!(clipboard, !flags.is_empty(), "{flags:?}: {output}");
    }
}
