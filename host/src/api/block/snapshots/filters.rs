//! What snapshots may be filtered by, and how each value is read.

use crate::{
    api::{
        block::paging,
        filter::{boolean, dictionary},
        request::ApiRequest,
    },
    error::{Error, Result},
    store::{bind::Value, sql::snapshot_list::SnapshotFilter},
};

/// What ordinary users may filter by, and since when.
const FILTERS: &[(&str, u16)] =
    &[("name", 0), ("status", 0), ("volume_id", 0), ("metadata", 22), ("availability_zone", 31), ("consumes_quota", 65)];

/// The query's filters. Admins filter by any column; what others may not is left out before 3.31 and refused from then on.
pub fn read(req: &ApiRequest) -> Result<Vec<SnapshotFilter>> {
    let (minor, admin) = (req.ctx.microversion, req.ctx.is_admin());
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (key, value) in paging::filters(req) {
        let allowed = FILTERS.iter().any(|(name, since)| *name == key && minor >= *since);
        match key {
            "metadata" if minor < 22 => {}
            _ if allowed || admin => condition(key, value, &mut found)?,
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

fn condition(key: &str, value: &str, out: &mut Vec<SnapshotFilter>) -> Result<()> {
    let equals = |column| SnapshotFilter::Equals(column, Value::from(value));
    out.push(match key {
        "name" | "display_name" => equals("name"),
        "description" | "display_description" => equals("description"),
        "status" => equals("status"),
        "volume_id" => equals("volume_id"),
        "id" => equals("id"),
        "user_id" => equals("user_id"),
        "project_id" => equals("project_id"),
        "progress" => equals("progress"),
        "provider_id" => equals("provider_id"),
        "volume_size" | "size" => {
            SnapshotFilter::Equals("size_gib", Value::from(value.trim().parse::<i64>().map_err(|_| bad(key, value))?))
        }
        "availability_zone" => SnapshotFilter::OfVolume("availability_zone", Value::from(value)),
        "volume_type_id" => SnapshotFilter::OfVolume("volume_type_id", Value::from(value)),
        "host" if value.contains('#') => SnapshotFilter::OfVolume("host", Value::from(value)),
        "host" => SnapshotFilter::OfVolume("backend", Value::from(value)),
        "metadata" => {
            out.extend(dictionary(key, value)?.into_iter().map(|(k, v)| SnapshotFilter::Metadata(k, v)));
            return Ok(());
        }
        "consumes_quota" => match boolean(value) {
            Some(true) => return Ok(()), // every snapshot does
            Some(false) => SnapshotFilter::Never,
            None => return Err(bad(key, value)),
        },
        // columns that upstream has and that are always empty here
        _ => SnapshotFilter::Never,
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
        condition(key, value, &mut out).map(|()| out)
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
