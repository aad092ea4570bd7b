//! `PUT /os-services/failover_host`, `/failover`: the volumes of a back end are served from another array, or from its own again.

use std::sync::Arc;

use serde_json::json;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    jobs::NewJob,
    policy::Target,
    store::sql::{
        backends::{BackendKind, BackendRow},
        replication::Standing,
    },
};

/// The task.
pub const KIND: &str = "backend.failover";
/// The target that is the back end's own array.
pub const FAILBACK: &str = "default";

/// Begins the fail-over of a back end. None: the driver chooses the target.
///
/// # Errors
/// 403; 400 for what is no back end, one that has nowhere to go, or is failing over already.
pub async fn failover(app: &Arc<App>, ctx: &RequestContext, host: Option<&str>, cluster: Option<&str>, target: Option<&str>) -> Result<()> {
    app.policy.check(ctx, "volume_extension:services:update", &Target::own(ctx))?;
    app.policy.check(ctx, "volume:failover_host", &Target::own(ctx))?;
    let row = match (host, cluster) {
        (Some(host), None) => {
            app.store.backend(host).await?.filter(|b| b.kind == BackendKind::Block).ok_or_else(|| unknown("host", host))?
        }
        // no back end here is part of what upstream calls a cluster
        (None, Some(cluster)) => return Err(unknown("cluster", cluster)),
        _ => return Err(Error::invalid("Invalid input received: One and only one of cluster and host must be set.")),
    };
    if !may_fail_over(&row) {
        return Err(not_now(&row.host));
    }
    let before = Standing::from(&row);
    let mut tx = app.store.begin().await?;
    if !tx.failover_begin(&row.host, &before, clock::now()).await? {
        return Err(not_now(&row.host));
    }
    let job = NewJob {
        kind: KIND,
        resource_kind: "backend",
        order_key: format!("failover:{}", row.host),
        resource_id: row.host.clone(),
        backend: Some(row.host.clone()),
        payload: json!({ "asked": target.filter(|t| !t.is_empty()), "before": before }),
        max_age: app.config.get().jobs.max_age,
        request_id: ctx.request_id.clone(),
        project_id: String::new(),
        user_id: ctx.principal.user_id.clone(),
    };
    tx.enqueue(&app.jobs, job).await?;
    tx.commit().await?;
    Ok(())
}

/// Unlike upstream one that failed may be tried again: nobody has to mend a database for that.
fn may_fail_over(row: &BackendRow) -> bool {
    row.configured && matches!(row.replication_status(), "enabled" | "failed-over" | "failover-error")
}

fn unknown(what: &str, name: &str) -> Error {
    Error::invalid(format!("No service found with {what}={name:.255}"))
}

fn not_now(host: &str) -> Error {
    Error::invalid(format!(
        "Invalid input received: No service could be changed: replication_status in ['{host}'] must be enabled or failed-over and must be up to failover."
    ))
}
