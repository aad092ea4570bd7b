//! The interfaces of shares. What a verb must do, and what a repeat of it must do, stands in `wit/stowage-driver/*/share.wit`.

use crate::{
    bindings,
    context::Context,
    driver::{Driver, Glue, run},
    error::{Result, ServerResult},
    types::*,
};

/// Interface `shares`.
pub trait Shares: Driver {
    /// Makes an empty share that nobody reaches yet. Repeat: the share with this id.
    fn create_share(&self, cx: &Context, share: &Share) -> Result<ShareOutcome>;
    /// Repeat, or never made: success.
    fn delete_share(&self, cx: &Context, share: &Share) -> Result<()>;
    /// Repeat, or already that large: success.
    fn extend_share(&self, cx: &Context, share: &Share, new_size_gib: u64) -> Result<ResizeOutcome>;
}

impl<D: Shares> bindings::shares::Guest for Glue<D> {
    fn create(call: Call, share: Share) -> Result<ShareOutcome> {
        run("shares.create", call, |d: &D, cx| d.create_share(cx, &share))
    }
    fn delete(call: Call, share: Share) -> Result<()> {
        run("shares.delete", call, |d: &D, cx| d.delete_share(cx, &share))
    }
    fn extend(call: Call, share: Share, new_size_gib: u64) -> Result<ResizeOutcome> {
        run("shares.extend", call, |d: &D, cx| d.extend_share(cx, &share, new_size_gib))
    }
}

/// Interface `share-shrink`.
pub trait ShareShrink: Driver {
    /// `data-loss-risk` when more is in use. Repeat, or already that small: success.
    fn shrink_share(&self, cx: &Context, share: &Share, new_size_gib: u64) -> Result<()>;
}

impl<D: ShareShrink> bindings::share_shrink::Guest for Glue<D> {
    fn shrink(call: Call, share: Share, new_size_gib: u64) -> Result<()> {
        run("share-shrink.shrink", call, |d: &D, cx| d.shrink_share(cx, &share, new_size_gib))
    }
}

/// Interface `share-from-snapshot`.
pub trait ShareFromSnapshot: Driver {
    /// `share` may be larger than the snapshot; `parent` is the share the snapshot was taken of.
    fn create_share_from_snapshot(&self, cx: &Context, share: &Share, snapshot: &ShareSnapshot, parent: &Share) -> Result<ShareOutcome>;
}

impl<D: ShareFromSnapshot> bindings::share_from_snapshot::Guest for Glue<D> {
    fn create_from_snapshot(call: Call, share: Share, snapshot: ShareSnapshot, parent: Share) -> Result<ShareOutcome> {
        run("share-from-snapshot.create-from-snapshot", call, |d: &D, cx| d.create_share_from_snapshot(cx, &share, &snapshot, &parent))
    }
}

/// Interface `share-snapshots`.
pub trait ShareSnapshots: Driver {
    /// Repeat: the snapshot as it was first taken.
    fn create_share_snapshot(&self, cx: &Context, snapshot: &ShareSnapshot, share: &Share) -> Result<ShareSnapshotUpdate>;
    /// Repeat, or never made: success. `busy`: something depends on it.
    fn delete_share_snapshot(&self, cx: &Context, snapshot: &ShareSnapshot, share: &Share) -> Result<()>;
}

impl<D: ShareSnapshots> bindings::share_snapshots::Guest for Glue<D> {
    fn create(call: Call, snapshot: ShareSnapshot, share: Share) -> Result<ShareSnapshotUpdate> {
        run("share-snapshots.create", call, |d: &D, cx| d.create_share_snapshot(cx, &snapshot, &share))
    }
    fn delete(call: Call, snapshot: ShareSnapshot, share: Share) -> Result<()> {
        run("share-snapshots.delete", call, |d: &D, cx| d.delete_share_snapshot(cx, &snapshot, &share))
    }
}

/// Interface `snapshot-access`.
pub trait SnapshotAccess: Driver {
    /// One state for each rule of `rules`. Rules of snapshots are read-only.
    fn apply_snapshot_access(
        &self,
        cx: &Context,
        snapshot: &ShareSnapshot,
        rules: &[AccessRule],
        added: &[AccessRule],
        removed: &[AccessRule],
    ) -> Result<Vec<RuleState>>;
}

impl<D: SnapshotAccess> bindings::snapshot_access::Guest for Glue<D> {
    fn apply(
        call: Call,
        snapshot: ShareSnapshot,
        rules: Vec<AccessRule>,
        added: Vec<AccessRule>,
        removed: Vec<AccessRule>,
    ) -> Result<Vec<RuleState>> {
        run("snapshot-access.apply", call, |d: &D, cx| d.apply_snapshot_access(cx, &snapshot, &rules, &added, &removed))
    }
}

