//! Which part of a list is wanted.

use serde_json::{Map, Value as Json};

use crate::{
    app::App,
    context::RequestContext,
    store::{
        StoreResult,
        bind::Value,
        keyset::{ListKey, Order},
    },
};

/// A page of a list. The order is total: it ends with the id.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub order: Vec<Order>,
    /// The id of the last item seen.
    pub marker: Option<String>,
    pub limit: i64,
    pub offset: i64,
}

impl Page {
    /// The values of a row in this page's order.
    pub fn values_of<K: ListKey>(&self, row: &K::Row) -> Vec<Value> {
        self.keys::<K>().map(|key| key.value(row)).collect()
    }

    /// Where the page begins: the marker's values, from its row (and whose it is) or else from its tombstone. None: there is
    /// no such marker for the caller.
    pub async fn after<K: ListKey>(
        &self,
        app: &App,
        ctx: &RequestContext,
        kind: &str,
        marker: &str,
        row: Option<(&str, &K::Row)>,
    ) -> StoreResult<Option<Vec<Value>>> {
        // a tombstone without a project is of something that was everybody's
        let visible = |project: &str| ctx.is_admin() || project.is_empty() || project == ctx.project_id();
        if let Some((project, row)) = row {
            return Ok(visible(project).then(|| self.values_of::<K>(row)));
        }
        let gone = app.store.tombstone(kind, marker).await?.filter(|gone| visible(&gone.project_id));
        Ok(gone.and_then(|gone| from_tombstone(&gone.sort_keys, self.keys::<K>().map(K::word))))
    }

    fn keys<K: ListKey>(&self) -> impl Iterator<Item = K> + '_ {
        self.order.iter().filter_map(|o| K::of_column(o.column))
    }
}

/// What a deleted row leaves in its tombstone, so that it still serves as a page's marker.
pub fn to_tombstone<K: ListKey>(row: &K::Row) -> Json {
    keep(K::KEYS.iter().map(|key| (key.word(), key.value(row))))
}

fn keep(values: impl Iterator<Item = (&'static str, Value)>) -> Json {
    let json = |value| match value {
        Value::Text(t) => t.into(),
        Value::Int(n) => n.into(),
        Value::Bool(b) => b.into(),
        Value::Real(r) => r.into(),
    };
    Json::Object(values.map(|(name, value)| (name.to_owned(), json(value))).collect::<Map<_, _>>())
}

/// A marker's values from its tombstone; none when the tombstone lacks a key.
fn from_tombstone(sort_keys: &Json, names: impl Iterator<Item = &'static str>) -> Option<Vec<Value>> {
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
        let kept = keep(values.clone().into_iter());
        assert_eq!(from_tombstone(&kept, ["size", "name"].into_iter()), Some(vec![Value::from(3_i64), Value::from("n")]));
        assert_eq!(from_tombstone(&kept, ["color"].into_iter()), None);
    }
}
