//! The tokens of this coop: the digest of each, and what it is good for. The tokens themselves are
//! neither kept nor printed, and digests are compared in constant time.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use ring::digest;
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;

use crate::service::{Grant, Level};
use crate::session::by::{By, Name};

/// Precedes the name in a line of a token file.
const NAME: &str = "name=";
/// The most characters of a token's name.
const NAME_LIMIT: usize = 64;

/// The fewest characters of a token that cannot be guessed.
const TOKEN_LENGTH: usize = 16;

/// The configured tokens; if there are none, callers need none.
#[derive(Clone, Default)]
pub struct Tokens {
    known: Vec<Token>,
}

#[derive(Clone)]
struct Token {
    digest: digest::Digest,
    grant: Grant,
    /// It has so few characters that it can be guessed.
    short: bool,
}

impl Token {
    fn new(secret: &str, level: Level, name: Option<Name>) -> Self {
        let grant = Grant { level, by: By::Token(name), revoked: CancellationToken::new() };
        Self { digest: digest_of(secret), grant, short: secret.chars().count() < TOKEN_LENGTH }
    }

    /// Whether both are the same token with the same rights and name.
    fn equals(&self, other: &Self) -> bool {
        let same_grant = (self.grant.level, &self.grant.by) == (other.grant.level, &other.grant.by);
        same_grant && self.digest.as_ref() == other.digest.as_ref()
    }
}

fn digest_of(secret: &str) -> digest::Digest {
    digest::digest(&digest::SHA256, secret.as_bytes())
}

/// Why a token file cannot be used. It names the line and nothing of what is in it, because any
/// word there may be a part of a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTokens {
    #[error("line {line}: this is not a scope; the scopes are read, respond, write and admin")]
    UnknownScope { line: usize },
    #[error("line {line}: there is too much; a line is `TOKEN [scope,…] [name=NAME]`")]
    TooManyWords { line: usize },
    #[error(
        "line {line}: a name has 1 to {NAME_LIMIT} letters, digits or one of `-_.@`, and nothing else"
    )]
    BadName { line: usize },
    #[error("line {line}: the name is that of line {first} already")]
    SameName { line: usize, first: usize },
    #[error("line {line}: the token is that of line {first} already")]
    SameToken { line: usize, first: usize },
    #[error("line {line}: there is a control character in it")]
    Control { line: usize },
    #[error("it contains no token")]
    Empty,
}

impl Tokens {
    /// One token that may do everything.
    pub fn one(secret: &str) -> Self {
        Self { known: vec![Token::new(secret, Level::Admin, None)] }
    }

    /// Reads `TOKEN [scope,…] [name=NAME]` lines; a token without a scope may do everything. Blank
    /// lines and lines that start with `#` are ignored.
    pub fn parse(file: &str) -> Result<Self, BadTokens> {
        let mut tokens = Self::default();
        let (mut lines, mut names) = (HashMap::new(), HashMap::new());
        for (index, text) in file.lines().enumerate() {
            let line = index + 1;
            let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
            let Some(secret) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            if text.contains(|c: char| c.is_control() && c != '\t') {
                return Err(BadTokens::Control { line });
            }
            let (mut level, mut name) = (None, None);
            for word in words {
                let repeated = match word.strip_prefix(NAME) {
                    Some(text) => name.replace(checked_name(text, line)?).is_some(),
                    None => {
                        let widest = widest(word).ok_or(BadTokens::UnknownScope { line })?;
                        level.replace(widest).is_some()
                    }
                };
                if repeated {
                    return Err(BadTokens::TooManyWords { line });
                }
            }
            if let Some(first) = lines.insert(secret, line) {
                return Err(BadTokens::SameToken { line, first });
            }
            if let Some(name) = name
                && let Some(first) = names.insert(name, line)
            {
                return Err(BadTokens::SameName { line, first });
            }
            let level = level.unwrap_or(Level::Admin);
            tokens.known.push(Token::new(secret, level, name.map(Name::new)));
        }
        if tokens.known.is_empty() { Err(BadTokens::Empty) } else { Ok(tokens) }
    }

