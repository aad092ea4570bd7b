//! The `connector` a consumer sends: known members by type, everything else as text. Lenient, as upstream is: what a
//! driver needs and does not find it refuses itself. Only its size is bounded, since drivers and database keep it.

use serde_json::{Map, Value};

use crate::{driver::types::Connector, error::Result, service::refusal};

/// Bytes of one key or text.
const MOST_TEXT: usize = 4 << 10;
/// Bytes of all keys and texts together.
const MOST_BYTES: usize = 32 << 10;
/// Members and elements, at every depth.
const MOST_VALUES: usize = 512;
/// Objects and arrays inside one another.
const MOST_DEPTH: usize = 4;

/// Refuses what is too large to be kept.
///
/// # Errors
/// 400, naming the limit.
pub fn check(map: &Map<String, Value>) -> Result<()> {
    let mut size = Size::default();
    map.iter()
        .try_for_each(|(key, value)| size.member(key, value, 1))
        .map_err(|what| refusal::invalid_input(format!("The connector {what}.")))
}

#[derive(Default)]
struct Size {
    values: usize,
    bytes: usize,
}

impl Size {
    fn member(&mut self, key: &str, value: &Value, depth: usize) -> Result<(), String> {
        self.text(key, key)?;
        self.value(key, value, depth)
    }
    fn value(&mut self, key: &str, value: &Value, depth: usize) -> Result<(), String> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(format!("has more than {MOST_VALUES} values"));
        }
        if depth > MOST_DEPTH {
            return Err(format!("is nested deeper than {MOST_DEPTH} levels"));
        }
        match value {
            Value::String(text) => self.text(key, text),
            Value::Array(list) => list.iter().try_for_each(|v| self.value(key, v, depth + 1)),
            Value::Object(map) => map.iter().try_for_each(|(k, v)| self.member(k, v, depth + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
    fn text(&mut self, key: &str, text: &str) -> Result<(), String> {
        self.bytes += text.len();
        if text.len() > MOST_TEXT {
            return Err(format!("has more than {MOST_TEXT} bytes in its member {key:.60?}"));
        }
        if self.bytes > MOST_BYTES {
            return Err(format!("has more than {MOST_BYTES} bytes"));
        }
        Ok(())
    }
}

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

/// Whether what is exported to the one is exported to the other: the same host by the same names.
pub fn same_end(a: &Connector, b: &Connector) -> bool {
    let names = |c: &Connector| (c.host.clone(), c.initiator.clone(), c.nqn.clone(), c.nvme_host_id.clone(), ports(c));
    // protocols without initiators export to an address
    names(a) == names(b) && (!nameless(a) || a.ip == b.ip)
}

/// The names of its Fibre Channel ports, in one spelling and order.
pub fn ports(c: &Connector) -> Vec<String> {
    let mut wwpns: Vec<String> = c.wwpns.iter().map(|w| w.to_ascii_lowercase()).collect();
    wwpns.sort_unstable();
    wwpns
}

fn nameless(c: &Connector) -> bool {
    c.initiator.is_none() && c.nqn.is_none() && c.wwpns.is_empty()
}

/// The typed form of a connector that was kept as text.
pub fn parse_text(text: &str) -> Option<Connector> {
    serde_json::from_str(text).ok().map(|map| parse(&map))
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

    fn refusal_of(value: Value) -> Option<String> {
        let Value::Object(map) = value else { unreachable!() };
        check(&map).err().map(|e| e.message.into_owned())
    }

    #[test]
    fn the_limits_of_size_are_inclusive() {
        assert_eq!(refusal_of(json!({ "host": "x".repeat(4096) })), None);
        assert!(refusal_of(json!({ "host": "x".repeat(4097) })).unwrap().contains("4096 bytes in its member \"host\""));
        assert!(refusal_of(json!({ "x".repeat(4097): 1 })).unwrap().contains("4096 bytes"));
        let texts = |n: usize| (0..n).map(|i| (format!("{i}"), json!("x".repeat(4000)))).collect::<Map<_, _>>();
        assert_eq!(refusal_of(Value::Object(texts(8))), None);
        assert!(refusal_of(Value::Object(texts(9))).unwrap().contains("more than 32768 bytes"));
        assert_eq!(refusal_of(json!({ "wwpns": vec!["5001"; 511] })), None);
        assert!(refusal_of(json!({ "wwpns": vec!["5001"; 512] })).unwrap().contains("more than 512 values"));
        assert_eq!(refusal_of(json!({ "a": [[[1]]] })), None);
        assert!(refusal_of(json!({ "a": [[[[1]]]] })).unwrap().contains("deeper than 4"));
    }

    #[test]
    fn members_of_a_wrong_type_never_fail() {
        let Value::Object(map) = json!({"host": 7, "wwpns": "x", "multipath": "yes"}) else { unreachable!() };
        let c = parse(&map);
        assert!(c.host.is_empty() && c.wwpns.is_empty() && !c.multipath);
    }

    fn connector(change: impl FnOnce(&mut Connector)) -> Connector {
        let mut c = Connector { host: "h".into(), initiator: Some("iqn.a".into()), ip: Some("192.0.2.1".into()), ..Connector::default() };
        change(&mut c);
        c
    }

    #[test]
    fn another_name_of_the_initiator_is_another_end_and_another_address_is_not() {
        let a = connector(|_| {});
        assert!(same_end(&a, &connector(|c| c.ip = Some("192.0.2.2".into()))));
        assert!(same_end(&a, &connector(|c| c.mountpoint = Some("/dev/vdc".into()))));
        assert!(!same_end(&a, &connector(|c| c.host = "i".into())));
        assert!(!same_end(&a, &connector(|c| c.initiator = Some("iqn.b".into()))));
        assert!(!same_end(&a, &connector(|c| c.nqn = Some("nqn.b".into()))));
        let fc = |wwpns: &[&str]| connector(|c| c.wwpns = wwpns.iter().map(|w| (*w).to_owned()).collect());
        assert!(same_end(&fc(&["AA", "bb"]), &fc(&["bb", "aa"])));
        assert!(!same_end(&fc(&["aa", "bb"]), &fc(&["aa"])));
        let address = |ip: &str| connector(|c| (c.initiator, c.ip) = (None, Some(ip.into())));
        assert!(!same_end(&address("192.0.2.1"), &address("192.0.2.2")));
    }
}
