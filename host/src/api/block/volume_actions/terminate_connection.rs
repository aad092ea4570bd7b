use http::StatusCode;

use super::initialize_connection::connector;
use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    service::attachment::older::terminate_connection,
};

pub async fn terminate_connection(req: ApiRequest) -> Result<Reply> {
    let connector = connector(&req, "os-terminate_connection")?;
    terminate_connection::terminate_connection(&req.app, &req.ctx, req.param("volume_id"), connector).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
