//! What snapshots of shares may be filtered by, and how each value is read. Unknown keys are ignored.

use crate::{
    api::{filter::dictionary, paging, request::ApiRequest},
    error::{Error, Result},
    store::{bind::Value, sql::share_snapshot_list::ShareSnapshotFilter},
};

const PARTS_SINCE: u16 = 36;
const METADATA_SINCE: u16 = 73;

pub fn read(req: &ApiRequest) -> Result<Vec<ShareSnapshotFilter>> {
    let mut found = Vec::new();
    for (key, value) in paging::filters(req) {
        condition(key, value, req.ctx.microversion, &mut found)?;
    }
    Ok(found)
}

fn condition(key: &str, value: &str, minor: u16, out: &mut Vec<ShareSnapshotFilter>) -> Result<()> {
    let equals = |column| ShareSnapshotFilter::Equals(column, Value::from(value));
    out.push(match key {
        "name" | "display_name" => equals("n.name"),
        "name~" | "display_name~" if minor >= PARTS_SINCE => ShareSnapshotFilter::Contains("name", value.to_owned()),
        "description" | "display_description" if minor >= PARTS_SINCE => equals("n.description"),
        "description~" | "display_description~" if minor >= PARTS_SINCE => ShareSnapshotFilter::Contains("description", value.to_owned()),
        "status" => equals("n.status"),
        "id" => equals("n.id"),
        "share_id" => equals("n.share_id"),
        "project_id" => equals("n.project_id"),
        "user_id" => equals("n.user_id"),
        "size" => {
            let gib: i64 = value.trim().parse().map_err(|_| Error::invalid(format!("Invalid value '{value:.64}' for filter 'size'.")))?;
            ShareSnapshotFilter::Equals("n.size_gib", Value::from(gib))
        }
        "usage" => match value {
            "used" => ShareSnapshotFilter::Used(true),
            "unused" => ShareSnapshotFilter::Used(false),
            "any" => return Ok(()),
            _ => return Err(Error::invalid(format!("Invalid value '{value:.64}' for filter 'usage'."))),
        },
        "metadata" if minor >= METADATA_SINCE => {
            out.extend(dictionary(key, value)?.into_iter().map(|(k, v)| ShareSnapshotFilter::Metadata(k, v)));
            return Ok(());
        }
        _ => return Ok(()),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(key: &str, value: &str, minor: u16) -> Result<Vec<ShareSnapshotFilter>> {
        let mut out = Vec::new();
        condition(key, value, minor, &mut out).map(|()| out)
    }

    #[test]
    fn filters_come_with_their_version_and_unknown_ones_are_ignored() {
        for (key, value, since) in [("name~", "x", 36), ("description", "x", 36), ("metadata", "{'a': 'b'}", 73)] {
            assert_eq!(one(key, value, since - 1).unwrap(), [], "{key}");
            assert_eq!(one(key, value, since).unwrap().len(), 1, "{key}");
        }
        assert_eq!(one("color", "red", 99).unwrap(), []);
    }

    #[test]
    fn a_size_is_a_number_and_a_usage_one_of_three_words() {
        assert!(one("size", "big", 0).is_err() && one("usage", "sometimes", 0).is_err());
        assert_eq!(one("usage", "any", 0).unwrap(), []);
        assert_eq!(one("usage", "unused", 0).unwrap(), [ShareSnapshotFilter::Used(false)]);
    }
}
