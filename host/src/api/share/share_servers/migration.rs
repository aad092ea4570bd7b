use http::StatusCode;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, action, object},
            views::share_server_migration as views,
        },
    },
    error::{Error, Result},
    service::share_server::migration::{self, MigrateServer},
};

pub async fn check(req: ApiRequest) -> Result<Reply> {
    let ask = asked(&req)?;
    let found = migration::check::check(&req.app, &req.ctx, req.param("server_id"), &ask).await?;
    views::checked(&ask, &found)
}

pub async fn start(req: ApiRequest) -> Result<Reply> {
    let ask = asked(&req)?;
    migration::start::start(&req.app, &req.ctx, req.param("server_id"), &ask).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn complete(req: ApiRequest) -> Result<Reply> {
    views::completing(&migration::complete::complete(&req.app, &req.ctx, req.param("server_id")).await?)
}

pub async fn cancel(req: ApiRequest) -> Result<Reply> {
    migration::cancel::cancel(&req.app, &req.ctx, req.param("server_id")).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

pub async fn get_progress(req: ApiRequest) -> Result<Reply> {
    views::progress(&migration::progress::progress(&req.app, &req.ctx, req.param("server_id")).await?)
}

/// All but the network is needed.
fn asked(req: &ApiRequest) -> Result<MigrateServer> {
    let body = object(req)?;
    let members = action(&body)?;
    let missing = |key: &str| Error::invalid(format!("The parameter {key} is needed."));
    let flag = |members: &Members<'_>, key: &str| members.boolean(key)?.ok_or_else(|| missing(key));
    Ok(MigrateServer {
        host: members.bounded("host")?.filter(|h| !h.is_empty()).ok_or_else(|| missing("host"))?,
        writable: flag(&members, "writable")?,
        nondisruptive: flag(&members, "nondisruptive")?,
        preserve_snapshots: flag(&members, "preserve_snapshots")?,
        new_share_network_id: members.bounded("new_share_network_id")?.filter(|id| !id.is_empty()),
    })
}
