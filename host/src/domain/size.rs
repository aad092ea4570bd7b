//! Sizes in GiB: whole, at least 1, at most what the wire's 32 bits hold.

/// The largest size.
pub const MAX_GIB: i64 = i32::MAX as i64;

/// A size from its digits; none for anything but a whole number from 1 to [`MAX_GIB`].
pub fn parse(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|n| fits(*n))
}

/// Whether a number is a size.
pub fn fits(gib: i64) -> bool {
    (1..=MAX_GIB).contains(&gib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_from_one_up() {
        assert_eq!(parse("1"), Some(1));
        assert_eq!(parse("0010"), Some(10));
        assert_eq!(parse("2147483647"), Some(MAX_GIB));
        for bad in ["", "0", "-1", "+1", "1.5", "1e3", "ten", "2147483648", "99999999999999999999", " 1", "١"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
