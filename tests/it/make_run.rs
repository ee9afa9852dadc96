//! `make run` on a terminal, as a developer sees it: how it ends, and what make prints then. The
//! terminal is that of a second coop, and the makefile has only the line that starts coop.

use coop_client::{Client, Credentials, Target, connect, v1};

use crate::support::coop::{Coop, SHELL};
use crate::support::session::{exited, rows, see, type_line};
use crate::support::{soon, until};

/// A terminal in which make runs coop, and the client of that terminal.
struct Terminal {
    _coop: Coop,
    client: Client,
}

impl Terminal {
    /// Runs make in a shell that shows make's exit code. `arguments` are coop's.
    async fn run(arguments: &str) -> Self {
        let coop = Coop::run(SHELL).await;
        let (run, binary) = (
            concat!(env!("CARGO_MANIFEST_DIR"), "/tools/run"),
            concat!(env!("CARGO_BIN_EXE_coop"), " --log-level error"),
        );
        let makefile = format!("run:\n\t@{run} {binary} {arguments}\n");
        std::fs::write(coop.home.path().join("Makefile"), makefile).expect("written");
        let mut client = coop.grpc().await;
        type_line(&mut client, "PS1=; clear; make run; echo exit code $?").await;
        Self { _coop: coop, client }
    }

    async fn press(&mut self, key: &str) {
        let request = v1::SendKeysRequest { keys: vec![key.to_owned()] };
        self.client.send_keys(request).await.expect("pressed");
    }

    /// Waits for the address of the page, and connects to the coop that make runs.
    async fn page(&mut self) -> Client {
        let address = until("the page's address", async || {
            let rows = rows(&mut self.client).await;
            rows.iter().find_map(|row| Some(row.strip_prefix("coop's page: ")?.to_owned()))
        })
        .await;
        let target = Target::parse(address.trim_end_matches('/')).expect("a target");
        soon("a connection", connect(&target, Credentials::default())).await.expect("connected")
    }

    async fn shows(&mut self, text: &str) -> bool {
        rows(&mut self.client).await.iter().any(|row| row.contains(text))
    }

    /// Waits until make has exited without an error.
    async fn ends_without_error(&mut self) {
        // The row may begin with `^C`, the echo of the key.
        until("exit code 0", async || self.shows("exit code 0").await.then_some(())).await;
        assert!(!self.shows("***").await, "{:?}", rows(&mut self.client).await);
    }
}

#[tokio::test]
async fn ctrl_c_ends_make_run_without_an_error() {
    let mut terminal = Terminal::run("--port 0 -- sh").await;
    terminal.page().await;
    terminal.press("C-c").await;
    terminal.ends_without_error().await;
}

#[tokio::test]
async fn a_shutdown_ends_make_run_without_an_error() {
    let mut terminal = Terminal::run("--port 0 -- sh").await;
    let mut inner = terminal.page().await;
    inner.shutdown(v1::ShutdownRequest::default()).await.expect("accepted");
    terminal.ends_without_error().await;
}

#[tokio::test]
async fn the_programs_exit_ends_make_run_without_an_error() {
    let mut terminal = Terminal::run("--port 0 --linger 0 -- sh").await;
    let mut inner = terminal.page().await;
    type_line(&mut inner, "exit 3").await;
    terminal.ends_without_error().await;
    assert!(terminal.shows("coop ended with exit code 3").await);
}

#[tokio::test]
async fn ctrl_z_stops_make_run_as_a_whole_and_fg_continues_it() {
    let mut terminal = Terminal::run("--port 0 -- sh").await;
    let mut inner = terminal.page().await;
    terminal.press("C-z").await;
    until("a stopped make", async || terminal.shows("Stopped").await.then_some(())).await;
    type_line(&mut terminal.client, "clear; fg; echo exit code $?").await;
    soon("an answer", inner.get_health(v1::GetHealthRequest {})).await.expect("it runs again");
    terminal.press("C-c").await;
    terminal.ends_without_error().await;
}

#[tokio::test]
async fn a_coop_that_cannot_start_is_an_error_of_make() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    for (arguments, error) in [
        (format!("--port {port} -- sh"), "Error 64"),
        ("--port 0 -- /no/such/program".to_owned(), "Error 127"),
    ] {
        let mut terminal = Terminal::run(&arguments).await;
        see(&mut terminal.client, "exit code 2").await;
        assert!(terminal.shows(error).await, "{:?}", rows(&mut terminal.client).await);
        type_line(&mut terminal.client, "exit").await;
        exited(&mut terminal.client).await;
    }
}
