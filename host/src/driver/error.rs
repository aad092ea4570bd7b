//! How a driver call fails.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::types::ServerDetails;
use crate::error::Remedy;

pub type DriverResult<T> = Result<T, DriverError>;

/// What kind of failure. The first nine are the driver's own word; the rest is what the host found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request can never work as it stands.
    Invalid,
    NotFound,
    /// In use on the array; the object keeps its old state.
    Busy,
    /// No room, or a limit of the array.
    Exhausted,
    /// The array did not answer.
    Transient,
    /// The array refuses the credentials.
    Auth,
    /// This array or licence cannot do it.
    Unsupported,
    /// Going on would lose data.
    DataLossRisk,
    Internal,

    /// The component trapped: `unreachable`, a panic, a division by zero.
    Trap,
    /// It recursed too deeply.
    StackOverflow,
    /// It asked for more memory, table or instances than granted.
    MemoryLimit,
    /// It did not return before the call's deadline or the back end's time limit.
    Deadline,
    /// It answered what it was not asked, too much, or what cannot be.
    WrongAnswer,
    /// No slot was free for the call before its deadline. It was not begun.
    Saturated,
    /// The back end failed too often and is being left alone.
    Quarantined,
    /// No such back end is loaded, or its driver did not load.
    NotLoaded,
    /// Its driver lacks the interface.
    NotImplemented,
    /// This process lost its lease on the work; whoever has it now goes on.
    LeaseLost,
}

impl ErrorKind {
    /// Whether the driver said it itself (and so is alive and well).
    pub fn is_said_by_driver(self) -> bool {
        matches!(
            self,
            Self::Invalid
                | Self::NotFound
                | Self::Busy
                | Self::Exhausted
                | Self::Transient
                | Self::Auth
                | Self::Unsupported
                | Self::DataLossRisk
                | Self::Internal
        )
    }

    /// Counts towards quarantine: the component misbehaved.
    pub fn is_misbehaviour(self) -> bool {
        matches!(self, Self::Trap | Self::StackOverflow | Self::MemoryLimit | Self::Deadline | Self::WrongAnswer)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Busy => "busy",
            Self::Exhausted => "exhausted",
            Self::Transient => "transient",
            Self::Auth => "auth",
            Self::Unsupported => "unsupported",
            Self::DataLossRisk => "data_loss_risk",
            Self::Internal => "internal",
            Self::Trap => "trap",
            Self::StackOverflow => "stack_overflow",
            Self::MemoryLimit => "memory_limit",
            Self::Deadline => "deadline",
            Self::WrongAnswer => "wrong_answer",
            Self::Saturated => "saturated",
            Self::Quarantined => "quarantined",
            Self::NotLoaded => "not_loaded",
            Self::NotImplemented => "not_implemented",
            Self::LeaseLost => "lease_lost",
        }
    }
}

/// Why a driver call failed. Can be stored with a job.
#[derive(Debug, Clone, Error, PartialEq, Eq, Serialize, Deserialize)]
#[error("{}: {message}", kind.as_str())]
pub struct DriverError {
    pub kind: ErrorKind,
    /// For the operator and the log.
    pub message: String,
    /// The driver's own words for the cloud user; see [`user_text`](Self::user_text).
    pub user_message: Option<String>,
    /// How long the array wants to be left alone.
    pub retry_after: Option<Duration>,
    /// What is left of a share server that could not be built or changed.
    pub partial: Option<ServerDetails>,
}

impl DriverError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), user_message: None, retry_after: None, partial: None }
    }

    pub fn not_loaded(host: &str) -> Self {
        Self::new(ErrorKind::NotLoaded, format!("no back end {host} is loaded"))
    }

    pub fn not_implemented(host: &str, interface: &str) -> Self {
        Self::new(ErrorKind::NotImplemented, format!("the driver of {host} does not export {interface}"))
    }

    pub fn wrong_answer(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::WrongAnswer, message)
    }

    pub fn lease_lost() -> Self {
        Self::new(ErrorKind::LeaseLost, "this process no longer owns the work")
    }

    /// Whether the array may have carried the call out all the same. Then it is repeated on the same back end first, and
    /// moving on to another leaves a clean-up behind (delete by our id).
    pub fn may_have_happened(&self) -> bool {
        match self.kind {
            ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::Busy
            | ErrorKind::Exhausted
            | ErrorKind::Auth
            | ErrorKind::Unsupported
            | ErrorKind::DataLossRisk
            | ErrorKind::Saturated
            | ErrorKind::Quarantined
            | ErrorKind::NotLoaded
            | ErrorKind::NotImplemented => false,
            ErrorKind::Transient
            | ErrorKind::Internal
            | ErrorKind::Trap
            | ErrorKind::StackOverflow
            | ErrorKind::MemoryLimit
            | ErrorKind::Deadline
            | ErrorKind::WrongAnswer
            | ErrorKind::LeaseLost => true,
        }
    }

    /// Whether the same call on the same back end may work later.
    pub fn worth_repeating(&self) -> bool {
        self.may_have_happened()
            || matches!(self.kind, ErrorKind::Busy | ErrorKind::Saturated | ErrorKind::Quarantined | ErrorKind::NotLoaded)
    }

    /// Whether a create may be tried on another pool or back end.
    pub fn worth_moving_on(&self) -> bool {
        !matches!(self.kind, ErrorKind::Invalid | ErrorKind::DataLossRisk | ErrorKind::LeaseLost)
    }

    /// Who can do something about it.
    pub fn remedy(&self) -> Remedy {
        match self.kind {
            ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Busy | ErrorKind::DataLossRisk => Remedy::User,
            ErrorKind::Exhausted
            | ErrorKind::Transient
            | ErrorKind::Auth
            | ErrorKind::Unsupported
            | ErrorKind::Saturated
            | ErrorKind::Quarantined
            | ErrorKind::NotLoaded
            | ErrorKind::NotImplemented
            | ErrorKind::LeaseLost => Remedy::Operator,
            ErrorKind::Internal
            | ErrorKind::Trap
            | ErrorKind::StackOverflow
            | ErrorKind::MemoryLimit
            | ErrorKind::Deadline
            | ErrorKind::WrongAnswer => Remedy::Vendor,
        }
    }

    /// A sentence without internals for the cloud user.
    pub fn user_text(&self) -> &str {
        if let Some(text) = &self.user_message {
            return text;
        }
        match self.kind {
            ErrorKind::Invalid => "The storage back end cannot carry out this request as it stands.",
            ErrorKind::NotFound => "The storage back end does not know this object.",
            ErrorKind::Busy => "The object is in use on the storage back end.",
            ErrorKind::Exhausted => "The storage back end has no room left.",
            ErrorKind::Unsupported | ErrorKind::NotImplemented => "The storage back end cannot do this.",
            ErrorKind::DataLossRisk => "Going on would lose data.",
            ErrorKind::Transient => "The storage back end could not be reached, or is not ready.",
            ErrorKind::Deadline | ErrorKind::Saturated | ErrorKind::LeaseLost => "The storage back end did not answer in time.",
            ErrorKind::Auth | ErrorKind::Quarantined | ErrorKind::NotLoaded => "The storage back end is out of service.",
            ErrorKind::Internal | ErrorKind::Trap | ErrorKind::StackOverflow | ErrorKind::MemoryLimit | ErrorKind::WrongAnswer => {
                "The storage back end failed."
            }
        }
    }

    #[must_use]
    pub fn for_user(mut self, text: impl Into<String>) -> Self {
        self.user_message = Some(text.into());
        self
    }
}
