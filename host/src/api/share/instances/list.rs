use crate::{
    api::{
        filter::boolean,
        page,
        reply::Reply,
        request::ApiRequest,
        share::{shares::location_filters, views},
    },
    error::Result,
    service::share_instance::list,
    store::{bind::Value, sql::share_list::ShareFilter},
};

const RECYCLE_BIN_SINCE: u16 = 69;

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let asked = page::Page::parse(&req, &[page::SortKey::new("created_at", "s.created_at"), page::SortKey::new("id", "s.id")])?;
    let mut filters = location_filters(&req);
    let in_bin = req.ctx.microversion >= RECYCLE_BIN_SINCE && req.query_value("is_soft_deleted").and_then(boolean) == Some(true);
    filters.push(ShareFilter::Equals("s.is_soft_deleted", Value::from(in_bin)));
    views::instance::many(&req, &list::list(&req.app, &req.ctx, filters, asked.limit, asked.offset).await?)
}

pub async fn of_share(req: ApiRequest) -> Result<Reply> {
    views::instance::many(&req, &list::of_share(&req.app, &req.ctx, req.param("share_id")).await?)
}
