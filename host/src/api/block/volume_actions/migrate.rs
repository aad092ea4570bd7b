use http::StatusCode;

use crate::{
    api::{
        members::{object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::{refusal, volume::migrate},
};

/// From here on the destination may be a cluster. There are none: the name of one is no available service.
const CLUSTER_SINCE: u16 = 16;

pub async fn migrate(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "os-migrate_volume", &[])?;
    let clusters = req.ctx.microversion >= CLUSTER_SINCE;
    members.deny_unknown(if clusters {
        &["host", "force_host_copy", "lock_volume", "cluster"]
    } else {
        &["host", "force_host_copy", "lock_volume"]
    })?;
    let named = |key| Ok::<_, crate::error::Error>(members.bounded(key)?.filter(|name| !name.is_empty()));
    let (host, cluster) = (named("host")?, if clusters { named("cluster")? } else { None });
    // every move is a copy by this service
    members.boolean("force_host_copy")?;
    let lock = members.boolean("lock_volume")?.unwrap_or(false);
    let host = match (host, cluster) {
        (Some(host), None) => host,
        (None, Some(cluster)) => return Err(migrate::no_service(&cluster)),
        (Some(_), Some(_)) => return Err(refusal::invalid_input("Only one of host or cluster can be specified")),
        (None, None) => return Err(members.refuse("host", "is required")),
    };
    migrate::migrate(&req.app, &req.ctx, req.param("volume_id"), &host, lock).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}
