//! The shipped tables, one a service: checked-in text, `action | rule | scopes`.

use super::{Table, Text};

const SOURCES: [(&str, &str); 3] = [
    ("block", include_str!("defaults/block.txt")),
    ("share", include_str!("defaults/share.txt")),
    ("identity", include_str!("defaults/identity.txt")),
];

/// The tables in the order in which a bare name is looked up.
pub(super) fn tables() -> Vec<Table> {
    SOURCES.iter().map(|(service, text)| Table { service, rules: text.lines().filter_map(row).collect() }).collect()
}

fn row(line: &'static str) -> Option<(String, Text)> {
    if line.starts_with('#') {
        return None;
    }
    let mut columns = line.split('|').map(str::trim);
    let (name, rule) = (columns.next()?, columns.next()?);
    let scopes = columns.next().map(|s| s.split_whitespace().collect()).unwrap_or_default();
    Some((name.to_owned(), Text { rule: rule.to_owned(), scopes, line: 0 }))
}
