use super::filters;
use crate::{
    api::{filter::boolean, page::SortKey, paging, reply::Reply, request::ApiRequest, share::views},
    error::{Error, Result},
    service::share::list::{self, ListShares},
    store::{keyset::ListKey as _, sql::share_list::ShareSort},
};

const WITH_COUNT_SINCE: u16 = 42;
const RECYCLE_BIN_SINCE: u16 = 69;

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, detail: bool) -> Result<Reply> {
    let (asked, page) = paging::read(&req, &sort_keys())?;
    let minor = req.ctx.microversion;
    let filters = filters::read(&req)?;
    let ask = ListShares {
        page,
        filters: filters.conditions,
        needs: filters.needs,
        all_tenants: paging::all_tenants(&req),
        public_too: flag(&req, "is_public")?,
        in_bin: minor >= RECYCLE_BIN_SINCE && flag(&req, "is_soft_deleted")?,
        with_count: asked.with_count && minor >= WITH_COUNT_SINCE,
        with: views::share::with(detail, minor),
    };
    let listed = list::list(&req.app, &req.ctx, ask).await?;
    views::share::many(&req, &asked, &listed, detail)
}

fn flag(req: &ApiRequest, key: &str) -> Result<bool> {
    req.query_value(key)
        .map_or(Ok(false), |text| boolean(text).ok_or_else(|| Error::invalid(format!("Value '{text:.64}' for '{key}' is not a boolean."))))
}

/// What shares can be sorted by, under the names of now and of before.
fn sort_keys() -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = ShareSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    for (alias, key) in [
        ("display_name", ShareSort::Name),
        ("display_description", ShareSort::Description),
        ("share_type", ShareSort::ShareTypeId),
        ("share_network", ShareSort::ShareNetworkId),
        ("snapshot", ShareSort::SnapshotId),
        ("availability_zone_id", ShareSort::AvailabilityZone),
    ] {
        keys.push(SortKey::new(alias, key.column()));
    }
    keys
}
