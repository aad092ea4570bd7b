//! Shares.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::{
        fields::{Field, FieldValue, Look, View, opt, visible},
        page,
        reply::Reply,
        request::ApiRequest,
    },
    domain::share::{RulesStatus, ShareStatus},
    error::Result,
    service::share::list::Listed,
    store::sql::share_list::{Share, With},
};

/// Until here a share knows its locations itself.
pub(super) const LOCATIONS_UNTIL: u16 = 8;

/// What is to be read beside the rows.
pub const fn with(detail: bool, microversion: u16) -> With {
    With { metadata: detail, locations: detail && microversion <= LOCATIONS_UNTIL }
}

/// A field, with its type written out once.
pub(super) const fn field(name: &'static str, value: for<'a> fn(&'a Share, &'a Look) -> FieldValue<'a>) -> Field<Share> {
    Field::new(name, value)
}

/// Every field of a share in show, detailed lists and answers to changes.
pub static SHARE: &[Field<Share>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.id)),
    field("size", |s, _| FieldValue::Int(s.row.size_gib)),
    field("availability_zone", |s, _| opt(s.row.availability_zone.as_deref())),
    field("created_at", |s, _| FieldValue::Time(Some(s.row.created_at))),
    field("status", |s, look| FieldValue::Text(shown_status(&s.row.status, look.microversion))),
    field("name", |s, _| opt(s.row.name.as_deref())),
    field("description", |s, _| opt(s.row.description.as_deref())),
    field("project_id", |s, _| FieldValue::Text(&s.row.project_id)),
    field("snapshot_id", |s, _| opt(s.row.snapshot_id.as_deref())),
    field("share_network_id", |s, _| opt(s.row.share_network_id.as_deref())),
    field("share_proto", |s, _| FieldValue::Text(&s.row.share_proto)),
    field("metadata", |s, _| FieldValue::Pairs(&s.metadata)),
    field("share_type", share_type),
    field("volume_type", share_type),
    field("links", |s, look| FieldValue::Links { collection: "shares", id: &s.row.id, look }),
    field("is_public", |s, _| FieldValue::Bool(s.row.is_public)),
    field("export_location", first_path).until(LOCATIONS_UNTIL),
    field("export_locations", |s, look| FieldValue::Texts(paths(s, look))).until(LOCATIONS_UNTIL),
    field("share_server_id", |s, _| opt(s.row.share_server_id.as_deref())).admin(),
    field("host", |s, _| opt(s.row.host.as_deref())).admin(),
    field("snapshot_support", |s, _| FieldValue::Bool(s.row.snapshot_support)).since(2),
    field("task_state", |s, _| opt(s.row.task_state.as_deref())).since(5),
    field("share_type_name", |s, _| FieldValue::Text(&s.row.type_name)).since(6),
    field("access_rules_status", |s, look| FieldValue::Text(rules_status(&s.row.access_rules_status, look.microversion))).since(10),
    field("replication_type", |s, _| opt(s.row.replication_type.as_deref())).since(11),
    field("has_replicas", |_, _| FieldValue::Bool(false)).since(11),
    field("user_id", |s, _| FieldValue::Text(&s.row.user_id)).since(16),
    field("create_share_from_snapshot_support", |s, _| FieldValue::Bool(s.row.create_share_from_snapshot_support)).since(24),
    field("revert_to_snapshot_support", |s, _| FieldValue::Bool(s.row.revert_to_snapshot_support)).since(27),
    field("share_group_id", |_, _| FieldValue::Null).since(31),
    field("source_share_group_snapshot_member_id", |_, _| FieldValue::Null).since(31),
    field("mount_snapshot_support", |s, _| FieldValue::Bool(s.row.mount_snapshot_support)).since(32),
    field("progress", |s, _| opt(s.row.progress.as_deref())).since(54),
    field("is_soft_deleted", |s, _| FieldValue::Bool(s.row.is_soft_deleted)).since(69),
    field("scheduled_to_be_deleted_at", |s, _| FieldValue::Time(s.row.scheduled_to_be_deleted_at)).since(69),
    field("source_backup_id", |_, _| FieldValue::Null).since(80),
    field("encryption_key_ref", |_, _| FieldValue::Null).since(90),
    field("snapshot_inherit_share_access_support", |s, _| FieldValue::Bool(s.row.snapshot_inherit_share_access_support)).since(99),
];

/// Every field of a share in short lists.
pub static SUMMARY: &[Field<Share>] = &[
    field("id", |s, _| FieldValue::Text(&s.row.id)),
    field("name", |s, _| opt(s.row.name.as_deref())),
    field("links", |s, look| FieldValue::Links { collection: "shares", id: &s.row.id, look }),
];

