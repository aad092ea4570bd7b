//! Share servers that come from another back end, and those that went to one.
//!
//! A migration is an object of its own, named by the destination; while it goes on, *copies* take the room in the destination's
//! pools that the shares and their snapshots will have. Between back ends that lie in one HTTP array a share stays one object: to
//! complete changes its server and its pool. Otherwise all that is known of a share is what the host says of it, and what it holds is
//! marked as `moved`.
//!
//! To abandon a source leaves alone what is not on that server any more, and so what the destination has in the same array.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::{ServerMigration, prelude::*};

use super::{
    Origin, ServerData, ShareData, protocol_name,
    snapshots::{SnapshotData, id_of},
};
use crate::{
    Memory,
    array::{Array, COPIES, Created, MIGRATIONS, Object, RULES, SERVERS, SHARE_SNAPSHOTS, SHARES},
    faults::Plan,
    pools::PoolSpec,
};

/// The room is taken by a copy already: what is made of it is counted, and fits.
const HELD: Option<u64> = Some(u64::MAX);

/// What the array knows of a migration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct MigrationData {
    /// The server that moves.
    source: String,
    /// How often the work that goes on is asked about in all, and how often more.
    polls: u32,
    polls_left: u32,
    /// The shares are on the destination.
    moved: bool,
    /// What was on the source, shares and snapshots: only of that is told.
    told: BTreeSet<String>,
}

impl MigrationData {
    fn percent(&self) -> u8 {
        let done = u64::from(self.polls - self.polls_left.min(self.polls));
        u8::try_from(done * 100 / u64::from(self.polls.max(1))).unwrap_or(100)
    }
}

fn copy_of(destination: &str, share: &str) -> String {
    format!("{destination}.{share}")
}

fn none(destination: &str) -> DriverError {
    DriverError::not_found(format!("the array knows of no migration to share server {destination}"))
}

/// A share's size with that of all its snapshots.
fn whole(source: &MigrationSource, share: &Share) -> u64 {
    share.size_gib + source.snapshots.iter().filter(|s| s.share_id == share.id).map(|s| s.size_gib).sum::<u64>()
}

