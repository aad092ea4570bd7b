//! Why the node does not do something: one closed set of kinds, which drivers decide by.

use std::{
    error::Error as StdError,
    io::{self, ErrorKind},
};

use serde::Serialize;

/// The closed set. `docs/node-api.md` says what each means and which variant of the driver contract it maps onto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Invalid,
    Auth,
    NotFound,
    Conflict,
    Busy,
    StaleGeneration,
    DataLossRisk,
    Exhausted,
    Unsupported,
    Transient,
    Internal,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Invalid,
        Self::Auth,
        Self::NotFound,
        Self::Conflict,
        Self::Busy,
        Self::StaleGeneration,
        Self::DataLossRisk,
        Self::Exhausted,
        Self::Unsupported,
        Self::Transient,
        Self::Internal,
    ];

    pub const fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Auth => 401,
            Self::NotFound => 404,
            Self::Conflict | Self::Busy | Self::StaleGeneration | Self::DataLossRisk => 409,
            Self::Internal => 500,
            Self::Unsupported => 501,
            Self::Transient => 503,
            Self::Exhausted => 507,
        }
    }
}

/// A refusal: a kind for programs, a sentence for the operator. Holds no secrets.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub kind: Kind,
    pub message: String,
    /// Where HTTP has a better word than the kind's.
    pub status: Option<u16>,
    #[source]
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, source: None }
    }
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, message)
    }
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(Kind::Busy, message)
    }
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(Kind::Transient, message)
    }
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }
    pub fn stale(what: impl std::fmt::Display, given: u64, seen: u64) -> Self {
        Self::new(Kind::StaleGeneration, format!("{what}: generation {given} is older than {seen}, which was seen already"))
    }
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
    #[must_use]
    pub fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }
    pub fn status(&self) -> u16 {
        self.status.unwrap_or(self.kind.status())
    }

    /// A failed file operation. Lack of room is the caller's business, everything else the operator's.
    pub fn io(what: impl std::fmt::Display, error: io::Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Kind::Exhausted,
            _ => Kind::Internal,
        };
        Self::new(kind, format!("{what}: {error}")).because(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_status_that_no_success_uses_and_a_name_of_its_own() {
        let names: std::collections::BTreeSet<String> = Kind::ALL.iter().map(|k| serde_json::to_string(k).unwrap()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        assert!(Kind::ALL.iter().all(|k| k.status() >= 400));
    }

    #[test]
    fn no_room_is_exhausted_and_other_file_errors_are_internal() {
        assert_eq!(Refusal::io("x", io::Error::from(rustix::io::Errno::NOSPC)).kind, Kind::Exhausted);
        assert_eq!(Refusal::io("x", io::Error::from(rustix::io::Errno::DQUOT)).kind, Kind::Exhausted);
        assert_eq!(Refusal::io("x", io::Error::from(rustix::io::Errno::IO)).kind, Kind::Internal);
    }
}
