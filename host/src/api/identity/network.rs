//! The configured subnets as a network service that can only be read.
//!
//! `openstack share network create` and `subnet create` look up the network and the subnet that they are given with the
//! network service before they send them here. Where a cloud has none, this is what they find: what `[network]` says, without
//! how it is on the wire. It stands in the catalog of the built-in identity while no other network service is configured.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Handler, Route, Verb},
    },
    config::{NetworkConfig, SubnetConfig},
    error::{Error, Result},
    handler,
    service::identity::catalog::NETWORK_ROOT,
};

const fn row(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Identity, Verb::Get, path, "", 200, summary, handler).rooted()
}

const ID: (&str, &str, &str) = ("id", "string", "Only the one of this id");
const NAME: (&str, &str, &str) = ("name", "string", "Only the one of this name, which is its id");

pub const ROUTES: &[Route] = &[
    row("/network", "List the network service's versions", handler!(versions)).public(),
    row("/network/v2.0", "List what the network service has", handler!(resources)),
    row("/network/v2.0/networks", "List networks", handler!(networks)).query(&[ID, NAME]),
    row("/network/v2.0/networks/{network_id}", "Show a network", handler!(network)),
    row("/network/v2.0/subnets", "List subnets", handler!(subnets)).query(&[
        ID,
        NAME,
        ("network_id", "string", "Only those of this network"),
    ]),
    row("/network/v2.0/subnets/{subnet_id}", "Show a subnet", handler!(subnet)),
    row("/network/v2.0/extensions", "List extensions: there are none", handler!(extensions)),
    row("/network/v2.0/quotas/{project_id}", "Show how many networks a project may make: none", handler!(quota)),
    row("/network/v2.0/quotas/{project_id}/default", "Show how many networks projects may make: none", handler!(quota)),
];

async fn versions(req: ApiRequest) -> Result<Reply> {
    let version = json!({"id": "v2.0", "status": "CURRENT", "links": [{"rel": "self", "href": format!("{}/", root(&req))}]});
    Reply::json(StatusCode::OK, &json!({"versions": [version]}))
}

async fn resources(req: ApiRequest) -> Result<Reply> {
    let link = |name: &str| json!({"name": name.trim_end_matches('s'), "collection": name, "links": [{"rel": "self", "href": format!("{}/{name}", root(&req))}]});
    Reply::json(StatusCode::OK, &json!({"resources": [link("networks"), link("subnets")]}))
}

async fn networks(req: ApiRequest) -> Result<Reply> {
    let found: Vec<_> = network_views(&req).into_iter().filter(|view| asked(&req, view, &["id", "name"])).collect();
    Reply::json(StatusCode::OK, &json!({"networks": found}))
}

async fn network(req: ApiRequest) -> Result<Reply> {
    let id = req.param("network_id");
    let found = network_views(&req).into_iter().find(|view| view["id"] == id).ok_or_else(|| gone("Network", id))?;
    Reply::json(StatusCode::OK, &json!({"network": found}))
}

async fn subnets(req: ApiRequest) -> Result<Reply> {
    let config = req.app.config.get();
    let views = config.network.subnets.iter().map(subnet_view);
    let found: Vec<_> = views.filter(|view| asked(&req, view, &["id", "name", "network_id"])).collect();
    Reply::json(StatusCode::OK, &json!({"subnets": found}))
}

async fn subnet(req: ApiRequest) -> Result<Reply> {
    let (id, config) = (req.param("subnet_id"), req.app.config.get());
    let found = config.network.subnet(id).ok_or_else(|| gone("Subnet", id))?;
    Reply::json(StatusCode::OK, &json!({"subnet": subnet_view(found)}))
}

async fn extensions(_: ApiRequest) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({"extensions": []}))
}

/// Clients that show all quotas of a project ask for these, too.
async fn quota(_: ApiRequest) -> Result<Reply> {
    let none = ["network", "subnet", "subnetpool", "port", "router", "floatingip", "security_group", "security_group_rule", "rbac_policy"];
    Reply::json(StatusCode::OK, &json!({"quota": none.map(|what| (what, 0)).into_iter().collect::<BTreeMap<_, _>>()}))
}

fn root(req: &ApiRequest) -> String {
    format!("{}{NETWORK_ROOT}/v2.0", req.host_url)
}

/// Whether a view has what the query says of these keys.
fn asked(req: &ApiRequest, view: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| req.query_value(key).is_none_or(|wanted| view[key] == wanted))
}

fn network_views(req: &ApiRequest) -> Vec<Value> {
    let config = req.app.config.get();
    by_network(&config.network).into_iter().map(|(id, subnets)| network_view(id, &subnets)).collect()
}

fn by_network(config: &NetworkConfig) -> BTreeMap<&str, Vec<&SubnetConfig>> {
    let mut found: BTreeMap<&str, Vec<&SubnetConfig>> = BTreeMap::new();
    for subnet in &config.subnets {
        found.entry(&subnet.network_id).or_default().push(subnet);
    }
    found
}

fn network_view(id: &str, subnets: &[&SubnetConfig]) -> Value {
    let ids: Vec<_> = subnets.iter().map(|s| &s.id).collect();
    json!({
        "id": id, "name": id, "description": "", "status": "ACTIVE", "admin_state_up": true, "shared": true, "router:external": false,
        "project_id": "", "tenant_id": "", "subnets": ids, "mtu": subnets.iter().filter_map(|s| s.mtu).min(),
    })
}

fn subnet_view(subnet: &SubnetConfig) -> Value {
    let pools: Vec<_> = subnet.ranges.iter().map(|r| json!({"start": r.first, "end": r.last})).collect();
    json!({
        "id": subnet.id, "name": subnet.id, "description": "", "network_id": subnet.network_id, "cidr": subnet.cidr,
        "ip_version": if subnet.cidr.addr().is_ipv4() { 4 } else { 6 }, "gateway_ip": subnet.gateway, "enable_dhcp": false,
        "allocation_pools": pools, "dns_nameservers": [], "host_routes": [], "project_id": "", "tenant_id": "",
    })
}

fn gone(what: &str, id: &str) -> Error {
    Error::not_found(format!("{what} {id} could not be found."))
}
