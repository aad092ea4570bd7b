//! Which of a query's filters count: the operator's table for ordinary users, everything for administrators.
//!
//! Before 3.31 a filter that the caller may not use is left out, from then on it is 400. `key~=part` exists from 3.34, where
//! the table has `key~`.

use crate::api::paging;
use crate::{
    api::request::ApiRequest,
    error::{Error, Result},
};

/// Below this a filter that is not allowed is left out.
const STRICT_SINCE: u16 = 31;
/// From here on there is `key~=part`.
const PART_SINCE: u16 = 34;

/// Conditions of one list: databases bound how deep a query may be.
const MOST: usize = 64;

/// A filter that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted<'r> {
    /// Without `~`.
    pub key: &'r str,
    pub value: &'r str,
    /// The value is part of what is looked for.
    pub part: bool,
}

/// The filters of a query that count. `since` says which exist only from a microversion on.
///
/// # Errors
/// 400 from 3.31 on, naming the filters that the caller may not use, and for too many.
pub fn read<'r>(req: &'r ApiRequest, resource: &str, since: &[(&str, u16)]) -> Result<Vec<Wanted<'r>>> {
    let config = req.app.config.get();
    let asker = Asker { minor: req.ctx.microversion, admin: req.ctx.is_admin(), table: config.block.filters_of(resource), since };
    let wanted = asker.read(paging::filters(req))?;
    check_count(wanted.len())?;
    Ok(wanted)
}

/// Refuses more conditions than one list can have; a filter may be several of them.
///
/// # Errors
/// 400.
pub fn check_count(conditions: usize) -> Result<()> {
    if conditions > MOST {
        return Err(Error::invalid(format!(
            "A list has at most {MOST} filters, each pair of a dictionary counted; {conditions} are too many."
        )));
    }
    Ok(())
}

/// What is refused, in upstream's words.
pub fn refusal(mut keys: Vec<&str>) -> Error {
    keys.sort_unstable();
    let names: String = keys.join(", ").chars().take(200).collect();
    Error::invalid(format!("Invalid filters {names} are found in query options."))
}

struct Asker<'a> {
    minor: u16,
    admin: bool,
    table: Vec<&'a str>,
    since: &'a [(&'a str, u16)],
}

impl Asker<'_> {
    fn read<'r>(&self, query: impl Iterator<Item = (&'r str, &'r str)>) -> Result<Vec<Wanted<'r>>> {
        let (mut wanted, mut refused) = (Vec::new(), Vec::new());
        for (key, value) in query {
            let stem = key.strip_suffix('~').filter(|_| self.minor >= PART_SINCE);
            let one = Wanted { key: stem.unwrap_or(key), value, part: stem.is_some() };
            match self.since.iter().find(|(name, _)| *name == one.key) {
                // it is not there yet, for nobody
                Some((_, since)) if self.minor < *since && self.minor < STRICT_SINCE => {}
                Some((_, since)) if self.minor < *since && !self.admin => refused.push(key),
                _ if self.admin || self.allows(one) => wanted.push(one),
                _ => refused.push(key),
            }
        }
        if refused.is_empty() || self.minor < STRICT_SINCE { Ok(wanted) } else { Err(refusal(refused)) }
    }

    fn allows(&self, one: Wanted<'_>) -> bool {
        self.table.iter().any(|entry| match entry.strip_suffix('~') {
            Some(stem) => stem == one.key,
            None => !one.part && *entry == one.key,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINCE: &[(&str, u16)] = &[("metadata", 22), ("created_at", 60)];

    fn read(
        minor: u16,
        admin: bool,
        table: &[&str],
        query: &'static [(&'static str, &'static str)],
    ) -> Result<Vec<Wanted<'static>>, String> {
        let asker = Asker { minor, admin, table: table.to_vec(), since: SINCE };
        asker.read(query.iter().copied()).map_err(|e| e.message.into_owned())
    }
    const fn whole(key: &'static str, value: &'static str) -> Wanted<'static> {
        Wanted { key, value, part: false }
    }

    #[test]
    fn what_a_user_may_not_use_is_left_out_before_3_31_and_refused_from_then_on() {
        let query: &[(&str, &str)] = &[("status", "a"), ("host", "h"), ("color", "c")];
        assert_eq!(read(30, false, &["status"], query).unwrap(), [whole("status", "a")]);
        assert_eq!(read(31, false, &["status"], query).unwrap_err(), "Invalid filters color, host are found in query options.");
        assert_eq!(read(31, true, &[], query).unwrap().len(), 3);
    }

    #[test]
    fn a_tilde_in_the_table_allows_both_forms_and_the_part_from_3_34() {
        let part: &[(&str, &str)] = &[("name~", "ab")];
        assert_eq!(read(34, false, &["name~"], part).unwrap(), [Wanted { key: "name", value: "ab", part: true }]);
        assert_eq!(read(34, false, &["name~"], &[("name", "ab")]).unwrap(), [whole("name", "ab")]);
        assert!(read(34, false, &["name"], part).is_err());
        assert!(read(33, false, &["name~"], part).is_err());
        assert_eq!(read(34, true, &["name"], part).unwrap().len(), 1);
    }

    #[test]
    fn a_list_has_a_bounded_number_of_conditions() {
        assert!(check_count(64).is_ok());
        assert!(check_count(65).unwrap_err().message.contains("at most 64 filters"));
    }

    #[test]
    fn what_comes_with_a_later_version_is_not_there_before() {
        let query: &[(&str, &str)] = &[("metadata", "m")];
        assert_eq!(read(21, true, &["metadata"], query).unwrap(), []);
        assert_eq!(read(22, false, &["metadata"], query).unwrap(), [whole("metadata", "m")]);
        assert!(read(59, false, &["created_at"], &[("created_at", "gt:2026-01-01")]).is_err());
        assert_eq!(read(60, false, &["created_at"], &[("created_at", "x")]).unwrap().len(), 1);
    }
}
