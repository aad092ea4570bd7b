//! `GET /snapshot-instances` and `/snapshot-instances/detail`.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    policy::Target,
    store::{
        bind::Value,
        keyset::{ListKey, Order},
        sql::share_snapshot_list::{ShareSnapshot, ShareSnapshotFilter, ShareSnapshotQuery, ShareSnapshotSort},
    },
};

/// The instances, the newest first; those of one snapshot if it is named.
///
/// # Errors
/// 403.
pub async fn list(
    app: &App,
    ctx: &RequestContext,
    action: &str,
    snapshot_id: Option<&str>,
    limit: i64,
    offset: i64,
) -> Result<Vec<ShareSnapshot>> {
    app.policy.check(ctx, action, &Target::own(ctx))?;
    let newest = |key: ShareSnapshotSort| Order { column: key.column(), descending: true, nullable: false };
    let query = ShareSnapshotQuery {
        filters: snapshot_id.map(|id| ShareSnapshotFilter::Equals("n.id", Value::from(id))).into_iter().collect(),
        order: vec![newest(ShareSnapshotSort::CreatedAt), newest(ShareSnapshotSort::Id)],
        after: None,
        limit,
        offset,
    };
    Ok(if limit == 0 { Vec::new() } else { app.store.share_snapshots(&query).await? })
}
