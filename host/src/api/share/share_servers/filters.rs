//! What share servers may be filtered by. Nothing has what is not known.

use crate::{
    api::{filter::boolean, paging, request::ApiRequest},
    store::{bind::Value, sql::share_servers::ServerFilter},
};

pub fn read(req: &ApiRequest) -> Vec<ServerFilter> {
    paging::filters(req).filter_map(|(key, value)| condition(key, value)).collect()
}

/// None: every server has it.
fn condition(key: &str, value: &str) -> Option<ServerFilter> {
    let equals = |column| ServerFilter::Equals(column, Value::from(value));
    let flag = |column| boolean(value).map_or(ServerFilter::Never, |b| ServerFilter::Equals(column, Value::from(b)));
    Some(match key {
        "id" => equals("v.id"),
        "host" => equals("v.backend"),
        "status" => equals("v.status"),
        "identifier" => equals("v.identifier"),
        "task_state" => equals("v.task_state"),
        "source_share_server_id" => equals("v.source_share_server_id"),
        "project_id" => equals("v.project_id"),
        "is_auto_deletable" => flag("v.is_auto_deletable"),
        "network_allocation_update_support" => flag("v.network_allocation_update_support"),
        "security_service_update_support" => flag("v.security_service_update_support"),
        "share_network" => ServerFilter::Network(value.to_owned()),
        "share_network_id" => equals("v.share_network_id"),
        "share_network_subnet_id" => ServerFilter::Subnet(value.to_owned()),
        // deleted ones are not kept
        "deleted" if boolean(value) == Some(false) => return None,
        _ => ServerFilter::Never,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_and_what_no_server_has_is_nowhere() {
        for (key, value) in [("color", "red"), ("deleted", "True"), ("is_auto_deletable", "perhaps")] {
            assert_eq!(condition(key, value), Some(ServerFilter::Never), "{key}");
        }
        assert_eq!(condition("deleted", "False"), None);
        assert_eq!(condition("is_auto_deletable", "True"), Some(ServerFilter::Equals("v.is_auto_deletable", Value::from(true))));
    }
}
