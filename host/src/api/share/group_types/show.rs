use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_group_type::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let id = req.param("type_id");
    let found = if id == "default" { show::default(&req.app, &req.ctx)? } else { show::show(&req.app, &req.ctx, id).await? };
    views::group_type::one(&req, &found)
}
