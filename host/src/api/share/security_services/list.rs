use crate::{
    api::{page::SortKey, paging, reply::Reply, request::ApiRequest, share::views},
    error::Result,
    service::security_service::list::{self, ListServices},
    store::{
        bind::Value,
        keyset::ListKey as _,
        sql::security_services::{ServiceFilter, ServiceSort},
    },
};

pub async fn summaries(req: ApiRequest) -> Result<Reply> {
    list(req, false).await
}

pub async fn details(req: ApiRequest) -> Result<Reply> {
    list(req, true).await
}

async fn list(req: ApiRequest, detail: bool) -> Result<Reply> {
    let keys: Vec<SortKey> = ServiceSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (_, page) = paging::read(&req, &keys)?;
    let ask = ListServices {
        page,
        filters: filters(&req),
        network_id: req.query_value("share_network_id").map(str::to_owned),
        all_tenants: req.query_value("all_tenants").is_some_and(str::is_empty) || paging::all_tenants(&req),
        detail,
    };
    views::security_service::many(&req, &list::list(&req.app, &req.ctx, ask).await?, detail)
}

/// What is not known is ignored for members, and nothing has it for administrators. `status` is the same for all.
fn filters(req: &ApiRequest) -> Vec<ServiceFilter> {
    let admin = req.ctx.is_admin();
    paging::filters(req)
        .filter(|(key, _)| !["status", "share_network_id"].contains(key))
        .filter_map(|(key, value)| condition(key, value, admin))
        .collect()
}

fn condition(key: &str, value: &str, admin: bool) -> Option<ServiceFilter> {
    let column = match key {
        "id" => "v.id",
        "name" => "v.name",
        "type" => "v.type",
        "user" => "v.user_name",
        "server" => "v.server",
        "dns_ip" => "v.dns_ip",
        "domain" => "v.domain",
        "description" if admin => "v.description",
        "ou" if admin => "v.ou",
        "default_ad_site" if admin => "v.default_ad_site",
        "project_id" if admin => "v.project_id",
        _ if admin => return Some(ServiceFilter::Never),
        _ => return None,
    };
    Some(ServiceFilter::Equals(column, Value::from(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_ignored_for_members_and_nowhere_for_administrators() {
        assert_eq!((condition("color", "red", false), condition("color", "red", true)), (None, Some(ServiceFilter::Never)));
        assert_eq!(condition("password", "x", true), Some(ServiceFilter::Never));
        assert_eq!(condition("user", "x", false), Some(ServiceFilter::Equals("v.user_name", Value::from("x"))));
    }
}
