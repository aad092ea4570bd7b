use super::filters;
use crate::{
    api::{block::views, page::SortKey, paging, reply::Reply, request::ApiRequest},
    error::Result,
    service::snapshot::list::{self, ListSnapshots},
    store::keyset::ListKey as _,
    store::sql::snapshot_list::SnapshotSort,
};

/// From here on snapshots are sorted by `name`; before, by `display_name` only.
const NAME_SINCE: u16 = 30;

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, detail: bool) -> Result<Reply> {
    let (asked, page) = paging::read(&req, &sort_keys())?;
    let ask = ListSnapshots {
        page,
        filters: filters::read(&req)?,
        all_tenants: paging::all_tenants(&req),
        with_count: asked.with_count && req.ctx.microversion >= 45,
    };
    let listed = list::list(&req.app, &req.ctx, ask).await?;
    views::snapshot::many(&req, &asked, &listed, detail)
}

fn sort_keys() -> Vec<SortKey> {
    let key = |k: &SnapshotSort| {
        let key = SortKey::new(k.as_str(), k.column());
        if *k == SnapshotSort::Name { key.since(NAME_SINCE) } else { key }
    };
    let mut keys: Vec<SortKey> = SnapshotSort::ALL.iter().map(key).collect();
    keys.push(SortKey::new("display_name", SnapshotSort::Name.column()));
    keys.push(SortKey::new("display_description", SnapshotSort::Description.column()));
    keys
}
