use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
};

/// What ordinary users may filter each list by.
const FILTERS: &[(&str, &[&str])] = &[
    (
        "volume",
        &[
            "name",
            "status",
            "metadata",
            "bootable",
            "migration_status",
            "availability_zone",
            "group_id",
            "size",
            "created_at",
            "updated_at",
            "consumes_quota",
        ],
    ),
    ("snapshot", &["name", "status", "volume_id", "metadata", "availability_zone", "consumes_quota"]),
    ("attachment", &["volume_id", "status", "instance_id", "attach_status"]),
    ("message", &["resource_uuid", "resource_type", "event_id", "request_id", "message_level"]),
    ("pool", &["name", "volume_type"]),
    ("volume_type", &["is_public", "extra_specs"]),
];

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let wanted = req.query_value("resource");
    let shown: Vec<Value> = FILTERS
        .iter()
        .filter(|(resource, _)| wanted.is_none_or(|w| w == *resource))
        .map(|(resource, filters)| json!({ "resource": resource, "filters": filters }))
        .collect();
    Reply::json(StatusCode::OK, &json!({ "resource_filters": shown }))
}
