//! What is kept about a volume and a snapshot.

use std::{collections::BTreeMap, net::IpAddr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::node::name::{ImportName, Initiator, Layout, Mode, ObjectId};

/// Something that is kept under its id.
pub trait Record: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    const FOLDER: &'static str;
    fn id(&self) -> &ObjectId;
    /// When it ended, for a tombstone.
    fn ended_at(&self) -> Option<Timestamp>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Live,
    /// A tombstone. Its file, if there still is one, is removed.
    Deleted,
    /// A tombstone. Its file, if it is still here, goes to the import folder.
    Released,
}

/// Where a volume's first content comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Volume(ObjectId),
    Snapshot(ObjectId),
    Import(ImportName),
}

/// What the create asked for: a repeat asks for the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub size_gib: Option<u64>,
    pub source: Option<Source>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Volume {
    pub id: ObjectId,
    pub phase: Phase,
    /// The highest seen. Attachments have fences of their own.
    pub generation: u64,
    pub size_gib: u64,
    pub asked: Asked,
    pub layout: Layout,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The adopted file has to go from the import folder yet.
    #[serde(default)]
    pub import_pending: bool,
    #[serde(default)]
    pub attachments: BTreeMap<Initiator, Attachment>,
    #[serde(default)]
    pub fences: BTreeMap<Initiator, Fence>,
    /// The highest generation of a detach from all: a fence for every initiator, seen or not.
    #[serde(default)]
    pub detached_all: u64,
}

/// One initiator's right to use one volume, and how it uses it. Holds a secret: never log it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub mode: Mode,
    pub host: Option<String>,
    pub ip: Option<IpAddr>,
    pub lun: u32,
    pub username: String,
    pub password: String,
    /// Being taken away: in memory only.
    #[serde(skip)]
    pub leaving: bool,
}

impl std::fmt::Debug for Attachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attachment")
            .field("mode", &self.mode)
            .field("lun", &self.lun)
            .field("leaving", &self.leaving)
            .finish_non_exhaustive()
    }
}

/// The highest generations seen for one initiator's attachment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    pub attach: u64,
    pub detach: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    pub id: ObjectId,
    pub phase: Phase,
    pub generation: u64,
    pub volume: Option<ObjectId>,
    pub size_gib: u64,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl Volume {
    /// What stays of a volume, or of one that was deleted before it was made.
    pub fn tombstone(id: ObjectId, generation: u64, phase: Phase, before: Option<&Self>) -> Self {
        let now = Timestamp::now();
        Self {
            id,
            phase,
            generation: before.map_or(generation, |b| b.generation.max(generation)),
            size_gib: 0,
            asked: Asked::default(),
            layout: Layout::default(),
            created_at: now,
            ended_at: Some(now),
            import_pending: false,
            attachments: BTreeMap::new(),
            fences: before.map(|b| b.fences.clone()).unwrap_or_default(),
            detached_all: before.map(|b| b.detached_all).unwrap_or_default(),
        }
    }
    pub fn is_live(&self) -> bool {
        self.phase == Phase::Live
    }
}

impl Snapshot {
    pub fn tombstone(id: ObjectId, generation: u64) -> Self {
        let now = Timestamp::now();
        Self { id, phase: Phase::Deleted, generation, volume: None, size_gib: 0, created_at: now, ended_at: Some(now) }
    }
    pub fn is_live(&self) -> bool {
        self.phase == Phase::Live
    }
}

impl Record for Volume {
    const FOLDER: &'static str = "volumes";
    fn id(&self) -> &ObjectId {
        &self.id
    }
    fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }
}

impl Record for Snapshot {
    const FOLDER: &'static str = "snapshots";
    fn id(&self) -> &ObjectId {
        &self.id
    }
    fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }
}
