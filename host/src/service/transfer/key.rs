//! The key of a volume transfer: shown once, kept as a salted hash, compared in constant time.
//!
//! It is 128 random bits, so a fast hash is enough: nobody guesses it, and nobody who reads the database learns it.

use rand::RngCore as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Random bytes of key and salt.
const BYTES: usize = 16;

/// A new key with what is kept of it. It has no `Debug`: it stands in one answer and nowhere else.
pub struct NewKey {
    pub key: String,
    pub kept: Kept,
}

/// What is kept of a key.
#[derive(Clone, PartialEq, Eq)]
pub struct Kept {
    pub salt: String,
    pub hash: String,
}

impl NewKey {
    /// A key of characters that anybody can type.
    pub fn random() -> Self {
        let (key, salt) = (random(), random());
        let hash = hash(&salt, &key);
        Self { key, kept: Kept { salt, hash } }
    }
}

impl Kept {
    /// Whether this is the key. Takes the same time whatever the difference is.
    pub fn is_of(&self, key: &str) -> bool {
        hash(&self.salt, key).as_bytes().ct_eq(self.hash.as_bytes()).into()
    }
}

fn random() -> String {
    let mut bytes = [0; BYTES];
    rand::rng().fill_bytes(&mut bytes);
    hex::encode(bytes)
}

fn hash(salt: &str, key: &str) -> String {
    // the salt has one length, so that the two cannot be cut elsewhere
    hex::encode(Sha256::new().chain_update(salt).chain_update(key).finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_key_fits_and_nothing_of_it_is_kept() {
        let (one, other) = (NewKey::random(), NewKey::random());
        assert!(one.kept.is_of(&one.key) && !one.kept.is_of(&other.key));
        assert!(!one.kept.is_of("") && !one.kept.is_of(&one.kept.hash) && !one.kept.is_of(&format!("{} ", one.key)));
        assert!(!one.kept.hash.contains(&one.key) && !one.kept.salt.contains(&one.key));
    }

    #[test]
    fn the_same_key_is_kept_in_another_way_each_time() {
        let key = NewKey::random().key;
        assert_ne!(hash(&random(), &key), hash(&random(), &key));
    }
}
