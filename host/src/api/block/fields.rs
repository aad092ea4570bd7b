//! The one table of a volume's fields: name, first microversion, who sees it, in which answers, and its value.
//!
//! Views are rendered from it, rows of a page once and without a tree in between; the OpenAPI document and the key-set
//! tests read it, too.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use crate::{
    clock::{Micros, api_text},
    domain::{shared_targets, volume::shown_status},
    store::sql::volume_list::Volume,
};

/// In which answers a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Create and update.
    Changed,
    /// Show and the detailed list.
    Shown,
}

/// Whether the caller sees a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Anybody,
    /// Plain `role:admin`.
    Admin,
    /// Whoever this policy permits.
    Policy(&'static str),
}

/// One field.
pub struct Field {
    pub name: &'static str,
    /// First minor microversion that has it.
    pub since: u16,
    pub who: Who,
    /// Absent from create and update answers.
    pub shown_only: bool,
    value: for<'a> fn(&'a Volume, &'a Look) -> FieldValue<'a>,
}

/// What a view knows beside the volume.
#[derive(Debug, Clone)]
pub struct Look {
    pub microversion: u16,
    /// `http://host:port/v3[/project]`.
    pub base_url: String,
    /// The same without the version: where bookmarks point.
    pub bookmark_url: String,
    /// `host_name` of attachments is for admins and services.
    pub sees_hosts: bool,
}

/// A value on its way into the answer.
pub enum FieldValue<'a> {
    Null,
    /// The field is left out.
    Absent,
    Text(&'a str),
    Bool(bool),
    Int(i64),
    Time(Option<Micros>),
    /// The users' pairs, and the flag that attachments may only read.
    Metadata(&'a Volume),
    Links {
        id: &'a str,
        look: &'a Look,
    },
    Attachments {
        volume: &'a Volume,
        hosts: bool,
    },
}

/// Every field of a volume, in the order of the answer.
pub static VOLUME: &[Field] = &[
    field("id", |v, _| FieldValue::Text(&v.row.id)),
    field("status", |v, _| FieldValue::Text(shown_status(&v.row.status))),
    field("size", |v, _| FieldValue::Int(v.row.size_gib)),
    field("availability_zone", |v, _| FieldValue::Text(&v.row.availability_zone)),
    field("created_at", |v, _| FieldValue::Time(Some(v.row.created_at))),
    field("updated_at", |v, _| FieldValue::Time(v.row.updated_at)),
    field("name", |v, _| opt(v.row.name.as_deref())),
    field("description", |v, _| opt(v.row.description.as_deref())),
    field("volume_type", |v, _| FieldValue::Text(&v.row.type_name)),
    field("snapshot_id", |v, _| opt(v.row.snapshot_id.as_deref())),
    field("source_volid", |v, _| opt(v.row.source_volid.as_deref())),
    field("metadata", |v, _| FieldValue::Metadata(v)),
    field("links", |v, look| FieldValue::Links { id: &v.row.id, look }),
    field("user_id", |v, _| FieldValue::Text(&v.row.user_id)),
    field("bootable", |v, _| FieldValue::Text(if v.row.bootable { "true" } else { "false" })),
    field("encrypted", |_, _| FieldValue::Bool(false)),
    field("replication_status", |v, _| v.row.replication_status.as_deref().map_or(FieldValue::Null, FieldValue::Text)),
    field("consistencygroup_id", |_, _| FieldValue::Null),
    field("multiattach", |v, _| FieldValue::Bool(v.row.multiattach)),
    field("attachments", |v, look| FieldValue::Attachments { volume: v, hosts: look.sees_hosts }),
    field("migration_status", |v, _| opt(v.row.migration_status.as_deref())).who(Who::Admin),
    field("os-vol-host-attr:host", |v, _| opt(v.row.host.as_deref()))
        .who(Who::Policy("volume_extension:volume_host_attribute"))
        .shown_only(),
    field("os-vol-mig-status-attr:migstat", |v, _| opt(v.row.migration_status.as_deref()))
        .who(Who::Policy("volume_extension:volume_mig_status_attribute"))
        .shown_only(),
    field("os-vol-mig-status-attr:name_id", |v, _| opt(v.row.name_id.as_deref()))
        .who(Who::Policy("volume_extension:volume_mig_status_attribute"))
        .shown_only(),
    field("os-vol-tenant-attr:tenant_id", |v, _| FieldValue::Text(&v.row.project_id))
        .who(Who::Policy("volume_extension:volume_tenant_attribute"))
        .shown_only(),
    field("group_id", |_, _| FieldValue::Null).since(13),
    field("provider_id", |v, _| opt(v.row.provider_id.as_deref())).since(21).who(Who::Admin),
    field("shared_targets", |v, look| {
        shared_targets::shown(v.row.shared_targets, look.microversion).map_or(FieldValue::Null, FieldValue::Bool)
    })
    .since(48),
    field("service_uuid", |v, _| opt(v.row.service_uuid.as_deref())).since(48),
    field(BACKEND_NAME, |v, _| opt(v.row.backend_name.as_deref())).since(48),
    field("cluster_name", |_, _| FieldValue::Null).since(61).who(Who::Admin),
    field("volume_type_id", |v, _| FieldValue::Text(&v.row.volume_type_id)).since(63),
    field("encryption_key_id", |_, _| FieldValue::Absent).since(64),
    field("consumes_quota", |v, _| FieldValue::Bool(v.row.consumes_quota)).since(65),
];

/// The pair of metadata that `os-update_readonly_flag` sets; it hides one of the users' with this key.
const READONLY: &str = "readonly";

/// The field that no upstream schema knows; the operator may leave it out.
pub const BACKEND_NAME: &str = "backend_name";

const fn field(name: &'static str, value: for<'a> fn(&'a Volume, &'a Look) -> FieldValue<'a>) -> Field {
    Field { name, since: 0, who: Who::Anybody, shown_only: false, value }
}

impl Field {
    const fn since(mut self, minor: u16) -> Self {
        self.since = minor;
        self
    }
    const fn who(mut self, who: Who) -> Self {
        self.who = who;
        self
    }
    const fn shown_only(mut self) -> Self {
        self.shown_only = true;
        self
    }
}

fn opt(text: Option<&str>) -> FieldValue<'_> {
    text.map_or(FieldValue::Null, FieldValue::Text)
}

