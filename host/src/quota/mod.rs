//! Quota: how much a project may have, and has.
//!
//! One usage row per (project, user, type, resource), changed by a conditional UPDATE in the transaction of the row it
//! counts, so a figure cannot drift from what it counts: both are committed or neither is. There are no reservations; a
//! request that is accepted has its quota, and gives it back in the transaction that deletes its row. `check` recomputes the
//! figures from the rows and reports differences. On a refusal nothing is written and the error says limit, used and asked.

pub mod check;
pub mod defaults;

pub use check::{Counted, Drift};
pub use defaults::QuotaDefaults;

use crate::{
    error::{Error, Kind},
    store::StoreError,
};

/// The limit that means "none".
pub const UNLIMITED: i64 = -1;

/// A change of one figure. Positive amounts are checked against the limit, negative ones give back.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotaDelta {
    pub project_id: String,
    /// Empty for the whole project.
    pub user_id: String,
    /// Empty for all types.
    pub type_id: String,
    /// `volumes`, `gigabytes`, `volumes_<type name>`, ...
    pub resource: String,
    pub amount: i64,
}

impl QuotaDelta {
    /// A change of a project's figure, the only kind the block API has.
    pub fn project(project_id: impl Into<String>, resource: impl Into<String>, amount: i64) -> Self {
        Self { project_id: project_id.into(), resource: resource.into(), amount, ..Self::default() }
    }
}

/// Whose figures: a project's, or within it a user's or a type's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaScope<'a> {
    pub project_id: &'a str,
    /// Empty for the whole project.
    pub user_id: &'a str,
    /// Empty for all types.
    pub type_id: &'a str,
}

/// One figure with its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    pub resource: String,
    /// [`UNLIMITED`] or the limit.
    pub limit: i64,
    pub used: i64,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum QuotaError {
    /// The caller rolls back; each API words this in its own way.
    #[error("quota exceeded for {resource}: asked {asked}, used {used} of {limit}")]
    Exceeded { resource: String, limit: i64, used: i64, asked: i64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<QuotaError> for Error {
    /// For callers without a wording of their own.
    fn from(e: QuotaError) -> Self {
        match e {
            QuotaError::Exceeded { resource, limit, used, asked } => {
                Self::new(Kind::OverLimit, format!("Requested {asked} of {resource} exceeds the quota: {used} of {limit} are in use."))
            }
            QuotaError::Store(e) => e.into(),
        }
    }
}
