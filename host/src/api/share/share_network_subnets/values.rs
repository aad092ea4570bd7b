//! What bodies say of a subnet.

use serde_json::Value;

use crate::{
    api::share::body::Members,
    error::{Error, Result},
    service::share_network_subnet::SubnetValues,
};

/// Longest id of the network service's.
pub const MAX_ID: usize = 36;
const MAX_ADDRESS: usize = 64;
const MAX_TYPE: usize = 32;

/// Both ids or neither, and what the client believes that they stand for.
pub fn subnet_values(members: &Members<'_>) -> Result<SubnetValues> {
    if members.has("neutron_net_id") != members.has("neutron_subnet_id") {
        return Err(both());
    }
    let values = SubnetValues {
        neutron_net_id: text(members, "neutron_net_id", MAX_ID)?,
        neutron_subnet_id: text(members, "neutron_subnet_id", MAX_ID)?,
        network_type: text(members, "network_type", MAX_TYPE)?,
        segmentation_id: number(members, "segmentation_id")?,
        cidr: text(members, "cidr", MAX_ADDRESS)?,
        gateway: text(members, "gateway", MAX_ADDRESS)?,
        mtu: number(members, "mtu")?,
        ip_version: number(members, "ip_version")?,
    };
    if values.neutron_net_id.is_none() != values.neutron_subnet_id.is_none() {
        return Err(both());
    }
    Ok(values)
}

/// The subnet's zone; none: every zone.
pub fn zone(members: &Members<'_>) -> Result<Option<String>> {
    Ok(members.text("availability_zone")?.filter(|z| !z.is_empty()).map(str::to_owned))
}

fn both() -> Error {
    Error::invalid(
        "When creating a new share network subnet you need to specify both neutron_net_id and neutron_subnet_id or none of them.",
    )
}

fn text(members: &Members<'_>, key: &str, most: usize) -> Result<Option<String>> {
    match members.text(key)? {
        Some(t) if t.chars().count() > most => Err(members.refuse(key, "is too long")),
        found => Ok(found.filter(|t| !t.is_empty()).map(str::to_owned)),
    }
}

fn number(members: &Members<'_>, key: &str) -> Result<Option<i64>> {
    let found = match members.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(n)) => n.as_i64(),
        Some(Value::String(digits)) => digits.parse().ok(),
        Some(_) => None,
    };
    match found {
        Some(n) if (0..=i64::from(i32::MAX)).contains(&n) => Ok(Some(n)),
        _ => Err(members.refuse(key, "must be an integer from 0 to 2147483647")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::share::body::member;

    fn read(subnet: Value) -> Result<SubnetValues, String> {
        let Value::Object(body) = json!({ "s": subnet }) else { unreachable!() };
        subnet_values(&member(&body, "s").unwrap()).map_err(|e| e.message.into_owned())
    }

    #[test]
    fn the_ids_come_together_or_not_at_all() {
        assert_eq!(read(json!({})).unwrap(), SubnetValues::default());
        assert_eq!(read(json!({ "neutron_net_id": null, "neutron_subnet_id": null })).unwrap(), SubnetValues::default());
        let both = read(json!({ "neutron_net_id": "n", "neutron_subnet_id": "s" })).unwrap();
        assert_eq!((both.neutron_net_id.as_deref(), both.neutron_subnet_id.as_deref()), (Some("n"), Some("s")));
        for bad in [
            json!({ "neutron_net_id": "n" }),
            json!({ "neutron_subnet_id": "s" }),
            json!({ "neutron_net_id": "n", "neutron_subnet_id": null }),
        ] {
            assert!(read(bad).unwrap_err().contains("both"));
        }
    }

    #[test]
    fn what_would_not_fit_is_refused() {
        for bad in [
            json!({ "neutron_net_id": "n".repeat(37), "neutron_subnet_id": "s" }),
            json!({ "segmentation_id": "many" }),
            json!({ "segmentation_id": -1 }),
            json!({ "mtu": 1.5 }),
            json!({ "cidr": 10 }),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
