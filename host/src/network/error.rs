//! Why a share server gets no addresses, and who can do something about it.

use thiserror::Error;

use crate::{
    error::{Error, Remedy},
    notify::share_message::ShareDetail,
    store::StoreError,
};

#[derive(Debug, Error)]
pub enum NetworkError {
    /// The client named what there is not.
    #[error("there is no subnet {subnet_id:?} in a network {network_id:?}: the share network names another, or the operator adds it")]
    UnknownSubnet { network_id: String, subnet_id: String },
    #[error("the share network names no subnet, and the operator has set none for such networks (network.default_subnet)")]
    NoDefault,
    #[error("the driver asks for addresses in the operator's network, and there is none (network.admin_subnet)")]
    NoAdminSubnet,
    #[error("the subnet {subnet} ({cidr}) has no free address left: the operator widens its ranges, or servers in it are deleted")]
    Exhausted { subnet: String, cidr: String },
    /// A server that somebody else made has it.
    #[error("the address {address} lies in no subnet that the share server can be on ({subnets})")]
    Elsewhere { address: String, subnets: String },
    #[error("the address {address} in the subnet {subnet} is given to another share server")]
    Taken { address: String, subnet: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl NetworkError {
    /// How the user's message words it.
    pub const fn detail(&self) -> ShareDetail {
        match self {
            Self::Exhausted { .. } => ShareDetail::SubnetExhausted,
            _ => ShareDetail::NoShareServer,
        }
    }

    /// Who can act.
    pub const fn remedy(&self) -> Remedy {
        match self {
            Self::UnknownSubnet { .. } => Remedy::User,
            _ => Remedy::Operator,
        }
    }
}

impl From<NetworkError> for Error {
    fn from(e: NetworkError) -> Self {
        match e {
            NetworkError::Store(e) => e.into(),
            e => Self::conflict(e.to_string()).with_remedy(e.remedy()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exhaustion_names_the_subnet_and_who_can_act() {
        let e = NetworkError::Exhausted { subnet: "blue".into(), cidr: "10.0.0.0/29".into() };
        assert!(e.to_string().contains("blue") && e.to_string().contains("10.0.0.0/29"));
        assert_eq!((e.detail().id(), e.remedy()), ("033", Remedy::Operator));
        assert_eq!(Error::from(e).remedy, Remedy::Operator);
    }

    #[test]
    fn a_subnet_that_is_not_there_is_the_users_to_correct() {
        let e = NetworkError::UnknownSubnet { network_id: "n".into(), subnet_id: "s".into() };
        assert_eq!((e.detail().id(), e.remedy()), ("004", Remedy::User));
    }
}
