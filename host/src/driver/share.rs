//! The interfaces of share drivers, one trait each, and `poll`, which both kinds have.
//! `wit/stowage-driver/0.1.0/share.wit` says what each verb must do.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{
    call::Call,
    error::DriverResult,
    types::{
        AccessChange, AccessRule, AddressCounts, Adopted, Answer, EnsureItem, EnsureOutcome, NetworkCheck, NetworkInfo, NetworkUpdate,
        PollOutcome, RuleState, SecurityService, ServerDetails, ServerSituation, Share, ShareSnapshot, ShareSnapshotUpdate, ShareUpdate,
        StringMap, Subnet,
    },
};

/// Continues work that a verb left pending, in whatever process.
#[async_trait]
pub trait Poll: Send + Sync {
    async fn poll(&self, call: &Call, token: &str) -> DriverResult<PollOutcome>;
}

#[async_trait]
pub trait Shares: Send + Sync {
    async fn create(&self, call: &Call, share: &Share) -> DriverResult<Answer<ShareUpdate>>;
    async fn delete(&self, call: &Call, share: &Share) -> DriverResult<()>;
    async fn extend(&self, call: &Call, share: &Share, new_size_gib: u64) -> DriverResult<Answer<()>>;
}

#[async_trait]
pub trait ShareShrink: Send + Sync {
    async fn shrink(&self, call: &Call, share: &Share, new_size_gib: u64) -> DriverResult<()>;
}

#[async_trait]
pub trait ShareFromSnapshot: Send + Sync {
    async fn create_from_snapshot(
        &self,
        call: &Call,
        share: &Share,
        snapshot: &ShareSnapshot,
        parent: &Share,
    ) -> DriverResult<Answer<ShareUpdate>>;
}

#[async_trait]
pub trait ShareSnapshots: Send + Sync {
    async fn create_snapshot(&self, call: &Call, snapshot: &ShareSnapshot, share: &Share) -> DriverResult<ShareSnapshotUpdate>;
    async fn delete_snapshot(&self, call: &Call, snapshot: &ShareSnapshot, share: &Share) -> DriverResult<()>;
}

#[async_trait]
pub trait SnapshotAccess: Send + Sync {
    /// One state for each rule of `change.rules`, in that order.
    async fn apply(&self, call: &Call, snapshot: &ShareSnapshot, change: &AccessChange) -> DriverResult<Vec<RuleState>>;
}

#[async_trait]
pub trait ShareRevert: Send + Sync {
    async fn revert(
        &self,
        call: &Call,
        share: &Share,
        snapshot: &ShareSnapshot,
        rules: &[AccessRule],
        snapshot_rules: &[AccessRule],
    ) -> DriverResult<()>;
}

#[async_trait]
pub trait ShareManage: Send + Sync {
    async fn adopt(&self, call: &Call, share: &Share, export_path: &str, options: &StringMap) -> DriverResult<Adopted<ShareUpdate>>;
    async fn release(&self, call: &Call, share: &Share) -> DriverResult<()>;
}

#[async_trait]
pub trait Access: Send + Sync {
    /// One state for each rule of `change.rules`, in that order.
    async fn apply(&self, call: &Call, share: &Share, change: &AccessChange) -> DriverResult<Vec<RuleState>>;
}

#[async_trait]
pub trait Ensure: Send + Sync {
    async fn fingerprint(&self, call: &Call) -> DriverResult<String>;
    /// Share id to what was found. A share the driver left out is left out here too: the caller gives it its state back.
    async fn ensure_shares(&self, call: &Call, items: &[EnsureItem]) -> DriverResult<BTreeMap<String, EnsureOutcome>>;
}

/// A failed set-up carries what is left in [`DriverError::partial`](super::DriverError::partial).
#[async_trait]
pub trait ShareServers: Send + Sync {
    async fn allocations_wanted(&self, call: &Call) -> DriverResult<AddressCounts>;
    async fn setup(
        &self,
        call: &Call,
        server_id: &str,
        networks: &[NetworkInfo],
        metadata: &StringMap,
    ) -> DriverResult<Answer<ServerDetails>>;
    async fn teardown(
        &self,
        call: &Call,
        server_id: &str,
        details: Option<&ServerDetails>,
        security_services: &[SecurityService],
    ) -> DriverResult<()>;
}

/// A failed update carries what is left in [`DriverError::partial`](super::DriverError::partial).
#[async_trait]
pub trait Allocations: Send + Sync {
    async fn check_update(&self, call: &Call, situation: &ServerSituation, new_subnet: &Subnet) -> DriverResult<NetworkCheck>;
    async fn update(&self, call: &Call, situation: &ServerSituation, added: &NetworkInfo) -> DriverResult<Answer<NetworkUpdate>>;
}
