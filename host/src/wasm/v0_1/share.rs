//! The share interfaces, and `poll`, over a 0.1 component.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{
    call::{Adapter, ask},
    convert::{IntoHost as _, ToWit as _},
};
use crate::driver::{
    Call, DriverResult,
    answer::{self, checked},
    share::{
        Access, Allocations, Ensure, Poll, ShareFromSnapshot, ShareManage, ShareRevert, ShareServers, ShareShrink, ShareSnapshots, Shares,
        SnapshotAccess,
    },
    types::{
        AccessChange, AccessRule, AddressCounts, Adopted, Answer, EnsureItem, EnsureOutcome, NetworkCheck, NetworkInfo, NetworkUpdate,
        PollOutcome, RuleState, SecurityService, ServerDetails, ServerSituation, Share, ShareSnapshot, ShareSnapshotUpdate, ShareUpdate,
        StringMap, Subnet,
    },
};

#[async_trait]
impl Poll for Adapter {
    async fn poll(&self, call: &Call, token: &str) -> DriverResult<PollOutcome> {
        ask!(self, call, "poll.poll", poll.call_poll(token), w => checked(w.host()))
    }
}

#[async_trait]
impl Shares for Adapter {
    async fn create(&self, call: &Call, share: &Share) -> DriverResult<Answer<ShareUpdate>> {
        ask!(self, call, "shares.create", shares.call_create(&share.wit()), w => checked(w.host()))
    }
    async fn delete(&self, call: &Call, share: &Share) -> DriverResult<()> {
        ask!(self, call, "shares.delete", shares.call_delete(&share.wit()), w => Ok(w))
    }
    async fn extend(&self, call: &Call, share: &Share, new_size_gib: u64) -> DriverResult<Answer<()>> {
        ask!(self, call, "shares.extend", shares.call_extend(&share.wit(), new_size_gib), w => checked(w.host()))
    }
}

#[async_trait]
impl ShareShrink for Adapter {
    async fn shrink(&self, call: &Call, share: &Share, new_size_gib: u64) -> DriverResult<()> {
        ask!(self, call, "share-shrink.shrink", share_shrink.call_shrink(&share.wit(), new_size_gib), w => Ok(w))
    }
}

#[async_trait]
impl ShareFromSnapshot for Adapter {
    async fn create_from_snapshot(
        &self,
        call: &Call,
        share: &Share,
        snapshot: &ShareSnapshot,
        parent: &Share,
    ) -> DriverResult<Answer<ShareUpdate>> {
        ask!(self, call, "share-from-snapshot.create-from-snapshot", share_from_snapshot.call_create_from_snapshot(&share.wit(), &snapshot.wit(), &parent.wit()), w => checked(w.host()))
    }
}

#[async_trait]
impl ShareSnapshots for Adapter {
    async fn create_snapshot(&self, call: &Call, snapshot: &ShareSnapshot, share: &Share) -> DriverResult<ShareSnapshotUpdate> {
        ask!(self, call, "share-snapshots.create", share_snapshots.call_create(&snapshot.wit(), &share.wit()), w => checked(w.host()))
    }
    async fn delete_snapshot(&self, call: &Call, snapshot: &ShareSnapshot, share: &Share) -> DriverResult<()> {
        ask!(self, call, "share-snapshots.delete", share_snapshots.call_delete(&snapshot.wit(), &share.wit()), w => Ok(w))
    }
}

fn ids(change: &AccessChange) -> impl Iterator<Item = &str> {
    change.rules.iter().map(|r| r.id.as_str())
}

#[async_trait]
impl SnapshotAccess for Adapter {
    async fn apply(&self, call: &Call, snapshot: &ShareSnapshot, change: &AccessChange) -> DriverResult<Vec<RuleState>> {
        let (rules, added, removed) = (change.rules.wit(), change.added.wit(), change.removed.wit());
        ask!(self, call, "snapshot-access.apply", snapshot_access.call_apply(&snapshot.wit(), &rules, &added, &removed), w => answer::rule_states(ids(change), w.host()))
    }
}

