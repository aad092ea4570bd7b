use crate::{
    api::{block::views::transfer, page::SortKey, paging, reply::Reply, request::ApiRequest},
    error::Result,
    service::transfer::list::{self, ListTransfers},
    store::{keyset::ListKey as _, sql::transfers::TransferSort},
};

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, full: bool) -> Result<Reply> {
    let mut keys: Vec<SortKey> = TransferSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    keys.push(SortKey::new("display_name", TransferSort::Name.column()));
    let (asked, page) = paging::read(&req, &keys)?;
    let filter = |key: &str| req.query_value(key).map(str::to_owned);
    let ask = ListTransfers {
        page,
        id: filter("id"),
        volume_id: filter("volume_id"),
        name: filter("name").or_else(|| filter("display_name")),
        all_tenants: paging::all_tenants(&req),
    };
    let found = list::list(&req.app, &req.ctx, ask).await?;
    transfer::many(&req, &asked, &found, full)
}