impl Memory {
    /// Pools for a share that comes, the best one first: the one of the same name.
    fn pools_for<'s>(&'s self, share: &Share) -> impl Iterator<Item = &'s PoolSpec> {
        let (same, other): (Vec<_>, Vec<_>) = self.config.pools.iter().filter(|p| p.available()).partition(|p| p.name == share.pool);
        same.into_iter().chain(other)
    }

    /// Why the server cannot come.
    fn unfit(&self, cx: &Context, source: &MigrationSource, subnets: &[Subnet]) -> Result<Option<String>> {
        let (config, features) = (&self.config, &self.config.features);
        if let Some(reason) = &config.migration_refusal {
            return Ok(Some(reason.clone()));
        }
        if features.share_server_mode == ShareServerMode::WithoutServers {
            return Ok(Some("there are no share servers here".into()));
        }
        if subnets.len() > 1 && !features.share_server_multiple_subnet_support {
            return Ok(Some("share servers have one subnet here".into()));
        }
        if let Some(subnet) = subnets.iter().find(|s| !features.ip_versions.contains(&s.ip_version)) {
            return Ok(Some(format!("subnet {} is of an address family that is not served", subnet.id)));
        }
        if let Some(share) = source.shares.iter().find(|s| !features.share_protocols.contains(&s.protocol)) {
            return Ok(Some(format!("there are no {} shares here", protocol_name(&share.protocol))));
        }
        let mut used = self.array(cx).used()?;
        for share in &source.shares {
            let gib = whole(source, share);
            let Some(pool) = self.pools_for(share).find(|p| fits(p, &used, gib)) else {
                return Ok(Some(format!("no pool has {gib} GiB for share {}", share.id)));
            };
            *used.entry(pool.name.clone()).or_default() += gib;
        }
        Ok(None)
    }

    /// Takes room for each share in a pool; none of it stays taken when there is not enough for all.
    fn make_copies(&self, array: &dyn Array, source: &MigrationSource, destination: &str) -> Result<()> {
        for share in &source.shares {
            if let Err(why) = self.make_copy(array, source, share, destination) {
                if why.kind == ErrorKind::Exhausted {
                    forget(array, destination)?;
                }
                return Err(why);
            }
        }
        Ok(())
    }

    fn make_copy(&self, array: &dyn Array, source: &MigrationSource, share: &Share, destination: &str) -> Result<()> {
        let (id, gib) = (copy_of(destination, &share.id), whole(source, share));
        if array.get(COPIES, &id)?.is_some() {
            return Ok(());
        }
        let mut full = DriverError::exhausted(format!("no pool is available for share {}", share.id));
        for pool in self.pools_for(share) {
            match array.create(COPIES, &id, &Object::new(&pool.name, gib, &())?, pool.limit_gib()) {
                Err(why) if why.kind == ErrorKind::Exhausted => full = why,
                made => return made.map(drop),
            }
        }
        Err(full)
    }

    /// Puts one share, with its snapshots, onto the destination.
    fn land(&self, array: &dyn Array, source: &MigrationSource, share: &Share, destination: &str) -> Result<()> {
        let copy = copy_of(destination, &share.id);
        let Some(room) = array.get(COPIES, &copy)? else {
            // An earlier call did it.
            return self.share(array, &share.id).map(drop);
        };
        let come = ShareData {
            content: format!("moved {}", share.id),
            polls_left: 0,
            protocol: protocol_name(&share.protocol),
            server: Some(destination.to_owned()),
            adopted: None,
            used_gib: KeyValue::find(&share.metadata, "memory_used_gib").and_then(|n| n.parse().ok()).unwrap_or_default(),
            origin: None,
        };
        if let Created::There(_) = array.create(SHARES, &share.id, &Object::new(&room.pool, share.size_gib, &come)?, HELD)? {
            array.change(SHARES, &share.id, None, &mut |object| {
                let mut data: ShareData = object.read()?;
                if data.server.as_deref() == Some(destination) {
                    return Ok(false);
                }
                data.origin = Some(Origin { server: data.server.replace(destination.to_owned()), pool: object.pool.clone() });
                object.pool.clone_from(&room.pool);
                object.write(&data)?;
                Ok(true)
            })?;
        }
        for snapshot in source.snapshots.iter().filter(|s| s.share_id == share.id) {
            let taken = SnapshotData { content: format!("moved {}", snapshot.id) };
            let made = array.create(SHARE_SNAPSHOTS, &id_of(snapshot), &Object::new(&room.pool, snapshot.size_gib, &taken)?, HELD)?;
            if let Created::There(there) = made
                && there.pool != room.pool
            {
                self.put_into(array, SHARE_SNAPSHOTS, &id_of(snapshot), &room.pool)?;
            }
        }
        array.remove(COPIES, &copy).map(drop)
    }

    fn put_into(&self, array: &dyn Array, kind: &str, id: &str, pool: &str) -> Result<()> {
        array.change(kind, id, None, &mut |object| {
            let other = object.pool != pool;
            pool.clone_into(&mut object.pool);
            Ok(other)
        })?;
        Ok(())
    }

    /// Where everything is that has moved with a server. What else the array has there is being cleaned up.
    fn moved(&self, array: &dyn Array, destination: &str, told: &BTreeSet<String>) -> Result<ServerMoved> {
        let server = array.get(SERVERS, destination)?;
        let server = server.ok_or_else(|| DriverError::not_found(format!("the array has no share server {destination}")))?;
        let mut moved =
            ServerMoved { shares: Vec::new(), snapshots: Vec::new(), details: server.read::<ServerData>()?.details(destination) };
        for (id, object) in array.list(SHARES, "")? {
            let share: ShareData = object.read()?;
            if share.server.as_deref() != Some(destination) || !told.contains(&id) {
                continue;
            }
            let now = self.share_update(array, &id, &share)?;
            moved.shares.push(MovedShare { provider_id: now.provider_id, ..MovedShare::at(&id, &object.pool, now.locations) });
            for (snapshot, _) in array.list(SHARE_SNAPSHOTS, &format!("{id}."))? {
                let snapshot = &snapshot[id.len() + 1..];
                if !told.contains(snapshot) {
                    continue;
                }
                let locations = self.snapshot_locations(array, &share, snapshot)?;
                let provider_id = Some(format!("memory-{snapshot}"));
                moved.snapshots.push(MovedSnapshot { provider_id, ..MovedSnapshot::new(snapshot, locations) });
            }
        }
        Ok(moved)
    }

    /// Puts back one share that is on the destination, or removes it when it came from elsewhere.
    fn take_back(&self, array: &dyn Array, id: &str, share: &ShareData) -> Result<()> {
        let snapshots = array.list(SHARE_SNAPSHOTS, &format!("{id}."))?;
        let Some(origin) = &share.origin else {
            return remove_share(array, id);
        };
        for (snapshot, _) in &snapshots {
            self.put_into(array, SHARE_SNAPSHOTS, snapshot, &origin.pool)?;
        }
        let back = ShareData { server: origin.server.clone(), origin: None, ..share.clone() };
        array.change(SHARES, id, None, &mut |object| {
            object.pool.clone_from(&origin.pool);
            object.write(&back).map(|()| true)
        })?;
        Ok(())
    }

    /// Asks once how far a migration is.
    pub fn poll_migration(&self, cx: &Context, plan: &Plan, what: &str, destination: &str, token: &str) -> Result<PollOutcome> {
        let array = self.array(cx);
        let asked = array.change(MIGRATIONS, destination, None, &mut |object| {
            let mut data: MigrationData = object.read()?;
            let working = data.polls_left > 0;
            data.polls_left = data.polls_left.saturating_sub(1);
            object.write(&data)?;
            Ok(working)
        })?;
        let data: MigrationData = asked.ok_or_else(|| none(destination))?.read()?;
        if data.polls_left > 0 {
            return Ok(PollOutcome::Pending(self.working(token.to_owned(), &data)));
        }
        match what {
            "copy" => Ok(PollOutcome::Copied),
            _ => Ok(PollOutcome::Moved(wrong(plan, self.moved(&*array, destination, &data.told)?))),
        }
    }

    fn working(&self, token: String, data: &MigrationData) -> Pending {
        Pending { percent: self.config.migration.progress.then(|| data.percent()), ..Pending::new(token, 100) }
    }

    /// Writes how long the next work of a migration takes.
    fn begin(array: &dyn Array, destination: &str, polls: u32, moved: bool) -> Result<MigrationData> {
        let begun = array.change(MIGRATIONS, destination, None, &mut |object| {
            let mut data: MigrationData = object.read()?;
            let first = data.moved != moved;
            if first {
                data = MigrationData { polls, polls_left: polls, moved, ..data };
                object.write(&data)?;
            }
            Ok(first)
        })?;
        begun.ok_or_else(|| none(destination))?.read()
    }
}