/// Interface `share-revert`.
pub trait ShareRevert: Driver {
    /// `snapshot` is the latest one; the rules hold afterwards too. Repeat: the same content again.
    fn revert_share(
        &self,
        cx: &Context,
        share: &Share,
        snapshot: &ShareSnapshot,
        rules: &[AccessRule],
        snapshot_rules: &[AccessRule],
    ) -> Result<()>;
}

impl<D: ShareRevert> bindings::share_revert::Guest for Glue<D> {
    fn revert(call: Call, share: Share, snapshot: ShareSnapshot, rules: Vec<AccessRule>, snapshot_rules: Vec<AccessRule>) -> Result<()> {
        run("share-revert.revert", call, |d: &D, cx| d.revert_share(cx, &share, &snapshot, &rules, &snapshot_rules))
    }
}

/// Interface `share-manage`.
pub trait ShareManage: Driver {
    /// Takes over what is exported at `export_path`. `invalid`: no such share; `busy`: already managed.
    fn adopt_share(&self, cx: &Context, share: &Share, export_path: &str, options: &[KeyValue]) -> Result<AdoptedShare>;
    /// Forgets it and leaves its data alone. Repeat: success.
    fn release_share(&self, cx: &Context, share: &Share) -> Result<()>;
}

impl<D: ShareManage> bindings::share_manage::Guest for Glue<D> {
    fn adopt(call: Call, share: Share, export_path: String, options: Vec<KeyValue>) -> Result<AdoptedShare> {
        run("share-manage.adopt", call, |d: &D, cx| d.adopt_share(cx, &share, &export_path, &options))
    }
    fn release(call: Call, share: Share) -> Result<()> {
        run("share-manage.release", call, |d: &D, cx| d.release_share(cx, &share))
    }
}

/// Interface `share-snapshot-manage`.
pub trait ShareSnapshotManage: Driver {
    /// Takes over the snapshot of `share` that the array knows as `location`. `invalid`: no such snapshot; `busy`: already managed.
    fn adopt_share_snapshot(
        &self,
        cx: &Context,
        snapshot: &ShareSnapshot,
        share: &Share,
        location: &str,
        options: &[KeyValue],
    ) -> Result<AdoptedShareSnapshot>;
    /// Forgets it and leaves its data alone. Repeat: success.
    fn release_share_snapshot(&self, cx: &Context, snapshot: &ShareSnapshot, share: &Share) -> Result<()>;
}

impl<D: ShareSnapshotManage> bindings::share_snapshot_manage::Guest for Glue<D> {
    fn adopt(call: Call, snapshot: ShareSnapshot, share: Share, location: String, options: Vec<KeyValue>) -> Result<AdoptedShareSnapshot> {
        run("share-snapshot-manage.adopt", call, |d: &D, cx| d.adopt_share_snapshot(cx, &snapshot, &share, &location, &options))
    }
    fn release(call: Call, snapshot: ShareSnapshot, share: Share) -> Result<()> {
        run("share-snapshot-manage.release", call, |d: &D, cx| d.release_share_snapshot(cx, &snapshot, &share))
    }
}

/// How the rules of a share differ from what was applied before. All empty: apply everything anew.
#[derive(Debug, Clone, Copy)]
pub struct RuleChanges<'r> {
    pub added: &'r [AccessRule],
    pub removed: &'r [AccessRule],
    /// With another level.
    pub changed: &'r [AccessRule],
}

