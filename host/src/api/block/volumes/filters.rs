//! What volumes may be filtered by, and how each value is read.

use crate::{
    api::{
        block::paging,
        filter::{self, boolean, bootable, dictionary},
        request::ApiRequest,
    },
    error::{Error, Result},
    store::{bind::Value, sql::volume_list::VolumeFilter},
};

/// What ordinary users may filter by, and since when.
const FILTERS: &[(&str, u16)] = &[
    ("name", 0),
    ("status", 0),
    ("metadata", 0),
    ("bootable", 0),
    ("migration_status", 0),
    ("availability_zone", 0),
    ("group_id", 10),
    ("size", 0),
    ("created_at", 60),
    ("updated_at", 60),
    ("consumes_quota", 65),
];

/// The query's filters. Admins filter by any column; what others may not is left out before 3.31 and refused from then on.
pub fn read(req: &ApiRequest) -> Result<Vec<VolumeFilter>> {
    let (minor, admin) = (req.ctx.microversion, req.ctx.is_admin());
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (key, value) in paging::filters(req) {
        let allowed = FILTERS.iter().any(|(name, since)| *name == key && minor >= *since);
        match key {
            "glance_metadata" if minor < 4 => {}
            _ if allowed || admin => condition(key, value, minor, &mut found)?,
            _ => refused.push(key),
        }
    }
    if !refused.is_empty() && minor >= 31 {
        refused.sort_unstable();
        let names: String = refused.join(", ").chars().take(200).collect();
        return Err(Error::invalid(format!("Invalid filters {names} are found in query options.")));
    }
    Ok(found)
}

fn condition(key: &str, value: &str, minor: u16, out: &mut Vec<VolumeFilter>) -> Result<()> {
    let equals = |column| VolumeFilter::Equals(column, Value::from(value));
    out.push(match key {
        "name" | "display_name" => equals("name"),
        "description" | "display_description" => equals("description"),
        "status" => equals("status"),
        "attach_status" => equals("attach_status"),
        "availability_zone" => equals("availability_zone"),
        "id" => equals("id"),
        "user_id" => equals("user_id"),
        "project_id" => equals("project_id"),
        "volume_type_id" => equals("volume_type_id"),
        "provider_id" => equals("provider_id"),
        "service_uuid" => equals("service_uuid"),
        "snapshot_id" => equals("snapshot_id"),
        "source_volid" => equals("source_volid"),
        "host" if value.contains('#') => equals("host"),
        "host" => equals("backend"),
        "migration_status" if value.is_empty() || value == "None" => VolumeFilter::IsNull("migration_status"),
        "migration_status" => equals("migration_status"),
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
        // columns that upstream has and that are always empty here
        _ => VolumeFilter::Never,
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
        condition(key, value, minor, &mut out).map(|()| out)
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
