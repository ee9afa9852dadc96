//! The caller of a request, who it is and what it may do, as the server's guard determined. Every
//! transport checks [`Caller::permits`] before a call.

use std::sync::Arc;

use coop_client::v1::Scope;
use tokio_util::sync::CancellationToken;

use crate::error::{Code, Error};
use crate::session::by::By;

/// What a caller may do; each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The caller sent no valid token, and one is needed.
    Unauthenticated,
    Read,
    Respond,
    Write,
    Admin,
}

impl Level {
    /// Reads a level as a token file writes it.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "read" => Some(Self::Read),
            "respond" => Some(Self::Respond),
            "write" => Some(Self::Write),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }
}

/// What valid credentials give to a caller.
#[derive(Debug, Clone)]
pub struct Grant {
    pub level: Level,
    pub by: By,
    /// Cancelled when the credentials are no longer valid.
    pub revoked: CancellationToken,
}

/// The caller, stored in the extensions of every request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Where the call comes from, for logs and errors: an address, or the Unix socket.
    pub from: Arc<str>,
    pub level: Level,
    /// Who the caller is, for events and errors to others.
    pub by: By,
    /// Cancelled when the caller's credentials are no longer valid.
    pub revoked: CancellationToken,
    /// The call comes from inside the session: over its private socket, or with its hook nonce.
    pub inside: bool,
}

impl Caller {
    /// The sender of a request. Without the guard's entry it is unauthenticated, so that a missing
    /// layer grants nothing.
    pub fn of(extensions: &http::Extensions) -> Self {
        extensions
            .get()
            .cloned()
            .unwrap_or_else(|| Self::unauthenticated("unknown".into(), By::Address(None)))
    }

    /// A caller that has shown nothing yet.
    pub fn unauthenticated(from: Arc<str>, by: By) -> Self {
        let revoked = CancellationToken::new();
        Self { from, level: Level::Unauthenticated, by, revoked, inside: false }
    }

    /// Gives the caller what its credentials are good for. A token without a name says less than
    /// the user of a Unix socket.
    pub fn accept(&mut self, grant: Grant) {
        let Grant { level, by, revoked } = grant;
        (self.level, self.revoked) = (level, revoked);
        if !matches!((&self.by, &by), (By::Uid(_), By::Token(None))) {
            self.by = by;
        }
    }

    /// Checks that the caller may call a method of this scope.
    pub fn permits(&self, scope: Scope) -> Result<(), Error> {
        let needed = match scope {
            Scope::Exempt => return Ok(()),
            Scope::Hook if self.inside => return Ok(()),
            Scope::Read => Level::Read,
            Scope::Respond => Level::Respond,
            Scope::Write => Level::Write,
            Scope::Unspecified | Scope::Admin | Scope::Hook => Level::Admin,
        };
        match self.level {
            level if level >= needed => Ok(()),
            Level::Unauthenticated => Err(Error::new(
                Code::Unauthorized,
                "a token is needed: send it as `Authorization: Bearer TOKEN`",
            )),
            Level::Read | Level::Respond | Level::Write | Level::Admin => Err(Error::new(
                Code::Forbidden,
                format!("the scope of {} does not include {}", self.by, scope_name(scope)),
            )),
        }
    }
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Exempt => "exempt",
        Scope::Read => "read",
        Scope::Respond => "respond",
        Scope::Write => "write",
        Scope::Unspecified | Scope::Admin | Scope::Hook => "admin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(level: Level, inside: bool) -> Caller {
        let by = By::Address(None);
        Caller { level, inside, ..Caller::unauthenticated("test".into(), by) }
    }

    #[test]
    fn a_level_permits_its_own_scope_and_the_ones_below() {
        let scopes = [Scope::Exempt, Scope::Read, Scope::Respond, Scope::Write, Scope::Admin];
        let levels =
            [Level::Unauthenticated, Level::Read, Level::Respond, Level::Write, Level::Admin];
        for (granted, level) in levels.into_iter().enumerate() {
            for (needed, scope) in scopes.into_iter().enumerate() {
                let permitted = caller(level, false).permits(scope).is_ok();
                assert_eq!(permitted, granted >= needed, "{level:?} and {scope:?}");
            }
        }
    }

    #[test]
    fn a_missing_token_is_unauthorized_and_a_small_scope_forbidden() {
        assert_eq!(
            caller(Level::Unauthenticated, false).permits(Scope::Read).unwrap_err().code,
            Code::Unauthorized
        );
        assert_eq!(
            caller(Level::Read, false).permits(Scope::Write).unwrap_err().code,
            Code::Forbidden
        );
    }

    #[test]
    fn hooks_need_a_call_from_inside_or_an_admin_token() {
        assert!(caller(Level::Unauthenticated, true).permits(Scope::Hook).is_ok());
        assert!(caller(Level::Unauthenticated, true).permits(Scope::Read).is_err());
        assert!(caller(Level::Write, false).permits(Scope::Hook).is_err());
        assert!(caller(Level::Admin, false).permits(Scope::Hook).is_ok());
    }

    #[test]
    fn a_name_comes_from_the_credentials_that_have_one() {
        let name = |name: &str| By::Token(Some(crate::session::by::Name::new(name)));
        for (peer, shown, wanted) in [
            (By::Address(None), By::Token(None), "token"),
            (By::Address(None), name("ada"), "token:ada"),
            (By::Uid(7), name("ada"), "token:ada"),
            (By::Uid(7), By::Token(None), "uid:7"),
        ] {
            let mut caller = Caller::unauthenticated("test".into(), peer);
            let revoked = CancellationToken::new();
            caller.accept(Grant { level: Level::Read, by: shown, revoked });
            assert_eq!((caller.by.to_string().as_str(), caller.level), (wanted, Level::Read));
        }
    }

    #[test]
    fn without_the_guard_a_caller_is_unauthenticated() {
        assert_eq!(Caller::of(&http::Extensions::new()).level, Level::Unauthenticated);
    }
}
