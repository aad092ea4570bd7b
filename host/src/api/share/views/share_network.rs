//! Share networks.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::subnet::{inside, network_fields, sees_details};
use crate::{
    api::{reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    store::sql::share_network_list::ShareNetwork,
};

/// Until here a network is what its default subnet is.
const ONE_SUBNET_UNTIL: u16 = 50;

/// `{"share_network": ...}`
pub fn one(req: &ApiRequest, status: StatusCode, network: &ShareNetwork) -> Result<Reply> {
    Reply::json(status, &json!({ "share_network": Look::of(req).render(network) }))
}

/// `{"share_networks": [...]}`
pub fn many(req: &ApiRequest, networks: &[ShareNetwork], detail: bool) -> Result<Reply> {
    let look = Look::of(req);
    let summary = |n: &ShareNetwork| json!({ "id": n.row.id, "name": n.row.name });
    let shown: Vec<Value> = networks.iter().map(|n| if detail { look.render(n) } else { summary(n) }).collect();
    Reply::json(StatusCode::OK, &json!({ "share_networks": shown }))
}

/// What the caller may see of networks, decided once for a page.
struct Look {
    minor: u16,
    /// Where the network is on the wire.
    details: bool,
}

impl Look {
    fn of(req: &ApiRequest) -> Self {
        Self { minor: req.ctx.microversion, details: sees_details(req) }
    }

    fn render(&self, n: &ShareNetwork) -> Value {
        let row = &n.row;
        let mut shown = Map::from_iter([
            ("id".to_owned(), json!(row.id)),
            ("name".to_owned(), json!(row.name)),
            ("project_id".to_owned(), json!(row.project_id)),
            ("created_at".to_owned(), json!(api_text(row.created_at))),
            ("updated_at".to_owned(), json!(row.updated_at.map(api_text))),
            ("description".to_owned(), json!(row.description)),
        ]);
        let mut put = |name: &str, since: u16, value: Value| {
            if self.minor >= since {
                shown.insert(name.to_owned(), value);
            }
        };
        put("status", 63, json!(row.status));
        put("security_service_update_support", 63, json!(n.support.security_service_update));
        put("network_allocation_update_support", 70, json!(n.support.network_allocation_update));
        if self.minor > ONE_SUBNET_UNTIL {
            let subnets: Vec<Value> = n.subnets.iter().map(|s| inside(s, self.minor, self.details)).collect();
            put("share_network_subnets", 0, json!(subnets));
        } else {
            self.put_default_subnet(&mut shown, n);
        }
        Value::Object(shown)
    }

    fn put_default_subnet(&self, shown: &mut Map<String, Value>, n: &ShareNetwork) {
        let default = n.subnets.iter().rfind(|s| s.row.availability_zone.is_none());
        let mut fields = network_fields(default.map(|s| &s.row), self.details);
        for (name, since) in [("gateway", 18), ("mtu", 20)] {
            if self.minor < since {
                fields.remove(name);
            }
        }
        shown.extend(fields);
        if self.minor <= 25 {
            shown.insert("nova_net_id".to_owned(), Value::Null);
        }
    }
}
