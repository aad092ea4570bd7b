//! What speaks against a driver that would work: things only an operator can weigh. `force` overrides all of them.

use super::{Catalog, CatalogError};
use crate::driver::{DriverError, DriverIdentity};

/// One reason not to take a driver into service.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Objection {
    /// A file under another driver's name, most likely: its data is not this driver's to read.
    #[error(
        "{host} holds {what} of the driver `{old}` of {old_vendor}, and this is `{new}` of {new_vendor}: give its file a name of its \
         own, or force it if it is the same driver under another name"
    )]
    OtherDriver { host: String, what: String, old: String, old_vendor: String, new: String, new_vendor: String },
    #[error("its state version {new} is lower than {old} of the driver that serves, whose data it may not read")]
    OlderState { old: u32, new: u32 },
    /// Existing resources use what it does not have.
    #[error("{0}")]
    Lacks(String),
    #[error("{backend} would not start: {}: {}", error.kind.as_str(), error.message)]
    WouldNotStart { backend: String, error: DriverError },
}

impl Objection {
    pub fn older_state(serving: &DriverIdentity, new: &DriverIdentity) -> Option<Self> {
        let (old, new) = (serving.state_version, new.state_version);
        (new < old).then_some(Self::OlderState { old, new })
    }
}

impl Catalog {
    /// Whether `host` holds what another driver made. A driver is who it says it is, whatever its file is called.
    pub(super) async fn other_driver(
        &self,
        serving: &DriverIdentity,
        new: &DriverIdentity,
        host: &str,
    ) -> Result<Option<Objection>, CatalogError> {
        if (&serving.name, &serving.vendor) == (&new.name, &new.vendor) {
            return Ok(None);
        }
        let uses = self.parts()?.store.backend_uses(host).await?;
        Ok(uses.any().then(|| Objection::OtherDriver {
            host: host.to_owned(),
            what: uses.what(),
            old: serving.name.clone(),
            old_vendor: serving.vendor.clone(),
            new: new.name.clone(),
            new_vendor: new.vendor.clone(),
        }))
    }
}

/// All of them, for an operator to read.
pub(super) fn text(objections: &[Objection]) -> String {
    objections.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
