//! Paging and sorting of lists: `limit`, `marker`, `offset`, `sort` (or `sort_key`/`sort_dir`), `with_count`, and the
//! `next` link.
//!
//! The answer to a list gets a `next` link when it holds as many items as the effective limit, so a last full page has one too.

use serde_json::{Value, json};

use super::{request::ApiRequest, route::Api};
use crate::{
    error::{Error, Result},
    store::keyset::Order,
};

/// The most items of one answer where no setting says so.
const LIMIT_MAX: i64 = 1000;
const OFFSET_MAX: i64 = i32::MAX as i64;
/// Query keys that are about the page, not about the items.
pub const KEYS: [&str; 7] = ["limit", "marker", "offset", "sort", "sort_key", "sort_dir", "with_count"];

/// A key that a list may be sorted by.
#[derive(Debug, Clone, Copy)]
pub struct SortKey {
    /// As clients write it.
    pub name: &'static str,
    pub column: &'static str,
    pub nullable: bool,
    /// First microversion that takes it.
    pub since: u16,
}

impl SortKey {
    pub const fn new(name: &'static str, column: &'static str) -> Self {
        Self { name, column, nullable: false, since: 0 }
    }
    #[must_use]
    pub const fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }
    #[must_use]
    pub const fn since(mut self, minor: u16) -> Self {
        self.since = minor;
        self
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// 0 to [`most`]; more than that is asked for in vain.
    pub limit: i64,
    /// The id of the last item seen.
    pub marker: Option<String>,
    pub offset: i64,
    /// Ends with the id, so that no two items are equal.
    pub order: Vec<Order>,
    pub with_count: bool,
}

impl Page {
    /// Reads the page from a query. `keys` are what the list may be sorted by; `created_at` and `id` must be among them.
    ///
    /// # Errors
    /// [`Kind::Invalid`](crate::error::Kind::Invalid) for bad numbers, keys and directions.
    pub fn parse(req: &ApiRequest, keys: &[SortKey]) -> Result<Self> {
        Self::from_query(&req.query, keys, req.ctx.microversion, most(req))
    }

    /// As [`Page::parse`], from the query's pairs; `most` is the largest page.
    ///
    /// # Errors
    /// As [`Page::parse`].
    pub fn from_query(query: &[(String, String)], keys: &[SortKey], minor: u16, most: i64) -> Result<Self> {
        let value = |key: &str| query.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        Ok(Self {
            limit: limit(value("limit"), most)?,
            marker: value("marker").filter(|m| !m.is_empty()).map(str::to_owned),
            offset: offset(value("offset"))?,
            order: order(value("sort"), value("sort_key"), value("sort_dir"), keys, minor)?,
            with_count: with_count(value("with_count"))?,
        })
    }

    /// The `<collection>_links` value when there may be more: `count` items were found and `last` is the last one's id.
    pub fn next_link(&self, req: &ApiRequest, path: &str, count: usize, last: Option<&str>) -> Option<Value> {
        let full = i64::try_from(count).unwrap_or(i64::MAX) >= self.limit && self.limit > 0;
        let last = last.filter(|_| full)?;
        // the marker is behind what the offset skipped
        let kept = req.query.iter().filter(|(k, _)| k != "marker" && k != "offset");
        let mut query: Vec<(&str, &str)> = kept.map(|(k, v)| (k.as_str(), v.as_str())).collect();
        query.push(("marker", last));
        let query = serde_urlencoded::to_string(&query).unwrap_or_default();
        Some(json!([{"rel": "next", "href": format!("{}/{path}?{query}", req.base_url)}]))
    }
}

/// The most items of one answer of this API, and how many there are when the request names no limit.
pub fn most(req: &ApiRequest) -> i64 {
    match req.api {
        Api::Block => i64::from(req.app.config.get().block.osapi_max_limit),
        Api::Share => i64::from(req.app.config.get().share.osapi_max_limit),
        _ => LIMIT_MAX,
    }
}

fn limit(text: Option<&str>, most: i64) -> Result<i64> {
    let Some(text) = text else { return Ok(most) };
    match integer(text) {
        None => Err(Error::invalid("limit param must be an integer")),
        Some(n) if n < 0 => Err(Error::invalid("limit param must be positive")),
        Some(n) => Ok(n.min(most)),
    }
}

fn offset(text: Option<&str>) -> Result<i64> {
    let Some(text) = text else { return Ok(0) };
    match integer(text) {
        None => Err(Error::invalid("offset must be an integer.")),
        Some(n) if n < 0 => Err(Error::invalid("offset must be >= 0")),
        Some(n) if n > OFFSET_MAX => Err(Error::invalid(format!("offset must be <= {OFFSET_MAX}"))),
        Some(n) => Ok(n),
    }
}

/// A whole number of any length: what is too long for us saturates.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX }))
}

fn with_count(text: Option<&str>) -> Result<bool> {
    text.map_or(Ok(false), |t| {
        super::filter::boolean(t).ok_or_else(|| Error::invalid(format!("Invalid value '{t}' for with_count: write True or False.")))
    })
}

