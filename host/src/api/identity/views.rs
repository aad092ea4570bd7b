//! Rows as Keystone's JSON.

use serde_json::{Value, json};

use crate::{
    api::request::ApiRequest,
    clock::utc_text,
    domain::identity::Scope,
    service::identity::{catalog::ServiceCatalog, token::TokenInfo},
    store::sql::{identity_domains::DomainRow, identity_projects::ProjectRow, identity_roles::RoleRow, identity_users::UserRow},
};

/// `{"users": [...], "links": {...}}`
pub fn collection(req: &ApiRequest, name: &str, items: Vec<Value>) -> Value {
    json!({name: items, "links": {"self": format!("{}/{name}", req.base_url), "previous": null, "next": null}})
}

fn links(req: &ApiRequest, kind: &str, id: &str) -> Value {
    json!({"self": format!("{}/{kind}/{id}", req.base_url)})
}

pub fn domain(req: &ApiRequest, d: &DomainRow) -> Value {
    json!({
        "id": d.id, "name": d.name, "description": d.description, "enabled": d.enabled, "tags": [], "options": {},
        "links": links(req, "domains", &d.id),
    })
}

pub fn project(req: &ApiRequest, p: &ProjectRow) -> Value {
    json!({
        "id": p.id, "name": p.name, "domain_id": p.domain_id, "parent_id": p.parent_id.as_ref().unwrap_or(&p.domain_id),
        "description": p.description, "enabled": p.enabled, "is_domain": false, "tags": [], "options": {},
        "links": links(req, "projects", &p.id),
    })
}

pub fn user(req: &ApiRequest, u: &UserRow) -> Value {
    let mut view = json!({
        "id": u.id, "name": u.name, "domain_id": u.domain_id, "description": u.description, "enabled": u.enabled,
        "password_expires_at": null, "options": {}, "links": links(req, "users", &u.id),
    });
    if let Some(email) = &u.email {
        view["email"] = json!(email);
    }
    if let Some(project) = &u.default_project_id {
        view["default_project_id"] = json!(project);
    }
    view
}

pub fn role(req: &ApiRequest, r: &RoleRow) -> Value {
    json!({
        "id": r.id, "name": r.name, "domain_id": null, "description": r.description, "options": {}, "links": links(req, "roles", &r.id),
    })
}

/// The body of a token; a scoped one shows the catalog.
pub fn token(info: &TokenInfo, catalog: Option<&ServiceCatalog>) -> Value {
    let mut body = json!({
        "methods": info.methods,
        "user": {"id": info.user_id, "name": info.user_name, "domain": info.user_domain, "password_expires_at": null},
        "audit_ids": info.audit_ids,
        "issued_at": utc_text(info.issued_at),
        "expires_at": utc_text(info.expires_at),
    });
    let mut project = None;
    match &info.scope {
        Scope::None => return json!({"token": body}),
        Scope::System => body["system"] = json!({"all": true}),
        Scope::Domain(id) => body["domain"] = json!({"id": id, "name": info.target_name}),
        Scope::Project(id) => {
            body["project"] = json!({"id": id, "name": info.target_name, "domain": info.target_domain});
            body["is_domain"] = json!(false);
            project = Some(id.as_str());
        }
    }
    body["roles"] = json!(info.roles);
    if let Some(catalog) = catalog {
        body["catalog"] = json!(entries(catalog, project));
    }
    json!({"token": body})
}

/// The catalog's entries, with URLs for a project.
pub fn entries(catalog: &ServiceCatalog, project: Option<&str>) -> Vec<Value> {
    let entry = |service: &crate::service::identity::catalog::ServiceEntry| {
        let endpoints = service
            .endpoints(project)
            .map(|e| json!({"id": e.id, "interface": e.interface, "region": catalog.region, "region_id": catalog.region, "url": e.url}));
        json!({"id": service.id, "type": service.kind, "name": service.name, "endpoints": endpoints.collect::<Vec<_>>()})
    };
    catalog.services.iter().map(entry).collect()
}
