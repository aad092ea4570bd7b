//! The one error that services return. It knows nothing of HTTP: `api/fault.rs` gives it a status and a body.
//!
//! Every refusal says who can act: the text is for the person named by [`Remedy`]; the source is for the log only.

use std::{borrow::Cow, fmt};

/// What kind of refusal this is. `api/fault.rs` maps each to one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// The request is malformed, or asks for what the resource's state does not allow where upstream answers 400.
    Invalid,
    /// No valid token.
    Unauthenticated,
    /// Policy refuses.
    Forbidden,
    /// No such resource, or one of another project.
    NotFound,
    /// State or uniqueness conflict where upstream answers 409.
    Conflict,
    /// Quota or size limit (413 `overLimit`). The message must contain "exceed": clients retry otherwise.
    OverLimit,
    /// `If-Match` did not match.
    PreconditionFailed,
    /// A body whose content type is not served.
    UnsupportedMediaType,
    /// A well-formed microversion out of range.
    NotAcceptable,
    /// Right syntax, wrong shape (Manila's 422).
    Unprocessable,
    /// Too many failed attempts; the message says how long to wait.
    TooManyRequests,
    /// A dependency is down; try again.
    Unavailable,
    /// The deadline passed; the work goes on.
    Timeout,
    /// Our fault. The message is generic; the source goes to the log.
    Internal,
}

/// Who can do something about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    User,
    Operator,
    Vendor,
}

impl Remedy {
    /// As it is written in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operator => "operator",
            Self::Vendor => "vendor",
        }
    }
}

/// The error of every service call.
#[derive(Debug)]
pub struct Error {
    pub kind: Kind,
    /// Upstream's exception class, where clients see it in the message (`"VolumeLimitExceeded: ..."`); empty otherwise.
    pub class: &'static str,
    /// For the reader of the answer. Holds no secret and no internals.
    pub message: Cow<'static, str>,
    pub remedy: Remedy,
    /// For the log.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of every service call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        let remedy = match kind {
            Kind::Unavailable | Kind::Internal | Kind::Timeout => Remedy::Operator,
            _ => Remedy::User,
        };
        Self { kind, class: "", message: message.into(), remedy, source: None }
    }
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Invalid, message)
    }
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::NotFound, message)
    }
    pub fn conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Conflict, message)
    }
    pub fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Forbidden, message)
    }
    pub fn over_limit(class: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { class, ..Self::new(Kind::OverLimit, message) }
    }
    /// Something of ours failed; the client reads a generic sentence, the log reads `source`.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into()),
            ..Self::new(Kind::Internal, "The server could not fulfil the request; the log has the reason under this request id.")
        }
    }
    #[must_use]
    pub fn with_class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = remedy;
        self
    }
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|s| &**s as &(dyn std::error::Error + 'static))
    }
}

/// An error and its causes on one line. What has been said already is not said again: many types repeat their source in
/// their own text.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let why = cause.to_string();
        if !text.contains(&why) {
            text.push_str(": ");
            text.push_str(&why);
        }
        next = cause.source();
    }
    text
}

impl From<crate::store::StoreError> for Error {
    fn from(e: crate::store::StoreError) -> Self {
        use crate::store::StoreError;
        match e {
            StoreError::Busy(_) => Self::new(Kind::Unavailable, "The database is busy; try again.").with_source(e),
            // of two callers the other one removed it between this one's look and its change
            StoreError::Missing { .. } => Self::conflict("What this refers to has just been removed; look again.").with_source(e),
            _ => Self::internal(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Layer {
        #[error("no route")]
        Bottom,
        #[error("{0}")]
        Transparent(#[source] Box<Self>),
        #[error("cannot connect")]
        Above(#[source] Box<Self>),
        #[error("peer 10.0.0.1: {0}; check the cable")]
        Around(#[source] Box<Self>),
    }

    #[test]
    fn every_cause_is_told_once() {
        let plain = Layer::Above(Box::new(Layer::Bottom));
        assert_eq!(chain(&plain), "cannot connect: no route");
        let doubled = Layer::Transparent(Box::new(plain));
        assert_eq!(chain(&doubled), "cannot connect: no route");
        let around = Layer::Around(Box::new(Layer::Bottom));
        assert_eq!(chain(&around), "peer 10.0.0.1: no route; check the cable");
    }

    #[test]
    fn what_somebody_else_removed_meanwhile_is_a_conflict_and_no_fault_of_the_service() {
        let gone = crate::store::StoreError::Missing { constraint: "a table's own name".to_owned() };
        let e = Error::from(gone);
        assert!(e.kind == Kind::Conflict && !e.message.contains("table"), "{e:?}");
    }
}
