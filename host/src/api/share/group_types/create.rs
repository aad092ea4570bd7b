use serde_json::{Map, Value};

use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::{
            body::{Members, given_truth, member, object},
            views,
        },
    },
    domain::text,
    error::{Error, Result},
    service::share_group_type::create::{self, CreateGroupType},
};

pub async fn create(req: ApiRequest) -> Result<Reply> {
    create::allowed(&req.app, &req.ctx)?;
    let body = object(&req)?;
    let members = member(&body, "share_group_type")?;
    let ask = CreateGroupType {
        name: name(&members)?,
        is_public: given_truth(&members, "is_public")?.unwrap_or(true),
        specs: match members.get("group_specs") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(map)) => specs(map)?,
            Some(_) => return Err(members.refuse("group_specs", "is not of type 'object'")),
        },
        share_types: share_types(&members)?,
    };
    views::group_type::one(&req, &create::create(&req.app, &req.ctx, ask).await?)
}

fn name(members: &Members<'_>) -> Result<String> {
    let name = members.text("name")?.unwrap_or_default();
    if name.trim().is_empty() || name.chars().count() > text::MAX {
        return Err(Error::invalid("Share group type name is not valid: it has 1 to 255 characters."));
    }
    Ok(name.to_owned())
}

fn share_types(members: &Members<'_>) -> Result<Vec<String>> {
    let refuse = || members.refuse("share_types", "is not an array of names or ids");
    match members.get("share_types") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(|v| v.as_str().map(str::to_owned).ok_or_else(refuse)).collect(),
        Some(_) => Err(refuse()),
    }
}

/// Texts, and booleans as Python prints them.
pub(super) fn specs(map: &Map<String, Value>) -> Result<Vec<(String, String)>> {
    map.iter()
        .map(|(key, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(true) => "True".to_owned(),
                Value::Bool(false) => "False".to_owned(),
                _ => return Err(Error::invalid(format!("Invalid group_spec: the value of {key:.80} is not a text."))),
            };
            Ok((key.clone(), text))
        })
        .collect()
}
