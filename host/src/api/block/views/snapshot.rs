//! Snapshots.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    api::{block::fields::Surface, page, reply::Reply, request::ApiRequest},
    clock::api_text,
    error::Result,
    policy::Target,
    service::snapshot::list::Listed,
    store::sql::snapshot_list::Snapshot,
};

/// What the caller may see of snapshots, decided once for a page.
struct Look {
    microversion: u16,
    /// Everything but what stands in the short list, too.
    detail: bool,
    /// `os-extended-snapshot-attributes:*`
    extended: bool,
}

impl Look {
    fn of(req: &ApiRequest, detail: bool, surface: Surface) -> Self {
        let permits = || req.app.policy.allows(&req.ctx, "volume_extension:extended_snapshot_attributes", &Target::own(&req.ctx));
        Self { microversion: req.ctx.microversion, detail, extended: detail && surface == Surface::Shown && permits() }
    }

    fn render(&self, s: &Snapshot) -> Value {
        let row = &s.row;
        let metadata: Map<String, Value> = s.metadata.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        let mut shown = json!({
            "id": row.id,
            "created_at": api_text(row.created_at),
            "updated_at": row.updated_at.map(api_text),
            "name": row.name,
            "description": row.description,
            "volume_id": row.volume_id,
            "status": row.status,
            "size": row.size_gib,
            "metadata": metadata,
        });
        if !self.detail {
            return shown;
        }
        if self.extended {
            shown["os-extended-snapshot-attributes:project_id"] = json!(row.project_id);
            shown["os-extended-snapshot-attributes:progress"] = json!(row.progress);
        }
        for (name, since, value) in
            [("group_snapshot_id", 14, Value::Null), ("user_id", 41, json!(row.user_id)), ("consumes_quota", 65, json!(true))]
        {
            if self.microversion >= since {
                shown[name] = value;
            }
        }
        shown
    }
}

/// `{"snapshot": ...}`
pub fn one(req: &ApiRequest, status: StatusCode, surface: Surface, snapshot: &Snapshot) -> Result<Reply> {
    Reply::json(status, &json!({ "snapshot": Look::of(req, true, surface).render(snapshot) }))
}

/// `{"snapshots": [...]}`, with links and count where there are any.
pub fn many(req: &ApiRequest, page: &page::Page, listed: &Listed, detail: bool) -> Result<Reply> {
    let look = Look::of(req, detail, Surface::Shown);
    let mut shown = json!({ "snapshots": listed.snapshots.iter().map(|s| look.render(s)).collect::<Vec<_>>() });
    let path = if detail { "snapshots/detail" } else { "snapshots" };
    let last = listed.snapshots.last().map(|s| s.row.id.as_str());
    if let Some(links) = page.next_link(req, path, listed.snapshots.len(), last) {
        shown["snapshots_links"] = links;
    }
    if let Some(count) = listed.count {
        shown["count"] = json!(count);
    }
    Reply::json(StatusCode::OK, &shown)
}
