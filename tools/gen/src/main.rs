//! A buf plugin: reads a `CodeGeneratorRequest` from stdin and writes what its parameter names.
//!
//! `serde` is the JSON of every message, for the client crate; `gateway` is the table of RPCs and
//! routes with their dispatch, for the server. It depends on no generated code.

mod api;
mod emit_gateway;
mod emit_serde;
mod plugin;
mod rule;
#[cfg(test)]
mod tests;

use std::io::{Read as _, Write as _};

fn main() -> std::io::Result<()> {
    let mut request = Vec::new();
    std::io::stdin().read_to_end(&mut request)?;
    let response = plugin::answer(&request);
    std::io::stdout().write_all(&response)
}
