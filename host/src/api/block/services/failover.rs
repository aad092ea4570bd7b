use http::StatusCode;

use crate::{
    api::{
        members::{deny_unknown, nullable, object},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::block_service::failover,
};

/// From here on a cluster may be named.
const CLUSTERS_SINCE: u16 = 26;

pub async fn failover(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    deny_unknown(&body, &["host", "backend_id", "cluster"])?;
    let given = |key| Ok::<_, Error>(nullable(&body, key)?.filter(|t| !t.is_empty()));
    let (host, mut cluster, target) = (given("host")?, given("cluster")?, given("backend_id")?);
    if req.ctx.microversion < CLUSTERS_SINCE {
        cluster = None;
        if host.is_none() {
            return Err(Error::invalid("Invalid input received: Host field is missing."));
        }
    }
    failover::failover(&req.app, &req.ctx, host, cluster, target).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
