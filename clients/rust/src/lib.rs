//! Messages, client and (behind `server`) server trait of `coop.v1`, generated from the proto.

#[cfg(feature = "json")]
pub mod json;

/// The generated vocabulary of `coop.v1`.
#[rustfmt::skip]
pub mod v1 {
    include!("gen/coop.v1.rs");
}

#[cfg(feature = "json")]
mod serde_impls {
    include!("gen/coop.v1.serde.rs");
}

/// The descriptors of `coop.v1` and of everything it imports, as an encoded
/// `google.protobuf.FileDescriptorSet`: what server reflection answers from.
pub const DESCRIPTOR: &[u8] = include_bytes!("gen/coop.binpb");
