use crate::{
    api::{
        page::{Page, SortKey},
        reply::Reply,
        request::ApiRequest,
        share::views,
    },
    error::Result,
    service::share_snapshot_instance::list,
};

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, "share_snapshot_instance:index", false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, "share_snapshot_instance:detail", true).await
}

async fn list(req: ApiRequest, action: &str, detail: bool) -> Result<Reply> {
    let asked = Page::parse(&req, &[SortKey::new("created_at", "n.created_at"), SortKey::new("id", "n.id")])?;
    let snapshot = req.query_value("snapshot_id").filter(|id| !id.is_empty());
    views::snapshot::instances(&req, &list::list(&req.app, &req.ctx, action, snapshot, asked.limit, asked.offset).await?, detail)
}
