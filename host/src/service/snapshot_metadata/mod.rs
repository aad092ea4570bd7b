//! The users' key/value pairs on a snapshot.

pub mod remove;
pub mod set;
pub mod show;
