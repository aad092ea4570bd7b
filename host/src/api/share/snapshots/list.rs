use super::filters;
use crate::{
    api::{page::SortKey, paging, reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_snapshot::list::{self, ListShareSnapshots},
    store::{keyset::ListKey as _, sql::share_snapshot_list::ShareSnapshotSort},
};

const WITH_COUNT_SINCE: u16 = 79;

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, detail: bool) -> Result<Reply> {
    let (asked, page) = paging::read(&req, &sort_keys())?;
    let ask = ListShareSnapshots {
        page,
        filters: filters::read(&req)?,
        all_tenants: paging::all_tenants(&req),
        with_count: asked.with_count && req.ctx.microversion >= WITH_COUNT_SINCE,
    };
    let listed = list::list(&req.app, &req.ctx, ask).await?;
    views::snapshot::many(&req, &asked, &listed, detail)
}

/// What snapshots can be sorted by, under the names of now and of before.
fn sort_keys() -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = ShareSnapshotSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    for (alias, key) in [
        ("display_name", ShareSnapshotSort::Name),
        ("display_description", ShareSnapshotSort::Description),
        ("share_size", ShareSnapshotSort::Size),
    ] {
        keys.push(SortKey::new(alias, key.column()));
    }
    keys
}