fn order(sort: Option<&str>, key: Option<&str>, dir: Option<&str>, keys: &[SortKey], minor: u16) -> Result<Vec<Order>> {
    if sort.is_some() && (key.is_some() || dir.is_some()) {
        return Err(Error::invalid(
            "The 'sort_key' and 'sort_dir' parameters are deprecated and cannot be used with the 'sort' parameter.",
        ));
    }
    let asked: Vec<(&str, &str)> = match sort {
        Some(sort) => sort.trim().split(',').map(|part| part.split_once(':').unwrap_or((part, "desc"))).collect(),
        None => vec![(key.unwrap_or("created_at"), dir.unwrap_or("desc"))],
    };
    let mut order: Vec<Order> = Vec::new();
    for (name, dir) in asked {
        let next = one(name.trim(), dir.trim(), keys, minor)?;
        if order.iter().all(|o| o.column != next.column) {
            order.push(next);
        }
    }
    // ties are broken in the direction of the first key
    let descending = order.first().is_some_and(|o| o.descending);
    let column = |name: &'static str| keys.iter().find(|k| k.name == name).map_or(name, |k| k.column);
    let has = |order: &[Order], column: &str| order.iter().any(|o| o.column == column);
    for tie in [column("created_at"), column("id")] {
        // nothing can tie after the id
        if !has(&order, tie) && !has(&order, column("id")) {
            order.push(Order { column: tie, descending, nullable: false });
        }
    }
    Ok(order)
}

fn one(name: &str, dir: &str, keys: &[SortKey], minor: u16) -> Result<Order> {
    let descending = match dir.to_ascii_lowercase().as_str() {
        "desc" | "" => true,
        "asc" => false,
        _ => return Err(Error::invalid("Invalid input received: Unknown sort direction, must be one of: asc, desc.")),
    };
    let key = keys.iter().find(|k| k.name == name && k.since <= minor);
    let key = key.ok_or_else(|| {
        Error::invalid(format!("Invalid input received: Sort key supplied is invalid: {}", name.chars().take(64).collect::<String>()))
    })?;
    Ok(Order { column: key.column, descending, nullable: key.nullable })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[SortKey] = &[
        SortKey::new("created_at", "created_at"),
        SortKey::new("id", "id"),
        SortKey::new("name", "display_name").nullable(),
        SortKey::new("size", "size").since(30),
    ];

    fn parse(query: &str) -> Result<Page, String> {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
        Page::from_query(&pairs, KEYS, 0, 1000).map_err(|e| e.message.into_owned())
    }
    fn columns(query: &str) -> Vec<(&'static str, bool)> {
        parse(query).unwrap().order.iter().map(|o| (o.column, o.descending)).collect()
    }

    #[test]
    fn the_default_is_the_newest_and_as_many_as_there_may_be() {
        let page = parse("").unwrap();
        assert_eq!((page.limit, page.offset, page.marker), (1000, 0, None));
        assert_eq!(columns(""), [("created_at", true), ("id", true)]);
    }
    #[test]
    fn a_limit_above_the_maximum_is_the_maximum_and_zero_is_allowed() {
        assert_eq!(parse("limit=5000").unwrap().limit, 1000);
        assert_eq!(parse("limit=99999999999999999999999").unwrap().limit, 1000);
        assert_eq!(parse("limit=0").unwrap().limit, 0);
    }
    #[test]
    fn bad_numbers_are_refused() {
        assert_eq!(parse("limit=ten").unwrap_err(), "limit param must be an integer");
        assert_eq!(parse("limit=1.5").unwrap_err(), "limit param must be an integer");
        assert_eq!(parse("limit=-1").unwrap_err(), "limit param must be positive");
        assert_eq!(parse("offset=x").unwrap_err(), "offset must be an integer.");
        assert_eq!(parse("offset=-1").unwrap_err(), "offset must be >= 0");
        assert_eq!(parse("offset=2147483648").unwrap_err(), "offset must be <= 2147483647");
    }
    #[test]
    fn several_sort_keys_keep_their_order_and_ties_follow_the_first() {
        assert_eq!(columns("sort=name:asc,created_at:desc"), [("display_name", false), ("created_at", true), ("id", false)]);
        assert_eq!(columns("sort=name"), [("display_name", true), ("created_at", true), ("id", true)]);
        assert_eq!(columns("sort=id:asc"), [("id", false)]);
        assert_eq!(columns("sort_key=name&sort_dir=asc"), [("display_name", false), ("created_at", false), ("id", false)]);
    }
    #[test]
    fn old_and_new_sort_parameters_do_not_mix() {
        assert!(parse("sort=name&sort_dir=asc").unwrap_err().contains("cannot be used with the 'sort' parameter"));
    }
    #[test]
    fn unknown_keys_and_directions_are_refused() {
        assert!(parse("sort=password_hash").is_err());
        assert!(parse("sort=name:up").is_err());
        assert!(parse("sort_key=size").is_err(), "from a later microversion");
    }
}