/// Its name until 2.5, then its id.
fn share_type<'a>(s: &'a Share, look: &'a Look) -> FieldValue<'a> {
    FieldValue::Text(if look.microversion < 6 { &s.row.type_name } else { &s.row.share_type_id })
}

pub(super) fn first_path<'a>(s: &'a Share, look: &'a Look) -> FieldValue<'a> {
    opt(paths(s, look).into_iter().next())
}

/// The paths that the caller may know.
pub(super) fn paths<'a>(s: &'a Share, look: &Look) -> Vec<&'a str> {
    s.locations.iter().filter(|l| look.admin || !l.admin_only).map(|l| l.path.as_str()).collect()
}

/// Before 2.54 a share made from a snapshot is just being created.
pub(super) fn shown_status(status: &str, minor: u16) -> &str {
    if minor < 54 && status == ShareStatus::CreatingFromSnapshot.as_str() { ShareStatus::Creating.as_str() } else { status }
}

/// Before 2.28 rules that wait are `out_of_sync`.
pub(super) fn rules_status(status: &str, minor: u16) -> &str {
    if minor < 28 && status == RulesStatus::Syncing.as_str() { "out_of_sync" } else { status }
}

/// `{"share": ...}`
pub fn one(req: &ApiRequest, share: &Share) -> Result<Reply> {
    let look = Look::of(req);
    let fields = visible(SHARE, &look);
    Reply::json(StatusCode::OK, &One { share: View { item: share, fields: &fields, look: &look } })
}

/// `{"shares": [...]}`, with links and count where there are any.
pub fn many(req: &ApiRequest, page: &page::Page, listed: &Listed, detail: bool) -> Result<Reply> {
    let look = Look::of(req);
    let (table, path) = if detail { (SHARE, "shares/detail") } else { (SUMMARY, "shares") };
    let fields = visible(table, &look);
    let last = listed.shares.last().map(|s| s.row.id.as_str());
    let shares = listed.shares.iter().map(|item| View { item, fields: &fields, look: &look }).collect();
    Reply::json(StatusCode::OK, &Many { shares, shares_links: page.next_link(req, path, listed.shares.len(), last), count: listed.count })
}

#[derive(Serialize)]
struct One<'a> {
    share: View<'a, Share>,
}

#[derive(Serialize)]
struct Many<'a> {
    shares: Vec<View<'a, Share>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shares_links: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
}

/// `{"metadata": {...}}`
pub fn metadata(pairs: &[(String, String)]) -> Result<Reply> {
    let shown: std::collections::BTreeMap<_, _> = pairs.iter().map(|(k, v)| (k, v)).collect();
    Reply::json(StatusCode::OK, &json!({ "metadata": shown }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(microversion: u16, admin: bool) -> Vec<&'static str> {
        let look = Look { microversion, admin, base_url: String::new(), bookmark_url: String::new() };
        visible(SHARE, &look).into_iter().map(|f| f.name).collect()
    }

    #[test]
    fn a_member_sees_eighteen_fields_at_2_0_and_an_admin_two_more() {
        assert_eq!(names(0, false).len(), 18, "{:?}", names(0, false));
        assert_eq!(names(0, true).len(), 20);
    }

    #[test]
    fn fields_come_and_go_with_their_microversion() {
        for (field, since) in [
            ("snapshot_support", 2),
            ("task_state", 5),
            ("share_type_name", 6),
            ("access_rules_status", 10),
            ("has_replicas", 11),
            ("user_id", 16),
            ("create_share_from_snapshot_support", 24),
            ("revert_to_snapshot_support", 27),
            ("share_group_id", 31),
            ("mount_snapshot_support", 32),
            ("progress", 54),
            ("is_soft_deleted", 69),
            ("source_backup_id", 80),
            ("encryption_key_ref", 90),
            ("snapshot_inherit_share_access_support", 99),
        ] {
            assert!(!names(since - 1, false).contains(&field) && names(since, false).contains(&field), "{field}");
        }
        assert!(names(8, false).contains(&"export_location") && !names(9, false).contains(&"export_locations"));
    }

    #[test]
    fn words_of_older_versions_are_older_words() {
        assert_eq!(
            (shown_status("creating_from_snapshot", 53), shown_status("creating_from_snapshot", 54)),
            ("creating", "creating_from_snapshot")
        );
        assert_eq!(
            (rules_status("syncing", 27), rules_status("syncing", 28), rules_status("error", 10)),
            ("out_of_sync", "syncing", "error")
        );
    }
}
