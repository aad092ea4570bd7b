use super::filters;
use crate::{
    api::{block::views, page::SortKey, paging, reply::Reply, request::ApiRequest},
    error::Result,
    service::volume::{self, list::ListVolumes},
    store::keyset::ListKey as _,
    store::sql::volume_list::VolumeSort,
};

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, detail: bool) -> Result<Reply> {
    let (asked, page) = paging::read(&req, &sort_keys())?;
    let ask = ListVolumes {
        page,
        filters: filters::read(&req)?,
        all_tenants: paging::all_tenants(&req),
        with_count: asked.with_count && req.ctx.microversion >= 45,
        detail,
    };
    let listed = volume::list::list(&req.app, &req.ctx, ask).await?;
    views::volume::many(&req, &asked, &listed, detail)
}

fn sort_keys() -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = VolumeSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    keys.push(SortKey::new("display_name", VolumeSort::Name.column()));
    keys.push(SortKey::new("display_description", VolumeSort::Description.column()));
    keys
}
