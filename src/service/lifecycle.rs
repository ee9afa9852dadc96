//! The life of the session: its child's environment and replacement, and its end.

use std::path::PathBuf;
use std::time::Duration;

use coop_client::v1;
use tonic::Request;

use super::caller::Caller;
use super::{Service, convert, milliseconds};
use crate::error::{Code, Error};
use crate::session::DEFAULT_GRACE;
use crate::session::event::{RestartReason, ShutdownReason};
use crate::session::recipe::{Change, check_variable};
use crate::session::snapshot::Process;

const GRACE_LIMIT_MS: i32 = 300_000;

impl Service {
    pub(super) async fn restart(
        &self,
        request: &v1::RestartSessionRequest,
    ) -> Result<v1::RestartSessionResponse, Error> {
        let grace = grace(request.force);
        let replaced = self.session.replace(Change::default(), RestartReason::Restart, grace).await?;
        Ok(convert::restarted(replaced))
    }

    pub(super) async fn switch(
        &self,
        request: v1::SwitchSessionRequest,
    ) -> Result<v1::SwitchSessionResponse, Error> {
        let mut env = request.credentials;
        env.extend(request.extra_env);
        let mut next = (*self.session.snapshot().recipe).clone();
        for (key, value) in &env {
            check_variable(key, value)?;
            next.put(key, value)?;
        }
        if request.command.iter().any(|word| word.contains('\0')) {
            return Err(Error::bad_request("command has a NUL byte in it"));
        }
        let change = Change { command: request.command, cwd: request.cwd.map(PathBuf::from), env };
        let replaced = self.session.replace(change, RestartReason::Switch, grace(request.force)).await?;
        Ok(convert::switched(replaced))
    }

    pub(super) async fn env(&self, request: v1::GetEnvRequest) -> Result<v1::GetEnvResponse, Error> {
        let vars = self.session.env().await?;
        if request.key.is_empty() {
            return Ok(v1::GetEnvResponse { vars: (*vars).clone(), ..Default::default() });
        }
        match vars.get(&request.key) {
            Some(value) => {
                Ok(v1::GetEnvResponse { key: request.key, value: value.clone(), ..Default::default() })
            }
            None => Err(Error::new(Code::NotFound, format!("there is no variable {}", request.key))),
        }
    }

    pub(super) async fn set_env(&self, request: v1::PutEnvRequest) -> Result<v1::PutEnvResponse, Error> {
        let v1::PutEnvRequest { key, value } = request;
        check_variable(&key, &value)?;
        self.session.put_env(key.clone(), value.clone()).await?;
        Ok(v1::PutEnvResponse { key, value })
    }

    pub(super) async fn unset_env(
        &self,
        request: v1::DeleteEnvRequest,
    ) -> Result<v1::DeleteEnvResponse, Error> {
        self.session.delete_env(request.key.clone()).await?;
        Ok(v1::DeleteEnvResponse { key: request.key })
    }

    pub(super) fn cwd(&self) -> Result<v1::GetCwdResponse, Error> {
        let pid = match self.session.snapshot().process {
            Process::Running { pid } => pid,
            Process::Starting => return Err(Error::new(Code::NotReady, "the child is not up yet")),
            Process::Exited(_) => return Err(Error::exited()),
        };
        let link = std::fs::read_link(format!("/proc/{pid}/cwd"));
        match link {
            Ok(cwd) => Ok(v1::GetCwdResponse { cwd: cwd.to_string_lossy().into_owned() }),
            Err(error) => {
                Err(Error::new(Code::Internal, format!("the child's directory cannot be read: {error}")))
            }
        }
    }

    pub(super) async fn shut_down(
        &self,
        request: Request<v1::ShutdownRequest>,
    ) -> Result<v1::ShutdownResponse, Error> {
        tracing::info!(by = %Caller::of(request.extensions()).from, "asked to shut down");
        let grace = match request.get_ref().grace_ms {
            None => DEFAULT_GRACE,
            Some(ms) => milliseconds("grace_ms", ms, GRACE_LIMIT_MS)?,
        };
        self.session.shut_down(ShutdownReason::Api, grace).await?;
        Ok(v1::ShutdownResponse { accepted: true })
    }
}

fn grace(force: bool) -> Duration {
    if force { Duration::ZERO } else { DEFAULT_GRACE }
}
