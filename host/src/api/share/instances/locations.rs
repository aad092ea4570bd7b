use crate::{
    api::{reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::share_location::{list as service_list, show as service_show},
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    views::location::many(&req, &service_list::of_instance(&req.app, &req.ctx, req.param("instance_id")).await?)
}

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let found = service_show::of_instance(&req.app, &req.ctx, req.param("instance_id"), req.param("location_id")).await?;
    views::location::one(&req, &found)
}
