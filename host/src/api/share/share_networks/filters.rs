//! What share networks may be filtered by, and how each value is read. Nothing has what is not known.

use crate::{
    api::{paging, request::ApiRequest},
    clock::Micros,
    error::{Error, Result},
    policy::Target,
    store::{bind::Value, sql::share_network_list::NetworkFilter},
};

/// From here on a name with a tilde asks for what contains the value.
const CONTAINS_SINCE: u16 = 36;
/// Where a network is on the wire is the operator's.
const DETAILS: [&str; 2] = ["network_type", "segmentation_id"];

/// The query's conditions. Those about what the caller does not see are left out.
pub fn read(req: &ApiRequest) -> Result<Vec<NetworkFilter>> {
    let sees_all = req.app.policy.allows(&req.ctx, "share_network:show_network_details", &Target::own(&req.ctx));
    paging::filters(req)
        .filter(|(key, _)| *key != "project_id" && (sees_all || !DETAILS.contains(&key.trim_end_matches('~'))))
        .map(|(key, value)| condition(key, value, req.ctx.microversion))
        .collect()
}

fn condition(key: &str, value: &str, minor: u16) -> Result<NetworkFilter> {
    if let Some(key) = key.strip_suffix('~') {
        return Ok(if minor >= CONTAINS_SINCE { contains(key, value) } else { NetworkFilter::Never });
    }
    let equals = |column| NetworkFilter::Equals(column, Value::from(value));
    let subnet = |column| NetworkFilter::SubnetEquals(column, Value::from(value));
    Ok(match key {
        "created_since" => NetworkFilter::CreatedSince(day(value)?),
        "created_before" => NetworkFilter::CreatedBefore(day(value)?),
        "security_service_id" => NetworkFilter::SecurityService(value.to_owned()),
        // what `openstack share network list --security-service` sends
        "security_service" => NetworkFilter::SecurityServiceNamed(value.to_owned()),
        "id" => equals("n.id"),
        "name" => equals("n.name"),
        "description" => equals("n.description"),
        "status" => equals("n.status"),
        "user_id" => equals("n.user_id"),
        "neutron_net_id" => subnet("s.neutron_net_id"),
        "neutron_subnet_id" => subnet("s.neutron_subnet_id"),
        "network_type" => subnet("s.network_type"),
        "cidr" => subnet("s.cidr"),
        "gateway" => subnet("s.gateway"),
        "availability_zone" => subnet("s.availability_zone"),
        "segmentation_id" => NetworkFilter::SubnetEquals("s.segmentation_id", number(key, value)?),
        "ip_version" => NetworkFilter::SubnetEquals("s.ip_version", number(key, value)?),
        "mtu" => NetworkFilter::SubnetEquals("s.mtu", number(key, value)?),
        _ => NetworkFilter::Never,
    })
}

fn contains(key: &str, value: &str) -> NetworkFilter {
    let value = value.to_owned();
    match key {
        "name" => NetworkFilter::Contains("name", value),
        "description" => NetworkFilter::Contains("description", value),
        "neutron_net_id" => NetworkFilter::SubnetContains("neutron_net_id", value),
        "neutron_subnet_id" => NetworkFilter::SubnetContains("neutron_subnet_id", value),
        "network_type" => NetworkFilter::SubnetContains("network_type", value),
        "cidr" => NetworkFilter::SubnetContains("cidr", value),
        _ => NetworkFilter::Never,
    }
}

fn number(key: &str, value: &str) -> Result<Value> {
    value
        .trim()
        .parse::<i64>()
        .map(Value::from)
        .map_err(|_| Error::invalid(format!("Value '{value:.64}' for '{key}' is not a whole number.")))
}

fn day(text: &str) -> Result<Micros> {
    let refuse = |_| Error::invalid(format!("{text:.64} is not in yyyy-mm-dd format."));
    let date = jiff::civil::Date::strptime("%Y-%m-%d", text).map_err(refuse)?;
    let midnight = date.to_datetime(jiff::civil::Time::midnight());
    Ok(jiff::tz::TimeZone::UTC.to_timestamp(midnight).map_err(refuse)?.as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_nowhere() {
        for (key, minor) in [("color", 99), ("name~", 35), ("color~", 99)] {
            assert_eq!(condition(key, "x", minor).unwrap(), NetworkFilter::Never, "{key}");
        }
        assert_eq!(condition("name~", "x", 36).unwrap(), NetworkFilter::Contains("name", "x".into()));
    }

    #[test]
    fn days_are_days_and_numbers_numbers() {
        assert_eq!(condition("created_since", "2002-02-02", 0).unwrap(), NetworkFilter::CreatedSince(1_012_608_000_000_000));
        for (key, bad) in
            [("created_since", "2014-10-23T08:31:58.000000"), ("created_before", "today"), ("ip_version", "four"), ("segmentation_id", "")]
        {
            assert!(condition(key, bad, 0).is_err(), "{key}={bad}");
        }
        assert_eq!(condition("ip_version", "6", 0).unwrap(), NetworkFilter::SubnetEquals("s.ip_version", Value::from(6_i64)));
    }
}
