//! A back end's secrets by the names of their options. They leave this type only into an outgoing request.

use std::{collections::BTreeMap, fmt};

/// Secrets of one back end. `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
    /// `text` with every secret of at least four bytes blotted out: what a driver wants to have logged may hold one that
    /// the array sent back.
    pub fn redact(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in self.0.values().filter(|s| s.len() >= 4) {
            if out.contains(secret.as_str()) {
                out = out.replace(secret.as_str(), "***");
            }
        }
        out
    }
}

impl FromIterator<(String, String)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
