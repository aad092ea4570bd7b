//! The share interfaces, and `poll`, over a 0.1 component.

use std::{collections::BTreeMap, net::IpAddr};

use futures::future::BoxFuture;

use super::{
    call::{Adapter, ask},
    convert::{IntoHost as _, ToWit as _},
};
use crate::driver::{
    Call, DriverResult,
    answer::{self, checked},
    share::{
        Access, Allocations, Ensure, Poll, ShareFromSnapshot, ShareManage, ShareRevert, ShareServerManage, ShareServerMigration,
        ShareServers, ShareShrink, ShareSnapshotManage, ShareSnapshots, Shares, SnapshotAccess,
    },
    types::{
        AccessChange, AccessRule, AddressCounts, Adopted, Answer, EnsureItem, EnsureOutcome, MigrationCheck, MigrationRequest,
        MigrationSource, MigrationTarget, NetworkCheck, NetworkInfo, NetworkUpdate, PollOutcome, RuleState, SecurityService, ServerDetails,
        ServerMoved, ServerSituation, Share, ShareServer, ShareSnapshot, ShareSnapshotUpdate, ShareUpdate, StringMap, Subnet,
    },
};

impl Poll for Adapter {
    fn poll<'a>(&'a self, call: &'a Call, token: &'a str) -> BoxFuture<'a, DriverResult<PollOutcome>> {
        ask!(self, call, "poll.poll", poll.call_poll(token), w => checked(w.host()))
    }
}

impl Shares for Adapter {
    fn create<'a>(&'a self, call: &'a Call, share: &'a Share) -> BoxFuture<'a, DriverResult<Answer<ShareUpdate>>> {
        ask!(self, call, "shares.create", shares.call_create(&share.wit()), w => checked(w.host()))
    }
    fn delete<'a>(&'a self, call: &'a Call, share: &'a Share) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "shares.delete", shares.call_delete(&share.wit()), w => Ok(w))
    }
    fn extend<'a>(&'a self, call: &'a Call, share: &'a Share, new_size_gib: u64) -> BoxFuture<'a, DriverResult<Answer<()>>> {
        ask!(self, call, "shares.extend", shares.call_extend(&share.wit(), new_size_gib), w => checked(w.host()))
    }
}

impl ShareShrink for Adapter {
    fn shrink<'a>(&'a self, call: &'a Call, share: &'a Share, new_size_gib: u64) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "share-shrink.shrink", share_shrink.call_shrink(&share.wit(), new_size_gib), w => Ok(w))
    }
}

impl ShareFromSnapshot for Adapter {
    fn create_from_snapshot<'a>(
        &'a self,
        call: &'a Call,
        share: &'a Share,
        snapshot: &'a ShareSnapshot,
        parent: &'a Share,
    ) -> BoxFuture<'a, DriverResult<Answer<ShareUpdate>>> {
        ask!(self, call, "share-from-snapshot.create-from-snapshot", share_from_snapshot.call_create_from_snapshot(&share.wit(), &snapshot.wit(), &parent.wit()), w => checked(w.host()))
    }
}

impl ShareSnapshots for Adapter {
    fn create_snapshot<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a ShareSnapshot,
        share: &'a Share,
    ) -> BoxFuture<'a, DriverResult<ShareSnapshotUpdate>> {
        ask!(self, call, "share-snapshots.create", share_snapshots.call_create(&snapshot.wit(), &share.wit()), w => checked(w.host()))
    }
    fn delete_snapshot<'a>(&'a self, call: &'a Call, snapshot: &'a ShareSnapshot, share: &'a Share) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "share-snapshots.delete", share_snapshots.call_delete(&snapshot.wit(), &share.wit()), w => Ok(w))
    }
}

fn ids(change: &AccessChange) -> impl Iterator<Item = &str> {
    change.rules.iter().map(|r| r.id.as_str())
}

impl SnapshotAccess for Adapter {
    fn apply<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a ShareSnapshot,
        change: &'a AccessChange,
    ) -> BoxFuture<'a, DriverResult<Vec<RuleState>>> {
        let (rules, added, removed) = (change.rules.wit(), change.added.wit(), change.removed.wit());
        ask!(self, call, "snapshot-access.apply", snapshot_access.call_apply(&snapshot.wit(), &rules, &added, &removed), w => answer::rule_states(ids(change), w.host()))
    }
}

impl ShareRevert for Adapter {
    fn revert<'a>(
        &'a self,
        call: &'a Call,
        share: &'a Share,
        snapshot: &'a ShareSnapshot,
        rules: &'a [AccessRule],
        snapshot_rules: &'a [AccessRule],
    ) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "share-revert.revert", share_revert.call_revert(&share.wit(), &snapshot.wit(), &rules.wit(), &snapshot_rules.wit()), w => Ok(w))
    }
}

impl ShareManage for Adapter {
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        share: &'a Share,
        export_path: &'a str,
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Adopted<ShareUpdate>>> {
        ask!(self, call, "share-manage.adopt", share_manage.call_adopt(&share.wit(), export_path, &options.wit()), w => checked(w.host()))
    }
    fn release<'a>(&'a self, call: &'a Call, share: &'a Share) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "share-manage.release", share_manage.call_release(&share.wit()), w => Ok(w))
    }
}

impl ShareSnapshotManage for Adapter {
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a ShareSnapshot,
        share: &'a Share,
        location: &'a str,
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Adopted<ShareSnapshotUpdate>>> {
        ask!(self, call, "share-snapshot-manage.adopt", share_snapshot_manage.call_adopt(&snapshot.wit(), &share.wit(), location, &options.wit()), w => checked(w.host()))
    }
    fn release<'a>(&'a self, call: &'a Call, snapshot: &'a ShareSnapshot, share: &'a Share) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "share-snapshot-manage.release", share_snapshot_manage.call_release(&snapshot.wit(), &share.wit()), w => Ok(w))
    }
}

