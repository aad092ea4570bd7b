//! Version documents and `/healthcheck`: what clients ask before they ask anything.

use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::{
    microversion::{BLOCK_MAX, SHARE_MAX},
    reply::Reply,
    request::ApiRequest,
    route::{Api, Route, Verb},
};
use crate::{error::Result, handler};

/// The discovery rows of one API.
pub fn routes(api: Api) -> Vec<Route> {
    let version = Route::new(api, Verb::Get, "/", "", 200, "Show the API's version document", handler!(one)).public();
    let root = Route::new(api, Verb::Get, "/", "", 300, "List the API's versions", handler!(all)).public().rooted();
    let health = Route::new(api, Verb::Get, "/healthcheck", "", 200, "Say that the API answers", handler!(healthcheck)).public().rooted();
    match api {
        Api::Identity | Api::Block | Api::Share => vec![root, version, health],
        Api::Admin => Vec::new(),
    }
}

async fn all(req: ApiRequest) -> Result<Reply> {
    let versions = match req.api {
        Api::Identity => json!({"versions": {"values": [document(&req)]}}),
        _ => json!({"versions": [document(&req)]}),
    };
    Ok(Reply::json(StatusCode::MULTIPLE_CHOICES, &versions)?.header(header::LOCATION, location(&req)))
}

async fn one(req: ApiRequest) -> Result<Reply> {
    let body = match req.api {
        Api::Identity => json!({"version": document(&req)}),
        _ => json!({"versions": [document(&req)]}),
    };
    Reply::json(StatusCode::OK, &body)
}

async fn healthcheck(_: ApiRequest) -> Result<Reply> {
    let reply = Reply { status: StatusCode::OK, headers: Vec::new(), body: b"OK".to_vec() };
    Ok(reply.header(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=UTF-8")))
}

fn self_url(req: &ApiRequest) -> String {
    format!("{}/{}/", req.host_url, req.api.root())
}

fn location(req: &ApiRequest) -> HeaderValue {
    HeaderValue::from_str(&self_url(req)).unwrap_or_else(|_| HeaderValue::from_static("/"))
}

fn document(req: &ApiRequest) -> Value {
    let own = json!({"rel": "self", "href": self_url(req)});
    let described = json!({"rel": "describedby", "type": "text/html", "href": "https://docs.openstack.org/"});
    let media = |kind: &str| json!([{"base": "application/json", "type": format!("application/vnd.openstack.{kind}")}]);
    match req.api {
        Api::Block => json!({
            "id": "v3.0", "status": "CURRENT", "version": format!("3.{BLOCK_MAX}"), "min_version": "3.0",
            "updated": "2023-08-31T00:00:00Z", "links": [described, own], "media-types": media("volume+json;version=3"),
        }),
        Api::Share => json!({
            "id": "v2.0", "status": "CURRENT", "version": format!("2.{SHARE_MAX}"), "min_version": "2.0",
            "updated": "2015-08-27T11:33:21Z", "links": [described, own], "media-types": media("share+json;version=1"),
        }),
        Api::Identity | Api::Admin => json!({
            "id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z", "links": [own], "media-types": media("identity-v3+json"),
        }),
    }
}
