//! Names of places: `host@backend#pool`, of which the back end's part is the name before `#`.

/// The back end that a place is on. A name without a pool is the back end's own.
pub fn backend_of(place: &str) -> &str {
    place.split_once('#').map_or(place, |(backend, _)| backend)
}

/// The pool; empty where the name has none.
pub fn pool_of(place: &str) -> &str {
    place.split_once('#').map_or("", |(_, pool)| pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_back_end_and_perhaps_a_pool() {
        assert_eq!((backend_of("h@b#p"), pool_of("h@b#p")), ("h@b", "p"));
        assert_eq!((backend_of("h@b"), pool_of("h@b")), ("h@b", ""));
        assert_eq!((backend_of("h@b#p#q"), pool_of("h@b#p#q")), ("h@b", "p#q"));
    }
}
