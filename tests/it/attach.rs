//! `coop attach` as a person has it: the terminal it runs in is a coop of its own, which answers
//! questions as every terminal does, so that a question that gets through is answered twice.

use coop_client::{Client, v1};
use rustix::process::Signal;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::session::{exited, rows, see, status, type_line};
use crate::support::{soon, until};

const COOP: &str = env!("CARGO_BIN_EXE_coop");

/// A terminal with `coop attach` in it.
struct Seat {
    _coop: Coop,
    terminal: Client,
}

impl Seat {
    async fn at(target: &str, flags: &[&str]) -> Self {
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
        soon("a resize", self.terminal.resize(v1::ResizeRequest { cols, rows })).await.expect("resized");
    }

    /// What a fresh look at the terminal finds switched on.
    async fn modes(&mut self) -> v1::TerminalModes {
        let nothing = tokio_stream::empty::<v1::AttachRequest>();
        let mut stream =
            soon("a stream", self.terminal.attach(nothing)).await.expect("attached").into_inner();
        let first = soon("a snapshot", stream.message()).await.expect("no error").expect("a message");
        match first.message {
            Some(v1::attach_response::Message::Snapshot(snapshot)) => snapshot.modes.expect("modes"),
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
async fn see_the_same(seat: &mut Seat, session: &mut Client) {
    until("the same on both screens", async || {
        (rows(&mut seat.terminal).await == rows(session).await).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_terminal_becomes_the_sessions_and_its_own_again() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    type_line(&mut session, "echo stood-here-before").await;
    see(&mut session, "stood-here-before").await;
    let mut seat = Seat::at(&url(&coop), &[]).await;
    see_size(&mut session, (100, 20)).await;
    see(&mut seat.terminal, "stood-here-before").await;
    type_line(&mut seat.terminal, "echo $((6 * 7)) typed").await;
    see(&mut session, "42 typed").await;
    see_the_same(&mut seat, &mut session).await;

    // Whatever the program has switched on is off again once the terminal is given back.
    let modes =
        r"printf '\e[?1049h\e[?1000h\e[?1006h\e[?1004h\e[?1h\e[?25l\e[5;9r'; printf 'in the %s' alternate";
    type_line(&mut seat.terminal, modes).await;
    until("the modes", async || seat.modes().await.mouse.then_some(())).await;
    see_the_same(&mut seat, &mut session).await;
    seat.press(&["C-]"]).await;
    assert_eq!(exited(&mut seat.terminal).await, (Some(0), None));
    let modes = seat.modes().await;
    assert!(modes.cursor_visible);
    let others =
        (modes.alt_screen, modes.mouse, modes.focus_events, modes.application_cursor, modes.bracketed_paste);
    assert_eq!(others, (false, false, false, false, false));
    let goodbye = rows(&mut seat.terminal).await.join("");
    assert!(goodbye.contains(&format!("to come back: coop attach {}", url(&coop))), "{goodbye}");
    assert_eq!(status(&mut session).await.state, "running");
}

#[tokio::test]
async fn a_question_is_answered_once_however_many_watch() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let mut first = Seat::at(&url(&coop), &[]).await;
    let mut second = Seat::at(&url(&coop), &[]).await;
    see(&mut first.terminal, "$").await;
    see(&mut second.terminal, "$").await;
    // It reads until both seats have typed: an answer of theirs would have come before that.
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
    let mut seat = Seat::at(&url(&coop), &[]).await;
    see_size(&mut session, (100, 20)).await;
    type_line(&mut seat.terminal, "seq -s ' ' 1 200").await;
    for (cols, rows) in [(40, 10), (120, 30), (33, 7), (100, 20)] {
        seat.resize(cols, rows).await;
        see_size(&mut session, (cols, rows)).await;
        see_the_same(&mut seat, &mut session).await;
    }

    // Whoever else watches sees the session's new screen too, on a terminal that stays larger.
    let mut other = Seat::at(&url(&coop), &["--no-resize"]).await;
    type_line(&mut seat.terminal, "clear; seq 1 30").await;
    see(&mut other.terminal, "30").await;
    seat.resize(60, 12).await;
    see_size(&mut session, (60, 12)).await;
    until("the new screen", async || {
        let (shown, wanted) = (rows(&mut other.terminal).await, rows(&mut session).await);
        let (screen, below) = shown.split_at(12);
        (screen == wanted && below.iter().all(String::is_empty)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn it_ends_as_the_child_ends() {
    for (ends, wanted) in [("exit 7", 7), ("kill -KILL $$", 137)] {
        let coop = Coop::shell().await;
        let mut seat = Seat::at(&url(&coop), &[]).await;
        see(&mut seat.terminal, "$").await;
        type_line(&mut seat.terminal, ends).await;
        assert_eq!(exited(&mut seat.terminal).await, (Some(wanted), None), "{ends}");
    }
}

#[tokio::test]
async fn a_lock_keeps_everybody_else_from_typing() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    let mut seat = Seat::at(&url(&coop), &["--lock"]).await;
    let input = async |session: &mut Client| {
        let request = v1::SendInputRequest { text: String::new(), enter: true };
        session
            .send_input(request)
            .await
            .err()
            .and_then(|status| coop_client::reason(&status))
            .map(|reason| reason.code)
    };
    until("the lock", async || (input(&mut session).await.as_deref() == Some("WRITER_BUSY")).then_some(()))
        .await;
    type_line(&mut seat.terminal, "echo $((6 * 7)) typed").await;
    see(&mut session, "42 typed").await;
    seat.press(&["C-]"]).await;
    assert_eq!(exited(&mut seat.terminal).await, (Some(0), None));
    until("the lock to end", async || input(&mut session).await.is_none().then_some(())).await;
}

#[tokio::test]
async fn a_lost_connection_is_made_anew() {
    let place = tempfile::TempDir::new().expect("a temporary directory");
    let socket = place.path().join("coop.sock").to_string_lossy().into_owned();
    let shell = || Setup::new(["--socket", socket.as_str(), "--"].into_iter().chain(SHELL));
    let mut before = shell().start().await;
    let mut seat = Seat::at(&socket, &[]).await;
    see(&mut seat.terminal, "$").await;
    before.signal(Signal::KILL);
    before.ended().await;
    until("the loss to show", async || {
        rows(&mut seat.terminal).await.iter().any(|row| row.starts_with("coop: trying again")).then_some(())
    })
    .await;
    let after = shell().start().await;
    type_when_back(&mut seat).await;
    let mut session = after.grpc_unix().await;
    see(&mut session, "42 again").await;
    see_the_same(&mut seat, &mut session).await;

    drop(after);
    until("the loss to show", async || {
        rows(&mut seat.terminal).await.iter().any(|row| row.starts_with("coop: trying again")).then_some(())
    })
    .await;
    seat.press(&["C-]"]).await;
    assert_eq!(exited(&mut seat.terminal).await, (Some(0), None), "Ctrl-] gives up");
}

/// Keys that are pressed while nobody answers go nowhere, so the screen comes first.
async fn type_when_back(seat: &mut Seat) {
    until("the new screen", async || {
        let rows = rows(&mut seat.terminal).await;
        (rows.first().is_some_and(|row| row == "$") && rows.iter().skip(1).all(String::is_empty))
            .then_some(())
    })
    .await;
    type_line(&mut seat.terminal, "echo $((6 * 7)) again").await;
}

#[tokio::test]
async fn a_terminal_is_not_attached_to_itself() {
    let coop = Coop::shell().await;
    let mut session = coop.grpc().await;
    type_line(&mut session, &format!("{COOP} attach; echo code=$?")).await;
    see(&mut session, "code=64").await;
}
