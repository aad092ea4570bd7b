use crate::{
    api::{
        filter::{boolean, iso8601},
        page::SortKey,
        paging,
        reply::Reply,
        request::ApiRequest,
        share::views,
    },
    error::{Error, Result},
    service::resource_lock::list::{self, ListLocks},
    store::{
        bind::Value,
        keyset::ListKey as _,
        sql::resource_locks::{LockFilter, LockSort},
    },
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = LockSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (asked, page) = paging::read(&req, &keys)?;
    let ask = ListLocks {
        page,
        filters: filters(&req)?,
        all_projects: ["all_projects", "all_tenants"].iter().any(|key| req.query_value(key).and_then(boolean) == Some(true)),
        with_count: asked.with_count,
    };
    let (found, count) = list::list(&req.app, &req.ctx, ask).await?;
    views::lock::many(&req, &asked, &found, count)
}

/// Unknown keys are ignored.
fn filters(req: &ApiRequest) -> Result<Vec<LockFilter>> {
    let mut found = Vec::new();
    for (key, value) in paging::filters(req) {
        let column = match key {
            "resource_id" => "resource_id",
            "resource_type" => "resource_type",
            "resource_action" => "resource_action",
            "lock_context" => "lock_context",
            "user_id" => "user_id",
            "project_id" => "project_id",
            "lock_reason" => "lock_reason",
            "lock_reason~" => {
                found.push(LockFilter::ReasonHas(value.to_owned()));
                continue;
            }
            "created_since" | "created_before" => {
                let at = iso8601(value).ok_or_else(|| Error::invalid(format!("Invalid value specified for the query key: {key}")))?;
                found.push(if key == "created_since" { LockFilter::Since(at) } else { LockFilter::Before(at) });
                continue;
            }
            _ => continue,
        };
        found.push(LockFilter::Equals(column, Value::from(value)));
    }
    Ok(found)
}
