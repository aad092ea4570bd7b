use super::filters;
use crate::{
    api::{page::SortKey, paging, reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_server::list,
    store::{keyset::ListKey as _, sql::share_servers::ServerSort},
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = ServerSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (_, page) = paging::read(&req, &keys)?;
    let servers = list::list(&req.app, &req.ctx, page, filters::read(&req)).await?;
    views::share_server::many(&req, &servers)
}
