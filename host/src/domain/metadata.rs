//! User metadata: keys of 1 to 255 characters, values of at most 255 (block) or 1023 (share), a bounded number of pairs.

use thiserror::Error;

use super::text::MAX;

/// Why a pair is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MetadataError {
    #[error("Invalid metadata: a metadata property key must not be blank.")]
    BlankKey,
    #[error("Invalid metadata size: the key {key:.40} has more than {MAX} characters.")]
    KeyTooLong { key: String },
    #[error("Invalid metadata: the key {key:.60} has characters other than letters, digits, blank and -_:./")]
    KeyAlphabet { key: String },
    #[error("Invalid metadata size: the value of {key:.60} has more than {MAX} characters.")]
    ValueTooLong { key: String },
    #[error("Invalid metadata: the value of {key:.60} contains a character that cannot be stored.")]
    Unstorable { key: String },
}

/// Checks one pair.
pub fn check(key: &str, value: &str) -> Result<(), MetadataError> {
    let owned = || key.to_owned();
    if key.trim().is_empty() {
        return Err(MetadataError::BlankKey);
    }
    if key.chars().count() > MAX {
        return Err(MetadataError::KeyTooLong { key: owned() });
    }
    if !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:. /".contains(&b)) {
        return Err(MetadataError::KeyAlphabet { key: owned() });
    }
    if value.chars().count() > MAX {
        return Err(MetadataError::ValueTooLong { key: owned() });
    }
    if value.contains('\0') {
        return Err(MetadataError::Unstorable { key: owned() });
    }
    Ok(())
}

/// Longest value on a share and on what belongs to it.
pub const MAX_SHARE_VALUE: usize = 1023;

/// Why a pair of a share's is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShareMetadataError {
    #[error("Metadata property key is blank.")]
    BlankKey,
    #[error("Metadata property key {key:.40} is greater than {MAX} characters.")]
    KeyTooLong { key: String },
    #[error("Metadata property value of {key:.60} is greater than {MAX_SHARE_VALUE} characters.")]
    ValueTooLong { key: String },
    #[error("Metadata property value of {key:.60} is blank.")]
    BlankValue { key: String },
    #[error("Metadata property {key:.60} contains a character that cannot be stored.")]
    Unstorable { key: String },
}

/// Checks one pair of a share, or of what belongs to it.
pub fn check_of_share(key: &str, value: &str) -> Result<(), ShareMetadataError> {
    let owned = || key.to_owned();
    if key.is_empty() {
        return Err(ShareMetadataError::BlankKey);
    }
    if key.chars().count() > MAX {
        return Err(ShareMetadataError::KeyTooLong { key: owned() });
    }
    if value.is_empty() {
        return Err(ShareMetadataError::BlankValue { key: owned() });
    }
    if value.chars().count() > MAX_SHARE_VALUE {
        return Err(ShareMetadataError::ValueTooLong { key: owned() });
    }
    if key.contains('\0') || value.contains('\0') {
        return Err(ShareMetadataError::Unstorable { key: owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shares_values_are_longer_and_its_keys_any_text() {
        assert_eq!(check_of_share("\u{43a}\u{43b}\u{44e}\u{447}", &"v".repeat(1023)), Ok(()));
        assert!(matches!(check_of_share("k", &"v".repeat(1024)), Err(ShareMetadataError::ValueTooLong { .. })));
        assert!(matches!(check_of_share(&"k".repeat(256), "v"), Err(ShareMetadataError::KeyTooLong { .. })));
        assert!(matches!(check_of_share("k", ""), Err(ShareMetadataError::BlankValue { .. })));
        assert_eq!(check_of_share("", "v"), Err(ShareMetadataError::BlankKey));
    }

    #[test]
    fn the_limits_are_inclusive() {
        assert_eq!(check(&"k".repeat(255), &"v".repeat(255)), Ok(()));
        assert!(matches!(check(&"k".repeat(256), "v"), Err(MetadataError::KeyTooLong { .. })));
        assert!(matches!(check("k", &"v".repeat(256)), Err(MetadataError::ValueTooLong { .. })));
    }

    #[test]
    fn keys_have_a_small_alphabet_values_do_not() {
        assert_eq!(check("cinder.csi.openstack.org/cluster", "кластер"), Ok(()));
        assert!(matches!(check("ключ", "v"), Err(MetadataError::KeyAlphabet { .. })));
        assert_eq!(check("", "v"), Err(MetadataError::BlankKey));
        assert_eq!(check("  ", "v"), Err(MetadataError::BlankKey));
    }
}
