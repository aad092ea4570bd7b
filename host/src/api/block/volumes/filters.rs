//! What volumes may be filtered by, and how each value is read.

use crate::{
    api::{
        block::resource_filters::{self, Wanted},
        filter::{self, boolean, bootable, dictionary},
        request::ApiRequest,
    },
    error::{Error, Result},
    store::{bind::Value, sql::volume_list::VolumeFilter},
};

/// What exists only from a microversion on.
const SINCE: &[(&str, u16)] = &[("glance_metadata", 4), ("group_id", 10), ("created_at", 60), ("updated_at", 60), ("consumes_quota", 65)];

/// The query's filters. Admins filter by any column.
pub fn read(req: &ApiRequest) -> Result<Vec<VolumeFilter>> {
    let mut found = Vec::new();
    for one in resource_filters::read(req, "volume", SINCE)? {
        condition(one, req.ctx.microversion, &mut found)?;
    }
    resource_filters::check_count(found.len())?;
    Ok(found)
}

/// A column of texts that a filter is about.
fn text_column(key: &str, value: &str) -> Option<&'static str> {
    Some(match key {
        "name" | "display_name" => "name",
        "description" | "display_description" => "description",
        "status" => "status",
        "attach_status" => "attach_status",
        "availability_zone" => "availability_zone",
        "id" => "id",
        "user_id" => "user_id",
        "project_id" => "project_id",
        "volume_type_id" => "volume_type_id",
        "provider_id" => "provider_id",
        "service_uuid" => "service_uuid",
        "snapshot_id" => "snapshot_id",
        "source_volid" => "source_volid",
        "migration_status" => "migration_status",
        "host" if value.contains('#') => "host",
        "host" => "backend",
        _ => return None,
    })
}

fn condition(one: Wanted<'_>, minor: u16, out: &mut Vec<VolumeFilter>) -> Result<()> {
    let Wanted { key, value, part } = one;
    if part {
        // the host's pool is part of the text
        let column = if key == "host" { Some("host") } else { text_column(key, value) };
        out.push(column.map_or(VolumeFilter::Never, |column| VolumeFilter::Contains(column, value.to_owned())));
        return Ok(());
    }
    out.push(match key {
        "migration_status" if value.is_empty() || value == "None" => VolumeFilter::IsNull("migration_status"),
        "size" => VolumeFilter::Equals("size_gib", Value::from(value.trim().parse::<i64>().map_err(|_| bad(key, value))?)),
        "bootable" => VolumeFilter::Equals("bootable", Value::from(bootable(value, minor)?)),
        "multiattach" => VolumeFilter::Equals("multiattach", Value::from(boolean(value).ok_or_else(|| bad(key, value))?)),
        "consumes_quota" => VolumeFilter::Equals("consumes_quota", Value::from(boolean(value).ok_or_else(|| bad(key, value))?)),
        "created_at" => return times("created_at", value, out),
        "updated_at" => return times("updated_at", value, out),
        "metadata" => {
            out.extend(dictionary(key, value)?.into_iter().map(|(k, v)| VolumeFilter::Metadata(k, v)));
            return Ok(());
        }
        _ => match text_column(key, value) {
            Some(column) => VolumeFilter::Equals(column, Value::from(value)),
            // columns that upstream has and that are always empty here
            None => VolumeFilter::Never,
        },
    });
    Ok(())
}

fn times(column: &'static str, value: &str, out: &mut Vec<VolumeFilter>) -> Result<()> {
    out.extend(filter::times(column, value)?.into_iter().map(|(op, at)| VolumeFilter::Time(column, op.sql(), at)));
    Ok(())
}

fn bad(key: &str, value: &str) -> Error {
    let value: String = value.chars().take(64).collect();
    Error::invalid(format!("Invalid value '{value}' for filter '{key}'."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: &str, value: &str, minor: u16) -> Result<Vec<VolumeFilter>> {
        let mut out = Vec::new();
        condition(Wanted { key, value, part: false }, minor, &mut out).map(|()| out)
    }

    #[test]
    fn a_host_with_a_pool_is_exact_and_without_it_the_back_end() {
        assert_eq!(one("host", "h@b#p", 0).unwrap(), [VolumeFilter::Equals("host", Value::from("h@b#p"))]);
        assert_eq!(one("host", "h@b", 0).unwrap(), [VolumeFilter::Equals("backend", Value::from("h@b"))]);
    }

    #[test]
    fn what_no_column_holds_matches_nothing() {
        assert_eq!(one("color", "red", 0).unwrap(), [VolumeFilter::Never]);
    }

    #[test]
    fn a_size_is_a_number() {
        assert_eq!(one("size", "3", 0).unwrap(), [VolumeFilter::Equals("size_gib", Value::from(3_i64))]);
        assert!(one("size", "three", 0).is_err() && one("size", "99999999999999999999", 0).is_err());
    }
}
