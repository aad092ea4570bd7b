use serde_json::{Map, Value};

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, given_truth, malformed, member, object},
            views,
        },
    },
    domain::{share_type::SNAPSHOT_SUPPORT, text},
    error::{Error, Result},
    service::share_type::create::{self, CreateType},
};

const DESCRIPTION_SINCE: u16 = 41;
/// Until here a type that does not say has snapshots.
const SNAPSHOTS_UNLESS_SAID_UNTIL: u16 = 23;

pub async fn create(req: ApiRequest) -> Result<Reply> {
    create::allowed(&req.app, &req.ctx)?;
    let body = object(&req)?;
    let members = type_of(&body)?;
    let minor = req.ctx.microversion;
    let mut specs = specs(members.get("extra_specs"))?;
    if minor <= SNAPSHOTS_UNLESS_SAID_UNTIL && !specs.iter().any(|(k, _)| k == SNAPSHOT_SUPPORT) {
        specs.push((SNAPSHOT_SUPPORT.to_owned(), "True".to_owned()));
    }
    let public = given_truth(&members, "os-share-type-access:is_public")?.or(given_truth(&members, "share_type_access:is_public")?);
    let ask = CreateType { name: name(&members)?, description: description(&members, minor)?, is_public: public.unwrap_or(true), specs };
    views::share_type::one(&req, &create::create(&req.app, &req.ctx, ask).await?)
}

/// The type in a body, under either of its names.
pub(super) fn type_of(body: &Map<String, Value>) -> Result<Members<'_>> {
    member(body, if body.get("share_type").is_some_and(Value::is_object) { "share_type" } else { "volume_type" })
}

fn name(members: &Members<'_>) -> Result<String> {
    let name = members.text("name")?.unwrap_or_default();
    if name.is_empty() || name.chars().count() > text::MAX {
        return Err(Error::invalid("Type name or description is not valid."));
    }
    Ok(name.to_owned())
}

fn description(members: &Members<'_>, minor: u16) -> Result<Option<String>> {
    let Some(description) = members.text("description")?.filter(|d| !d.is_empty()) else { return Ok(None) };
    if minor < DESCRIPTION_SINCE {
        return Err(Error::invalid(
            "'description' key is not supported by this microversion. Use 2.41 or greater microversion to be able to use 'description' in share type.",
        ));
    }
    if description.chars().count() > text::MAX {
        return Err(Error::invalid("Type name or description is not valid."));
    }
    Ok(Some(description.to_owned()))
}

/// The specs of a new type. Booleans and numbers are kept as Python prints them.
fn specs(given: Option<&Value>) -> Result<Vec<(String, String)>> {
    match given {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => {
            map.iter().map(|(key, value)| Ok((key.clone(), spec_text(value).ok_or_else(|| not_a_spec(key))?))).collect()
        }
        Some(_) => Err(malformed()),
    }
}

fn spec_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(n) => n.to_string(),
        _ => return None,
    })
}

fn not_a_spec(key: &str) -> Error {
    Error::invalid(format!("Invalid extra_spec: the value of {key:.80} is not a text."))
}
