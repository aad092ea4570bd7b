//! What a volume type's extra specs mean to the block service itself.

/// The extra spec that makes a type's volumes multi-attach.
pub const MULTIATTACH: &str = "multiattach";
/// The one spelling that does so.
pub const IS_TRUE: &str = "<is> True";
/// The name of the type made at first start and used when nobody names another.
pub const DEFAULT_TYPE_NAME: &str = "__DEFAULT__";
/// Allowed zones, comma separated.
pub const ZONES: &str = "RESKEY:availability_zones";

/// Specs that ordinary users may read; all others are the operator's.
pub const USER_VISIBLE_SPECS: &[&str] = &[ZONES, MULTIATTACH, "replication_enabled"];

/// Whether a type with these specs makes multi-attach volumes: exactly `<is> True`, no other spelling.
pub fn is_multiattach<'a>(specs: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
    specs.into_iter().any(|(k, v)| k == MULTIATTACH && v == IS_TRUE)
}

/// A cache on the consumer's side and several consumers exclude each other.
pub fn cacheable_clashes<'a>(specs: impl IntoIterator<Item = (&'a str, &'a str)> + Clone) -> bool {
    is_multiattach(specs.clone()) && specs.into_iter().any(|(k, v)| k == "cacheable" && v == IS_TRUE)
}

/// The zones a type is confined to; none for no limit.
pub fn zones(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|z| !z.is_empty()).map(str::to_owned).collect()
}

/// Whether a key may be an extra spec's: letters, digits and `-_:. `, 1 to 255 of them.
pub fn spec_key_fits(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:. ".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_spelling_makes_a_type_multiattach() {
        assert!(is_multiattach([("multiattach", "<is> True")]));
        for other in ["<is> true", "True", "<is>True", "", " <is> True"] {
            assert!(!is_multiattach([("multiattach", other)]), "{other:?}");
        }
        assert!(!is_multiattach([("capabilities:multiattach", "<is> True")]));
    }

    #[test]
    fn a_client_cache_and_multiattach_exclude_each_other() {
        assert!(cacheable_clashes([("multiattach", "<is> True"), ("cacheable", "<is> True")]));
        assert!(!cacheable_clashes([("multiattach", "<is> False"), ("cacheable", "<is> True")]));
        assert!(!cacheable_clashes([("multiattach", "<is> True")]));
    }

    #[test]
    fn spec_keys_have_a_small_alphabet() {
        assert!(spec_key_fits("RESKEY:availability_zones") && spec_key_fits("a b.c-d"));
        assert!(!spec_key_fits("") && !spec_key_fits("ключ") && !spec_key_fits("a/b") && !spec_key_fits(&"k".repeat(256)));
    }

    #[test]
    fn zones_are_trimmed_and_blanks_dropped() {
        assert_eq!(zones(" az1, ,az2 "), ["az1", "az2"]);
        assert!(zones("").is_empty());
    }
}
