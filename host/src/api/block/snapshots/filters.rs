//! What snapshots may be filtered by, and how each value is read.

use crate::{
    api::{
        block::resource_filters::{self, Wanted},
        filter::{boolean, dictionary},
        request::ApiRequest,
    },
    error::{Error, Result},
    store::{bind::Value, sql::snapshot_list::SnapshotFilter},
};

/// What exists only from a microversion on.
const SINCE: &[(&str, u16)] = &[("metadata", 22), ("availability_zone", 31), ("consumes_quota", 65)];

/// The query's filters. Admins filter by any column.
pub fn read(req: &ApiRequest) -> Result<Vec<SnapshotFilter>> {
    let mut found = Vec::new();
    for one in resource_filters::read(req, "snapshot", SINCE)? {
        condition(one, &mut found)?;
    }
    resource_filters::check_count(found.len())?;
    Ok(found)
}

/// A column of texts that a filter is about: of the snapshot, or of its volume.
enum Column {
    Own(&'static str),
    OfVolume(&'static str),
}

fn text_column(key: &str, value: &str) -> Option<Column> {
    Some(match key {
        "name" | "display_name" => Column::Own("name"),
        "description" | "display_description" => Column::Own("description"),
        "status" => Column::Own("status"),
        "volume_id" => Column::Own("volume_id"),
        "id" => Column::Own("id"),
        "user_id" => Column::Own("user_id"),
        "project_id" => Column::Own("project_id"),
        "progress" => Column::Own("progress"),
        "provider_id" => Column::Own("provider_id"),
        "availability_zone" => Column::OfVolume("availability_zone"),
        "volume_type_id" => Column::OfVolume("volume_type_id"),
        "host" if value.contains('#') => Column::OfVolume("host"),
        "host" => Column::OfVolume("backend"),
        _ => return None,
    })
}

fn condition(one: Wanted<'_>, out: &mut Vec<SnapshotFilter>) -> Result<()> {
    let Wanted { key, value, part } = one;
    let column = text_column(key, value);
    if part {
        out.push(match (key, column) {
            // the host's pool is part of the text
            ("host", _) => SnapshotFilter::Contains("v", "host", value.to_owned()),
            (_, Some(Column::Own(column))) => SnapshotFilter::Contains("s", column, value.to_owned()),
            (_, Some(Column::OfVolume(column))) => SnapshotFilter::Contains("v", column, value.to_owned()),
            (_, None) => SnapshotFilter::Never,
        });
        return Ok(());
    }
    out.push(match key {
        "volume_size" | "size" => {
            SnapshotFilter::Equals("size_gib", Value::from(value.trim().parse::<i64>().map_err(|_| bad(key, value))?))
        }
        "metadata" => {
            out.extend(dictionary(key, value)?.into_iter().map(|(k, v)| SnapshotFilter::Metadata(k, v)));
            return Ok(());
        }
        "consumes_quota" => match boolean(value) {
            Some(true) => return Ok(()), // every snapshot does
            Some(false) => SnapshotFilter::Never,
            None => return Err(bad(key, value)),
        },
        _ => match column {
            Some(Column::Own(column)) => SnapshotFilter::Equals(column, Value::from(value)),
            Some(Column::OfVolume(column)) => SnapshotFilter::OfVolume(column, Value::from(value)),
            // columns that upstream has and that are always empty here
            None => SnapshotFilter::Never,
        },
    });
    Ok(())
}

fn bad(key: &str, value: &str) -> Error {
    let value: String = value.chars().take(64).collect();
    Error::invalid(format!("Invalid value '{value}' for filter '{key}'."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: &str, value: &str) -> Result<Vec<SnapshotFilter>> {
        let mut out = Vec::new();
        condition(Wanted { key, value, part: false }, &mut out).map(|()| out)
    }

    #[test]
    fn what_no_column_holds_matches_nothing() {
        assert_eq!(one("color", "red").unwrap(), [SnapshotFilter::Never]);
        assert_eq!(one("consumes_quota", "false").unwrap(), [SnapshotFilter::Never]);
        assert_eq!(one("consumes_quota", "true").unwrap(), []);
    }

    #[test]
    fn a_zone_is_the_volumes() {
        assert_eq!(one("availability_zone", "z").unwrap(), [SnapshotFilter::OfVolume("availability_zone", Value::from("z"))]);
    }
}
