//! How a copy fails. Each text is for the operator and says who can act; users get [`CopyError::user_text`].

use std::{path::PathBuf, time::Duration};

use crate::{driver::portals::Refused, error::Remedy};

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The program or its iSCSI part is not there.
    #[error("operator: install qemu-utils with the iscsi module, or set copy.program and copy.module_dir: {program}: {reason}")]
    Missing { program: String, reason: String },
    #[error("operator: volumes are copied over iSCSI only, and this back end connects by {0}")]
    Protocol(String),
    /// A driver does not say by itself where this machine connects.
    #[error("operator: the back end's portal is refused: {0}")]
    Portal(#[source] Refused),
    #[error("vendor: the driver's connection cannot be used: {0}")]
    Connection(String),
    #[error("operator: {} cannot be prepared: {source}", path.display())]
    Prepare {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("operator: {program} ended with {status}: {said}")]
    Failed { program: String, status: String, said: String },
    #[error("operator: the copy stood still for {} s: is the back end reachable from this machine?", .0.as_secs())]
    Stalled(Duration),
    #[error("vendor: what was written to the new volume reads differently")]
    Differs,
}

impl CopyError {
    /// Whether the whole copy may work when it is begun again.
    pub fn worth_repeating(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Stalled(_) | Self::Differs)
    }

    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Connection(_) | Self::Differs => Remedy::Vendor,
            _ => Remedy::Operator,
        }
    }

    /// A sentence without internals for the cloud user.
    pub fn user_text(&self) -> &'static str {
        match self {
            Self::Missing { .. } | Self::Protocol(_) | Self::Portal(_) | Self::Prepare { .. } => {
                "The service cannot copy volumes of this storage now; ask its operator."
            }
            Self::Stalled(_) => "The storage did not go on with the copy.",
            Self::Connection(_) | Self::Failed { .. } | Self::Differs => "The data could not be copied.",
        }
    }
}
