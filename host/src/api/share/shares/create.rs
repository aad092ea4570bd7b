use serde_json::Value;

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, bounded_or_older, entity, given_metadata, given_truth, member},
            views,
        },
    },
    domain::share::ShareStatus,
    error::{Error, Result},
    service::{
        share::{
            affinity::{self, Hints},
            create::{self, CreateShare},
        },
        share_refusal as refusal,
    },
};

const HINTS_SINCE: u16 = 65;
const ONLY_HOST_SINCE: u16 = 67;
const MOUNT_POINT_NAME_SINCE: u16 = 84;

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = entity(&req, "share")?;
    let members = member(&body, "share")?;
    let minor = req.ctx.microversion;
    let given = |key: &str| Ok::<_, Error>(members.text(key)?.filter(|t| !t.is_empty()).map(str::to_owned));
    if members.has("share_type") && members.has("volume_type") {
        return Err(Error::invalid("Cannot specify both share_type and volume_type"));
    }
    refuse_others(&members)?;
    let ask = CreateShare {
        share_proto: given("share_proto")?.ok_or_else(|| refusal::invalid_input("'share_proto' is a required property"))?,
        size_gib: members.size("size").map_err(|_| bad_size(&members))?,
        name: bounded_or_older(&members, "name", "display_name")?,
        description: bounded_or_older(&members, "description", "display_description")?,
        share_type: given("share_type")?.or(given("volume_type")?),
        share_network_id: given("share_network_id")?,
        snapshot_id: given("snapshot_id")?,
        availability_zone: given("availability_zone")?,
        metadata: given_metadata(&members)?,
        is_public: given_truth(&members, "is_public")?.unwrap_or(false),
        mount_point_name: if minor >= MOUNT_POINT_NAME_SINCE {
            members.bounded("mount_point_name")?.filter(|n| !n.is_empty())
        } else {
            None
        },
        hints: if minor >= HINTS_SINCE { hints(&members, minor)? } else { Hints::default() },
    };
    let mut made = create::create(&req.app, &req.ctx, ask).await?;
    // as upstream, where only the back end says what it is made of; clients compare this answer
    ShareStatus::Creating.as_str().clone_into(&mut made.row.status);
    views::share::one(&req, &made)
}

fn bad_size(members: &Members<'_>) -> Error {
    let shown: String = members.get("size").map(Value::to_string).unwrap_or_default().chars().take(64).collect();
    refusal::invalid_input(format!("Share size '{shown}' must be an integer and greater than 0"))
}

fn hints(members: &Members<'_>, minor: u16) -> Result<Hints> {
    let map = match members.get("scheduler_hints") {
        None | Some(Value::Null) => return Ok(Hints::default()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(members.refuse("scheduler_hints", "is not of type 'object'")),
    };
    let text = |key: &str| match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= 1023 => Ok(Some(text.as_str())),
        Some(_) => Err(refusal::invalid_input(format!("The scheduler hint {key} is not a text of at most 1023 characters."))),
    };
    let ids = |key: &str| Ok::<_, Error>(text(key)?.map(|t| affinity::ids(key, t)).transpose()?.unwrap_or_default());
    let only_host = if minor >= ONLY_HOST_SINCE { text("only_host")?.filter(|h| !h.is_empty()).map(str::to_owned) } else { None };
    Ok(Hints { same_host: ids("same_host")?, different_host: ids("different_host")?, only_host })
}

/// What else a share could be made with is refused, with what is missing named.
fn refuse_others(members: &Members<'_>) -> Result<()> {
    for (key, what) in [("share_group_id", "share groups"), ("encryption_key_ref", "encryption")] {
        if members.text(key)?.is_some_and(|v| !v.is_empty()) {
            return Err(refusal::invalid_input(format!("'{key}' is not available: this service does not offer {what}.")));
        }
    }
    Ok(())
}
