use http::StatusCode;
use serde_json::{Map, Value, json};

use super::since;
use crate::{
    api::{
        reply::Reply,
        request::ApiRequest,
        share::body::{Members, member, object, truth},
    },
    error::{Error, Result},
    quota::Usage,
    service::share_quota::{Whose, change, show},
};

/// Types have limits from here on.
const TYPES_SINCE: u16 = 39;
/// What clients send along that is no limit.
const NO_LIMITS: [&str; 4] = ["tenant_id", "id", "force", "share_type"];

pub async fn show(req: ApiRequest) -> Result<Reply> {
    let whose = whose(&req)?;
    render(&req, &show::set(&req.app, &req.ctx, &whose).await?, Some(&whose.project_id), false)
}

pub async fn detail(req: ApiRequest) -> Result<Reply> {
    let whose = whose(&req)?;
    render(&req, &show::set(&req.app, &req.ctx, &whose).await?, Some(&whose.project_id), true)
}

pub async fn defaults(req: ApiRequest) -> Result<Reply> {
    let project = req.param("project");
    render(&req, &show::defaults(&req.app, &req.ctx, project).await?, Some(project), false)
}

pub async fn update(req: ApiRequest) -> Result<Reply> {
    let whose = whose(&req)?;
    let body = object(&req)?;
    let members = member(&body, "quota_set")?;
    let force = match members.get("force") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(force)) => *force,
        // as the released service reads it: what is no word for true is none
        Some(other) => other.as_str().and_then(truth).unwrap_or(false),
    };
    let limits = limits(&members, &NO_LIMITS)?;
    if let Some((name, _)) = limits.iter().find(|(name, limit)| *limit != 0 && since(name) > req.ctx.microversion) {
        return Err(Error::invalid(format!(
            "'{name}' key is not supported by this microversion. Use 2.{} or greater microversion to be able to use '{name}' quotas.",
            since(name)
        )));
    }
    render(&req, &change::set(&req.app, &req.ctx, &whose, &limits, force).await?, None, false)
}

pub async fn delete(req: ApiRequest) -> Result<Reply> {
    change::reset(&req.app, &req.ctx, &whose(&req)?).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn whose(req: &ApiRequest) -> Result<Whose> {
    let value = |key| req.query_value(key).filter(|v| !v.is_empty()).map(str::to_owned);
    let share_type = value("share_type");
    if share_type.is_some() && req.ctx.microversion < TYPES_SINCE {
        return Err(Error::invalid(format!(
            "'share_type' key is not supported by this microversion. Use 2.{TYPES_SINCE} or greater microversion to be able to use \
             'share_type' quotas."
        )));
    }
    Ok(Whose { project_id: req.param("project").to_owned(), user_id: value("user_id"), share_type })
}

fn render(req: &ApiRequest, figures: &[Usage], id: Option<&str>, with_usage: bool) -> Result<Reply> {
    let set = shown(req.ctx.microversion, figures, id, with_usage);
    Reply::json(StatusCode::OK, &json!({ "quota_set": set }))
}

/// The figures that this version knows.
pub(super) fn shown(minor: u16, figures: &[Usage], id: Option<&str>, with_usage: bool) -> Map<String, Value> {
    let mut set: Map<String, Value> = id.map(|id| ("id".to_owned(), json!(id))).into_iter().collect();
    for u in figures.iter().filter(|u| since(&u.resource) <= minor) {
        let shown = if with_usage { json!({ "limit": u.limit, "in_use": u.used, "reserved": 0 }) } else { json!(u.limit) };
        set.insert(u.resource.clone(), shown);
    }
    set
}

/// Resources and limits: whole numbers from -1 up, as numbers or digits; what is empty is left as it is.
pub(super) fn limits(members: &Members<'_>, no_limits: &[&str]) -> Result<Vec<(String, i64)>> {
    let mut limits = Vec::new();
    for (name, value) in members.iter().filter(|(name, _)| !no_limits.contains(&name.as_str())) {
        let number = match value {
            Value::Null => continue,
            Value::String(s) if s.is_empty() => continue,
            Value::Number(n) => n.as_i64(),
            Value::String(s) => s.trim().parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| members.refuse(name, "should be integer"))?;
        if !(-1..=i64::from(i32::MAX)).contains(&number) {
            return Err(members.refuse(name, "must be from -1 to 2147483647"));
        }
        limits.push((name.clone(), number));
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::defaults::SHARE;

    #[test]
    fn figures_come_with_their_version() {
        let figures: Vec<Usage> = SHARE.iter().map(|name| Usage { resource: (*name).to_owned(), limit: 1, used: 0 }).collect();
        let count = |minor| shown(minor, &figures, None, false).len();
        for (minor, more) in [(40, 2), (53, 2), (62, 1), (80, 2), (90, 1)] {
            assert_eq!(count(minor - 1) + more, count(minor), "2.{minor}");
        }
        assert_eq!((count(0), count(99)), (5, 13));
    }
}