/// The fields of one answer, chosen once for all its rows.
pub fn visible(microversion: u16, surface: Surface, permits: impl Fn(Who) -> bool, backend_name: bool) -> Vec<&'static Field> {
    VOLUME
        .iter()
        .filter(|f| f.since <= microversion && (surface == Surface::Shown || !f.shown_only))
        .filter(|f| backend_name || f.name != BACKEND_NAME)
        .filter(|f| permits(f.who))
        .collect()
}

/// A volume as one answer shows it.
pub struct VolumeView<'a> {
    pub volume: &'a Volume,
    pub fields: &'a [&'static Field],
    pub look: &'a Look,
}

impl Serialize for VolumeView<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        for field in self.fields {
            match (field.value)(self.volume, self.look) {
                FieldValue::Absent => {}
                value => map.serialize_entry(field.name, &value)?,
            }
        }
        map.end()
    }
}

/// A volume in the short list.
pub struct VolumeSummary<'a> {
    pub volume: &'a Volume,
    pub look: &'a Look,
}

impl Serialize for VolumeSummary<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(3))?;
        map.serialize_entry("id", &self.volume.row.id)?;
        map.serialize_entry("name", &self.volume.row.name)?;
        map.serialize_entry("links", &FieldValue::Links { id: &self.volume.row.id, look: self.look })?;
        map.end()
    }
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null | Self::Absent | Self::Time(None) => s.serialize_none(),
            Self::Text(t) => s.serialize_str(t),
            Self::Bool(b) => s.serialize_bool(*b),
            Self::Int(n) => s.serialize_i64(*n),
            Self::Time(Some(at)) => s.serialize_str(&api_text(*at)),
            Self::Metadata(volume) => {
                let flag = volume.row.readonly.map(|readonly| (READONLY, if readonly { "True" } else { "False" }));
                let pairs = volume.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str()));
                s.collect_map(pairs.filter(|(key, _)| flag.is_none() || *key != READONLY).chain(flag))
            }
            Self::Links { id, look } => {
                let mut seq = s.serialize_seq(Some(2))?;
                seq.serialize_element(&Link { rel: "self", href: format!("{}/volumes/{id}", look.base_url) })?;
                seq.serialize_element(&Link { rel: "bookmark", href: format!("{}/volumes/{id}", look.bookmark_url) })?;
                seq.end()
            }
            Self::Attachments { volume, hosts } => {
                let mut seq = s.serialize_seq(None)?;
                for a in volume.attachments.iter().filter(|a| a.status == "attached") {
                    seq.serialize_element(&InVolume {
                        id: &volume.row.id,
                        attachment_id: &a.id,
                        volume_id: &volume.row.id,
                        server_id: a.instance_id.as_deref(),
                        host_name: a.attached_host.as_deref().or(a.connector_host.as_deref()).filter(|_| *hosts),
                        device: a.mountpoint.as_deref(),
                        attached_at: a.attached_at.map(api_text),
                    })?;
                }
                seq.end()
            }
        }
    }
}

