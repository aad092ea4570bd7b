//! Reading pairs.

use sha2::{Digest, Sha256};

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    service::volume::load_for,
};

/// All pairs, by key.
///
/// # Errors
/// 404.
pub async fn all(app: &App, ctx: &RequestContext, volume_id: &str) -> Result<Vec<(String, String)>> {
    Ok(load_for(app, ctx, volume_id, "volume:get_volume_metadata").await?.metadata)
}

/// One value.
///
/// # Errors
/// 404 also for a key that is not there.
pub async fn one(app: &App, ctx: &RequestContext, volume_id: &str, key: &str) -> Result<String> {
    let pairs = all(app, ctx, volume_id).await?;
    pairs.into_iter().find(|(k, _)| k == key).map(|(_, v)| v).ok_or_else(|| no_such_key(volume_id, key))
}

pub(super) fn no_such_key(volume_id: &str, key: &str) -> Error {
    Error::not_found(format!("Volume {volume_id} has no metadata with key {key:.255}."))
}

/// The entity tag of a set of pairs: the same pairs give the same tag, in whatever order they were written.
pub fn etag(pairs: &[(String, String)]) -> String {
    let mut sorted: Vec<_> = pairs.iter().collect();
    sorted.sort();
    let mut hash = Sha256::new();
    for (key, value) in sorted {
        for text in [key, value] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        }
    }
    hex::encode(&hash.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_depends_on_the_pairs_and_not_on_their_order() {
        let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
        assert_eq!(etag(&[pair("a", "1"), pair("b", "2")]), etag(&[pair("b", "2"), pair("a", "1")]));
        assert_ne!(etag(&[pair("a", "1")]), etag(&[pair("a", "2")]));
        assert_ne!(etag(&[pair("ab", "c")]), etag(&[pair("a", "bc")]));
    }
}
