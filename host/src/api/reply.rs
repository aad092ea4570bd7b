//! What a handler answers. The body is rendered once.

use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::error::{Error, Result};

/// An answer on its way out; `dispatch` adds request id and version headers.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Empty for no body.
    pub body: Vec<u8>,
}

impl Reply {
    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }
    /// # Errors
    /// [`Kind::Internal`](crate::error::Kind::Internal) when `value` cannot be rendered.
    pub fn json(status: StatusCode, value: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(value).map_err(Error::internal)?;
        Ok(Self { status, headers: vec![(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body })
    }
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}
