//! coop
