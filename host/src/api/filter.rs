//! How the values of filters are read.

use std::collections::BTreeMap;

use crate::{
    clock::Micros,
    error::{Error, Result},
};

/// A yes or no as Python clients and people write it. None for anything else.
pub fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "y" | "on" => Some(true),
        "false" | "f" | "0" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// The `bootable` filter: up to 3.1 anything but a false word means true.
///
/// # Errors
/// From 3.2 on, [`Kind::Invalid`](crate::error::Kind::Invalid) for anything but t, true, 1, f, false, 0.
pub fn bootable(text: &str, minor: u16) -> Result<bool> {
    let word = text.trim().to_ascii_lowercase();
    match word.as_str() {
        "f" | "false" | "0" => Ok(false),
        "t" | "true" | "1" => Ok(true),
        "n" | "no" | "off" if minor < 2 => Ok(false),
        _ if minor < 2 => Ok(true),
        _ => Err(Error::invalid(format!("Invalid input received: bootable={} is not one of t, true, 1, f, false, 0.", shorten(text)))),
    }
}

/// An operator of a time filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Gt,
    Gte,
    Eq,
    Neq,
    Lt,
    Lte,
}

impl Op {
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Eq => "=",
            Self::Neq => "<>",
            Self::Lt => "<",
            Self::Lte => "<=",
        }
    }
}

/// `gt:2026-08-21T12:00:00,lt:...` (3.60) for the filter called `key`.
///
/// # Errors
/// [`Kind::Invalid`](crate::error::Kind::Invalid) for an unknown operator or a text that is no ISO 8601 time.
pub fn times(key: &str, text: &str) -> Result<Vec<(Op, Micros)>> {
    text.split(',').map(|part| time(key, part.trim())).collect()
}

fn time(key: &str, part: &str) -> Result<(Op, Micros)> {
    let (op, at) = part.split_once(':').ok_or_else(|| Error::invalid(format!("Invalid {key} value")))?;
    let op = match op {
        "gt" => Op::Gt,
        "gte" => Op::Gte,
        "eq" => Op::Eq,
        "neq" => Op::Neq,
        "lt" => Op::Lt,
        "lte" => Op::Lte,
        _ => return Err(Error::invalid(format!("Invalid {} operator", shorten(op)))),
    };
    let at = iso8601(at).ok_or_else(|| Error::invalid(format!("Invalid {} value", shorten(at))))?;
    Ok((op, at))
}

/// A time with or without zone (none: UTC), or a date alone. Between date and time may be a space, as Python prints it; a `+`
/// that a URL turned into a space is accepted.
pub(super) fn iso8601(text: &str) -> Option<Micros> {
    let mut text = text.trim().to_owned();
    if text.len() > 10 && text.is_char_boundary(10) && text[10..].starts_with(' ') {
        text.replace_range(10..11, "T");
    }
    let text = text.replace(' ', "+");
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.as_microsecond());
    }
    let civil: jiff::civil::DateTime = match text.parse() {
        Ok(at) => at,
        Err(_) => text.parse::<jiff::civil::Date>().ok()?.to_datetime(jiff::civil::Time::midnight()),
    };
    Some(jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?.as_microsecond())
}

