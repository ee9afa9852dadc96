//! The session: its child's environment, its restart, and its shutdown.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use coop_client::v1;
use tonic::Request;

use super::caller::Caller;
use super::{Service, convert, milliseconds};
use crate::error::{Code, Error};
use crate::os;
use crate::session::DEFAULT_GRACE;
use crate::session::child_spec::{SpecChange, check_not_own, check_variable};
use crate::session::event::{RestartReason, ShutdownReason};
use crate::session::snapshot::Process;

const GRACE_LIMIT_MS: i32 = 300_000;

impl Service {
    pub(super) async fn restart(
        &self,
        request: &Request<v1::RestartSessionRequest>,
    ) -> Result<v1::RestartSessionResponse, Error> {
        let grace = grace(request.get_ref().force);
        let session = self.session_of(request);
        let replaced =
            session.replace(SpecChange::default(), RestartReason::Restart, grace).await?;
        Ok(convert::restarted(replaced))
    }

    pub(super) async fn switch(
        &self,
        request: Request<v1::SwitchSessionRequest>,
    ) -> Result<v1::SwitchSessionResponse, Error> {
        let session = self.session_of(&request);
        let request = request.into_inner();
        let mut env = request.credentials;
        env.extend(request.extra_env);
        let mut next = (*self.session.snapshot().child_spec).clone();
        for (key, value) in &env {
            check_variable(key, value)?;
            next.put(key, value)?;
        }
        if request.command.iter().any(|word| word.contains('\0')) {
            return Err(Error::bad_request("command contains a NUL byte"));
        }
        let change =
            SpecChange { command: request.command, cwd: request.cwd.map(PathBuf::from), env };
        let replaced = session.replace(change, RestartReason::Switch, grace(request.force)).await?;
        Ok(convert::switched(replaced))
    }

    pub(super) async fn env(
        &self,
        request: v1::GetEnvRequest,
    ) -> Result<v1::GetEnvResponse, Error> {
        let vars = self.session.env().await?;
        if request.key.is_empty() {
            return Ok(convert::env_list(&vars));
        }
        match vars.get(&request.key) {
            Some(value) => Ok(convert::env_value(request.key, value)),
            None => {
                Err(Error::new(Code::NotFound, format!("there is no variable {}", request.key)))
            }
        }
    }

    pub(super) async fn set_env(
        &self,
        request: Request<v1::PutEnvRequest>,
    ) -> Result<v1::PutEnvResponse, Error> {
        let session = self.session_of(&request);
        let v1::PutEnvRequest { key, value } = request.into_inner();
        check_variable(&key, &value)?;
        session.put_env(key.clone(), value.clone()).await?;
        Ok(convert::env_set(key, value))
    }

    pub(super) async fn unset_env(
        &self,
        request: Request<v1::DeleteEnvRequest>,
    ) -> Result<v1::DeleteEnvResponse, Error> {
        let session = self.session_of(&request);
        let key = request.into_inner().key;
        check_not_own(&key)?;
        session.delete_env(key.clone()).await?;
        Ok(convert::env_removed(key))
    }

    pub(super) fn cwd(&self) -> Result<v1::GetCwdResponse, Error> {
        let pid = match self.session.snapshot().process {
            Process::Running { pid } => pid,
            Process::Starting => {
                return Err(Error::new(Code::NotReady, "the child is not running yet"));
            }
            Process::Exited(_) => return Err(Error::exited()),
        };
        match os::working_dir(pid) {
            Ok(cwd) => Ok(convert::cwd(&cwd)),
            // It has exited, and its exit is announced once its last output is in.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::exited()),
            Err(error) => Err(Error::new(
                Code::Internal,
                format!("the child's directory cannot be read: {error}"),
            )),
        }
    }

    pub(super) async fn shut_down(
        &self,
        request: Request<v1::ShutdownRequest>,
    ) -> Result<v1::ShutdownResponse, Error> {
        let Caller { from, by, .. } = Caller::of(request.extensions());
        tracing::info!(%by, %from, "shutdown requested");
        let grace = match request.get_ref().grace_ms {
            None => DEFAULT_GRACE,
            Some(ms) => milliseconds("grace_ms", ms, GRACE_LIMIT_MS)?,
        };
        self.session.by(by).shut_down(ShutdownReason::Api, grace).await?;
        Ok(convert::shutdown_accepted())
    }
}

fn grace(force: bool) -> Duration {
    if force { Duration::ZERO } else { DEFAULT_GRACE }
}
