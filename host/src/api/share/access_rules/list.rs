use super::allow::bad_level;
use crate::{
    api::{filter::dictionary, reply::Reply, request::ApiRequest, share::views},
    domain::share_access::{AccessLevel, AccessType, check},
    error::{Error, Kind, Result},
    service::share_access::list,
    store::sql::share_access::AccessFilter,
};

/// From here on other filters than metadata are checked.
const FILTERS_SINCE: u16 = 82;

/// The action of the share.
pub async fn action(req: ApiRequest) -> Result<Reply> {
    let (share, rules) = list::list(&req.app, &req.ctx, req.param("share_id"), "share:access_get_all", &AccessFilter::default()).await?;
    views::access::many(&req, &rules, &share.access_rules_status)
}

/// The resource.
pub async fn list(req: ApiRequest) -> Result<Reply> {
    let share_id = req.query_value("share_id").ok_or_else(|| Error::invalid("The field 'share_id' has to be specified."))?;
    let filter = filter(&req)?;
    let found = list::list(&req.app, &req.ctx, share_id, "share_access_rule:index", &filter).await;
    let (share, rules) = found.map_err(|e| match e.kind {
        Kind::NotFound => Error::invalid(format!("Share {share_id:.64} not found.")),
        _ => e,
    })?;
    views::access::many(&req, &rules, &share.access_rules_status)
}

fn filter(req: &ApiRequest) -> Result<AccessFilter> {
    let text = |key: &str| req.query_value(key).filter(|t| !t.is_empty()).map(str::to_owned);
    let filter = AccessFilter {
        access_type: text("access_type"),
        access_to: text("access_to"),
        access_level: text("access_level"),
        access_key: text("access_key"),
        state: text("state"),
        metadata: text("metadata").map(|t| dictionary("metadata", &t)).transpose()?.unwrap_or_default().into_iter().collect(),
    };
    if req.ctx.microversion >= FILTERS_SINCE {
        validate(&filter)?;
    }
    Ok(filter)
}

fn validate(filter: &AccessFilter) -> Result<()> {
    let kind = match &filter.access_type {
        Some(word) => {
            Some(AccessType::parse(word).ok_or_else(|| Error::invalid(format!("Invalid or unsupported share access type: {word:.64}.")))?)
        }
        None => None,
    };
    match (kind, &filter.access_to) {
        (None, Some(_)) => return Err(Error::invalid("'access_type' parameter must be provided when specifying 'access_to'.")),
        (Some(kind), Some(to)) => check(kind, to, true).map_err(|e| Error::invalid(format!("Invalid share access: {e}")))?,
        _ => {}
    }
    match &filter.access_level {
        Some(word) if AccessLevel::parse(word).is_none() => Err(bad_level(word)),
        _ => Ok(()),
    }
}