fn fits(pool: &PoolSpec, used: &BTreeMap<String, u64>, gib: u64) -> bool {
    pool.limit_gib().is_none_or(|limit| used.get(&pool.name).copied().unwrap_or_default() + gib <= limit)
}

/// Removes what a migration has taken on the destination. With a server that is torn down goes what was never cancelled.
pub fn forget(array: &dyn Array, destination: &str) -> Result<()> {
    for (copy, _) in array.list(COPIES, &copy_of(destination, ""))? {
        array.remove(COPIES, &copy)?;
    }
    array.remove(MIGRATIONS, destination).map(drop)
}

/// Removes a share with its snapshots; itself last, so that a repeat finds them.
fn remove_share(array: &dyn Array, id: &str) -> Result<()> {
    for (snapshot, _) in array.list(SHARE_SNAPSHOTS, &format!("{id}."))? {
        array.remove(RULES, &snapshot[id.len() + 1..])?;
        array.remove(SHARE_SNAPSHOTS, &snapshot)?;
    }
    array.remove(RULES, id)?;
    array.remove(SHARES, id).map(drop)
}

/// The answer as the configuration's faults want it.
fn wrong(plan: &Plan, mut moved: ServerMoved) -> ServerMoved {
    if plan.leave_out {
        moved.shares.pop();
    }
    if let Some(first) = moved.shares.first_mut().filter(|_| plan.wrong_id) {
        first.id = format!("not-{}", first.id);
    }
    if let Some(first) = moved.shares.first_mut().filter(|_| plan.lie) {
        first.pool = "no-such-pool".to_owned();
    }
    moved
}

