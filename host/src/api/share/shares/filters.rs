//! What shares may be filtered by, and how each value is read. Unknown keys are ignored.

use crate::{
    api::{filter::dictionary, paging, request::ApiRequest},
    error::Result,
    store::{bind::Value, sql::share_list::ShareFilter},
};

/// The query's conditions, and the policies that they need.
#[derive(Debug, Default, PartialEq)]
pub struct Filters {
    pub conditions: Vec<ShareFilter>,
    pub needs: Vec<&'static str>,
}

pub fn read(req: &ApiRequest) -> Result<Filters> {
    let mut found = Filters::default();
    for (key, value) in paging::filters(req) {
        condition(key, value, req.ctx.microversion, &mut found)?;
    }
    Ok(found)
}

/// Those about locations, which lists of instances have, too.
pub fn location_filters(req: &ApiRequest) -> Vec<ShareFilter> {
    paging::filters(req).filter_map(|(key, value)| location(key, value, req.ctx.microversion)).collect()
}

fn location(key: &str, value: &str, minor: u16) -> Option<ShareFilter> {
    match key {
        "export_location_id" if minor >= 35 => Some(ShareFilter::LocationId(value.to_owned())),
        "export_location_path" if minor >= 35 => Some(ShareFilter::LocationPath(value.to_owned())),
        _ => None,
    }
}

fn condition(key: &str, value: &str, minor: u16, out: &mut Filters) -> Result<()> {
    if let Some(filter) = location(key, value, minor) {
        out.conditions.push(filter);
        return Ok(());
    }
    let equals = |column| ShareFilter::Equals(column, Value::from(value));
    out.conditions.push(match key {
        "name" | "display_name" => equals("s.name"),
        "name~" | "display_name~" if minor >= 36 => ShareFilter::Contains("name", value.to_owned()),
        "description" | "display_description" if minor >= 36 => equals("s.description"),
        "description~" | "display_description~" if minor >= 36 => ShareFilter::Contains("description", value.to_owned()),
        "status" => equals("s.status"),
        "id" => equals("s.id"),
        "share_type_id" => equals("s.share_type_id"),
        "share_network_id" => equals("s.share_network_id"),
        "snapshot_id" => equals("s.snapshot_id"),
        "project_id" => equals("s.project_id"),
        "user_id" => equals("s.user_id"),
        "share_proto" => ShareFilter::Equals("s.share_proto", Value::from(value.to_ascii_uppercase().as_str())),
        "mount_point_name" if minor >= 84 => equals("s.mount_point_name"),
        "availability_zone" if minor >= 97 => equals("i.availability_zone"),
        "share_group_id" if minor >= 31 => ShareFilter::Never,
        "encryption_key_ref" if minor >= 90 => ShareFilter::Never,
        "host" => {
            out.needs.push("share:list_by_host");
            equals(if value.contains('#') { "i.host" } else { "i.backend" })
        }
        "share_server_id" => {
            out.needs.push("share:list_by_share_server_id");
            equals("i.share_server_id")
        }
        "metadata" => {
            out.conditions.extend(dictionary(key, value)?.into_iter().map(|(k, v)| ShareFilter::Metadata(k, v)));
            return Ok(());
        }
        "extra_specs" => {
            out.needs.push("share_types_extra_spec:index");
            out.conditions.extend(dictionary(key, value)?.into_iter().map(|(k, v)| ShareFilter::ExtraSpec(k, v)));
            return Ok(());
        }
        _ => return Ok(()),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: &str, value: &str, minor: u16) -> Filters {
        let mut out = Filters::default();
        condition(key, value, minor, &mut out).unwrap();
        out
    }

    #[test]
    fn what_is_not_known_yet_is_ignored() {
        for (key, since) in
            [("name~", 36), ("description", 36), ("export_location_id", 35), ("availability_zone", 97), ("mount_point_name", 84)]
        {
            assert_eq!(one(key, "x", since - 1), Filters::default(), "{key}");
            assert_eq!(one(key, "x", since).conditions.len(), 1, "{key}");
        }
        assert_eq!(one("color", "red", 99), Filters::default());
    }

    #[test]
    fn what_shows_the_operators_side_needs_a_policy() {
        assert_eq!(one("host", "h@b#p", 0).needs, ["share:list_by_host"]);
        assert_eq!(one("share_server_id", "x", 0).needs, ["share:list_by_share_server_id"]);
        assert_eq!(one("extra_specs", "{'a': 'b'}", 0).needs, ["share_types_extra_spec:index"]);
        assert_eq!(one("host", "h@b", 0).conditions, [ShareFilter::Equals("i.backend", Value::from("h@b"))]);
    }
}
