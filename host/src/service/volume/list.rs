//! `GET /volumes` and `/volumes/detail`: filters as upstream takes them, keyset pages, a marker that may be deleted.

use crate::{
    app::App,
    context::RequestContext,
    domain::dict_literal,
    error::{Error, Result},
    policy::Target,
    service::{
        page::{self, Page},
        refusal,
    },
    store::{
        bind::Value,
        sql::volume_list::{Volume, VolumeFilter, VolumeQuery, VolumeSort},
    },
};

/// A list as the caller asked for it.
#[derive(Debug, Clone, Default)]
pub struct ListVolumes {
    pub page: Page,
    /// Every other query key.
    pub filters: Vec<(String, String)>,
    pub with_count: bool,
    /// Metadata and attachments are wanted, too.
    pub detail: bool,
}

/// A page, and how many there are in all if that was asked.
#[derive(Debug)]
pub struct Listed {
    pub volumes: Vec<Volume>,
    pub count: Option<i64>,
}

/// What ordinary users may filter by, and since when.
pub const FILTERS: &[(&str, u16)] = &[
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

/// # Errors
/// 400 for a bad filter or sort key, 404 for an unknown marker.
pub async fn list(app: &App, ctx: &RequestContext, ask: &ListVolumes) -> Result<Listed> {
    let filters = ask.filters(app, ctx)?;
    let sort = ask.page.keys(VolumeSort::parse, VolumeSort::CreatedAt, VolumeSort::Id)?;
    let after = match ask.page.marker.as_deref() {
        Some(marker) => Some(marker_values(app, ctx, marker, &sort).await?),
        None => None,
    };
    let count = if ask.with_count { Some(app.store.volume_totals(&filters).await?.0) } else { None };
    let query = VolumeQuery { filters, sort, after, limit: ask.page.limit, offset: ask.page.offset };
    let volumes = if query.limit == 0 { Vec::new() } else { app.store.volumes(&query, ask.detail).await? };
    Ok(Listed { volumes, count })
}

/// Where a page begins: the marker's values, from its row or from its tombstone.
async fn marker_values(app: &App, ctx: &RequestContext, marker: &str, sort: &[(VolumeSort, bool)]) -> Result<Vec<Value>> {
    let visible = |project: &str| ctx.is_admin() || project == ctx.project_id();
    if let Some(row) = app.store.volume(marker).await? {
        if visible(&row.project_id) {
            return Ok(sort.iter().map(|(key, _)| key.value(&row)).collect());
        }
    } else if let Some(gone) = app.store.tombstone("volume", marker).await?
        && visible(&gone.project_id)
        && let Some(values) = page::from_tombstone(&gone.sort_keys, sort.iter().map(|(key, _)| key.as_str()))
    {
        return Ok(values);
    }
    Err(refusal::volume_not_found(marker))
}

impl ListVolumes {
    /// The filters as conditions, with the caller's own project among them unless an admin asks for all.
    pub fn filters(&self, app: &App, ctx: &RequestContext) -> Result<Vec<VolumeFilter>> {
        app.policy.check(ctx, "volume:get_all", &Target::own(ctx))?;
        let admin = ctx.is_admin();
        let mut out = Vec::new();
        if !(admin && all_tenants(&self.filters)) {
            out.push(VolumeFilter::Project(ctx.project_id().to_owned()));
        }
        let mut refused = Vec::new();
        for (key, value) in &self.filters {
            let allowed = FILTERS.iter().any(|(name, since)| name == key && ctx.microversion >= *since);
            match key.as_str() {
                "all_tenants" => {}
                "glance_metadata" if ctx.microversion < 4 => {}
                _ if allowed || admin => condition(key, value, ctx.microversion, &mut out)?,
                _ => refused.push(key.as_str()),
            }
        }
        // before 3.31 what users may not filter by is silently left out
        if !refused.is_empty() && ctx.microversion >= 31 {
            return Err(Error::invalid(format!("Invalid filters {:.200} are found in query options.", refused.join(","))));
        }
        Ok(out)
    }
}

/// Whether every project's rows are asked for.
pub fn all_tenants(filters: &[(String, String)]) -> bool {
    filters.iter().any(|(k, v)| k == "all_tenants" && matches!(v.to_ascii_lowercase().as_str(), "1" | "t" | "true" | "on" | "y" | "yes"))
}

fn condition(key: &str, value: &str, microversion: u16, out: &mut Vec<VolumeFilter>) -> Result<()> {
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
        "host" if value.contains('#') => equals("host"),
        "host" => equals("backend"),
        "migration_status" if value.is_empty() || value == "None" => VolumeFilter::IsNull("migration_status"),
        "migration_status" => equals("migration_status"),
        "size" => VolumeFilter::Equals("size_gib", Value::from(value.parse::<i64>().map_err(|_| bad(key, value))?)),
        "bootable" => VolumeFilter::Equals("bootable", Value::from(bootable(value, microversion)?)),
        "multiattach" | "consumes_quota" => {
            let column = if key == "multiattach" { "multiattach" } else { "consumes_quota" };
            VolumeFilter::Equals(column, Value::from(truth(value).ok_or_else(|| bad(key, value))?))
        }
        "created_at" | "updated_at" => return times(if key == "created_at" { "created_at" } else { "updated_at" }, value, out),
        "metadata" => {
            let pairs = dict_literal::parse(value).ok_or_else(|| bad(key, value))?;
            out.extend(pairs.into_iter().map(|(k, v)| VolumeFilter::Metadata(k, v)));
            return Ok(());
        }
        // columns that upstream has and that are always empty here: nothing matches
        _ => VolumeFilter::Never,
    });
    Ok(())
}

