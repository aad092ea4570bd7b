//! The interfaces of share drivers, one trait each, and `poll`, which both kinds have.
//! `wit/stowage-driver/0.1.0/share.wit` says what each verb must do.

use std::{collections::BTreeMap, net::IpAddr};

use futures::future::BoxFuture;

use super::{
    call::Call,
    error::DriverResult,
    types::{
        AccessChange, AccessRule, AddressCounts, Adopted, Answer, EnsureItem, EnsureOutcome, MigrationCheck, MigrationRequest,
        MigrationSource, MigrationTarget, NetworkCheck, NetworkInfo, NetworkUpdate, PollOutcome, RuleState, SecurityService, ServerDetails,
        ServerMoved, ServerSituation, Share, ShareServer, ShareSnapshot, ShareSnapshotUpdate, ShareUpdate, StringMap, Subnet,
    },
};

/// Continues work that a verb left pending, in whatever process.
pub trait Poll: Send + Sync {
    fn poll<'a>(&'a self, call: &'a Call, token: &'a str) -> BoxFuture<'a, DriverResult<PollOutcome>>;
}

pub trait Shares: Send + Sync {
    fn create<'a>(&'a self, call: &'a Call, share: &'a Share) -> BoxFuture<'a, DriverResult<Answer<ShareUpdate>>>;
    fn delete<'a>(&'a self, call: &'a Call, share: &'a Share) -> BoxFuture<'a, DriverResult<()>>;
    fn extend<'a>(&'a self, call: &'a Call, share: &'a Share, new_size_gib: u64) -> BoxFuture<'a, DriverResult<Answer<()>>>;
}

pub trait ShareShrink: Send + Sync {
    fn shrink<'a>(&'a self, call: &'a Call, share: &'a Share, new_size_gib: u64) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait ShareFromSnapshot: Send + Sync {
    fn create_from_snapshot<'a>(
        &'a self,
        call: &'a Call,
        share: &'a Share,
        snapshot: &'a ShareSnapshot,
        parent: &'a Share,
    ) -> BoxFuture<'a, DriverResult<Answer<ShareUpdate>>>;
}

pub trait ShareSnapshots: Send + Sync {
    fn create_snapshot<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a ShareSnapshot,
        share: &'a Share,
    ) -> BoxFuture<'a, DriverResult<ShareSnapshotUpdate>>;
    fn delete_snapshot<'a>(&'a self, call: &'a Call, snapshot: &'a ShareSnapshot, share: &'a Share) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait SnapshotAccess: Send + Sync {
    /// One state for each rule of `change.rules`, in that order.
    fn apply<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a ShareSnapshot,
        change: &'a AccessChange,
    ) -> BoxFuture<'a, DriverResult<Vec<RuleState>>>;
}

pub trait ShareRevert: Send + Sync {
    fn revert<'a>(
        &'a self,
        call: &'a Call,
        share: &'a Share,
        snapshot: &'a ShareSnapshot,
        rules: &'a [AccessRule],
        snapshot_rules: &'a [AccessRule],
    ) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait ShareManage: Send + Sync {
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        share: &'a Share,
        export_path: &'a str,
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Adopted<ShareUpdate>>>;
    fn release<'a>(&'a self, call: &'a Call, share: &'a Share) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait ShareSnapshotManage: Send + Sync {
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        snapshot: &'a ShareSnapshot,
        share: &'a Share,
        location: &'a str,
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Adopted<ShareSnapshotUpdate>>>;
    fn release<'a>(&'a self, call: &'a Call, snapshot: &'a ShareSnapshot, share: &'a Share) -> BoxFuture<'a, DriverResult<()>>;
}

pub trait Access: Send + Sync {
    /// One state for each rule of `change.rules`, in that order.
    fn apply<'a>(&'a self, call: &'a Call, share: &'a Share, change: &'a AccessChange) -> BoxFuture<'a, DriverResult<Vec<RuleState>>>;
}

pub trait Ensure: Send + Sync {
    fn fingerprint<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<String>>;
    /// Share id to what was found. A share the driver left out is left out here too: the caller gives it its state back.
    fn ensure_shares<'a>(&'a self, call: &'a Call, items: &'a [EnsureItem])
    -> BoxFuture<'a, DriverResult<BTreeMap<String, EnsureOutcome>>>;
}

/// A failed set-up carries what is left in [`DriverError::partial`](super::DriverError::partial).
pub trait ShareServers: Send + Sync {
    fn allocations_wanted<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<AddressCounts>>;
    fn setup<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        networks: &'a [NetworkInfo],
        metadata: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Answer<ServerDetails>>>;
    fn teardown<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        details: Option<&'a ServerDetails>,
        security_services: &'a [SecurityService],
    ) -> BoxFuture<'a, DriverResult<()>>;
}

/// Share servers that somebody else made.
pub trait ShareServerManage: Send + Sync {
    fn addresses<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        identifier: &'a str,
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<Vec<IpAddr>>>;
    fn adopt<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        identifier: &'a str,
        networks: &'a [NetworkInfo],
        options: &'a StringMap,
    ) -> BoxFuture<'a, DriverResult<ServerDetails>>;
    fn release<'a>(
        &'a self,
        call: &'a Call,
        server_id: &'a str,
        details: Option<&'a ServerDetails>,
        security_services: &'a [SecurityService],
    ) -> BoxFuture<'a, DriverResult<()>>;
}

/// Moving share servers from another back end to this one. [`abandon`](Self::abandon) alone is called where the server was.
pub trait ShareServerMigration: Send + Sync {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        source: &'a MigrationSource,
        subnets: &'a [Subnet],
        request: &'a MigrationRequest,
    ) -> BoxFuture<'a, DriverResult<MigrationCheck>>;
    fn start<'a>(
        &'a self,
        call: &'a Call,
        source: &'a MigrationSource,
        target: &'a MigrationTarget,
        request: &'a MigrationRequest,
    ) -> BoxFuture<'a, DriverResult<Answer<()>>>;
    fn complete<'a>(
        &'a self,
        call: &'a Call,
        source: &'a MigrationSource,
        target: &'a MigrationTarget,
        request: &'a MigrationRequest,
    ) -> BoxFuture<'a, DriverResult<Answer<ServerMoved>>>;
    fn cancel<'a>(&'a self, call: &'a Call, source: &'a MigrationSource, server: &'a ShareServer) -> BoxFuture<'a, DriverResult<()>>;
    fn abandon<'a>(
        &'a self,
        call: &'a Call,
        server: &'a ShareServer,
        shares: &'a [Share],
        snapshots: &'a [ShareSnapshot],
    ) -> BoxFuture<'a, DriverResult<()>>;
}

/// A failed update carries what is left in [`DriverError::partial`](super::DriverError::partial).
pub trait Allocations: Send + Sync {
    fn check_update<'a>(
        &'a self,
        call: &'a Call,
        situation: &'a ServerSituation,
        new_subnet: &'a Subnet,
    ) -> BoxFuture<'a, DriverResult<NetworkCheck>>;
    fn update<'a>(
        &'a self,
        call: &'a Call,
        situation: &'a ServerSituation,
        added: &'a NetworkInfo,
    ) -> BoxFuture<'a, DriverResult<Answer<NetworkUpdate>>>;
}
