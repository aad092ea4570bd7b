use http::StatusCode;
use serde_json::{Map, Value};

use crate::{
    api::{
        block::{fields::Surface, views},
        members::{Members, object, sole_member},
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    scheduler::Hints,
    service::{
        refusal,
        volume::{self, create::CreateVolume, source::Source},
    },
};

const HINTS: &str = "OS-SCH-HNT:scheduler_hints";
const MEMBERS: &[&str] = &[
    "name",
    "description",
    "display_name",
    "display_description",
    "volume_type",
    "metadata",
    "snapshot_id",
    "source_volid",
    "consistencygroup_id",
    "size",
    "availability_zone",
    "multiattach",
    "image_id",
    "imageRef",
];

pub async fn create(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "volume", &[HINTS])?;
    let mut known = MEMBERS.to_vec();
    known.extend([("group_id", 13), ("backup_id", 47)].iter().filter(|(_, since)| req.ctx.microversion >= *since).map(|(name, _)| *name));
    if req.ctx.microversion >= 53 {
        members.deny_unknown(&known)?;
    }
    let source = source(&members)?;
    let ask = CreateVolume {
        size_gib: members.size("size")?,
        source,
        name: first(members.bounded("name")?, members.bounded("display_name")?),
        description: first(members.bounded("description")?, members.bounded("display_description")?),
        volume_type: members.bounded("volume_type")?,
        availability_zone: members.bounded("availability_zone")?,
        metadata: members.metadata("metadata")?.unwrap_or_default(),
        hints: hints(body.get(HINTS))?,
    };
    refuse_multiattach(&members)?;
    refuse_sources(&members, &known)?;
    let made = volume::create::create(&req.app, &req.ctx, ask).await?;
    views::volume::one(&req, StatusCode::ACCEPTED, Surface::Changed, &made)
}

/// The hints that count; others are for filters that are not here, and are not kept.
fn hints(given: Option<&Value>) -> Result<Value> {
    let all = match given {
        None | Some(Value::Null) => return Ok(Value::Null),
        Some(Value::Object(all)) => all,
        Some(_) => return Err(Error::invalid(format!("Invalid input for field/attribute {HINTS}. It is not of type 'object', 'null'"))),
    };
    let mut kept = Map::new();
    for key in Hints::KEYS {
        let Some(value) = all.get(key) else { continue };
        let ids = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if ids.len() > Hints::MOST || ids.iter().filter_map(Value::as_str).any(|id| id.len() > 255) {
            return Err(Error::invalid(format!(
                "Invalid input for field/attribute {HINTS}.{key}. At most {} ids of at most 255 characters are needed.",
                Hints::MOST
            )));
        }
        kept.insert(key.to_owned(), value.clone());
    }
    Ok(Value::Object(kept))
}

fn first(a: Option<String>, b: Option<String>) -> Option<String> {
    a.or(b)
}

/// D1: only a type makes a volume multi-attach.
fn refuse_multiattach(members: &Members<'_>) -> Result<()> {
    if members.boolean("multiattach")? == Some(true) {
        return Err(Error::invalid(
            "multiattach parameter has been removed. The default behavior is to use multiattach enabled volume types. Contact your administrator to \
             create a multiattach enabled volume type and use it to create multiattach volumes.",
        ));
    }
    Ok(())
}

/// What it is copied from, if it is not made empty.
fn source(members: &Members<'_>) -> Result<Source> {
    Ok(match (members.uuid("snapshot_id")?, members.uuid("source_volid")?) {
        (None, None) => Source::Nothing,
        (Some(id), None) => Source::Snapshot(id.to_owned()),
        (None, Some(id)) => Source::Volume(id.to_owned()),
        (Some(_), Some(_)) => return Err(refusal::invalid_input("May specify only one of snapshot_id and source_volid.")),
    })
}

/// What else could be copied is refused, with what is missing named.
fn refuse_sources(members: &Members<'_>, known: &[&str]) -> Result<()> {
    for (key, what) in [
        ("consistencygroup_id", "consistency groups"),
        ("group_id", "groups"),
        ("backup_id", "backups"),
        ("imageRef", "images"),
        ("image_id", "images"),
    ] {
        if known.contains(&key) && members.text(key)?.is_some_and(|v| !v.is_empty()) {
            return Err(not_offered(key, what));
        }
    }
    Ok(())
}

fn not_offered(key: &str, what: &str) -> Error {
    refusal::invalid_input(format!("'{key}' is not available: this service does not offer {what}."))
}
