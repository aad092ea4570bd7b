//! The one error of every verb: a kind, which decides what the host does next, and texts for people.

use crate::{
    bindings::imports::stowage::driver::{http::HttpError, kv::KvError, lock::LockError, session::SessionError},
    types::{Error, ErrorKind, ServerDetails, ServerError},
};

/// Why a verb failed. Choose the kind with care: it decides whether the host repeats, tries another pool, or gives up.
pub type DriverError = Error;

/// The answer of most verbs.
pub type Result<T, E = DriverError> = core::result::Result<T, E>;

/// The answer of verbs that build or change share servers: a failure says what is left of it.
pub type ServerResult<T> = core::result::Result<T, ServerError>;

impl Error {
    /// Any kind, with the text for the operator.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), user_message: None, retry_after_ms: None }
    }
    /// The request can never work as it stands. Nothing was changed.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }
    /// The object is not on the array. (For a delete, answer success.)
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }
    /// In use, or being changed by somebody else. Nothing was changed.
    #[must_use]
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Busy, message)
    }
    /// No room, or a limit is reached. The host may try another pool.
    #[must_use]
    pub fn exhausted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exhausted, message)
    }
    /// No answer, or "come back later". The work *may* have been done; the host repeats it.
    #[must_use]
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transient, message)
    }
    /// The array refuses the credentials.
    #[must_use]
    pub fn auth(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Auth, message)
    }
    /// This array, licence or configuration cannot do it.
    #[must_use]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }
    /// Going on would lose data. Nothing was changed.
    #[must_use]
    pub fn data_loss_risk(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::DataLossRisk, message)
    }
    /// Anything else. The work may have been done.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }
    /// Adds what the cloud user reads: no addresses, no array names.
    #[must_use]
    pub fn for_user(self, message: impl Into<String>) -> Self {
        Self { user_message: Some(message.into()), ..self }
    }
    /// How long the array wants to be left alone.
    #[must_use]
    pub fn retry_after(self, milliseconds: u32) -> Self {
        Self { retry_after_ms: Some(milliseconds), ..self }
    }
    /// Puts what was being done before the message: `attach 4f2a: the array answered 500`.
    #[must_use]
    pub fn while_doing(mut self, what: impl AsRef<str>) -> Self {
        self.message.insert_str(0, ": ");
        self.message.insert_str(0, what.as_ref());
        self
    }
    /// Of set-up and update of a share server: says what is left to clean up.
    #[must_use]
    pub fn leaving(self, partial: ServerDetails) -> ServerError {
        ServerError { error: self, partial: Some(partial) }
    }
}

/// Nothing is left of the server.
impl From<Error> for ServerError {
    fn from(error: Error) -> Self {
        Self { error, partial: None }
    }
}

impl From<HttpError> for Error {
    fn from(e: HttpError) -> Self {
        match e {
            HttpError::Denied(why) => Self::unsupported(format!("the host does not permit the request: {why}")),
            HttpError::Invalid(why) => Self::internal(format!("the driver made an unusable request: {why}")),
            HttpError::Unreachable(why) => Self::transient(format!("the array is not reachable: {why}")),
            HttpError::Tls(why) => Self::transient(format!("no trust in the array's certificate or protocol: {why}")),
            HttpError::Timeout => Self::transient("the array did not answer in time"),
            HttpError::Interrupted(why) => Self::transient(format!("the connection to the array broke: {why}")),
            HttpError::TooLarge(limit) => Self::internal(format!("the array's answer is larger than {limit} bytes")),
            HttpError::NotOwner => not_owner(),
        }
    }
}

impl From<KvError> for Error {
    fn from(e: KvError) -> Self {
        match e {
            KvError::InvalidKey => Self::internal("the driver used an unusable key"),
            KvError::TooLarge(limit) => Self::internal(format!("the driver stored more than {limit} bytes in one value")),
            KvError::Full(limit) => Self::exhausted(format!("the back end's {limit} bytes of stored state are used up")),
            KvError::Unavailable(why) => Self::transient(format!("the driver's store did not answer: {why}")),
            KvError::NotOwner => not_owner(),
        }
    }
}

impl From<SessionError> for Error {
    fn from(e: SessionError) -> Self {
        Self::internal(format!("session value refused: {}", e.message()))
    }
}

impl From<LockError> for Error {
    fn from(e: LockError) -> Self {
        match e {
            LockError::Timeout => Self::busy("another call holds the lock"),
            LockError::Held => Self::internal("the driver took a lock twice"),
            LockError::InvalidName => Self::internal("the driver used an unusable lock name"),
            LockError::TooMany => Self::internal("the driver took too many locks"),
            LockError::Unavailable(why) => Self::transient(format!("the lock service did not answer: {why}")),
            LockError::NotOwner => not_owner(),
        }
    }
}

/// What the array sent is not what the driver understands.
impl From<serde_json::Error> for Error {
    fn from(e: serde_json::Error) -> Self {
        Self::internal(format!("unexpected JSON: {e}"))
    }
}

fn not_owner() -> Error {
    Error::transient("this process no longer owns the work")
}
