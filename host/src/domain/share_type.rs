//! What a share type's extra specs mean to the share service itself.

/// The one spec every type has.
pub const HANDLES_SERVERS: &str = "driver_handles_share_servers";
pub const SNAPSHOT_SUPPORT: &str = "snapshot_support";
pub const CREATE_FROM_SNAPSHOT: &str = "create_share_from_snapshot_support";
pub const REVERT_TO_SNAPSHOT: &str = "revert_to_snapshot_support";
pub const MOUNT_SNAPSHOT: &str = "mount_snapshot_support";
pub const MOUNT_POINT_NAME: &str = "mount_point_name_support";
pub const INHERIT_ACCESS: &str = "snapshot_inherit_share_access_support";
pub const REPLICATION_TYPE: &str = "replication_type";
/// Allowed zones, comma separated.
pub const ZONES: &str = "availability_zones";
pub const MIN_SIZE: &str = "provisioning:min_share_size";
pub const MAX_SIZE: &str = "provisioning:max_share_size";
pub const MAX_EXTEND_SIZE: &str = "provisioning:max_share_extend_size";
pub const MOUNT_POINT_PREFIX: &str = "provisioning:mount_point_prefix";
const ENCRYPTION: &str = "encryption_support";
const QOS_TYPE: &str = "default_qos_type";

/// The name of the type made at the first start.
pub const DEFAULT_TYPE_NAME: &str = "default";

/// Specs that ordinary users may read; all others are the operator's.
pub const USER_VISIBLE_SPECS: &[&str] = &[
    HANDLES_SERVERS,
    SNAPSHOT_SUPPORT,
    CREATE_FROM_SNAPSHOT,
    REVERT_TO_SNAPSHOT,
    REPLICATION_TYPE,
    MOUNT_SNAPSHOT,
    MOUNT_POINT_NAME,
    INHERIT_ACCESS,
    ZONES,
    ENCRYPTION,
    MAX_SIZE,
    MIN_SIZE,
    MAX_EXTEND_SIZE,
    MOUNT_POINT_PREFIX,
    QOS_TYPE,
];

/// What a type that does not say does not have; from 2.24 users read it as false. The last is shown from 2.99.
pub const FALSE_UNLESS_SAID: &[(&str, u16)] =
    &[(SNAPSHOT_SUPPORT, 24), (CREATE_FROM_SNAPSHOT, 24), (REVERT_TO_SNAPSHOT, 24), (MOUNT_SNAPSHOT, 24), (INHERIT_ACCESS, 99)];

/// A yes or no, with or without `<is>` in front. None for anything else.
pub fn boolean(value: &str) -> Option<bool> {
    let text = value.trim();
    let word = text.strip_prefix("<is>").map_or(text, str::trim);
    match word.to_ascii_lowercase().as_str() {
        "1" | "t" | "true" | "on" | "y" | "yes" => Some(true),
        "0" | "f" | "false" | "off" | "n" | "no" => Some(false),
        _ => None,
    }
}

/// Whether the spec of this name may have this value: those the service itself reads have rules.
pub fn value_fits(key: &str, value: &str) -> bool {
    match key {
        // without an operator: it is shown and compared as a plain word
        HANDLES_SERVERS => !value.trim_start().starts_with('<') && boolean(value).is_some(),
        SNAPSHOT_SUPPORT | CREATE_FROM_SNAPSHOT | REVERT_TO_SNAPSHOT | MOUNT_SNAPSHOT | MOUNT_POINT_NAME | INHERIT_ACCESS => {
            boolean(value).is_some()
        }
        REPLICATION_TYPE => ["writable", "readable", "dr"].contains(&value),
        ENCRYPTION => ["share", "share_server"].contains(&value),
        ZONES => value.split(',').all(|zone| !zone.trim().is_empty()),
        MIN_SIZE | MAX_SIZE | MAX_EXTEND_SIZE => super::size::parse(value.trim()).is_some(),
        _ => true,
    }
}

/// The value as it is kept: zones without blanks around them.
pub fn tidied(key: &str, value: &str) -> String {
    if key == ZONES { zones(value).join(",") } else { value.to_owned() }
}

/// The zones of a list; none for no limit.
pub fn zones(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|z| !z.is_empty()).map(str::to_owned).collect()
}

/// What a share takes over from its type when it is made, whatever becomes of the type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    pub snapshot_support: bool,
    pub create_share_from_snapshot_support: bool,
    pub revert_to_snapshot_support: bool,
    pub mount_snapshot_support: bool,
    pub snapshot_inherit_share_access_support: bool,
    pub replication_type: Option<String>,
}

impl Attributes {
    pub fn of<'a>(spec: impl Fn(&str) -> Option<&'a str>) -> Self {
        let yes = |key| spec(key).and_then(boolean).unwrap_or(false);
        Self {
            snapshot_support: yes(SNAPSHOT_SUPPORT),
            create_share_from_snapshot_support: yes(CREATE_FROM_SNAPSHOT),
            revert_to_snapshot_support: yes(REVERT_TO_SNAPSHOT),
            mount_snapshot_support: yes(MOUNT_SNAPSHOT),
            snapshot_inherit_share_access_support: yes(INHERIT_ACCESS),
            replication_type: spec(REPLICATION_TYPE).map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boolean_spec_may_have_the_operator_but_the_required_one_may_not() {
        for good in ["True", "<is> True", "<is>false", "no", "0"] {
            assert!(value_fits(SNAPSHOT_SUPPORT, good), "{good}");
        }
        assert!(!value_fits(SNAPSHOT_SUPPORT, "maybe") && !value_fits(HANDLES_SERVERS, "<is> True") && value_fits(HANDLES_SERVERS, "True"));
    }

    #[test]
    fn sizes_zones_and_replication_have_rules_and_other_specs_do_not() {
        assert!(value_fits(MAX_SIZE, "5") && !value_fits(MAX_SIZE, "0") && !value_fits(MIN_SIZE, "many"));
        assert!(value_fits(ZONES, "a, b") && !value_fits(ZONES, "a,,b") && !value_fits(ZONES, ""));
        assert!(value_fits(REPLICATION_TYPE, "dr") && !value_fits(REPLICATION_TYPE, "sometimes"));
        assert!(value_fits("anything", "at all"));
        assert_eq!(tidied(ZONES, " a , b"), "a,b");
    }

    #[test]
    fn a_share_takes_over_what_its_type_says_and_nothing_else() {
        let specs = [(SNAPSHOT_SUPPORT, "<is> True"), (REPLICATION_TYPE, "dr")];
        let found = Attributes::of(|key| specs.iter().find(|(k, _)| *k == key).map(|(_, v)| *v));
        let wanted = Attributes { snapshot_support: true, replication_type: Some("dr".into()), ..Attributes::default() };
        assert_eq!(found, wanted);
    }
}
