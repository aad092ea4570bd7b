//! What identity's words mean: scopes, names, ids. Pure.

use std::fmt;

/// The domain that always is.
pub const DEFAULT_DOMAIN: &str = "default";

/// The roles that always are, strongest first: `admin` implies `member` implies `reader`; `service` stands alone.
pub const ROLES: [&str; 4] = ["admin", "member", "reader", "service"];
/// Which role brings which.
pub const IMPLIED: [(&str, &str); 2] = [("admin", "member"), ("member", "reader")];

/// What a token or a role assignment is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    Project(String),
    Domain(String),
    System,
    /// Nothing yet: a token that may only be exchanged.
    None,
}

impl Scope {
    /// As the store keeps it: kind and target.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Project(id) => ("project", id),
            Self::Domain(id) => ("domain", id),
            Self::System => ("system", "all"),
            Self::None => ("none", ""),
        }
    }
    /// None for a kind that is not one of ours.
    pub fn from_parts(kind: &str, target: String) -> Option<Self> {
        match kind {
            "project" => Some(Self::Project(target)),
            "domain" => Some(Self::Domain(target)),
            "system" => Some(Self::System),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// Why a name is not usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadName {
    Blank,
    TooLong(usize),
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("must not be blank"),
            Self::TooLong(max) => write!(f, "must not be longer than {max} characters"),
        }
    }
}

/// A name that people give: some text, at most `max` characters.
///
/// # Errors
/// [`BadName`].
pub fn name(text: &str, max: usize) -> Result<&str, BadName> {
    match text.trim() {
        "" => Err(BadName::Blank),
        t if t.chars().count() > max => Err(BadName::TooLong(max)),
        _ => Ok(text),
    }
}

/// A new id: 32 hex digits, which is what the project segment of block and share URLs takes.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_survive_the_store() {
        for scope in [Scope::Project("p".into()), Scope::Domain("d".into()), Scope::System, Scope::None] {
            let (kind, target) = scope.parts();
            assert_eq!(Scope::from_parts(kind, target.to_owned()), Some(scope.clone()));
        }
        assert_eq!(Scope::from_parts("galaxy", String::new()), None);
    }
    #[test]
    fn names_are_neither_blank_nor_endless() {
        assert_eq!(name("  ", 10), Err(BadName::Blank));
        assert_eq!(name("ä".repeat(11).as_str(), 10), Err(BadName::TooLong(10)));
        assert_eq!(name("ä b", 10), Ok("ä b"));
    }
}
