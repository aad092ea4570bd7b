//! Services, endpoints and regions: read only, they come from the configuration.

use http::StatusCode;
use serde_json::{Value, json};

use super::views;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Handler, Route, Verb},
    },
    error::{Error, Result},
    handler,
    policy::Target,
    service::identity::{catalog::ServiceEntry, of},
};

const fn row(path: &'static str, policy: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, Verb::Get, path, policy, 200, summary, handler)
}

pub const ROUTES: &[Route] = &[
    row("/services", "identity:list_services", "List services", handler!(services))
        .query(&[("name", "string", "Only the service of this name"), ("type", "string", "Only services of this type")]),
    row("/services/{service_id}", "identity:get_service", "Show a service", handler!(service)),
    row("/endpoints", "identity:list_endpoints", "List endpoints", handler!(endpoints))
        .query(&[("interface", "string", "public, internal or admin"), ("service_id", "string", "Only endpoints of this service")]),
    row("/endpoints/{endpoint_id}", "identity:get_endpoint", "Show an endpoint", handler!(endpoint)),
    row("/regions", "identity:list_regions", "List regions", handler!(regions)),
    row("/regions/{region_id}", "identity:get_region", "Show a region", handler!(region)),
];

fn allowed(req: &ApiRequest, action: &str) -> Result<()> {
    req.app.policy.check(&req.ctx, action, &Target::default())
}

async fn services(req: ApiRequest) -> Result<Reply> {
    allowed(&req, "identity:list_services")?;
    let (name, kind) = (req.query_value("name"), req.query_value("type"));
    let fits = |s: &&ServiceEntry| name.is_none_or(|n| n == s.name) && kind.is_none_or(|k| k == s.kind);
    let items = of(&req.app)?.catalog.services.iter().filter(fits).map(|s| service_view(&req, s)).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "services", items))
}

async fn service(req: ApiRequest) -> Result<Reply> {
    allowed(&req, "identity:get_service")?;
    let id = req.param("service_id");
    let found = of(&req.app)?.catalog.services.iter().find(|s| s.id == id).ok_or_else(|| gone("service", id))?;
    Reply::json(StatusCode::OK, &json!({"service": service_view(&req, found)}))
}

async fn endpoints(req: ApiRequest) -> Result<Reply> {
    allowed(&req, "identity:list_endpoints")?;
    let (interface, service) = (req.query_value("interface"), req.query_value("service_id"));
    let fits = |e: &Value| interface.is_none_or(|i| e["interface"] == i) && service.is_none_or(|s| e["service_id"] == s);
    let items = all_endpoints(&req)?.into_iter().filter(fits).collect();
    Reply::json(StatusCode::OK, &views::collection(&req, "endpoints", items))
}

async fn endpoint(req: ApiRequest) -> Result<Reply> {
    allowed(&req, "identity:get_endpoint")?;
    let id = req.param("endpoint_id");
    let found = all_endpoints(&req)?.into_iter().find(|e| e["id"] == id).ok_or_else(|| gone("endpoint", id))?;
    Reply::json(StatusCode::OK, &json!({"endpoint": found}))
}

async fn regions(req: ApiRequest) -> Result<Reply> {
    allowed(&req, "identity:list_regions")?;
    let view = region_view(&req, &of(&req.app)?.catalog.region);
    Reply::json(StatusCode::OK, &views::collection(&req, "regions", vec![view]))
}

async fn region(req: ApiRequest) -> Result<Reply> {
    allowed(&req, "identity:get_region")?;
    let (id, own) = (req.param("region_id"), &of(&req.app)?.catalog.region);
    if id != own {
        return Err(gone("region", id));
    }
    Reply::json(StatusCode::OK, &json!({"region": region_view(&req, own)}))
}

fn all_endpoints(req: &ApiRequest) -> Result<Vec<Value>> {
    let catalog = &of(&req.app)?.catalog;
    let of_service = |s: &ServiceEntry| s.endpoints(None).collect::<Vec<_>>();
    let view = |e: crate::service::identity::catalog::Endpoint| {
        json!({
            "id": e.id, "service_id": e.service_id, "interface": e.interface, "url": e.url, "region": catalog.region, "region_id": catalog.region,
            "enabled": true, "links": {"self": format!("{}/endpoints/{}", req.base_url, e.id)},
        })
    };
    Ok(catalog.services.iter().flat_map(of_service).map(view).collect())
}

fn service_view(req: &ApiRequest, s: &ServiceEntry) -> Value {
    json!({
        "id": s.id, "type": s.kind, "name": s.name, "description": s.description, "enabled": true,
        "links": {"self": format!("{}/services/{}", req.base_url, s.id)},
    })
}

fn region_view(req: &ApiRequest, id: &str) -> Value {
    json!({"id": id, "description": "", "parent_region_id": null, "links": {"self": format!("{}/regions/{id}", req.base_url)}})
}

fn gone(what: &str, id: &str) -> Error {
    Error::not_found(format!("Could not find {what}: {id}."))
}
