//! The rules, without IO and without async: which state may follow which, what a name or a size may be, what a volume
//! shows when its attachments change. Nothing here fails in any way but by a typed refusal.

pub mod attachment;
pub mod host;
pub mod identity;
pub mod metadata;
pub mod resource_lock;
pub mod share;
pub mod share_access;
pub mod share_network;
pub mod share_server;
pub mod share_snapshot;
pub mod share_type;
pub mod shared_targets;
pub mod size;
pub mod snapshot;
pub mod text;
mod text_enum;
pub mod volume;
pub mod volume_type;

pub(crate) use text_enum::{Word, text_enum};
