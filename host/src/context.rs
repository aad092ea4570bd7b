//! What is known about the caller of one request.

use crate::clock::Micros;

/// Who calls. Roles are lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Principal {
    pub user_id: String,
    pub user_name: String,
    pub user_domain_id: String,
    /// 32 hex digits, or empty for an unscoped or domain-scoped token.
    pub project_id: String,
    pub project_name: String,
    pub project_domain_id: String,
    /// Set for a domain-scoped token.
    pub domain_id: String,
    pub system_scope: bool,
    pub roles: Vec<String>,
}

/// The context of one request: made by `api/auth.rs`, carried through every stage and into the job.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// `req-<uuid>`, ours.
    pub request_id: String,
    /// The client's own `X-Openstack-Request-Id`, if it sent one.
    pub global_request_id: Option<String>,
    pub principal: Principal,
    /// Minor microversion of the API in use: 44 means 3.44 (block) or 2.44 (share).
    pub microversion: u16,
    /// The request also carried a valid service token with the role `service` (CVE-2023-2088).
    pub service_token: bool,
    /// When the client stops waiting.
    pub deadline: Micros,
}

impl RequestContext {
    /// Plain `role:admin`, as the shipped defaults mean it.
    pub fn is_admin(&self) -> bool {
        self.has_role("admin")
    }
    pub fn has_role(&self, role: &str) -> bool {
        self.principal.roles.iter().any(|r| r == role)
    }
    pub fn project_id(&self) -> &str {
        &self.principal.project_id
    }
}
