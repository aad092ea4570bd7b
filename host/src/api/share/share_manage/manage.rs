use serde_json::Value;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, bounded_or_older, entity, given_truth, member},
            views,
        },
    },
    error::{Error, Kind, Result},
    service::{
        share::manage::{self, ManageShare},
        share_metadata::check_count,
    },
};

const PUBLIC_SINCE: u16 = 8;
const SERVERS_SINCE: u16 = 49;
const MOUNT_POINT_NAME_SINCE: u16 = 92;
/// Most characters of a path, a host, an option.
const LONGEST: usize = 2000;

pub async fn manage(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "share")?;
    let members = member(&body, "share")?;
    let minor = req.ctx.microversion;
    let given = |key: &str| Ok::<_, Error>(members.text(key)?.filter(|t| !t.is_empty()).map(str::to_owned));
    let ask = ManageShare {
        service_host: needed(&members, "service_host")?,
        export_path: export_path(&members)?,
        protocol: needed(&members, "protocol")?,
        share_type: given("share_type")?.or(given("volume_type")?),
        options: options(&members)?,
        name: bounded_or_older(&members, "name", "display_name")?,
        description: bounded_or_older(&members, "description", "display_description")?,
        is_public: if minor >= PUBLIC_SINCE { given_truth(&members, "is_public")?.unwrap_or(false) } else { false },
        share_server_id: if minor >= SERVERS_SINCE { given("share_server_id")? } else { None },
        mount_point_name: if minor >= MOUNT_POINT_NAME_SINCE {
            members.bounded("mount_point_name")?.filter(|n| !n.is_empty())
        } else {
            None
        },
    };
    views::share::one(&req, &manage::manage(&req.app, &req.ctx, ask).await?)
}

/// The path itself, or an export location as the API shows it.
fn export_path(members: &Members<'_>) -> Result<String> {
    match members.get("export_path") {
        Some(Value::Object(location)) => {
            let path = location.get("path").and_then(Value::as_str).filter(|path| !path.is_empty());
            let path = path.ok_or_else(|| members.refuse("export_path", "is no export location with a path"))?;
            check(members, "export_path", path)
        }
        _ => needed(members, "export_path"),
    }
}

/// What cannot be left out: 422.
pub(super) fn needed(members: &Members<'_>, key: &str) -> Result<String> {
    let missing = |what: &str| Error::new(Kind::Unprocessable, format!("Required parameter {key} {what}."));
    match members.get(key) {
        None => Err(missing("not found")),
        Some(Value::Null) => Err(missing("is empty")),
        Some(_) => {
            let text = members.text(key)?.unwrap_or_default();
            if text.is_empty() {
                return Err(missing("is empty"));
            }
            check(members, key, text)
        }
    }
}

fn check(members: &Members<'_>, key: &str, text: &str) -> Result<String> {
    if text.len() > LONGEST || text.chars().any(char::is_control) {
        return Err(members.refuse(key, "is too long, or no text of one line"));
    }
    Ok(text.to_owned())
}

/// What only the driver understands; other values than texts are their JSON.
pub(in crate::api::share) fn options(members: &Members<'_>) -> Result<Vec<(String, String)>> {
    let map = match members.get("driver_options") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(members.refuse("driver_options", "is not of type 'object'")),
    };
    check_count(map.len())?;
    map.iter()
        .map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if key.len() > LONGEST || text.len() > LONGEST || text.contains('\0') {
                return Err(members.refuse("driver_options", "has a key or a value that is too long"));
            }
            Ok((key.clone(), text))
        })
        .collect()
}