/// A dictionary literal as Python prints it, `{'k': 'v'}`, or JSON. Values are texts; numbers, True, False and None are taken
/// as Python would print them.
///
/// # Errors
/// [`Kind::Invalid`](crate::error::Kind::Invalid) naming the filter called `key`.
pub fn dictionary(key: &str, text: &str) -> Result<BTreeMap<String, String>> {
    let mut reader = Reader { rest: text.trim() };
    reader.dictionary().filter(|_| reader.rest.is_empty()).ok_or_else(|| {
        Error::invalid(format!("Invalid filter {key}: a dictionary such as {{'key': 'value'}} is expected, not {}", shorten(text)))
    })
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }
    fn take(&mut self, token: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
    fn dictionary(&mut self) -> Option<BTreeMap<String, String>> {
        let mut map = BTreeMap::new();
        if !self.take('{') {
            return None;
        }
        loop {
            if self.take('}') {
                self.skip();
                return Some(map);
            }
            let key = self.scalar()?;
            if !self.take(':') {
                return None;
            }
            let value = self.scalar()?;
            map.insert(key, value);
            if !self.take(',') {
                self.skip();
                if !self.rest.starts_with('}') {
                    return None;
                }
            }
        }
    }
    fn scalar(&mut self) -> Option<String> {
        self.skip();
        if let Some(rest) = self.rest.strip_prefix('u').filter(|r| r.starts_with(['\'', '"'])) {
            self.rest = rest;
        }
        match self.rest.chars().next()? {
            quote @ ('\'' | '"') => self.quoted(quote),
            _ => self.bare(),
        }
    }
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut out = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => out.push(match chars.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                }),
                c if c == quote => {
                    self.rest = &self.rest[at + quote.len_utf8()..];
                    return Some(out);
                }
                c => out.push(c),
            }
        }
        None
    }
    fn bare(&mut self) -> Option<String> {
        let end = self.rest.find([',', '}', ':']).unwrap_or(self.rest.len());
        let word = self.rest[..end].trim();
        let known = matches!(word, "True" | "False" | "None" | "true" | "false" | "null") || word.parse::<f64>().is_ok();
        self.rest = &self.rest[end..];
        known.then(|| word.to_owned())
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn bootable_is_lax_up_to_3_1_and_strict_from_3_2() {
        assert!(bootable("anything", 1).unwrap());
        assert!(!bootable("no", 1).unwrap());
        assert!(bootable("TRUE", 2).unwrap());
        assert_eq!(bootable("no", 2).unwrap_err().kind, Kind::Invalid);
    }
    #[test]
    fn dictionaries_are_read_as_python_prints_them_and_as_json() {
        let expected = BTreeMap::from([("k".to_owned(), "v".to_owned()), ("n".to_owned(), "1".to_owned())]);
        for text in ["{'k': 'v', 'n': '1'}", r#"{"k": "v", "n": 1}"#, "{u'k': u'v', 'n': 1}", "{ 'k':'v','n':'1', }"] {
            assert_eq!(dictionary("metadata", text).unwrap(), expected, "{text}");
        }
        assert_eq!(dictionary("metadata", r"{'it\'s': '}'}").unwrap(), BTreeMap::from([("it's".to_owned(), "}".to_owned())]));
        assert!(dictionary("metadata", "{}").unwrap().is_empty());
    }
    #[test]
    fn what_is_no_dictionary_is_refused() {
        for text in ["", "k", "{", "{'k'}", "{'k': }", "{'k': 'v'", "{'k': 'v'} x", "{'k': ['v']}", "{'k: 'v'}", "{'k': v}", "['k']"] {
            assert_eq!(dictionary("metadata", text).unwrap_err().kind, Kind::Invalid, "{text}");
        }
    }
    #[test]
    fn a_space_may_stand_between_date_and_time_and_for_the_zones_plus() {
        let at = iso8601("2026-08-21T12:00:00.5").unwrap();
        for text in ["2026-08-21 12:00:00.5", "2026-08-21 14:00:00.5 02:00", "2026-08-21T14:00:00.5+02:00"] {
            assert_eq!(iso8601(text), Some(at), "{text}");
        }
    }
    #[test]
    fn times_take_an_operator_and_an_iso_8601_text() {
        let at = 1_787_313_600_000_000;
        assert_eq!(times("created_at", "gt:2026-08-21T12:00:00").unwrap(), [(Op::Gt, at)]);
        assert_eq!(times("created_at", "gte:2026-08-21T12:00:00Z,lt:2026-08-21T14:00:00+02:00").unwrap(), [(Op::Gte, at), (Op::Lt, at)]);
        assert_eq!(times("created_at", "eq:2026-08-21").unwrap(), [(Op::Eq, at - 12 * 3_600_000_000)]);
    }
    #[test]
    fn bad_operators_and_times_are_refused() {
        for text in ["2026-08-21", "after:2026-08-21", "gt:", "gt:yesterday", "gt:2026-13-01", "", "gt:2026-08-21,"] {
            assert_eq!(times("created_at", text).unwrap_err().kind, Kind::Invalid, "{text}");
        }
    }
}
