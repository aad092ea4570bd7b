//! What clients read. Rows are rendered once, straight into the answer.

pub mod access;
pub mod instance;
pub mod location;
pub mod share;
pub mod share_type;
