//! Which part of a list is wanted, before its sort keys are looked up.

use serde_json::Value as Json;

use crate::{
    error::{Error, Result},
    store::bind::Value,
};

/// A page as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Key and whether descending, in order; empty for the default.
    pub sort: Vec<(String, bool)>,
    /// The id of the last item seen.
    pub marker: Option<String>,
    pub limit: i64,
    pub offset: i64,
}

impl Page {
    /// The sort as keys of a list, made total: `created_at` and `id` follow in the first key's direction.
    ///
    /// # Errors
    /// 400 for a key the list does not have.
    pub fn keys<K: Copy + PartialEq>(&self, parse: impl Fn(&str) -> Option<K>, created_at: K, id: K) -> Result<Vec<(K, bool)>> {
        let mut keys = Vec::with_capacity(self.sort.len() + 2);
        for (name, descending) in &self.sort {
            let key = parse(name).ok_or_else(|| Error::invalid(format!("Sort key supplied is invalid: {name:.80}")))?;
            if !keys.iter().any(|(k, _)| *k == key) {
                keys.push((key, *descending));
            }
        }
        let descending = keys.first().is_none_or(|(_, d)| *d);
        for key in [created_at, id] {
            if !keys.iter().any(|(k, _)| *k == key) {
                keys.push((key, descending));
            }
        }
        Ok(keys)
    }
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

    fn keys(sort: &[(&str, bool)]) -> Result<Vec<(char, bool)>> {
        let page = Page { sort: sort.iter().map(|(k, d)| ((*k).to_owned(), *d)).collect(), ..Page::default() };
        page.keys(
            |name| match name {
                "name" => Some('n'),
                "created_at" => Some('c'),
                "id" => Some('i'),
                _ => None,
            },
            'c',
            'i',
        )
    }

    #[test]
    fn the_default_is_newest_first() {
        assert_eq!(keys(&[]).unwrap(), [('c', true), ('i', true)]);
    }

    #[test]
    fn ties_are_broken_in_the_first_keys_direction() {
        assert_eq!(keys(&[("name", false)]).unwrap(), [('n', false), ('c', false), ('i', false)]);
        assert_eq!(keys(&[("id", true), ("name", false)]).unwrap(), [('i', true), ('n', false), ('c', true)]);
    }

    #[test]
    fn an_unknown_key_is_refused_and_a_repeated_one_counts_once() {
        assert!(keys(&[("color", true)]).is_err());
        assert_eq!(keys(&[("id", true), ("id", false)]).unwrap().len(), 2);
    }
}
