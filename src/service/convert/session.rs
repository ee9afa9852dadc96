//! The session: health, status, environment, usage and the replacement of its child.

use std::collections::BTreeMap;
use std::path::Path;

use coop_client::v1;

use super::screen::terminal_size;
use crate::driver::usage::Usage;
use crate::pty::Exit;
use crate::service::About;
use crate::session::command::Replaced;
use crate::session::snapshot::Snapshot;

pub(in crate::service) fn health(
    snapshot: &Snapshot,
    about: &About,
    ws_clients: i32,
    epoch: u64,
) -> v1::GetHealthResponse {
    v1::GetHealthResponse {
        status: snapshot.process.as_str().to_owned(),
        pid: snapshot.process.pid(),
        uptime_secs: about.uptime_secs(),
        agent: about.agent.clone(),
        ws_clients,
        terminal: Some(terminal_size(snapshot.size)),
        ready: snapshot.ready(),
        session_id: about.session_id.clone(),
        version: about.version.to_owned(),
        epoch,
    }
}

pub(in crate::service) fn status(
    snapshot: &Snapshot,
    about: &About,
    unsupported: &[&str],
    ws_clients: i32,
    epoch: u64,
) -> v1::GetStatusResponse {
    let exit = snapshot.process.exit();
    v1::GetStatusResponse {
        state: snapshot.process.as_str().to_owned(),
        pid: snapshot.process.pid(),
        uptime_secs: about.uptime_secs(),
        exit_code: exit.and_then(Exit::code),
        screen_seq: snapshot.screen_seq.0,
        bytes_read: snapshot.bytes_read,
        bytes_written: snapshot.bytes_written,
        ws_clients,
        exit_signal: exit.and_then(Exit::signal),
        agent_state: snapshot.agent.state().as_str().to_owned(),
        cwd: snapshot.child_spec.cwd.to_string_lossy().into_owned(),
        command: snapshot.child_spec.command(),
        labels: about.labels.clone(),
        last_output_epoch_ms: snapshot.last_output_epoch_ms,
        last_input_epoch_ms: snapshot.last_input_epoch_ms,
        generation: snapshot.generation.0,
        epoch,
        session_id: about.session_id.clone(),
        name: about.name.clone(),
        event_seq: snapshot.event_seq.0,
        backend: about.backend.as_str().to_owned(),
        unsupported: owned(unsupported),
        degraded: owned(about.backend.degraded()),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub(in crate::service) fn restarted(replaced: Replaced) -> v1::RestartSessionResponse {
    v1::RestartSessionResponse {
        generation: replaced.generation.0,
        pid: Some(replaced.pid),
        offset: replaced.offset.0,
    }
}

pub(in crate::service) fn switched(replaced: Replaced) -> v1::SwitchSessionResponse {
    v1::SwitchSessionResponse {
        generation: replaced.generation.0,
        pid: Some(replaced.pid),
        offset: replaced.offset.0,
    }
}

pub(in crate::service) fn env_list(vars: &BTreeMap<String, String>) -> v1::GetEnvResponse {
    v1::GetEnvResponse { vars: vars.clone(), ..Default::default() }
}

pub(in crate::service) fn env_value(key: String, value: &str) -> v1::GetEnvResponse {
    v1::GetEnvResponse { key, value: value.to_owned(), ..Default::default() }
}

pub(in crate::service) fn env_set(key: String, value: String) -> v1::PutEnvResponse {
    v1::PutEnvResponse { key, value }
}

pub(in crate::service) fn env_removed(key: String) -> v1::DeleteEnvResponse {
    v1::DeleteEnvResponse { key }
}

pub(in crate::service) fn cwd(path: &Path) -> v1::GetCwdResponse {
    v1::GetCwdResponse { cwd: path.to_string_lossy().into_owned() }
}

pub(in crate::service) fn ready() -> v1::GetReadyResponse {
    v1::GetReadyResponse { ready: true }
}

pub(in crate::service) fn signal_delivered() -> v1::SendSignalResponse {
    v1::SendSignalResponse { delivered: true }
}

pub(in crate::service) fn shutdown_accepted() -> v1::ShutdownResponse {
    v1::ShutdownResponse { accepted: true }
}

pub(in crate::service) fn usage(usage: &Usage) -> v1::GetUsageResponse {
    let Usage { tokens, requests, cost_usd } = usage;
    v1::GetUsageResponse {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        cache_read_tokens: tokens.cache_read,
        cache_write_tokens: tokens.cache_write,
        cost_usd: *cost_usd,
        requests: *requests,
    }
}
