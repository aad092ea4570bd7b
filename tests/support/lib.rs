//! What suites share.

pub mod array;