#[async_trait]
impl ShareRevert for Adapter {
    async fn revert(
        &self,
        call: &Call,
        share: &Share,
        snapshot: &ShareSnapshot,
        rules: &[AccessRule],
        snapshot_rules: &[AccessRule],
    ) -> DriverResult<()> {
        ask!(self, call, "share-revert.revert", share_revert.call_revert(&share.wit(), &snapshot.wit(), &rules.wit(), &snapshot_rules.wit()), w => Ok(w))
    }
}

#[async_trait]
impl ShareManage for Adapter {
    async fn adopt(&self, call: &Call, share: &Share, export_path: &str, options: &StringMap) -> DriverResult<Adopted<ShareUpdate>> {
        ask!(self, call, "share-manage.adopt", share_manage.call_adopt(&share.wit(), export_path, &options.wit()), w => checked(w.host()))
    }
    async fn release(&self, call: &Call, share: &Share) -> DriverResult<()> {
        ask!(self, call, "share-manage.release", share_manage.call_release(&share.wit()), w => Ok(w))
    }
}

#[async_trait]
impl Access for Adapter {
    async fn apply(&self, call: &Call, share: &Share, change: &AccessChange) -> DriverResult<Vec<RuleState>> {
        let (rules, added, removed, changed) = (change.rules.wit(), change.added.wit(), change.removed.wit(), change.changed.wit());
        ask!(self, call, "access.apply", access.call_apply(&share.wit(), &rules, &added, &removed, &changed), w => answer::rule_states(ids(change), w.host()))
    }
}

#[async_trait]
impl Ensure for Adapter {
    async fn fingerprint(&self, call: &Call) -> DriverResult<String> {
        ask!(self, call, "ensure.fingerprint", ensure.call_fingerprint(), w => answer::fingerprint(w))
    }
    async fn ensure_shares(&self, call: &Call, items: &[EnsureItem]) -> DriverResult<BTreeMap<String, EnsureOutcome>> {
        ask!(self, call, "ensure.ensure-shares", ensure.call_ensure_shares(&items.wit()), w => answer::ensured(items, w.host()))
    }
}

#[async_trait]
impl ShareServers for Adapter {
    async fn allocations_wanted(&self, call: &Call) -> DriverResult<AddressCounts> {
        ask!(self, call, "share-servers.allocations-wanted", share_servers.call_allocations_wanted(), w => Ok(w.host()))
    }
    async fn setup(
        &self,
        call: &Call,
        server_id: &str,
        networks: &[NetworkInfo],
        metadata: &StringMap,
    ) -> DriverResult<Answer<ServerDetails>> {
        ask!(self, call, "share-servers.setup", share_servers.call_setup(server_id, &networks.wit(), &metadata.wit()), w => checked(w.host()))
    }
    async fn teardown(
        &self,
        call: &Call,
        server_id: &str,
        details: Option<&ServerDetails>,
        security_services: &[SecurityService],
    ) -> DriverResult<()> {
        let details = details.map(|d| d.wit());
        ask!(self, call, "share-servers.teardown", share_servers.call_teardown(server_id, details.as_ref(), &security_services.wit()), w => Ok(w))
    }
}

#[async_trait]
impl Allocations for Adapter {
    async fn check_update(&self, call: &Call, of: &ServerSituation, new_subnet: &Subnet) -> DriverResult<NetworkCheck> {
        let (server, current, shares, snapshots, rules) =
            (of.server.wit(), of.current.wit(), of.shares.wit(), of.snapshots.wit(), of.rules.wit());
        let subnet = new_subnet.wit();
        ask!(
            self,
            call,
            "allocations.check-update-network-allocations",
            allocations.call_check_update_network_allocations(&server, &current, &subnet, &shares, &snapshots, &rules),
            w => Ok(w.host())
        )
    }
    async fn update(&self, call: &Call, of: &ServerSituation, added: &NetworkInfo) -> DriverResult<Answer<NetworkUpdate>> {
        let (server, current, shares, snapshots) = (of.server.wit(), of.current.wit(), of.shares.wit(), of.snapshots.wit());
        let added = added.wit();
        ask!(
            self,
            call,
            "allocations.update-network-allocations",
            allocations.call_update_network_allocations(&server, &current, &added, &shares, &snapshots),
            w => answer::network_answer(of, w.host())
        )
    }
}
