//! Messages, client and (behind `server`) server trait of `coop.v1`, generated from the proto.

/// The generated vocabulary of `coop.v1`.
#[rustfmt::skip]
pub mod v1 {
    include!("gen/coop.v1.rs");
}
