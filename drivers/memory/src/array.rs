//! Where the fake array keeps its objects. The rest of the driver knows only [`Array`].
//!
//! Invariants, of both implementations: an object exists once per (kind, id); room is what the objects take, summed, so no
//! lost call can make it drift; a change of an object is a compare-and-swap of that object alone, so that calls for
//! different objects never wait for each other.

pub mod admission;
pub mod http;
pub mod kv;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::{
    prelude::*,
    serde_json::{self, Value as Json},
};

/// What the array holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Object {
    pub pool: String,
    /// Room it takes in the pool.
    pub gib: u64,
    pub data: Json,
}

/// What became of a create.
#[derive(Debug, PartialEq)]
pub enum Created {
    New,
    /// An earlier call made it.
    There(Object),
}

pub const VOLUMES: &str = "volumes";
/// Ids are `VOLUME.SNAPSHOT`, so that a volume's snapshots are found by prefix.
pub const SNAPSHOTS: &str = "snapshots";
/// Ids are `VOLUME.NAME`, by what the protocol knows a host by.
pub const CONNECTIONS: &str = "connections";
/// What was released, and the marks of what was adopted from the configuration.
pub const FOREIGN: &str = "foreign";
pub const SHARES: &str = "shares";
/// Share servers on their way here, by the server they become.
pub const MIGRATIONS: &str = "migrations";
/// Room for what comes with them. Ids are `SERVER.SHARE`.
pub const COPIES: &str = "copies";
/// Ids are `SHARE.SNAPSHOT`.
pub const SHARE_SNAPSHOTS: &str = "share-snapshots";
/// The rules of one share or share snapshot, under its id.
pub const RULES: &str = "rules";
pub const SERVERS: &str = "servers";
/// As [`FOREIGN`], by what the array calls them.
pub const FOREIGN_SERVERS: &str = "foreign-servers";

/// The kinds that take room.
pub const SIZED: [&str; 6] = [VOLUMES, SNAPSHOTS, SHARES, SHARE_SNAPSHOTS, FOREIGN, COPIES];

/// Changes an object; false leaves it as it is.
pub type Change<'f> = dyn FnMut(&mut Object) -> Result<bool> + 'f;

pub trait Array {
    fn get(&self, kind: &str, id: &str) -> Result<Option<Object>>;
    /// `limit` is the pool's size where it has one: `exhausted` when the object does not fit.
    fn create(&self, kind: &str, id: &str, object: &Object, limit: Option<u64>) -> Result<Created>;
    /// None: it is not there. Answers it as it is afterwards.
    fn change(&self, kind: &str, id: &str, limit: Option<u64>, change: &mut Change<'_>) -> Result<Option<Object>>;
    /// True: it was there.
    fn remove(&self, kind: &str, id: &str) -> Result<bool>;
    /// Objects whose id begins with `prefix`.
    fn list(&self, kind: &str, prefix: &str) -> Result<Vec<(String, Object)>>;
    /// GiB taken in each pool.
    fn used(&self) -> Result<BTreeMap<String, u64>>;
}

impl Object {
    pub fn new(pool: &str, gib: u64, data: &impl Serialize) -> Result<Self> {
        Ok(Self { pool: pool.to_owned(), gib, data: serde_json::to_value(data)? })
    }
    pub fn read<T: for<'d> Deserialize<'d>>(&self) -> Result<T> {
        Ok(T::deserialize(&self.data)?)
    }
    pub fn write(&mut self, data: &impl Serialize) -> Result<()> {
        self.data = serde_json::to_value(data)?;
        Ok(())
    }
}

/// The refusal of a full pool.
pub fn full(pool: &str, used: u64, limit: u64, wanted: u64) -> DriverError {
    DriverError::exhausted(format!("pool `{pool}` holds {used} of {limit} GiB: {wanted} more do not fit"))
        .for_user("There is not enough space in the storage pool.")
}
