//! `/stowage/v1/share-servers/{id}`: what an operator does about a share server that the share API has no word for.

use http::StatusCode;

use super::{ADMIN, require_admin};
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        route::{Api, Route, Verb},
    },
    error::Result,
    handler,
    service::share_server::update_network,
};

pub const ROUTES: &[Route] = &[Route::new(
    Api::Admin,
    Verb::Post,
    "/share-servers/{server_id}/retry-network-update",
    ADMIN,
    202,
    "Give a share server in error the subnets that an update of it failed on, with the same addresses",
    handler!(retry),
)];

async fn retry(req: ApiRequest) -> Result<Reply> {
    require_admin(&req)?;
    update_network::retry(&req.app, &req.ctx, req.param("server_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
