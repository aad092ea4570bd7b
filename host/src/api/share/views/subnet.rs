//! Subnets of share networks. Where one is on the wire (type, segmentation id) is null for whoever may not know it.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    policy::Target,
    service::share_network_subnet::OfNetwork,
    store::sql::{
        share_network_subnets::{Subnet, SubnetRow},
        share_networks::ShareNetworkRow,
    },
};

const METADATA_SINCE: u16 = 78;

/// Whether the caller may know where networks are on the wire.
pub(super) fn sees_details(req: &ApiRequest) -> bool {
    req.app.policy.allows(&req.ctx, "share_network:show_network_details", &Target::own(&req.ctx))
}

/// `{"share_network_subnet": ...}`
pub fn one(req: &ApiRequest, of: &OfNetwork) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "share_network_subnet": alone(req, &of.network, &of.subnet) }))
}

/// `{"share_network_subnets": [...]}`
pub fn many(req: &ApiRequest, network: &ShareNetworkRow, subnets: &[Subnet]) -> Result<Reply> {
    let shown: Vec<Value> = subnets.iter().map(|s| alone(req, network, s)).collect();
    Reply::json(StatusCode::OK, &json!({ "share_network_subnets": shown }))
}

/// A subnet that stands for itself says whose it is.
fn alone(req: &ApiRequest, network: &ShareNetworkRow, subnet: &Subnet) -> Value {
    let mut shown = inside(subnet, req.ctx.microversion, sees_details(req));
    shown["share_network_id"] = json!(network.id);
    shown["share_network_name"] = json!(network.name);
    shown
}

/// A subnet as its network shows it.
pub(super) fn inside(subnet: &Subnet, minor: u16, details: bool) -> Value {
    let row = &subnet.row;
    let mut shown = network_fields(Some(row), details);
    shown.insert("id".to_owned(), json!(row.id));
    shown.insert("availability_zone".to_owned(), json!(row.availability_zone));
    shown.insert("created_at".to_owned(), json!(api_text(row.created_at)));
    shown.insert("updated_at".to_owned(), json!(row.updated_at.map(api_text)));
    if minor >= METADATA_SINCE {
        shown.insert("metadata".to_owned(), json!(subnet.metadata.iter().map(|(k, v)| (k, v)).collect::<BTreeMap<_, _>>()));
    }
    Value::Object(shown)
}

/// What the network service knows a subnet by and says of it; all null without a subnet.
pub(super) fn network_fields(row: Option<&SubnetRow>, details: bool) -> Map<String, Value> {
    let known = row.filter(|_| details);
    [
        ("neutron_net_id", json!(row.and_then(|r| r.neutron_net_id.as_ref()))),
        ("neutron_subnet_id", json!(row.and_then(|r| r.neutron_subnet_id.as_ref()))),
        ("network_type", json!(known.and_then(|r| r.network_type.as_ref()))),
        ("segmentation_id", json!(known.and_then(|r| r.segmentation_id))),
        ("cidr", json!(row.and_then(|r| r.cidr.as_ref()))),
        ("ip_version", json!(row.and_then(|r| r.ip_version))),
        ("gateway", json!(row.and_then(|r| r.gateway.as_ref()))),
        ("mtu", json!(row.and_then(|r| r.mtu))),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
