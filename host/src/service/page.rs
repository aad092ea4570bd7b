//! Which part of a list is wanted.

use serde_json::{Map, Value as Json};

use crate::store::{bind::Value, keyset::Order};

/// A page of a list. The order is total: it ends with the id.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub order: Vec<Order>,
    /// The id of the last item seen.
    pub marker: Option<String>,
    pub limit: i64,
    pub offset: i64,
}

/// What a deleted row leaves in its tombstone, so that it still serves as a page's marker.
pub fn to_tombstone(values: impl Iterator<Item = (&'static str, Value)>) -> Json {
    let json = |value| match value {
        Value::Text(t) => t.into(),
        Value::Int(n) => n.into(),
        Value::Bool(b) => b.into(),
        Value::Real(r) => r.into(),
    };
    Json::Object(values.map(|(name, value)| (name.to_owned(), json(value))).collect::<Map<_, _>>())
}

/// A marker's values from its tombstone; none when the tombstone lacks a key.
pub fn from_tombstone(sort_keys: &Json, names: impl Iterator<Item = &'static str>) -> Option<Vec<Value>> {
    names
        .map(|name| match sort_keys.get(name)? {
            Json::String(s) => Some(Value::from(s.as_str())),
            Json::Bool(b) => Some(Value::from(*b)),
            Json::Number(n) => n.as_i64().map(Value::from),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_outlives_its_row() {
        let values = [("name", Value::from("n")), ("size", Value::from(3_i64)), ("bootable", Value::from(true))];
        let kept = to_tombstone(values.clone().into_iter());
        assert_eq!(from_tombstone(&kept, ["size", "name"].into_iter()), Some(vec![Value::from(3_i64), Value::from("n")]));
        assert_eq!(from_tombstone(&kept, ["color"].into_iter()), None);
    }
}
