use http::StatusCode;
use serde_json::json;

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::Result,
    policy::Target,
    service::quota::show,
};

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let other = req.query_value("project_id").filter(|_| req.ctx.microversion >= 39 && req.ctx.is_admin());
    let project = other.unwrap_or(req.ctx.project_id());
    // one's own limits are no secret to anybody with a token for the project
    let figures = show::figures(&req.app, project).await?;
    let of = |resource: &str| figures.iter().find(|u| u.resource == resource).map_or((-1, 0), |u| (u.limit, u.used));
    let mut absolute = json!({
        "maxTotalVolumes": of("volumes").0,
        "maxTotalSnapshots": of("snapshots").0,
        "maxTotalVolumeGigabytes": of("gigabytes").0,
        "maxTotalBackups": of("backups").0,
        "maxTotalBackupGigabytes": of("backup_gigabytes").0,
    });
    if req.app.policy.allows(&req.ctx, "limits_extension:used_limits", &Target::project(project)) {
        for (name, resource) in [
            ("totalVolumesUsed", "volumes"),
            ("totalSnapshotsUsed", "snapshots"),
            ("totalGigabytesUsed", "gigabytes"),
            ("totalBackupsUsed", "backups"),
            ("totalBackupGigabytesUsed", "backup_gigabytes"),
        ] {
            absolute[name] = json!(of(resource).1);
        }
    }
    Reply::json(StatusCode::OK, &json!({ "limits": { "rate": [], "absolute": absolute } }))
}
