//! Back ends as operators see and switch them.

mod configure;
mod ensured;
pub mod exports;
mod list;
pub mod swaps;
mod switch;

pub use configure::configure;
pub use ensured::{Ensured, ensured};
pub use list::{BackendView, PoolView, list};
pub use switch::{disable, enable, freeze, not_found, of_kind, thaw};
