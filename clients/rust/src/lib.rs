//! The client of coop, the terminal sidecar: the messages and calls of `coop.v1`, generated from
//! the proto, with functions to connect and to read the reason of a refusal.
//!
//! ```no_run
//! use coop_client::v1::{GetScreenRequest, SendInputRequest};
//! use coop_client::{Credentials, Target, connect, reason};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::parse("unix:///run/coop.sock")?;
//! let mut coop = connect(&target, Credentials::default()).await?;
//!
//! let input = SendInputRequest { text: "make test".into(), enter: true };
//! if let Err(status) = coop.send_input(input).await {
//!     match reason(&status) {
//!         Some(reason) if reason.code == "WRITER_BUSY" => println!("busy: {:?}", reason.metadata),
//!         _ => return Err(status.into()),
//!     }
//! }
//!
//! let screen = coop.get_screen(GetScreenRequest::default()).await?.into_inner();
//! println!("{}", screen.lines.join("\n"));
//! # Ok(())
//! # }
//! ```
//!
//! | feature | adds |
//! |---|---|
//! | `client` (default) | [`connect`], [`Target`], the generated client |
//! | `json` | `json`, and serde for every message: the JSON of coop's HTTP |
//! | `server` | the generated server trait, which coop itself implements |

// `pub` is the crate's interface; the rest is `pub(crate)`.
#![warn(unreachable_pub)]

#[cfg(feature = "client")]
mod connect;
mod event;
#[cfg(feature = "json")]
pub mod json;
mod reason;
#[cfg(feature = "client")]
mod target;

#[cfg(feature = "client")]
pub use connect::{Client, ConnectError, Credentials, Signature, connect};
pub use event::{EventType, StateEventKind};
pub use reason::{ERROR_DOMAIN, Reason, reason, response};
#[cfg(feature = "client")]
pub use target::{Target, TargetError};

/// The metadata key and HTTP header that name the lease to write under.
pub const LEASE_HEADER: &str = "coop-lease";

/// The most bytes of one message: a gRPC message, an HTTP body or a WebSocket message.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// The generated messages of `coop.v1`.
#[expect(clippy::large_enum_variant, reason = "prost boxes what is recursive, and nothing else")]
#[rustfmt::skip]
pub mod v1 {
    include!("gen/coop.v1.rs");
}

#[cfg(feature = "json")]
mod serde_impls {
    include!("gen/coop.v1.serde.rs");
}

/// The descriptors of `coop.v1` and of its imports, as an encoded
/// `google.protobuf.FileDescriptorSet`, which server reflection serves.
pub const DESCRIPTOR: &[u8] = include_bytes!("gen/coop.binpb");
