//! What clients read. Rows are rendered once, straight into the answer.

pub mod attachment;
pub mod snapshot;
pub mod transfer;
pub mod volume;
pub mod volume_type;
