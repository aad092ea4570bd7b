//! Share instances.

use http::StatusCode;
use serde::Serialize;

use super::share::{LOCATIONS_UNTIL, field, first_path, paths, rules_status, shown_status};
use crate::{
    api::{
        fields::{Field, FieldValue, Look, View, opt, visible},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    store::sql::share_list::Share,
};

/// Every field of an instance.
pub static INSTANCE: &[Field<Share>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.instance_id)),
    field("share_id", |s, _| FieldValue::Text(&s.row.id)),
    field("availability_zone", |s, _| opt(s.row.availability_zone.as_deref())),
    field("created_at", |s, _| FieldValue::Time(Some(s.row.instance_created_at))),
    field("host", |s, _| opt(s.row.host.as_deref())),
    field("status", |s, look| FieldValue::Text(shown_status(&s.row.status, look.microversion))),
    field("share_network_id", |s, _| opt(s.row.share_network_id.as_deref())),
    field("share_server_id", |s, _| opt(s.row.share_server_id.as_deref())),
    field("export_location", first_path).until(LOCATIONS_UNTIL),
    field("export_locations", |s, look| FieldValue::Texts(paths(s, look))).until(LOCATIONS_UNTIL),
    field("access_rules_status", |s, look| FieldValue::Text(rules_status(&s.row.access_rules_status, look.microversion))).since(10),
    field("replica_state", |_, _| FieldValue::Null).since(11),
    field("share_type_id", |s, _| FieldValue::Text(&s.row.share_type_id)).since(22),
    field("cast_rules_to_readonly", |s, _| FieldValue::Bool(s.row.cast_rules_to_readonly)).since(30),
    field("progress", |s, _| opt(s.row.progress.as_deref())).since(54),
    field("updated_at", |s, _| FieldValue::Time(s.row.instance_updated_at)).since(71),
];

/// `{"share_instance": ...}`
pub fn one(req: &ApiRequest, share: &Share) -> Result<Reply> {
    let look = Look::of(req);
    let fields = visible(INSTANCE, &look);
    Reply::json(StatusCode::OK, &One { share_instance: View { item: share, fields: &fields, look: &look } })
}

/// `{"share_instances": [...]}`
pub fn many(req: &ApiRequest, shares: &[Share]) -> Result<Reply> {
    let look = Look::of(req);
    let fields = visible(INSTANCE, &look);
    let share_instances = shares.iter().map(|item| View { item, fields: &fields, look: &look }).collect();
    Reply::json(StatusCode::OK, &Many { share_instances })
}

#[derive(Serialize)]
struct One<'a> {
    share_instance: View<'a, Share>,
}

#[derive(Serialize)]
struct Many<'a> {
    share_instances: Vec<View<'a, Share>>,
}
