//! How often a failed driver call is repeated on the same back end before the task decides otherwise, and how many pools are
//! tried for one object.
//!
//! Which failures are worth repeating, and which worth another pool, is said with the failures: `driver::error`. What a run knows
//! of the runs before it is `tried`; pools that were given up are left out by the scheduler's filter `attempted`.

use std::time::Duration;

use crate::{
    app::App,
    driver::{DriverError, ErrorKind},
    jobs::backoff,
};

/// Most pools that are tried for one object, the first among them.
pub fn most_pools(app: &App) -> usize {
    app.config.get().scheduler.max_attempts as usize
}

/// Whether, and when, the same call on the same back end is tried again after its `failures`-th failure in a row.
/// None: it is not.
pub fn again(error: &DriverError, failures: u32) -> Option<Duration> {
    if !error.worth_repeating() {
        return None;
    }
    let (most, wait) = match error.kind {
        // a restart or a reload is under way: the back end is back in seconds
        ErrorKind::NotLoaded => (30, Duration::from_secs(2)),
        ErrorKind::Quarantined => (6, Duration::from_secs(5)),
        ErrorKind::Busy => (4, backoff(i64::from(failures))),
        _ => (3, backoff(i64::from(failures))),
    };
    (failures < most).then(|| error.retry_after.unwrap_or(wait).min(Duration::from_secs(60)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_not_repeated() {
        for kind in [ErrorKind::Invalid, ErrorKind::Exhausted, ErrorKind::Unsupported, ErrorKind::Auth, ErrorKind::NotImplemented] {
            assert_eq!(again(&DriverError::new(kind, ""), 1), None, "{kind:?}");
        }
    }

    #[test]
    fn what_may_have_happened_is_repeated_a_few_times() {
        for kind in [ErrorKind::Transient, ErrorKind::Deadline, ErrorKind::Trap, ErrorKind::WrongAnswer] {
            let error = DriverError::new(kind, "");
            assert!(again(&error, 1).is_some() && again(&error, 2).is_some() && again(&error, 3).is_none(), "{kind:?}");
        }
    }

    #[test]
    fn a_reload_is_waited_for_longer_than_a_fault() {
        assert!(again(&DriverError::not_loaded("h@b"), 20).is_some());
        assert!(again(&DriverError::not_loaded("h@b"), 30).is_none());
    }

    #[test]
    fn the_arrays_own_wish_is_followed_within_reason() {
        let mut error = DriverError::new(ErrorKind::Transient, "");
        error.retry_after = Some(Duration::from_secs(7));
        assert_eq!(again(&error, 1), Some(Duration::from_secs(7)));
        error.retry_after = Some(Duration::from_secs(86_400));
        assert_eq!(again(&error, 1), Some(Duration::from_secs(60)));
    }
}
