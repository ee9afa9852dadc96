//! The tokens that open this coop, and how far each reaches. Compared in constant time; never
//! printed.

use subtle::ConstantTimeEq as _;

use crate::service::Level;

/// No token at all means that none is needed.
#[derive(Clone, Default)]
pub struct Tokens {
    known: Vec<Token>,
}

#[derive(Clone)]
struct Token {
    secret: String,
    level: Level,
}

/// A token file that cannot be used, with the line at fault.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTokens {
    #[error("line {line}: {scope:?} is no scope; the scopes are read, respond, write and admin")]
    UnknownScope { line: usize, scope: String },
    #[error("line {line}: there is something after the scopes; a line is `TOKEN [scope,…]`")]
    TooManyWords { line: usize },
    #[error("there is no token in it")]
    Empty,
}

impl Tokens {
    /// One token that may do everything.
    pub fn one(secret: &str) -> Self {
        Self { known: vec![Token { secret: secret.to_owned(), level: Level::Admin }] }
    }

    /// Reads `TOKEN [scope,…]` lines; a token without a scope may do everything. Blank lines
    /// and lines that start with `#` are passed over.
    pub fn parse(file: &str) -> Result<Self, BadTokens> {
        let mut tokens = Self::default();
        for (index, text) in file.lines().enumerate() {
            let line = index + 1;
            let mut words = text.split_whitespace();
            let Some(secret) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let level = match words.next() {
                None => Level::Admin,
                Some(scopes) => widest(scopes).map_err(|scope| BadTokens::UnknownScope { line, scope })?,
            };
            if words.next().is_some() {
                return Err(BadTokens::TooManyWords { line });
            }
            tokens.known.push(Token { secret: secret.to_owned(), level });
        }
        if tokens.known.is_empty() { Err(BadTokens::Empty) } else { Ok(tokens) }
    }

    pub fn extend(&mut self, more: Self) {
        self.known.extend(more.known);
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How far this token reaches. Every known token is compared, whichever fits.
    pub fn check(&self, shown: &str) -> Option<Level> {
        self.known.iter().fold(None, |found, token| {
            let fits = bool::from(token.secret.as_bytes().ct_eq(shown.as_bytes()));
            if fits { found.max(Some(token.level)) } else { found }
        })
    }
}

/// The widest of a comma list of scopes, since each includes the ones before it.
fn widest(scopes: &str) -> Result<Level, String> {
    let mut widest = Level::Read;
    for scope in scopes.split(',') {
        widest = widest.max(Level::parse(scope).ok_or_else(|| scope.to_owned())?);
    }
    Ok(widest)
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.known.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_each_token_its_scope() {
        let tokens = Tokens::parse("# who may do what\nall\nlook read\n\ndrive read,write\n").unwrap();
        assert_eq!(tokens.check("all"), Some(Level::Admin));
        assert_eq!(tokens.check("look"), Some(Level::Read));
        assert_eq!(tokens.check("drive"), Some(Level::Write));
        for wrong in ["", "al", "alll", "#", "ALL"] {
            assert_eq!(tokens.check(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_bad_file_is_refused_with_its_line() {
        let scope = BadTokens::UnknownScope { line: 2, scope: "root".into() };
        assert_eq!(Tokens::parse("a read\nb root").unwrap_err(), scope);
        assert_eq!(Tokens::parse("a read write").unwrap_err(), BadTokens::TooManyWords { line: 1 });
        assert_eq!(Tokens::parse(" \n# none\n").unwrap_err(), BadTokens::Empty);
    }

    #[test]
    fn secrets_are_not_printed() {
        assert!(!format!("{:?}", Tokens::one("hush")).contains("hush"));
    }
}
