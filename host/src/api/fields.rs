//! A resource's fields as one table: name, microversions, who sees it, and its value.
//!
//! Views are rendered from it, rows of a page once and without a tree in between; the key-set tests read it, too.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use super::request::ApiRequest;
use crate::clock::{Micros, api_text};

/// One field of a `T`.
pub struct Field<T: 'static> {
    pub name: &'static str,
    /// First minor microversion that has it.
    pub since: u16,
    /// Last minor microversion that has it.
    pub until: u16,
    /// Only administrators see it.
    pub admin: bool,
    value: for<'a> fn(&'a T, &'a Look) -> FieldValue<'a>,
}

/// What a view knows beside the item.
#[derive(Debug, Clone)]
pub struct Look {
    pub microversion: u16,
    pub admin: bool,
    /// `http://host:port/v2[/project]`.
    pub base_url: String,
    /// The same without the version: where bookmarks point.
    pub bookmark_url: String,
}

/// A value on its way into the answer.
pub enum FieldValue<'a> {
    Null,
    Text(&'a str),
    Bool(bool),
    Int(i64),
    Time(Option<Micros>),
    Pairs(&'a [(String, String)]),
    Texts(Vec<&'a str>),
    /// To `collection/id`.
    Links {
        collection: &'static str,
        id: &'a str,
        look: &'a Look,
    },
}

impl<T> Field<T> {
    pub const fn new(name: &'static str, value: for<'a> fn(&'a T, &'a Look) -> FieldValue<'a>) -> Self {
        Self { name, since: 0, until: u16::MAX, admin: false, value }
    }
    #[must_use]
    pub const fn since(mut self, minor: u16) -> Self {
        self.since = minor;
        self
    }
    #[must_use]
    pub const fn until(mut self, minor: u16) -> Self {
        self.until = minor;
        self
    }
    #[must_use]
    pub const fn admin(mut self) -> Self {
        self.admin = true;
        self
    }
    fn shows(&self, look: &Look) -> bool {
        self.since <= look.microversion && look.microversion <= self.until && (look.admin || !self.admin)
    }
}

/// A text, or null.
pub fn opt(text: Option<&str>) -> FieldValue<'_> {
    text.map_or(FieldValue::Null, FieldValue::Text)
}

/// The fields of one answer, chosen once for all its rows.
pub fn visible<T>(table: &'static [Field<T>], look: &Look) -> Vec<&'static Field<T>> {
    table.iter().filter(|f| f.shows(look)).collect()
}

impl Look {
    /// What this request's answers look like.
    pub fn of(req: &ApiRequest) -> Self {
        let root = format!("/{}", req.api.root());
        let below_version = req.base_url.strip_prefix(&req.host_url).and_then(|rest| rest.strip_prefix(&root)).unwrap_or("");
        Self {
            microversion: req.ctx.microversion,
            admin: req.ctx.is_admin(),
            base_url: req.base_url.clone(),
            bookmark_url: format!("{}{below_version}", req.host_url),
        }
    }
}

/// An item as one answer shows it.
pub struct View<'a, T: 'static> {
    pub item: &'a T,
    pub fields: &'a [&'static Field<T>],
    pub look: &'a Look,
}

impl<T> Serialize for View<'_, T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.fields.len()))?;
        for field in self.fields {
            map.serialize_entry(field.name, &(field.value)(self.item, self.look))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Link {
    rel: &'static str,
    href: String,
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null | Self::Time(None) => s.serialize_none(),
            Self::Text(t) => s.serialize_str(t),
            Self::Bool(b) => s.serialize_bool(*b),
            Self::Int(n) => s.serialize_i64(*n),
            Self::Time(Some(at)) => s.serialize_str(&api_text(*at)),
            Self::Pairs(pairs) => s.collect_map(pairs.iter().map(|(k, v)| (k, v))),
            Self::Texts(texts) => s.collect_seq(texts),
            Self::Links { collection, id, look } => {
                let mut seq = s.serialize_seq(Some(2))?;
                seq.serialize_element(&Link { rel: "self", href: format!("{}/{collection}/{id}", look.base_url) })?;
                seq.serialize_element(&Link { rel: "bookmark", href: format!("{}/{collection}/{id}", look.bookmark_url) })?;
                seq.end()
            }
        }
    }
}