/// A link in a body.
#[derive(Debug, Serialize)]
pub struct Link {
    pub rel: &'static str,
    pub href: String,
}

/// An attachment inside a volume; its `id` is the volume's, as ever.
#[derive(Serialize)]
struct InVolume<'a> {
    id: &'a str,
    attachment_id: &'a str,
    volume_id: &'a str,
    server_id: Option<&'a str>,
    host_name: Option<&'a str>,
    device: Option<&'a str>,
    attached_at: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(microversion: u16, surface: Surface, admin: bool) -> Vec<&'static str> {
        let permits = |who| match who {
            Who::Anybody => true,
            Who::Admin => admin,
            Who::Policy(p) => admin || p == "volume_extension:volume_tenant_attribute",
        };
        visible(microversion, surface, permits, true).into_iter().map(|f| f.name).collect()
    }

    #[test]
    fn every_field_stands_in_the_table_once() {
        let mut seen = std::collections::HashSet::new();
        for f in VOLUME {
            assert!(seen.insert(f.name), "{}", f.name);
        }
    }

    #[test]
    fn a_member_sees_twenty_one_fields_at_3_0() {
        let shown = names(0, Surface::Shown, false);
        assert_eq!(shown.len(), 21, "{shown:?}");
        assert!(
            shown.contains(&"os-vol-tenant-attr:tenant_id")
                && !shown.contains(&"migration_status")
                && !shown.contains(&"os-vol-host-attr:host")
        );
        let changed = names(0, Surface::Changed, false);
        assert_eq!(changed.len(), 20, "{changed:?}");
    }

    #[test]
    fn fields_appear_at_their_microversion() {
        for (field, since) in [
            ("group_id", 13),
            ("shared_targets", 48),
            ("service_uuid", 48),
            ("backend_name", 48),
            ("volume_type_id", 63),
            ("consumes_quota", 65),
        ] {
            assert!(!names(since - 1, Surface::Shown, false).contains(&field), "{field}");
            assert!(names(since, Surface::Shown, false).contains(&field), "{field}");
            assert!(names(since, Surface::Changed, false).contains(&field), "{field}");
        }
        for (field, since) in [("provider_id", 21), ("cluster_name", 61)] {
            assert!(
                !names(since - 1, Surface::Shown, true).contains(&field) && names(since, Surface::Shown, true).contains(&field),
                "{field}"
            );
            assert!(!names(since, Surface::Shown, false).contains(&field), "{field}");
        }
    }

    #[test]
    fn the_operator_may_leave_the_own_field_out() {
        assert!(!visible(71, Surface::Shown, |_| true, false).iter().any(|f| f.name == BACKEND_NAME));
    }
}
