//! Quota as the API shows and changes it.

pub mod change;
pub mod show;
