//! The command line decides whether coop serves a session or is a client of one.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind;
use coop::app;
use coop::cli::{self, Hook, Invocation, Serve, USAGE, Verb};
use coop::config::{self, Config, Environment};
use coop::log::{self, Outlet};
use coop::pty::Guard;
use coop::source::HookCommand;

/// More threads do not make a terminal faster, and each costs memory.
const WORKERS: usize = 4;
/// Workers beside the session's own thread: one reads the terminal while that thread renders it.
const SESSION_WORKERS: usize = 1;

fn main() -> ExitCode {
    let environment = config::environment();
    let invocation = cli::parse(std::env::args_os());
    // Before anything is started or forked: a thread could use this memory, a fork would copy it.
    if let Err(error) = config::hide_secrets(&environment) {
        drop(writeln!(io::stderr(), "coop: other processes can read the token: {error}"));
    }
    match invocation {
        Ok(Invocation::Serve(serve)) => serve_session(*serve, &environment),
        Ok(Invocation::Client(verb)) => run_client(verb, &environment),
        Ok(Invocation::Hook(hook)) => call_hook(hook, &environment),
        Err(error) => {
            // If it cannot be printed, the exit code still reports it.
            drop(error.print());
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
                _ => ExitCode::from(USAGE),
            }
        }
    }
}

fn serve_session(serve: Serve, environment: &Environment) -> ExitCode {
    let (format, level) = (serve.log_format, serve.log_level);
    let config = match Config::new(serve, environment) {
        Ok(config) => config,
        Err(error) => return fail(&error, USAGE),
    };
    // The program in a multiplexer's pane is not coop's child, and outlives coop.
    let guard = match config.attach.is_none().then(Guard::start).transpose() {
        Ok(guard) => guard,
        Err(error) => return fail(&error, 1),
    };
    let outlets = Outlet::new("stdout", io::stdout())
        .and_then(|out| Ok((out, Outlet::new("stderr", io::stderr())?)));
    let runtimes = runtime(WORKERS).and_then(|serving| Ok((serving, runtime(SESSION_WORKERS)?)));
    let ((stdout, stderr), (serving, sessions)) = match (outlets, runtimes) {
        (Ok(outlets), Ok(runtimes)) => (outlets, runtimes),
        (Err(error), _) | (_, Err(error)) => return fail(&error, 1),
    };
    log::install(stderr.clone(), format, level);
    let code = match serving.block_on(app::run(config, guard, &stdout, sessions.handle())) {
        Ok(exit) => ExitCode::from(u8::try_from(exit.shell_code()).unwrap_or(u8::MAX)),
        Err(error) => {
            stderr.line(&format!("coop: {error}"));
            ExitCode::from(error.exit_code())
        }
    };
    // A task that is blocked in a system call must not keep coop from exiting.
    serving.shutdown_background();
    sessions.shutdown_background();
    stdout.flush();
    stderr.flush();
    code
}

/// The agent waits for this, often many times a turn, so it starts no runtime; and it never fails.
fn call_hook(hook: Hook, environment: &Environment) -> ExitCode {
    if let (Some(event), Some((pipe, nonce))) = (hook.event, config::hook_pipe(environment)) {
        HookCommand { event, wait: hook.wait, pipe, nonce }.run(io::stdin(), io::stdout());
    }
    ExitCode::SUCCESS
}

fn run_client(verb: Verb, environment: &Environment) -> ExitCode {
    match runtime(1) {
        Ok(runtime) => runtime.block_on(coop::client::run(verb, environment)),
        Err(error) => fail(&error, 1),
    }
}

fn runtime(workers: usize) -> io::Result<tokio::runtime::Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(workers))
        .enable_all()
        .build()
}

fn fail(error: &dyn std::error::Error, code: u8) -> ExitCode {
    // If stderr is closed, the exit code still reports the error.
    drop(io::Write::write_all(&mut io::stderr(), format!("coop: {error}\n").as_bytes()));
    ExitCode::from(code)
}
