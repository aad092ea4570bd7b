//! Version 0.1 of the contract: its component behind the traits of `driver/`.
//!
//! One module a version: the choice is made once, when a component is loaded. Each call gets a fresh instance ([`call`]),
//! records are translated field by field ([`convert`]), answers are judged by `driver/answer.rs`.

mod bindings;
mod block;
pub mod call;
mod convert;
mod exports;
mod host;
mod loaded;
mod share;

pub use loaded::{Loaded, Shared, linker};
