//! Share networks and what hangs on them: the states of a network, the kinds of security services.

use super::text_enum;
pub use super::text_enum::joined;

text_enum! {
    /// `status` of a share network.
    pub enum NetworkStatus {
        Active = "active",
        Error = "error",
        /// Its servers are being given another subnet or security service.
        NetworkChange = "network_change",
    }
}

text_enum! {
    /// `type` of a security service. A network has at most one of each.
    pub enum SecurityServiceKind {
        Ldap = "ldap",
        Kerberos = "kerberos",
        ActiveDirectory = "active_directory",
    }
}

text_enum! {
    /// What a driver says when it is asked whether a live share server could be given another subnet.
    pub enum SubnetVerdict {
        Possible = "possible",
        Refused = "refused",
        /// It could not say.
        Failed = "failed",
    }
}

/// Every word of a list, as a refusal names them.
pub fn kinds() -> String {
    SecurityServiceKind::ALL.iter().map(|k| k.as_str()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_are_upstreams() {
        assert_eq!(kinds(), "ldap,kerberos,active_directory");
    }
}
