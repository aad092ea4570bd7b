//! A row of an API's route table.

use futures::future::BoxFuture;
use http::Method;

use super::{reply::Reply, request::ApiRequest};
use crate::error::Result;

/// A handler. Write `handler!(create)` in the table for an `async fn create(req: ApiRequest) -> Result<Reply>`.
pub type Handler = fn(ApiRequest) -> BoxFuture<'static, Result<Reply>>;

/// Which API a route belongs to; each has a listener of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    Identity,
    Block,
    Share,
    Admin,
}

impl Api {
    /// The path all routes of this API are below, unless they are rooted.
    pub const fn root(self) -> &'static str {
        match self {
            Self::Identity | Self::Block => "v3",
            Self::Share => "v2",
            Self::Admin => "stowage/v1",
        }
    }
    /// Whether URLs may carry a project segment after the root.
    pub const fn has_project_segment(self) -> bool {
        matches!(self, Self::Block | Self::Share)
    }
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Block => "block",
            Self::Share => "share",
            Self::Admin => "admin",
        }
    }
}

/// Who may call a route before any policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Anybody, without a token.
    Public,
    /// Any valid token; the service enforces `policy`.
    Token,
}

/// What a token must be for, where the API's resources are projects' (block and share).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// A project: what the operation makes or finds is that project's.
    Project,
    /// A project, or the system: the operation is about the installation, or names its project itself.
    ProjectOrSystem,
}

/// One operation: method, path and, for action URLs, the body's key.
#[derive(Clone, Copy)]
pub struct Route {
    pub api: Api,
    pub method: Verb,
    /// Below the API's root, with `{names}`: `/volumes/{volume_id}/action`. Block and share routes are served with and
    /// without the project segment.
    pub path: &'static str,
    /// The one key of the body, for `.../action` paths: `os-extend`.
    pub action: Option<&'static str>,
    /// First minor microversion that has the operation; 0 for all.
    pub since: u16,
    /// Last minor microversion that has it; `u16::MAX` for no end.
    pub until: u16,
    pub access: Access,
    /// Counts for block and share routes with [`Access::Token`].
    pub scope: TokenScope,
    /// The policy action(s) the service asks, comma separated; empty for public routes.
    pub policy: &'static str,
    /// The status of success.
    pub success: u16,
    pub summary: &'static str,
    /// Names of JSON body members and query keys, for the OpenAPI document: (name, type, meaning).
    pub body: &'static [(&'static str, &'static str, &'static str)],
    pub query: &'static [(&'static str, &'static str, &'static str)],
    /// The path counts from the listener's root, not from the API's: `/`, `/healthcheck`.
    pub rooted: bool,
    /// Invisible (404) without `X-OpenStack-Manila-API-Experimental: True`.
    pub experimental: bool,
    pub handler: Handler,
}

/// The HTTP method (`http::Method` is not usable in constants; this one is).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verb {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub fn http(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

impl Route {
    /// A row to start from; the rest is set with struct update syntax or the `with_` methods.
    pub const fn new(
        api: Api,
        method: Verb,
        path: &'static str,
        policy: &'static str,
        success: u16,
        summary: &'static str,
        handler: Handler,
    ) -> Self {
        Self {
            api,
            method,
            path,
            action: None,
            since: 0,
            until: u16::MAX,
            access: Access::Token,
            scope: TokenScope::Project,
            policy,
            success,
            summary,
            body: &[],
            query: &[],
            rooted: false,
            experimental: false,
            handler,
        }
    }
    #[must_use]
    pub const fn since(mut self, minor: u16) -> Self {
        self.since = minor;
        self
    }
    #[must_use]
    pub const fn until(mut self, minor: u16) -> Self {
        self.until = minor;
        self
    }
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.access = Access::Public;
        self
    }
    /// A token for the system will do, too.
    #[must_use]
    pub const fn system_too(mut self) -> Self {
        self.scope = TokenScope::ProjectOrSystem;
        self
    }
    /// The path counts from the listener's root.
    #[must_use]
    pub const fn rooted(mut self) -> Self {
        self.rooted = true;
        self
    }
    #[must_use]
    pub const fn experimental(mut self) -> Self {
        self.experimental = true;
        self
    }
    #[must_use]
    pub const fn action(mut self, key: &'static str) -> Self {
        self.action = Some(key);
        self
    }
    #[must_use]
    pub const fn body(mut self, members: &'static [(&'static str, &'static str, &'static str)]) -> Self {
        self.body = members;
        self
    }
    #[must_use]
    pub const fn query(mut self, keys: &'static [(&'static str, &'static str, &'static str)]) -> Self {
        self.query = keys;
        self
    }
}

/// Turns an `async fn(ApiRequest) -> Result<Reply>` into a [`Handler`].
#[macro_export]
macro_rules! handler {
    ($f:path) => {
        |req| ::std::boxed::Box::pin($f(req))
    };
}
