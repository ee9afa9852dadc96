//! The types of the generated route table. How a route is served is decided in `http`.

use crate::service::Rpc;

/// One HTTP method and path of an RPC.
#[derive(Debug)]
pub struct Route {
    pub rpc: Rpc,
    pub verb: Verb,
    /// For example `/api/v1/env/{key}`: a segment in braces fills the request field of that name.
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

/// Which part of the request message the HTTP body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    Whole,
    Field(&'static str),
}

/// A request field whose value comes from the path or the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    /// It takes several values, repeated or separated by commas.
    pub list: bool,
}

/// The type of a parameter. Enums and bytes are text: a name and base64.
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
