//! The size of what a driver took over.

use crate::{
    domain::size,
    driver::{DriverError, DriverResult, types::Adopted},
};

/// The size in GiB, and what the driver says beside it. `what` names it in the refusal of a size that none of ours can have.
pub fn sized<U>(what: &str, adopted: Adopted<U>) -> DriverResult<(i64, U)> {
    match i64::try_from(adopted.size_gib).ok().filter(|gib| (1..=size::MAX_GIB).contains(gib)) {
        Some(gib) => Ok((gib, adopted.update)),
        None => Err(DriverError::wrong_answer(format!("a {what} of {} GiB was taken over", adopted.size_gib))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::ErrorKind;

    #[test]
    fn a_size_that_none_of_ours_can_have_is_a_wrong_answer() {
        let of = |size_gib| sized("share", Adopted { size_gib, update: () });
        assert_eq!(of(3).unwrap(), (3, ()));
        for size in [0, u64::MAX, u64::try_from(size::MAX_GIB).unwrap() + 1] {
            assert_eq!(of(size).unwrap_err().kind, ErrorKind::WrongAnswer, "{size}");
        }
    }
}
