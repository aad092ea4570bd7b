use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{reply::Reply, request::ApiRequest},
    error::{Error, Result},
};

/// Alias, name, what it is.
const EXTENSIONS: &[(&str, &str, &str)] = &[
    ("OS-SCH-HNT", "SchedulerHints", "Pass arbitrary key/value pairs to the scheduler."),
    ("capabilities", "Capabilities", "Capabilities support."),
    ("os-availability-zone", "AvailabilityZones", "Describe Availability Zones."),
    ("os-extended-snapshot-attributes", "ExtendedSnapshotAttributes", "Extended SnapshotAttributes support."),
    ("os-hosts", "Hosts", "Admin-only host administration."),
    ("os-quota-class-sets", "QuotaClasses", "Quota classes management support."),
    ("os-quota-sets", "Quotas", "Quota management support."),
    ("os-admin-actions", "AdminActions", "Enable admin actions."),
    ("os-services", "Services", "Services support."),
    ("os-types-extra-specs", "TypesExtraSpecs", "Type extra specs support."),
    ("os-types-manage", "TypesManage", "Types manage support."),
    ("os-used-limits", "UsedLimits", "Provide data on limited resource usage."),
    ("os-vol-host-attr", "VolumeHostAttribute", "Expose host as an attribute of a volume."),
    ("os-vol-mig-status-attr", "VolumeMigStatusAttribute", "Expose migration_status as an attribute of a volume."),
    ("os-vol-tenant-attr", "VolumeTenantAttribute", "Expose the internal project_id as an attribute of a volume."),
    ("os-snapshot-actions", "SnapshotActions", "Enable snapshot manager actions."),
    ("os-volume-actions", "VolumeActions", "Enable volume actions."),
    ("os-volume-type-access", "VolumeTypeAccess", "Volume type access support."),
    ("qos-specs", "Qos_specs_manage", "QoS specs support."),
    ("scheduler-stats", "Scheduler_stats", "Scheduler stats support."),
];

pub async fn list(_req: ApiRequest) -> Result<Reply> {
    Reply::json(StatusCode::OK, &json!({ "extensions": EXTENSIONS.iter().map(render).collect::<Vec<_>>() }))
}

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let alias = req.param("alias");
    let found = EXTENSIONS.iter().find(|(a, _, _)| *a == alias).ok_or_else(|| Error::not_found("The resource could not be found."))?;
    Reply::json(StatusCode::OK, &json!({ "extension": render(found) }))
}

fn render((alias, name, description): &(&str, &str, &str)) -> Value {
    json!({ "alias": alias, "name": name, "description": description, "updated": "2013-04-18T00:00:00+00:00", "links": [] })
}
