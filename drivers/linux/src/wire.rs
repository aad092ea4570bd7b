//! The node's answers, as far as the driver reads them. Members it does not know are the node's business; members it needs
//! and does not find, or finds of another kind, make the answer unusable.

use serde::Deserialize;
use stowage_driver_sdk::prelude::*;

#[derive(Debug, Deserialize)]
pub struct About {
    pub id: String,
    #[serde(default)]
    pub version: String,
    pub api: String,
    pub layouts: Vec<String>,
    pub features: Features,
}

#[derive(Debug, Deserialize)]
pub struct Features {
    pub multiattach: bool,
    pub online_extend: bool,
    pub thin: bool,
}

#[derive(Debug, Deserialize)]
pub struct Room {
    pub total_bytes: u64,
    pub free_bytes: u64,
    pub provisioned_bytes: u64,
}

#[derive(Debug, Deserialize)]
pub struct Volume {
    pub id: String,
    pub size_gib: u64,
    pub layout: String,
}

impl Volume {
    /// Refuses an answer about something else than was asked for.
    pub fn checked(self, id: &str, at_least_gib: u64) -> Result<Self> {
        if self.id != id {
            return Err(unusable(format!("it is about volume {:?}, not {id:?}", self.id)));
        }
        if self.size_gib < at_least_gib {
            return Err(unusable(format!("volume {id} has {} GiB, {at_least_gib} were asked for", self.size_gib)));
        }
        Ok(self)
    }
}

#[derive(Debug, Deserialize)]
pub struct VolumePage {
    pub volumes: Vec<Volume>,
    pub next: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Snapshot {
    pub id: String,
    pub volume: String,
}

#[derive(Debug, Deserialize)]
pub struct ImportFile {
    pub name: String,
    pub size_gib: u64,
    pub unsafe_because: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct ImportPage {
    pub files: Vec<ImportFile>,
    pub next: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Attachment {
    pub volume: String,
    pub initiator: String,
    pub connection: Connection,
}

#[derive(Debug, Deserialize)]
pub struct Connection {
    pub protocol: String,
    pub portals: Vec<String>,
    pub iqn: String,
    pub lun: u32,
    pub auth: Auth,
    #[serde(default)]
    pub discard: bool,
}

#[derive(Deserialize)]
pub struct Auth {
    pub method: String,
    pub username: String,
    pub password: String,
}

/// The password stays out of every text.
impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.username)
    }
}

#[derive(Debug, Deserialize)]
pub struct AttachmentPage {
    pub attachments: Vec<Attached>,
}

#[derive(Debug, Deserialize)]
pub struct Attached {
    pub initiator: String,
    #[serde(default)]
    pub host: Option<String>,
}

/// The node answered what the contract does not allow. The work may have been done.
pub fn unusable(why: impl std::fmt::Display) -> DriverError {
    DriverError::internal(format!("the node's answer cannot be used: {why}"))
}
