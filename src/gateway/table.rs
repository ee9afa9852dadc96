//! The shape of what the generator writes down of RPCs and routes. It knows no axum: how a route
//! is served is `http`'s business.

use coop_client::v1::Scope;

use super::generated::{METHODS, Rpc};

/// One RPC, beyond its messages.
#[derive(Debug)]
pub struct Method {
    pub rpc: Rpc,
    pub name: &'static str,
    /// As gRPC spells it in `:path`.
    pub path: &'static str,
    /// The least scope a token must have to call it.
    pub scope: Scope,
    pub streaming: Streaming,
    /// Set where the answer over HTTP is not JSON.
    pub content_type: Option<&'static str>,
    /// The request field that `Last-Event-ID` fills.
    pub resume_field: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    Unary,
    Server,
    Both,
}

/// One verb and path that reaches an RPC.
#[derive(Debug)]
pub struct Route {
    pub rpc: Rpc,
    pub verb: Verb,
    /// `/api/v1/env/{key}`: a segment in braces fills the request field of that name.
    pub path: &'static str,
    pub body: Body,
    /// The status of a successful call.
    pub status: u16,
    pub path_params: &'static [Param],
    pub query: &'static [Param],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    Get,
    Put,
    Post,
    Delete,
    Patch,
}

impl Verb {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Patch => "PATCH",
        }
    }
}

/// What the request's body fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    Whole,
    Field(&'static str),
}

/// A request field that text fills, from the path or the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    /// Takes several values, given one by one or separated by commas.
    pub list: bool,
}

/// What the text of a parameter must be. Enums and bytes are text: their names and their base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    Text,
    Bool,
    Integer,
    Number,
}

impl Param {
    pub const fn one(name: &'static str, kind: ParamKind) -> Self {
        Self { name, kind, list: false }
    }

    pub const fn list(name: &'static str, kind: ParamKind) -> Self {
        Self { name, kind, list: true }
    }
}

impl Rpc {
    /// What is known of this RPC.
    #[expect(clippy::indexing_slicing, reason = "the table has a row for every RPC, in the same order")]
    pub fn method(self) -> &'static Method {
        &METHODS[self as usize]
    }

    /// The RPC that gRPC reaches by this path.
    pub fn from_path(path: &str) -> Option<Self> {
        METHODS.iter().find(|method| method.path == path).map(|method| method.rpc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rpc_counts_to_its_own_row() {
        for (at, method) in METHODS.iter().enumerate() {
            assert_eq!(method.rpc as usize, at);
            assert_eq!(method.rpc.method().name, method.name);
            assert_eq!(Rpc::from_path(method.path), Some(method.rpc));
            assert_ne!(method.scope, Scope::Unspecified);
        }
        assert_eq!(Rpc::from_path("/coop.v1.Coop/Nothing"), None);
    }
}
