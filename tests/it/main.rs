//! coop as its users meet it: the real binary, real children, real sockets.
#![expect(clippy::disallowed_methods, reason = "tests drive whole processes and may spawn and read freely")]

mod readme;
mod scenario;
mod support;
