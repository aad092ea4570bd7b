use super::filters;
use crate::{
    api::{page::SortKey, paging, reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_network::list::{self, ListNetworks},
    store::{keyset::ListKey as _, sql::share_network_list::NetworkSort},
};

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, detail: bool) -> Result<Reply> {
    let keys: Vec<SortKey> = NetworkSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (_, page) = paging::read(&req, &keys)?;
    let ask = ListNetworks {
        page,
        filters: filters::read(&req)?,
        // the bare word means yes
        all_tenants: req.query_value("all_tenants").is_some_and(|v| v.is_empty()) || paging::all_tenants(&req),
        project_id: req.query_value("project_id").map(str::to_owned),
        detail,
    };
    let networks = list::list(&req.app, &req.ctx, ask).await?;
    views::share_network::many(&req, &networks, detail)
}
