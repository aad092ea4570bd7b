//! Names and descriptions: trimmed, bounded.

use thiserror::Error;

/// The longest name or description, in characters.
pub const MAX: usize = 255;

/// Why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    #[error("{field} has {found} characters, more than {MAX}.")]
    TooLong { field: String, found: usize },
    #[error("{field} must not be empty.")]
    Empty { field: String },
    #[error("{field} contains a character that cannot be stored.")]
    Unstorable { field: String },
}

/// A trimmed text of at most [`MAX`] characters.
pub fn bounded(field: &str, text: &str) -> Result<String, TextError> {
    let text = text.trim();
    let found = text.chars().count();
    if found > MAX {
        return Err(TextError::TooLong { field: field.to_owned(), found });
    }
    // PostgreSQL cannot hold U+0000 in TEXT
    if text.contains('\0') {
        return Err(TextError::Unstorable { field: field.to_owned() });
    }
    Ok(text.to_owned())
}

/// As [`bounded`], and not empty once trimmed.
pub fn required(field: &str, text: &str) -> Result<String, TextError> {
    let text = bounded(field, text)?;
    if text.is_empty() { Err(TextError::Empty { field: field.to_owned() }) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_a_name_are_dropped() {
        assert_eq!(bounded("name", "  a b  ").as_deref(), Ok("a b"));
        assert_eq!(bounded("name", "   ").as_deref(), Ok(""));
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(bounded("name", &"卷".repeat(255)).is_ok());
        assert_eq!(bounded("name", &"卷".repeat(256)), Err(TextError::TooLong { field: "name".into(), found: 256 }));
    }

    #[test]
    fn a_required_name_of_blanks_is_empty() {
        assert_eq!(required("name", " "), Err(TextError::Empty { field: "name".into() }));
    }

    #[test]
    fn a_nul_is_refused() {
        assert!(bounded("name", "a\0b").is_err());
    }
}
