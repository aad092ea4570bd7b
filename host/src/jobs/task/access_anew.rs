//! Jobs that send every access rule again: what holds them may have lost them, or exports under another address now.

use serde_json::json;

use crate::{
    jobs::{JobContext, NewJob},
    store::sql::shares::ShareRow,
};

/// Of a share that has moved to where nobody knows of its rules: until they are applied none of them holds.
pub fn of_moved_share(cx: &JobContext, share: &ShareRow) -> NewJob {
    NewJob { payload: json!({ "anew": true, "moved": true }), ..of_share(cx, share) }
}

/// As [`of_moved_share`], of a snapshot of it.
pub fn of_moved_snapshot(cx: &JobContext, share: &ShareRow, snapshot_id: &str) -> NewJob {
    NewJob { payload: json!({ "anew": true, "moved": true }), ..of_snapshot(cx, share, snapshot_id) }
}

pub fn of_share(cx: &JobContext, share: &ShareRow) -> NewJob {
    job(cx, share, "share.access", "share", &share.id)
}

/// Of a snapshot of `share`.
pub fn of_snapshot(cx: &JobContext, share: &ShareRow, snapshot_id: &str) -> NewJob {
    job(cx, share, "share_snapshot.access", "share_snapshot", snapshot_id)
}

/// Jobs of a share and of its snapshots run one at a time.
fn job(cx: &JobContext, share: &ShareRow, kind: &'static str, resource_kind: &'static str, resource_id: &str) -> NewJob {
    NewJob {
        kind,
        resource_kind,
        order_key: share.id.clone(),
        resource_id: resource_id.to_owned(),
        backend: share.backend().map(str::to_owned),
        payload: json!({ "anew": true }),
        max_age: cx.app.config.get().jobs.max_age,
        request_id: cx.job.request_id.clone(),
        project_id: share.project_id.clone(),
        user_id: share.user_id.clone(),
    }
}
