//! The users' key/value pairs on a volume.

pub mod remove;
pub mod set;
pub mod show;