impl ShareServerMigration for Memory {
    fn check_migration(&self, cx: &Context, source: &MigrationSource, subnets: &[Subnet], _: MigrationRequest) -> Result<MigrationCheck> {
        self.verb(cx, &source.server.id, "", |_| {
            Ok(match self.unfit(cx, source, subnets)? {
                Some(reason) => MigrationCheck::Refused(reason),
                None => MigrationCheck::Compatible(self.config.migration),
            })
        })
    }

    fn start_migration(&self, cx: &Context, migration: ServerMigration<'_>) -> Result<CopyOutcome> {
        let (source, id) = (migration.source, &migration.destination.id);
        self.verb(cx, &source.server.id, id, |plan| {
            let array = self.array(cx);
            if array.get(SERVERS, id)?.is_none() {
                return Err(DriverError::not_found(format!("the array has no share server {id}")));
            }
            let told = source.shares.iter().map(|s| s.id.clone()).chain(source.snapshots.iter().map(|s| s.id.clone())).collect();
            let begun = MigrationData { source: source.server.id.clone(), polls: plan.polls, polls_left: plan.polls, moved: false, told };
            let data = match array.create(MIGRATIONS, id, &Object::new("", 0, &begun)?, None)? {
                Created::New => begun,
                Created::There(there) => there.read()?,
            };
            if data.source != source.server.id {
                return Err(DriverError::busy(format!("share server {} moves to {id}", data.source)));
            }
            if data.moved {
                return Ok(CopyOutcome::Done);
            }
            self.make_copies(&*array, source, id)?;
            if data.polls_left > 0 {
                return Ok(CopyOutcome::Pending(self.working(format!("copy/{id}"), &data)));
            }
            Ok(CopyOutcome::Done)
        })
    }

    fn complete_migration(&self, cx: &Context, migration: ServerMigration<'_>) -> Result<CompleteOutcome> {
        let (source, id) = (migration.source, &migration.destination.id);
        self.verb(cx, &source.server.id, id, |plan| {
            let array = self.array(cx);
            let data: MigrationData = array.get(MIGRATIONS, id)?.ok_or_else(|| none(id))?.read()?;
            if !data.moved && data.polls_left > 0 {
                return Err(DriverError::busy(format!("share server {} is still being copied to {id}", data.source)));
            }
            for share in &source.shares {
                self.land(&*array, source, share, id)?;
            }
            let data = Self::begin(&*array, id, plan.polls, true)?;
            if data.polls_left > 0 {
                return Ok(CompleteOutcome::Pending(self.working(format!("moved/{id}"), &data)));
            }
            Ok(CompleteOutcome::Done(wrong(plan, self.moved(&*array, id, &data.told)?)))
        })
    }

    fn cancel_migration(&self, cx: &Context, source: &MigrationSource, destination: &ShareServer) -> Result<()> {
        let id = &destination.id;
        self.verb(cx, &source.server.id, id, |_| {
            let array = self.array(cx);
            if array.get(MIGRATIONS, id)?.is_none() {
                return Ok(());
            }
            for (share, object) in array.list(SHARES, "")? {
                let data: ShareData = object.read()?;
                if data.server.as_deref() == Some(id) {
                    self.take_back(&*array, &share, &data)?;
                }
            }
            forget(&*array, id)
        })
    }

    fn abandon_server(&self, cx: &Context, server: &ShareServer, shares: &[Share], _: &[ShareSnapshot]) -> Result<()> {
        self.verb(cx, &server.id, "", |_| {
            let array = self.array(cx);
            for share in shares {
                if let Some(object) = array.get(SHARES, &share.id)?
                    && object.read::<ShareData>()?.server.as_ref() == Some(&server.id)
                {
                    remove_share(&*array, &share.id)?;
                }
            }
            Ok(())
        })
    }
}