/// Interface `access`.
pub trait Access: Driver {
    /// Makes exactly `rules` hold; one state for each. An error means that nothing was changed.
    fn apply_access(&self, cx: &Context, share: &Share, rules: &[AccessRule], changes: RuleChanges<'_>) -> Result<Vec<RuleState>>;
}

impl<D: Access> bindings::access::Guest for Glue<D> {
    fn apply(
        call: Call,
        share: Share,
        rules: Vec<AccessRule>,
        added: Vec<AccessRule>,
        removed: Vec<AccessRule>,
        changed: Vec<AccessRule>,
    ) -> Result<Vec<RuleState>> {
        let changes = RuleChanges { added: &added, removed: &removed, changed: &changed };
        run("access.apply", call, |d: &D, cx| d.apply_access(cx, &share, &rules, changes))
    }
}

/// Interface `ensure`.
pub trait Ensure: Driver {
    /// Changes whenever shares should be ensured: made of the options and the array's facts that export locations depend on, and
    /// of a word of your own for a release that makes them in another way. No secrets.
    fn fingerprint(&self, cx: &Context) -> Result<String>;
    /// What became of one share and its snapshots.
    fn ensure_share(&self, cx: &Context, item: &EnsureItem) -> Result<EnsureOutcome>;
    /// One entry for each share given, no more and no less. Override it where the array answers for many shares at once.
    fn ensure_shares(&self, cx: &Context, items: &[EnsureItem]) -> Result<Vec<Ensured>> {
        let one = |item: &EnsureItem| {
            let outcome = self.ensure_share(cx, item).unwrap_or_else(EnsureOutcome::Failed);
            Ensured { id: item.share.id.clone(), outcome }
        };
        Ok(items.iter().map(one).collect())
    }
}

impl<D: Ensure> bindings::ensure::Guest for Glue<D> {
    fn fingerprint(call: Call) -> Result<String> {
        run("ensure.fingerprint", call, D::fingerprint)
    }
    fn ensure_shares(call: Call, items: Vec<EnsureItem>) -> Result<Vec<Ensured>> {
        run("ensure.ensure-shares", call, |d: &D, cx| d.ensure_shares(cx, &items))
    }
}

/// Interface `share-servers`.
pub trait ShareServers: Driver {
    /// Addresses a server needs in each subnet, and in the admin network.
    fn allocations_wanted(&self, cx: &Context) -> Result<AddressCounts>;
    /// Builds a server over all of `networks`. Failure of one subnet is failure of all. Repeat: the server with this id.
    fn set_up_server(&self, cx: &Context, server_id: &str, networks: &[NetworkInfo], metadata: &[KeyValue]) -> ServerResult<ServerOutcome>;
    /// `details` is none when set-up never answered. Repeat, or never made: success.
    fn tear_down_server(
        &self,
        cx: &Context,
        server_id: &str,
        details: Option<&ServerDetails>,
        security_services: &[SecurityService],
    ) -> Result<()>;
}

impl<D: ShareServers> bindings::share_servers::Guest for Glue<D> {
    fn allocations_wanted(call: Call) -> Result<AddressCounts> {
        run("share-servers.allocations-wanted", call, D::allocations_wanted)
    }
    fn setup(call: Call, server_id: String, networks: Vec<NetworkInfo>, metadata: Vec<KeyValue>) -> ServerResult<ServerOutcome> {
        run("share-servers.setup", call, |d: &D, cx| d.set_up_server(cx, &server_id, &networks, &metadata))
    }
    fn teardown(call: Call, server_id: String, details: Option<ServerDetails>, security_services: Vec<SecurityService>) -> Result<()> {
        run("share-servers.teardown", call, |d: &D, cx| d.tear_down_server(cx, &server_id, details.as_ref(), &security_services))
    }
}

/// Interface `share-server-manage`.
pub trait ShareServerManage: Driver {
    /// The addresses of the server that the array knows as `identifier`. `invalid`: no such server; `busy`: already managed.
    fn server_addresses(&self, cx: &Context, server_id: &str, identifier: &str, options: &[KeyValue]) -> Result<Vec<String>>;
    /// Takes it over, with all that is on it. Repeat: the same answer.
    fn adopt_server(
        &self,
        cx: &Context,
        server_id: &str,
        identifier: &str,
        networks: &[NetworkInfo],
        options: &[KeyValue],
    ) -> Result<ServerDetails>;
    /// Forgets it, and leaves it and all that is on it alone. Repeat, or never taken over: success.
    fn release_server(
        &self,
        cx: &Context,
        server_id: &str,
        details: Option<&ServerDetails>,
        security_services: &[SecurityService],
    ) -> Result<()>;
}

impl<D: ShareServerManage> bindings::share_server_manage::Guest for Glue<D> {
    fn addresses(call: Call, server_id: String, identifier: String, options: Vec<KeyValue>) -> Result<Vec<String>> {
        run("share-server-manage.addresses", call, |d: &D, cx| d.server_addresses(cx, &server_id, &identifier, &options))
    }
    fn adopt(
        call: Call,
        server_id: String,
        identifier: String,
        networks: Vec<NetworkInfo>,
        options: Vec<KeyValue>,
    ) -> Result<ServerDetails> {
        run("share-server-manage.adopt", call, |d: &D, cx| d.adopt_server(cx, &server_id, &identifier, &networks, &options))
    }
    fn release(call: Call, server_id: String, details: Option<ServerDetails>, security_services: Vec<SecurityService>) -> Result<()> {
        run("share-server-manage.release", call, |d: &D, cx| d.release_server(cx, &server_id, details.as_ref(), &security_services))
    }
}

/// One migration: what moves, and to where.
#[derive(Debug, Clone, Copy)]
pub struct ServerMigration<'m> {
    pub source: &'m MigrationSource,
    /// Built by `set_up_server` of this driver.
    pub destination: &'m ShareServer,
    /// The destination's subnets and addresses.
    pub networks: &'m [NetworkInfo],
    pub request: MigrationRequest,
}