/// Before 3.2 any word but a false one is true.
fn bootable(value: &str, microversion: u16) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "t" | "true" | "1" => Ok(true),
        "f" | "false" | "0" => Ok(false),
        "off" | "no" | "n" if microversion < 2 => Ok(false),
        _ if microversion < 2 => Ok(true),
        _ => Err(bad("bootable", value)),
    }
}

fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "t" | "true" | "1" | "yes" | "y" | "on" => Some(true),
        "f" | "false" | "0" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// `gt:2026-08-21T12:00:00,lt:...`
fn times(column: &'static str, value: &str, out: &mut Vec<VolumeFilter>) -> Result<()> {
    for part in value.split(',') {
        let (op, at) = part.split_once(':').ok_or_else(|| bad(column, value))?;
        let op = match op.trim() {
            "gt" => ">",
            "gte" => ">=",
            "eq" => "=",
            "neq" => "<>",
            "lt" => "<",
            "lte" => "<=",
            _ => return Err(bad(column, value)),
        };
        let at = moment(at.trim()).ok_or_else(|| bad(column, value))?;
        out.push(VolumeFilter::Time(column, op, at));
    }
    Ok(())
}

/// A time in microseconds; without a zone it is UTC.
fn moment(text: &str) -> Option<i64> {
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.as_microsecond());
    }
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

fn bad(key: &str, value: &str) -> Error {
    Error::invalid(format!("Invalid value '{value:.120}' for filter '{key}'."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: &str, value: &str, microversion: u16) -> Result<Vec<VolumeFilter>> {
        let mut out = Vec::new();
        condition(key, value, microversion, &mut out).map(|()| out)
    }

    #[test]
    fn bootable_is_strict_from_3_2() {
        assert_eq!(one("bootable", "junk", 1).unwrap(), [VolumeFilter::Equals("bootable", Value::from(true))]);
        assert!(one("bootable", "junk", 2).is_err());
        assert_eq!(one("bootable", "False", 2).unwrap(), [VolumeFilter::Equals("bootable", Value::from(false))]);
    }

    #[test]
    fn times_take_operators_and_may_be_joined() {
        let found = one("created_at", "gt:2016-01-01T00:00:00,lte:2016-01-02T00:00:00Z", 60).unwrap();
        let day = 86_400_000_000;
        let first = 1_451_606_400_000_000;
        assert_eq!(found, [VolumeFilter::Time("created_at", ">", first), VolumeFilter::Time("created_at", "<=", first + day)]);
        for bad in ["2016-01-01", "gt:", "gt:yesterday", "near:2016-01-01T00:00:00", ""] {
            assert!(one("created_at", bad, 60).is_err(), "{bad:?}");
        }
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
    fn all_projects_needs_a_true_word() {
        let asked = |v: &str| all_tenants(&[("all_tenants".into(), v.into())]);
        assert!(asked("1") && asked("True") && !asked("0") && !asked(""));
    }
}
