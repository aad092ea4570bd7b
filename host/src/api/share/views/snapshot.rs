//! Snapshots of shares, and their instances.

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use crate::{
    api::{
        fields::{Field, FieldValue, Look, View, opt, visible},
        page,
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::share_snapshot::list::Listed,
    store::sql::share_snapshot_list::ShareSnapshot,
};

/// A field, with its type written out once.
const fn field(name: &'static str, value: for<'a> fn(&'a ShareSnapshot, &'a Look) -> FieldValue<'a>) -> Field<ShareSnapshot> {
    Field::new(name, value)
}

/// Every field of a snapshot in show, detailed lists and answers to changes.
pub static SNAPSHOT: &[Field<ShareSnapshot>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.id)),
    field("share_id", |s, _| FieldValue::Text(&s.row.share_id)),
    field("share_size", |s, _| FieldValue::Int(s.row.size_gib)),
    field("created_at", |s, _| FieldValue::Time(Some(s.row.created_at))),
    field("status", |s, _| FieldValue::Text(&s.row.status)),
    field("name", |s, _| opt(s.row.name.as_deref())),
    field("description", |s, _| opt(s.row.description.as_deref())),
    field("size", |s, _| FieldValue::Int(s.row.size_gib)),
    field("share_proto", |s, _| FieldValue::Text(&s.row.share_proto)),
    field("links", |s, look| FieldValue::Links { collection: "snapshots", id: &s.row.id, look }),
    field("provider_location", |s, _| opt(s.row.provider_id.as_deref())).since(12).admin(),
    field("user_id", |s, _| FieldValue::Text(&s.row.user_id)).since(17),
    field("project_id", |s, _| FieldValue::Text(&s.row.project_id)).since(17),
    field("metadata", |s, _| FieldValue::Pairs(&s.metadata)).since(73),
];

/// Every field of a snapshot in short lists.
pub static SUMMARY: &[Field<ShareSnapshot>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.id)),
    field("name", |s, _| opt(s.row.name.as_deref())),
    field("links", |s, look| FieldValue::Links { collection: "snapshots", id: &s.row.id, look }),
];

/// Every field of an instance in show and detailed lists.
pub static INSTANCE: &[Field<ShareSnapshot>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.instance_id)),
    field("snapshot_id", |s, _| FieldValue::Text(&s.row.id)),
    field("status", |s, _| FieldValue::Text(&s.row.status)),
    field("created_at", |s, _| FieldValue::Time(Some(s.row.instance_created_at))),
    field("updated_at", |s, _| FieldValue::Time(s.row.instance_updated_at)),
    field("share_id", |s, _| FieldValue::Text(&s.row.share_id)),
    field("share_instance_id", |s, _| FieldValue::Text(&s.row.share_instance_id)),
    field("progress", |s, _| opt(s.row.progress.as_deref())),
    field("provider_location", |s, _| opt(s.row.provider_id.as_deref())),
];

/// Every field of an instance in short lists.
pub static INSTANCE_SUMMARY: &[Field<ShareSnapshot>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.instance_id)),
    field("snapshot_id", |s, _| FieldValue::Text(&s.row.id)),
    field("status", |s, _| FieldValue::Text(&s.row.status)),
];

/// `{"snapshot": ...}`
pub fn one(req: &ApiRequest, status: StatusCode, snapshot: &ShareSnapshot) -> Result<Reply> {
    let look = Look::of(req);
    let fields = visible(SNAPSHOT, &look);
    Reply::json(status, &One { snapshot: View { item: snapshot, fields: &fields, look: &look } })
}

/// `{"snapshots": [...]}`, with links and count where there are any.
pub fn many(req: &ApiRequest, page: &page::Page, listed: &Listed, detail: bool) -> Result<Reply> {
    let look = Look::of(req);
    let (table, path) = if detail { (SNAPSHOT, "snapshots/detail") } else { (SUMMARY, "snapshots") };
    let fields = visible(table, &look);
    let last = listed.snapshots.last().map(|s| s.row.id.as_str());
    let snapshots = listed.snapshots.iter().map(|item| View { item, fields: &fields, look: &look }).collect();
    let share_snapshots_links = page.next_link(req, path, listed.snapshots.len(), last);
    Reply::json(StatusCode::OK, &Many { snapshots, share_snapshots_links, count: listed.count })
}

/// `{"snapshot_instance": ...}`
pub fn instance(req: &ApiRequest, snapshot: &ShareSnapshot) -> Result<Reply> {
    let look = Look::of(req);
    let fields = visible(INSTANCE, &look);
    Reply::json(StatusCode::OK, &OneInstance { snapshot_instance: View { item: snapshot, fields: &fields, look: &look } })
}

/// `{"snapshot_instances": [...]}`
pub fn instances(req: &ApiRequest, snapshots: &[ShareSnapshot], detail: bool) -> Result<Reply> {
    let look = Look::of(req);
    let fields = visible(if detail { INSTANCE } else { INSTANCE_SUMMARY }, &look);
    let snapshot_instances = snapshots.iter().map(|item| View { item, fields: &fields, look: &look }).collect();
    Reply::json(StatusCode::OK, &ManyInstances { snapshot_instances })
}

#[derive(Serialize)]
struct One<'a> {
    snapshot: View<'a, ShareSnapshot>,
}

#[derive(Serialize)]
struct Many<'a> {
    snapshots: Vec<View<'a, ShareSnapshot>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_snapshots_links: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
}

#[derive(Serialize)]
struct OneInstance<'a> {
    snapshot_instance: View<'a, ShareSnapshot>,
}

#[derive(Serialize)]
struct ManyInstances<'a> {
    snapshot_instances: Vec<View<'a, ShareSnapshot>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(microversion: u16, admin: bool) -> Vec<&'static str> {
        let look = Look { microversion, admin, base_url: String::new(), bookmark_url: String::new() };
        visible(SNAPSHOT, &look).into_iter().map(|f| f.name).collect()
    }

    #[test]
    fn fields_come_with_their_microversion() {
        assert_eq!(names(0, true).len(), 10, "{:?}", names(0, true));
        for (field, since) in [("user_id", 17), ("project_id", 17), ("metadata", 73)] {
            assert!(!names(since - 1, false).contains(&field) && names(since, false).contains(&field), "{field}");
        }
        assert!(names(12, true).contains(&"provider_location") && !names(99, false).contains(&"provider_location"));
    }
}
