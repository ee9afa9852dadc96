//! What was typed decides whether coop serves a session or talks to one.

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use coop::app::{self, USAGE};
use coop::cli::{self, Hook, Invocation, Serve, Verb};
use coop::config::{self, Config, Environment};
use coop::log::{self, Outlet};
use coop::source::hook_call::Call;

/// More threads than this gain a terminal nothing, and each costs memory.
const WORKERS: usize = 4;
/// Beside the session's own thread: one reads while the other draws.
const SESSION_WORKERS: usize = 1;

fn main() -> ExitCode {
    let environment = config::environment();
    match cli::parse(std::env::args_os()) {
        Ok(Invocation::Serve(serve)) => serve_session(*serve, &environment),
        Ok(Invocation::Client(verb)) => talk(verb, &environment),
        Ok(Invocation::Hook(hook)) => report(hook, &environment),
        Err(error) => {
            // Whether stdout or stderr took it or not, the exit code says the same.
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
        Err(error) => return refuse(&error, USAGE),
    };
    let outlets =
        Outlet::new("stdout", io::stdout()).and_then(|out| Ok((out, Outlet::new("stderr", io::stderr())?)));
    let runtimes = runtime(WORKERS).and_then(|serving| Ok((serving, runtime(SESSION_WORKERS)?)));
    let ((stdout, stderr), (serving, sessions)) = match (outlets, runtimes) {
        (Ok(outlets), Ok(runtimes)) => (outlets, runtimes),
        (Err(error), _) | (_, Err(error)) => return refuse(&error, 1),
    };
    log::install(stderr.clone(), format, level);
    let code = match serving.block_on(app::run(config, &stdout, sessions.handle())) {
        Ok(exit) => ExitCode::from(u8::try_from(exit.shell_code()).unwrap_or(u8::MAX)),
        Err(error) => {
            stderr.line(&format!("coop: {error}"));
            ExitCode::from(error.exit_code())
        }
    };
    // A task that is stuck in a call must not keep coop from going.
    serving.shutdown_background();
    sessions.shutdown_background();
    stdout.flush();
    stderr.flush();
    code
}

/// An agent waits for this, often many times a turn, so it needs no runtime; and it never fails.
fn report(hook: Hook, environment: &Environment) -> ExitCode {
    if let (Some(event), Some((pipe, nonce))) = (hook.event, config::hook_pipe(environment)) {
        Call { event, wait: hook.wait, pipe, nonce }.make(io::stdin(), io::stdout());
    }
    ExitCode::SUCCESS
}

fn talk(verb: Verb, environment: &Environment) -> ExitCode {
    match runtime(1) {
        Ok(runtime) => runtime.block_on(coop::client::run(verb, environment)),
        Err(error) => refuse(&error, 1),
    }
}

fn runtime(workers: usize) -> io::Result<tokio::runtime::Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    tokio::runtime::Builder::new_multi_thread().worker_threads(cores.min(workers)).enable_all().build()
}

fn refuse(error: &dyn std::error::Error, code: u8) -> ExitCode {
    // If stderr is gone, the exit code still tells.
    drop(io::Write::write_all(&mut io::stderr(), format!("coop: {error}\n").as_bytes()));
    ExitCode::from(code)
}
