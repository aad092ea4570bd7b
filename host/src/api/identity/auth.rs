//! `/v3/auth`: tokens, and what the caller may do with one.

use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::json;

use super::{login::Login, views};
use crate::{
    api::{
        auth::own_token,
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    domain::identity::Scope,
    error::{Error, Result},
    handler,
    policy::Target,
    service::identity::{of, projects, tokens, unauthenticated},
};

const SUBJECT: HeaderName = HeaderName::from_static("x-subject-token");

const fn row(
    method: Verb,
    path: &'static str,
    policy: &'static str,
    success: u16,
    summary: &'static str,
    handler: crate::api::route::Handler,
) -> Route {
    Route::new(Api::Identity, method, path, policy, success, summary, handler)
}

pub const ROUTES: &[Route] = &[
    row(Verb::Post, "/auth/tokens", "", 201, "Log in: issue a token for a password or another token", handler!(issue))
        .public()
        .body(&[("auth", "object", "identity (methods, password or token) and scope (project, domain, system or none)")])
        .query(&[("nocatalog", "boolean", "Leave the catalog out of the answer")]),
    row(Verb::Get, "/auth/tokens", "identity:validate_token", 200, "Validate the token in X-Subject-Token", handler!(show)).query(&[(
        "nocatalog",
        "boolean",
        "Leave the catalog out of the answer",
    )]),
    row(Verb::Head, "/auth/tokens", "identity:check_token", 200, "Check the token in X-Subject-Token", handler!(check)),
    row(Verb::Delete, "/auth/tokens", "identity:revoke_token", 204, "Revoke the token in X-Subject-Token", handler!(revoke)),
    row(Verb::Get, "/auth/catalog", "identity:get_auth_catalog", 200, "Show the catalog of the caller's token", handler!(catalog)),
    row(
        Verb::Get,
        "/auth/projects",
        "identity:get_auth_projects",
        200,
        "List the projects the caller may have a token for",
        handler!(auth_projects),
    ),
    row(
        Verb::Get,
        "/auth/domains",
        "identity:get_auth_domains",
        200,
        "List the domains the caller may have a token for",
        handler!(auth_domains),
    ),
    row(
        Verb::Get,
        "/auth/system",
        "identity:get_auth_system",
        200,
        "Tell whether the caller may have a token for the system",
        handler!(auth_system),
    ),
];

async fn issue(req: ApiRequest) -> Result<Reply> {
    let (proof, wanted) = req.json::<Login>()?.into_parts()?;
    let identity = of(&req.app)?;
    let issued = identity.issue(proof, wanted, req.peer).await?;
    let catalog = (!no_catalog(&req)).then_some(&identity.catalog);
    let token = HeaderValue::from_str(&issued.token).map_err(Error::internal)?;
    Ok(Reply::json(StatusCode::CREATED, &views::token(&issued.info, catalog))?.header(SUBJECT, token).header(http::header::VARY, vary()))
}

async fn show(req: ApiRequest) -> Result<Reply> {
    shown(&req, "identity:validate_token").await
}

async fn check(req: ApiRequest) -> Result<Reply> {
    let mut reply = shown(&req, "identity:check_token").await?;
    reply.body.clear();
    Ok(reply)
}

async fn shown(req: &ApiRequest, action: &str) -> Result<Reply> {
    let subject = subject(req)?;
    let info = tokens::show(&req.app, &req.ctx, subject, action).await?;
    let catalog = (!no_catalog(req)).then_some(&of(&req.app)?.catalog);
    let token = HeaderValue::from_str(subject).map_err(Error::internal)?;
    Ok(Reply::json(StatusCode::OK, &views::token(&info, catalog))?.header(SUBJECT, token).header(http::header::VARY, vary()))
}

async fn revoke(req: ApiRequest) -> Result<Reply> {
    tokens::revoke(&req.app, &req.ctx, subject(&req)?).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

async fn catalog(req: ApiRequest) -> Result<Reply> {
    req.app.policy.check(&req.ctx, "identity:get_auth_catalog", &Target::own(&req.ctx))?;
    let project = Some(req.ctx.project_id()).filter(|p| !p.is_empty());
    let entries = views::entries(&of(&req.app)?.catalog, project);
    Reply::json(StatusCode::OK, &json!({"catalog": entries, "links": {"self": format!("{}/auth/catalog", req.base_url)}}))
}

async fn auth_projects(req: ApiRequest) -> Result<Reply> {
    let found = projects::available(&req.app, &req.ctx).await?;
    let items = found.iter().map(|p| views::project(&req, p)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "projects", items))
}

async fn auth_domains(req: ApiRequest) -> Result<Reply> {
    req.app.policy.check(&req.ctx, "identity:get_auth_domains", &Target::own(&req.ctx))?;
    let mut items = Vec::new();
    for domain in req.app.store.domains(None, Some(true)).await? {
        let roles = req.app.store.effective_roles(&req.ctx.principal.user_id, &Scope::Domain(domain.id.clone())).await?;
        if !roles.is_empty() {
            items.push(views::domain(&req, &domain));
        }
    }
    Reply::json(StatusCode::OK, &views::collection(&req, "domains", items))
}

async fn auth_system(req: ApiRequest) -> Result<Reply> {
    req.app.policy.check(&req.ctx, "identity:get_auth_system", &Target::own(&req.ctx))?;
    let roles = req.app.store.effective_roles(&req.ctx.principal.user_id, &Scope::System).await?;
    let system = if roles.is_empty() { json!([]) } else { json!([{"all": true}]) };
    Reply::json(StatusCode::OK, &json!({"system": system, "links": {"self": format!("{}/auth/system", req.base_url)}}))
}

fn subject(req: &ApiRequest) -> Result<&str> {
    let subject = req.headers.get(SUBJECT).and_then(|v| v.to_str().ok()).map(str::trim).filter(|t| !t.is_empty());
    if own_token(&req.headers).is_none() {
        return Err(unauthenticated());
    }
    subject.ok_or_else(|| Error::invalid("The X-Subject-Token header is missing: it names the token this is about."))
}

fn no_catalog(req: &ApiRequest) -> bool {
    req.query_value("nocatalog").is_some_and(|v| super::super::filter::boolean(v) != Some(false))
}

fn vary() -> HeaderValue {
    HeaderValue::from_static("X-Auth-Token")
}
