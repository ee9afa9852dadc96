//! A buf plugin: reads a `CodeGeneratorRequest` from stdin and writes the file that its parameter
//! selects. It depends on no generated code.
//!
//! `serde` is the JSON of every message, for the client crate. `service` is the table of RPCs and
//! `gateway` the table of routes with the dispatch, both for the server.

mod api;
mod emit_gateway;
mod emit_serde;
mod emit_service;
mod plugin;
mod rule;
#[cfg(test)]
mod tests;

use std::io::{Read as _, Write as _};

fn main() -> std::io::Result<()> {
    let mut request = Vec::new();
    std::io::stdin().read_to_end(&mut request)?;
    let response = plugin::respond(&request);
    std::io::stdout().write_all(&response)
}
