//! What client certificates permit, by their common name. It knows neither TLS nor requests.

use crate::service::Level;

/// The name that stands for every certificate without an entry of its own.
const OTHERS: &str = "*";

/// The level of each common name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientScopes {
    named: Vec<(String, Level)>,
    others: Level,
}

/// Why a `CN=scope` cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadClientScope {
    #[error("it looks like CN=scope, for example deploy=read")]
    Form,
    #[error("{0:?} is not a scope; the scopes are read, respond, write and admin")]
    UnknownScope(String),
    #[error("{0:?} has a scope already")]
    Twice(String),
}

impl Default for ClientScopes {
    /// Without any entry, each certificate may do everything.
    fn default() -> Self {
        Self { named: Vec::new(), others: Level::Admin }
    }
}

impl ClientScopes {
    /// Adds a `CN=scope`; `*=scope` is for all certificates without an entry of their own.
    pub fn add(&mut self, text: &str) -> Result<(), BadClientScope> {
        // The scope is the last part, so that a name may contain the sign.
        let (name, scope) = text.rsplit_once('=').ok_or(BadClientScope::Form)?;
        let (name, scope) = (name.trim(), scope.trim());
        if name.is_empty() {
            return Err(BadClientScope::Form);
        }
        let level =
            Level::parse(scope).ok_or_else(|| BadClientScope::UnknownScope(scope.to_owned()))?;
        let has = |known: &str| self.named.iter().any(|(given, _)| given == known);
        if has(name) {
            return Err(BadClientScope::Twice(name.to_owned()));
        }
        if name == OTHERS {
            self.others = level;
        }
        self.named.push((name.to_owned(), level));
        Ok(())
    }

    /// The level of a certificate with this common name.
    pub fn level(&self, common_name: Option<&str>) -> Level {
        let entry = self.named.iter().find(|(name, _)| common_name == Some(name));
        entry.map_or(self.others, |(_, level)| *level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_without_an_entry_may_do_everything_unless_the_others_have_one() {
        let mut scopes = ClientScopes::default();
        assert_eq!(scopes.level(None), Level::Admin);
        scopes.add("deploy=read").unwrap();
        scopes.add("a=b=write").unwrap();
        for (name, level) in [
            (Some("deploy"), Level::Read),
            (Some("a=b"), Level::Write),
            (Some("Deploy"), Level::Admin),
            (None, Level::Admin),
        ] {
            assert_eq!(scopes.level(name), level, "{name:?}");
        }
        scopes.add("*=respond").unwrap();
        assert_eq!(scopes.level(Some("other")), Level::Respond);
        assert_eq!(scopes.level(None), Level::Respond);
        assert_eq!(scopes.level(Some("deploy")), Level::Read);
    }

    #[test]
    fn a_bad_entry_is_refused() {
        let mut scopes = ClientScopes::default();
        scopes.add("deploy=read").unwrap();
        assert_eq!(scopes.add("deploy"), Err(BadClientScope::Form));
        assert_eq!(scopes.add("=read"), Err(BadClientScope::Form));
        assert_eq!(scopes.add("x=root"), Err(BadClientScope::UnknownScope("root".into())));
        assert_eq!(scopes.add("deploy=write"), Err(BadClientScope::Twice("deploy".into())));
    }
}
