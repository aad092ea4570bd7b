//! Locks: what can be locked, against what, and who ranks above whom.

use super::text_enum;

text_enum! {
    /// What a lock is on.
    pub enum Locked {
        Share = "share",
        AccessRule = "access_rule",
    }
}

text_enum! {
    /// What a lock is against. `show` hides whom a rule lets in.
    pub enum LockedAction {
        Delete = "delete",
        Show = "show",
    }
}

text_enum! {
    /// As what a lock was placed; the later rank above the earlier.
    pub enum LockContext {
        User = "user",
        Admin = "admin",
        Service = "service",
    }
}

impl Locked {
    /// Whether it can be locked against this.
    pub const fn takes(self, action: LockedAction) -> bool {
        matches!((self, action), (Self::AccessRule, _) | (Self::Share, LockedAction::Delete))
    }
}

/// The longest reason.
pub const MAX_REASON: usize = 1023;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_can_be_hidden() {
        assert!(Locked::AccessRule.takes(LockedAction::Show) && Locked::AccessRule.takes(LockedAction::Delete));
        assert!(Locked::Share.takes(LockedAction::Delete) && !Locked::Share.takes(LockedAction::Show));
    }

    #[test]
    fn a_service_ranks_above_an_administrator_and_an_administrator_above_a_user() {
        assert!(LockContext::Service > LockContext::Admin && LockContext::Admin > LockContext::User);
    }
}