    pub fn extend(&mut self, more: Self) {
        self.known.extend(more.known);
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many of them are too short to be safe.
    pub fn short(&self) -> usize {
        self.known.iter().filter(|token| token.short).count()
    }

    /// What this token is good for, `None` if it is unknown. It is compared with every known token,
    /// so that the time reveals nothing.
    pub fn check(&self, shown: &str) -> Option<Grant> {
        let shown = digest_of(shown);
        let found = self.known.iter().fold(None, |found: Option<&Token>, token| {
            let fits = bool::from(token.digest.as_ref().ct_eq(shown.as_ref()));
            let wider = found.is_none_or(|found| token.grant.level > found.grant.level);
            if fits && wider { Some(token) } else { found }
        });
        found.map(|token| token.grant.clone())
    }
}

/// The tokens that are valid now. Reading them takes no lock.
#[derive(Debug, Default)]
pub(crate) struct TokenStore {
    current: ArcSwap<Tokens>,
}

impl TokenStore {
    pub(crate) fn new(tokens: Tokens) -> Self {
        Self { current: ArcSwap::from_pointee(tokens) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.current.load().is_empty()
    }

    pub(crate) fn check(&self, shown: &str) -> Option<Grant> {
        self.current.load().check(shown)
    }

    /// Puts new tokens in the place of the old ones, and revokes each that is gone or has another
    /// scope or name.
    pub(crate) fn replace(&self, mut tokens: Tokens) {
        let before = self.current.load_full();
        for token in &mut tokens.known {
            if let Some(same) = before.known.iter().find(|old| old.equals(token)) {
                token.grant.revoked = same.grant.revoked.clone();
            }
        }
        let tokens = Arc::new(tokens);
        self.current.store(Arc::clone(&tokens));
        for old in &before.known {
            if !tokens.known.iter().any(|token| token.equals(old)) {
                old.grant.revoked.cancel();
            }
        }
    }
}

fn checked_name(name: &str, line: usize) -> Result<&str, BadTokens> {
    let allowed = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
    let fits = (1..=NAME_LIMIT).contains(&name.chars().count()) && name.chars().all(allowed);
    if fits { Ok(name) } else { Err(BadTokens::BadName { line }) }
}

/// The widest of a comma list of scopes, since each includes the ones before it.
fn widest(scopes: &str) -> Option<Level> {
    scopes.split(',').try_fold(Level::Read, |widest, scope| Some(widest.max(Level::parse(scope)?)))
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.known.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn level(tokens: &Tokens, shown: &str) -> Option<Level> {
        tokens.check(shown).map(|grant| grant.level)
    }

    #[test]
    fn a_file_gives_each_token_its_scope() {
        let tokens = Tokens::parse("# a comment\nall\nlook read\n\ndrive read,write\r\n").unwrap();
        assert_eq!(level(&tokens, "all"), Some(Level::Admin));
        assert_eq!(level(&tokens, "look"), Some(Level::Read));
        assert_eq!(level(&tokens, "drive"), Some(Level::Write));
        for wrong in ["", "al", "alll", "#", "ALL", "drive\r"] {
            assert_eq!(level(&tokens, wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_token_may_have_a_name() {
        let file = "a read name=ada\nb\tname=ci.build-7@desk\nc admin\nd name=read";
        let tokens = Tokens::parse(file).unwrap();
        for (token, wanted_level, by) in [
            ("a", Level::Read, "token:ada"),
            ("b", Level::Admin, "token:ci.build-7@desk"),
            ("c", Level::Admin, "token"),
            ("d", Level::Admin, "token:read"),
        ] {
            let grant = tokens.check(token).unwrap();
            assert_eq!((grant.level, grant.by.to_string().as_str()), (wanted_level, by));
        }
    }

    #[test]
    fn a_bad_file_is_refused_with_its_line_and_without_its_words() {
        let long = format!("hush read name={}", "n".repeat(NAME_LIMIT + 1));
        for (file, wanted) in [
            ("a read\nhush secret", BadTokens::UnknownScope { line: 2 }),
            ("hush read,secret", BadTokens::UnknownScope { line: 1 }),
            ("hush read write", BadTokens::TooManyWords { line: 1 }),
            ("hush name=secret name=b", BadTokens::TooManyWords { line: 1 }),
            ("hush name=", BadTokens::BadName { line: 1 }),
            ("hush name=secret:b", BadTokens::BadName { line: 1 }),
            ("hush name=\u{202e}b", BadTokens::BadName { line: 1 }),
            (&long, BadTokens::BadName { line: 1 }),
            ("a name=secret\n\nhush name=secret", BadTokens::SameName { line: 3, first: 1 }),
            ("hush read\nhush", BadTokens::SameToken { line: 2, first: 1 }),
            ("a\nhu\u{7}sh", BadTokens::Control { line: 2 }),
            ("hush name=secret\u{1b}", BadTokens::Control { line: 1 }),
            (" \n# none\n", BadTokens::Empty),
        ] {
            let error = Tokens::parse(file).unwrap_err();
            assert_eq!(error, wanted, "{file:?}");
            let text = error.to_string();
            assert!(!text.contains("hush") && !text.contains("secret"), "{text}");
        }
    }

    proptest! {
        /// Whatever is in the file: it is read or refused, each token that is read is known, and
        /// an error shows no word of the file.
        #[test]
        fn any_file_is_read_or_refused(
            lines in prop::collection::vec("[a-z]{9,12}( (read|write,admin|namex|name=[A-Z]{0,3}))*", 0..6),
            noise in any::<String>(),
        ) {
            drop(Tokens::parse(&noise));
            let file = lines.join("\n");
            let words = || lines.iter().filter_map(|line| line.split(' ').next());
            match Tokens::parse(&file) {
                Ok(tokens) => prop_assert!(words().all(|token| tokens.check(token).is_some())),
                Err(error) => {
                    let text = error.to_string();
                    prop_assert!(words().all(|token| !text.contains(token)), "{}", text);
                }
            }
        }
    }

    #[test]
    fn a_token_that_is_gone_or_changed_is_revoked_and_no_other() {
        let store = TokenStore::new(
            Tokens::parse("stay read name=a\ngone\nless admin name=b\nother name=c").unwrap(),
        );
        let [stay, gone, less, other] =
            ["stay", "gone", "less", "other"].map(|token| store.check(token).unwrap().revoked);
        let file = "stay read name=a\nless read name=b\nother name=d\nnew";
        store.replace(Tokens::parse(file).unwrap());
        assert!(!stay.is_cancelled());
        assert!(gone.is_cancelled() && less.is_cancelled() && other.is_cancelled());
        assert!(store.check("gone").is_none());
        assert_eq!(store.check("less").map(|grant| grant.level), Some(Level::Read));
        assert!(store.check("new").is_some_and(|grant| !grant.revoked.is_cancelled()));
        store.replace(Tokens::parse("new").unwrap());
        assert!(stay.is_cancelled(), "it was carried over, and is revoked when it goes");
    }

    #[test]
    fn secrets_are_not_kept() {
        let tokens = Tokens::one("hush");
        assert!(!format!("{tokens:?}").contains("hush"));
        let kept = tokens.known.first().unwrap();
        assert_eq!(kept.digest.as_ref().len(), 32);
        assert!(!format!("{:?}", kept.digest).contains("hush"));
    }
}
