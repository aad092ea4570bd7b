//! Write a storage driver for Stowage.
//!
//! A driver is one WebAssembly component. What it *exports* is what it can do: implement [`Driver`], then one trait for
//! each interface your array supports, and name them in [`export!`]:
//!
//! ```
//! use stowage_driver_sdk::prelude::*;
//!
//! const ARRAY: Opt<String> = Opt::url("array_url", "Where the array's API listens").required();
//!
//! struct Acme {
//!     url: String,
//! }
//!
//! impl Driver for Acme {
//!     fn info() -> DriverInfo {
//!         DriverInfo::new("acme", "Acme Storage", "1.0.0")
//!     }
//!     fn options() -> Vec<OptionSpec> {
//!         vec![ARRAY.spec()]
//!     }
//!     fn open(cx: &Context) -> Result<Self> {
//!         Ok(Self { url: cx.get(&ARRAY)? })
//!     }
//!     fn report(&self, cx: &Context) -> Result<CapabilityReport> {
//!         let free: f64 = cx.http().get(format!("{}/free", self.url)).send()?.ok()?.json()?;
//!         Ok(CapabilityReport::new(Features::block(BlockProtocol::Iscsi), vec![Pool::new("gold").free_gib(free)]))
//!     }
//! }
//!
//! impl Volumes for Acme {
//!     fn create_volume(&self, cx: &Context, volume: &Volume) -> Result<VolumeOutcome> {
//!         let body = serde_json::json!({ "name": volume.id, "gib": volume.size_gib, "pool": volume.pool });
//!         // PUT under our id: a repeat of this call finds the volume that the first one made.
//!         cx.http().put(format!("{}/volumes/{}", self.url, volume.id)).json(&body).send()?.ok()?;
//!         Ok(VolumeOutcome::made())
//!     }
//!     fn delete_volume(&self, cx: &Context, volume: &Volume) -> Result<()> {
//!         cx.http().delete(format!("{}/volumes/{}", self.url, volume.id)).send()?.ok_or_gone()
//!     }
//!     fn extend_volume(&self, _: &Context, _: &Volume, _: u64) -> Result<VolumeOutcome> {
//!         Err(DriverError::unsupported("this array cannot extend"))
//!     }
//! }
//!
//! # #[cfg(any())] // exporting needs a cdylib
//! export!(Acme: volumes);
//! ```
//!
//! Three rules carry the rest:
//! - **Nothing lives in memory.** Each call gets a fresh instance: [`Driver::open`] reads the options, one verb runs, the
//!   instance is gone. Log-in tokens go to [`Context::session`], what must last to [`Context::kv`] or an object's `provider_data`.
//! - **Every verb may be repeated**, when its answer was lost, from any process. Name the array's objects by our ids: then a repeated create
//!   finds the object, and a delete of what is gone succeeds.
//! - **Errors say what kind they are** ([`DriverError`]); the host decides by the kind whether to repeat, go elsewhere, or tell somebody.
//!
//! A driver's logic is tested natively, without WebAssembly, against [`mock::Host`].

pub mod bindings;
mod block;
mod context;
mod driver;
mod error;
mod export;
pub mod host;
pub mod http;
pub mod mock;
mod options;
mod share;
mod store;
#[cfg(test)]
mod tests;
pub mod types;

pub use block::{
    ConnectionInfo, Poll, VolumeClone, VolumeFromSnapshot, VolumeManage, VolumeReplication, VolumeRetype, VolumeRevert, VolumeSnapshots,
    Volumes,
};
pub use context::Context;
pub use driver::{Driver, Glue};
pub use error::{DriverError, Result, ServerResult};
pub use options::Opt;
pub use serde;
pub use serde_json;
pub use share::{
    Access, Allocations, Ensure, LiveServer, RuleChanges, ServerMigration, ShareFromSnapshot, ShareManage, ShareRevert, ShareServerManage,
    ShareServerMigration, ShareServers, ShareShrink, ShareSnapshotManage, ShareSnapshots, Shares, SnapshotAccess,
};
pub use store::{Kv, Session, Versioned};

/// What a driver's source needs: `use stowage_driver_sdk::prelude::*;`.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{
        Access, Allocations, ConnectionInfo, Context, Driver, DriverError, Ensure, LiveServer, Opt, Poll, Result, RuleChanges,
        ServerMigration, ServerResult, ShareFromSnapshot, ShareManage, ShareRevert, ShareServerManage, ShareServerMigration, ShareServers,
        ShareShrink, ShareSnapshotManage, ShareSnapshots, Shares, SnapshotAccess, VolumeClone, VolumeFromSnapshot, VolumeManage,
        VolumeReplication, VolumeRetype, VolumeRevert, VolumeSnapshots, Volumes, export, serde_json, types::*,
    };
}