/// Interface `share-server-migration`: on the driver of the destination, but for `abandon_server`.
pub trait ShareServerMigration: Driver {
    /// Whether the server could move here, into `subnets`. Changes nothing.
    fn check_migration(
        &self,
        cx: &Context,
        source: &MigrationSource,
        subnets: &[Subnet],
        request: MigrationRequest,
    ) -> Result<MigrationCheck>;
    /// Begins to copy, and ends when only `complete_migration` is left to do. Repeat: the same migration.
    fn start_migration(&self, cx: &Context, migration: ServerMigration<'_>) -> Result<CopyOutcome>;
    /// Moves what has changed since and serves from here; one entry for each share and snapshot. Repeat: the same answer.
    fn complete_migration(&self, cx: &Context, migration: ServerMigration<'_>) -> Result<CompleteOutcome>;
    /// Ends a migration that is not complete; the source is then as it was. Repeat, or never started: success.
    fn cancel_migration(&self, cx: &Context, source: &MigrationSource, destination: &ShareServer) -> Result<()>;
    /// On the driver of the source, when all has moved: removes what is left there, and nothing of the destination's. Repeat: success.
    fn abandon_server(&self, cx: &Context, server: &ShareServer, shares: &[Share], snapshots: &[ShareSnapshot]) -> Result<()>;
}

impl<D: ShareServerMigration> bindings::share_server_migration::Guest for Glue<D> {
    fn check(call: Call, source: MigrationSource, subnets: Vec<Subnet>, request: MigrationRequest) -> Result<MigrationCheck> {
        run("share-server-migration.check", call, |d: &D, cx| d.check_migration(cx, &source, &subnets, request))
    }
    fn start(
        call: Call,
        source: MigrationSource,
        destination: ShareServer,
        networks: Vec<NetworkInfo>,
        request: MigrationRequest,
    ) -> Result<CopyOutcome> {
        let migration = ServerMigration { source: &source, destination: &destination, networks: &networks, request };
        run("share-server-migration.start", call, |d: &D, cx| d.start_migration(cx, migration))
    }
    fn complete(
        call: Call,
        source: MigrationSource,
        destination: ShareServer,
        networks: Vec<NetworkInfo>,
        request: MigrationRequest,
    ) -> Result<CompleteOutcome> {
        let migration = ServerMigration { source: &source, destination: &destination, networks: &networks, request };
        run("share-server-migration.complete", call, |d: &D, cx| d.complete_migration(cx, migration))
    }
    fn cancel(call: Call, source: MigrationSource, destination: ShareServer) -> Result<()> {
        run("share-server-migration.cancel", call, |d: &D, cx| d.cancel_migration(cx, &source, &destination))
    }
    fn abandon(call: Call, server: ShareServer, shares: Vec<Share>, snapshots: Vec<ShareSnapshot>) -> Result<()> {
        run("share-server-migration.abandon", call, |d: &D, cx| d.abandon_server(cx, &server, &shares, &snapshots))
    }
}

/// A share server and all that is on it, for the verbs that change its networks.
#[derive(Debug, Clone, Copy)]
pub struct LiveServer<'s> {
    pub server: &'s ShareServer,
    /// Its subnets and addresses now.
    pub current: &'s [NetworkInfo],
    pub shares: &'s [Share],
    pub snapshots: &'s [ShareSnapshot],
}

/// Interface `allocations`.
pub trait Allocations: Driver {
    /// Whether the server could be given `new_subnet`. Changes nothing.
    fn check_network_update(&self, cx: &Context, live: LiveServer<'_>, new_subnet: &Subnet, rules: &[ShareRules]) -> Result<CheckOutcome>;
    /// Does it. What users have mounted goes on working. Repeat: the same answer.
    fn update_network(&self, cx: &Context, live: LiveServer<'_>, added: &NetworkInfo) -> ServerResult<UpdateOutcome>;
}

impl<D: Allocations> bindings::allocations::Guest for Glue<D> {
    fn check_update_network_allocations(
        call: Call,
        server: ShareServer,
        current: Vec<NetworkInfo>,
        new_subnet: Subnet,
        shares: Vec<Share>,
        snapshots: Vec<ShareSnapshot>,
        rules: Vec<ShareRules>,
    ) -> Result<CheckOutcome> {
        let live = LiveServer { server: &server, current: &current, shares: &shares, snapshots: &snapshots };
        run("allocations.check-update-network-allocations", call, |d: &D, cx| d.check_network_update(cx, live, &new_subnet, &rules))
    }
    fn update_network_allocations(
        call: Call,
        server: ShareServer,
        current: Vec<NetworkInfo>,
        added: NetworkInfo,
        shares: Vec<Share>,
        snapshots: Vec<ShareSnapshot>,
    ) -> ServerResult<UpdateOutcome> {
        let live = LiveServer { server: &server, current: &current, shares: &shares, snapshots: &snapshots };
        run("allocations.update-network-allocations", call, |d: &D, cx| d.update_network(cx, live, &added))
    }
}
