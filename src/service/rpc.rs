//! The types of the generated table of RPCs: what a transport must know of an RPC beyond its
//! messages. Routes and calls are the gateway's.

use coop_client::v1::Scope;

use super::generated::{METHODS, Rpc};

/// One RPC and its rule.
#[derive(Debug)]
pub struct Method {
    pub rpc: Rpc,
    pub name: &'static str,
    /// As gRPC spells it in `:path`.
    pub path: &'static str,
    /// The least scope a token must have to call it.
    pub scope: Scope,
    pub streaming: Streaming,
    /// The content type over HTTP, where the response is not JSON.
    pub content_type: Option<&'static str>,
    /// The request field that `Last-Event-ID` fills.
    pub resume_field: Option<&'static str>,
    /// It needs a child that coop started itself, so it fails on an attached backend.
    pub native_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    Unary,
    Server,
    Both,
}

impl Method {
    /// Whether the RPC changes something, or answers what a reader may not see.
    pub fn writes(&self) -> bool {
        !matches!(self.scope, Scope::Exempt | Scope::Read)
    }
}

impl Rpc {
    /// The row of this RPC.
    #[expect(
        clippy::indexing_slicing,
        reason = "the table has a row for every RPC, in the same order"
    )]
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
    fn every_rpc_indexes_its_own_row() {
        for (at, method) in METHODS.iter().enumerate() {
            assert_eq!(method.rpc as usize, at);
            assert_eq!(method.rpc.method().name, method.name);
            assert_eq!(Rpc::from_path(method.path), Some(method.rpc));
            assert_ne!(method.scope, Scope::Unspecified);
        }
        assert_eq!(Rpc::from_path("/coop.v1.Coop/Nothing"), None);
    }
}
