//! The `connector` a consumer sends: known members by type, everything else as text. Lenient, as upstream is: what a
//! driver needs and does not find it refuses itself.

use serde_json::{Map, Value};

use crate::driver::types::Connector;

/// The typed form. Members of an unexpected type count as absent or are kept as text.
pub fn parse(map: &Map<String, Value>) -> Connector {
    let mut c = Connector::default();
    for (key, value) in map {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("host", Value::String(s)) => c.host.clone_from(s),
            ("ip", Value::String(s)) => c.ip = Some(s.clone()),
            ("initiator", Value::String(s)) => c.initiator = Some(s.clone()),
            ("nqn", Value::String(s)) => c.nqn = Some(s.clone()),
            ("nvme_hostid", Value::String(s)) => c.nvme_host_id = Some(s.clone()),
            ("system uuid", Value::String(s)) => c.system_uuid = Some(s.clone()),
            ("os_type", Value::String(s)) => c.os_type = Some(s.clone()),
            ("platform", Value::String(s)) => c.platform = Some(s.clone()),
            ("mountpoint", Value::String(s)) => c.mountpoint = Some(s.clone()),
            ("wwpns", Value::Array(list)) => c.wwpns = texts(list),
            ("wwnns", Value::Array(list)) => c.wwnns = texts(list),
            ("multipath", Value::Bool(b)) => c.multipath = *b,
            (_, Value::String(s)) => {
                c.extra.insert(key.clone(), s.clone());
            }
            (_, other) => {
                c.extra.insert(key.clone(), other.to_string());
            }
        }
    }
    c
}

/// The mode it asks for, if it does.
pub fn mode(map: &Map<String, Value>) -> Option<&str> {
    map.get("mode").and_then(Value::as_str)
}

/// Its host's name.
pub fn host(map: &Map<String, Value>) -> &str {
    map.get("host").and_then(Value::as_str).unwrap_or("")
}

fn texts(list: &[Value]) -> Vec<String> {
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_members_are_typed_and_the_rest_is_kept_as_text() {
        let Value::Object(map) = json!({
            "host": "c1", "initiator": "iqn.x", "multipath": true, "wwpns": ["1", 2], "system uuid": "u", "do_local_attach": false, "mode": "ro", "ip": null
        }) else {
            unreachable!()
        };
        let c = parse(&map);
        assert_eq!((c.host.as_str(), c.initiator.as_deref(), c.multipath, c.ip), ("c1", Some("iqn.x"), true, None));
        assert_eq!(c.wwpns, ["1"]);
        assert_eq!(c.extra.get("do_local_attach").map(String::as_str), Some("false"));
        assert_eq!((mode(&map), host(&map)), (Some("ro"), "c1"));
    }

    #[test]
    fn members_of_a_wrong_type_never_fail() {
        let Value::Object(map) = json!({"host": 7, "wwpns": "x", "multipath": "yes"}) else { unreachable!() };
        let c = parse(&map);
        assert!(c.host.is_empty() && c.wwpns.is_empty() && !c.multipath);
    }
}
