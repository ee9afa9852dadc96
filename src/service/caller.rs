//! Who calls and what they may do, as the server's outermost layer found out. Every transport
//! asks [`Caller::permits`] before a call, and every handler may read who it is.

use std::sync::Arc;

use coop_client::v1::Scope;

use crate::error::{Code, Error};

/// How far a caller's token reaches; each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No token where one is needed.
    Nobody,
    Read,
    Respond,
    Write,
    Admin,
}

impl Level {
    /// The level that a token file names.
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

/// Travels in the extensions of every request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Where the call came from, in words: an address, or that it was the Unix socket.
    pub from: Arc<str>,
    pub level: Level,
    /// The call comes from inside the session: over its private socket, or with its nonce.
    pub inside: bool,
}

impl Caller {
    /// Who sent this request. Nobody, if no layer has said so: a forgotten layer must not open a door.
    pub fn of(extensions: &http::Extensions) -> Self {
        let nobody = || Self { from: "somebody".into(), level: Level::Nobody, inside: false };
        extensions.get().cloned().unwrap_or_else(nobody)
    }

    /// Whether a method of this scope may be called.
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
            Level::Nobody => Err(Error::new(
                Code::Unauthorized,
                "a token is needed: send it as `Authorization: Bearer TOKEN`",
            )),
            Level::Read | Level::Respond | Level::Write | Level::Admin => Err(Error::new(
                Code::Forbidden,
                format!("this token's scope does not reach {}", scope_name(scope)),
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
        Caller { from: "test".into(), level, inside }
    }

    #[test]
    fn each_level_reaches_exactly_as_far_as_it_says() {
        let scopes = [Scope::Exempt, Scope::Read, Scope::Respond, Scope::Write, Scope::Admin];
        let levels = [Level::Nobody, Level::Read, Level::Respond, Level::Write, Level::Admin];
        for (reach, level) in levels.into_iter().enumerate() {
            for (needed, scope) in scopes.into_iter().enumerate() {
                let permitted = caller(level, false).permits(scope).is_ok();
                assert_eq!(permitted, reach >= needed, "{level:?} and {scope:?}");
            }
        }
    }

    #[test]
    fn nobody_is_told_to_bring_a_token_and_others_that_theirs_is_too_small() {
        assert_eq!(caller(Level::Nobody, false).permits(Scope::Read).unwrap_err().code, Code::Unauthorized);
        assert_eq!(caller(Level::Read, false).permits(Scope::Write).unwrap_err().code, Code::Forbidden);
    }

    #[test]
    fn hooks_come_from_inside_or_need_the_whole_token() {
        assert!(caller(Level::Nobody, true).permits(Scope::Hook).is_ok());
        assert!(caller(Level::Nobody, true).permits(Scope::Read).is_err());
        assert!(caller(Level::Write, false).permits(Scope::Hook).is_err());
        assert!(caller(Level::Admin, false).permits(Scope::Hook).is_ok());
    }

    #[test]
    fn without_a_layer_there_is_nobody() {
        assert_eq!(Caller::of(&http::Extensions::new()).level, Level::Nobody);
    }
}
