//! The real claude.

mod talk;