impl Access for Adapter {
    fn apply<'a>(&'a self, call: &'a Call, share: &'a Share, change: &'a AccessChange) -> BoxFuture<'a, DriverResult<Vec<RuleState>>> {
        let (rules, added, removed, changed) = (change.rules.wit(), change.added.wit(), change.removed.wit(), change.changed.wit());
        ask!(self, call, "access.apply", access.call_apply(&share.wit(), &rules, &added, &removed, &changed), w => answer::rule_states(ids(change), w.host()))
    }
}

impl Ensure for Adapter {
    fn fingerprint<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<String>> {
        ask!(self, call, "ensure.fingerprint", ensure.call_fingerprint(), w => answer::fingerprint(w))
    }
    fn ensure_shares<'a>(
        &'a self,
        call: &'a Call,
        items: &'a [EnsureItem],
    ) -> BoxFuture<'a, DriverResult<BTreeMap<String, EnsureOutcome>>> {
        ask!(self, call, "ensure.ensure-shares", ensure.call_ensure_shares(&items.wit()), w => answer::ensured(items, w.host()))
    }
}

impl ShareServers for Adapter {
    fn allocations_wanted<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<AddressCounts>> {
        ask!(self, call, "share-servers.allocations-wanted", share_servers.call_allocations_wanted(), w => checked(w.host()))
    }
    fn setup<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        networks: &'a [NetworkInfo],
        metadata: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Answer<ServerDetails>>> {
        ask!(self, call, "share-servers.setup", share_servers.call_setup(server_id, &networks.wit(), &metadata.wit()), w => checked(w.host()))
    }
    fn teardown<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        details: Option<&'a ServerDetails>,
        security_services: &'a [SecurityService],
    ) -> BoxFuture<'a, DriverResult<()>> {
        let details = details.map(|d| d.wit());
        ask!(self, call, "share-servers.teardown", share_servers.call_teardown(server_id, details.as_ref(), &security_services.wit()), w => Ok(w))
    }
}

impl ShareServerManage for Adapter {
    fn addresses<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        identifier: &'a str,
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Vec<IpAddr>>> {
        ask!(self, call, "share-server-manage.addresses", share_server_manage.call_addresses(server_id, identifier, &options.wit()), w => answer::addresses(&w))
    }
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        identifier: &'a str,
        networks: &'a [NetworkInfo],
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<ServerDetails>> {
        ask!(self, call, "share-server-manage.adopt", share_server_manage.call_adopt(server_id, identifier, &networks.wit(), &options.wit()), w => checked(w.host()))
    }
    fn release<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        details: Option<&'a ServerDetails>,
        security_services: &'a [SecurityService],
    ) -> BoxFuture<'a, DriverResult<()>> {
        let details = details.map(|d| d.wit());
        ask!(self, call, "share-server-manage.release", share_server_manage.call_release(server_id, details.as_ref(), &security_services.wit()), w => Ok(w))
    }
}

impl ShareServerMigration for Adapter {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        source: &'a MigrationSource,
        subnets: &'a [Subnet],
        request: &'a MigrationRequest,
    ) -> BoxFuture<'a, DriverResult<MigrationCheck>> {
        ask!(self, call, "share-server-migration.check", share_server_migration.call_check(&source.wit(), &subnets.wit(), request.wit()), w => Ok(w.host()))
    }
    fn start<'a>(
        &'a self,
        call: &'a Call,
        source: &'a MigrationSource,
        target: &'a MigrationTarget,
        request: &'a MigrationRequest,
    ) -> BoxFuture<'a, DriverResult<Answer<()>>> {
        let (server, networks) = (target.server.wit(), target.networks.wit());
        ask!(
            self,
            call,
            "share-server-migration.start",
            share_server_migration.call_start(&source.wit(), &server, &networks, request.wit()),
            w => checked(w.host())
        )
    }
    fn complete<'a>(
        &'a self,
        call: &'a Call,
        source: &'a MigrationSource,
        target: &'a MigrationTarget,
        request: &'a MigrationRequest,
    ) -> BoxFuture<'a, DriverResult<Answer<ServerMoved>>> {
        let (server, networks) = (target.server.wit(), target.networks.wit());
        ask!(
            self,
            call,
            "share-server-migration.complete",
            share_server_migration.call_complete(&source.wit(), &server, &networks, request.wit()),
            w => answer::moved_answer(&source.situation, w.host())
        )
    }
    fn cancel<'a>(&'a self, call: &'a Call, source: &'a MigrationSource, server: &'a ShareServer) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "share-server-migration.cancel", share_server_migration.call_cancel(&source.wit(), &server.wit()), w => Ok(w))
    }
    fn abandon<'a>(
        &'a self,
        call: &'a Call,
        server: &'a ShareServer,
        shares: &'a [Share],
        snapshots: &'a [ShareSnapshot],
    ) -> BoxFuture<'a, DriverResult<()>> {
        ask!(
            self,
            call,
            "share-server-migration.abandon",
            share_server_migration.call_abandon(&server.wit(), &shares.wit(), &snapshots.wit()),
            w => Ok(w)
        )
    }
}

impl Allocations for Adapter {
    fn check_update<'a>(
        &'a self,
        call: &'a Call,
        of: &'a ServerSituation,
        new_subnet: &'a Subnet,
    ) -> BoxFuture<'a, DriverResult<NetworkCheck>> {
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
    fn update<'a>(
        &'a self,
        call: &'a Call,
        of: &'a ServerSituation,
        added: &'a NetworkInfo,
    ) -> BoxFuture<'a, DriverResult<Answer<NetworkUpdate>>> {
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
