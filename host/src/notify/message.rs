//! User messages: what an accepted request came to, told to the user who made it. Numbers and texts are upstream's.
//!
//! A message is written by the transaction that gives the resource its end state, kept thirty days, and rendered when read.

use std::time::Duration;

/// How long a message is kept.
pub const TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    Volume,
    VolumeSnapshot,
    VolumeBackup,
}

impl Resource {
    /// As `resource_type` shows it and as `event_id` names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "VOLUME",
            Self::VolumeSnapshot => "VOLUME_SNAPSHOT",
            Self::VolumeBackup => "VOLUME_BACKUP",
        }
    }
}

macro_rules! texts {
    ($(#[$doc:meta])* $name:ident, $unknown:literal; $($variant:ident = $id:literal $text:literal,)+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($variant,)+ }

        impl $name {
            /// Three digits.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
            /// The text of a stored id.
            pub fn text_of(id: &str) -> &'static str {
                match id { $($id => $text,)+ _ => $unknown }
            }
            /// What a stored id stands for.
            pub fn of_id(id: &str) -> Option<Self> {
                match id { $($id => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

pub(super) use texts;

texts! {
    /// What was being done.
    Action, "unknown action";
    ScheduleAllocateVolume = "001" "schedule allocate volume",
    AttachVolume = "002" "attach volume",
    CopyVolumeToImage = "003" "copy volume to image",
    UpdateAttachment = "004" "update attachment",
    CopyImageToVolume = "005" "copy image to volume",
    UnmanageVolume = "006" "unmanage volume",
    ExtendVolume = "007" "extend volume",
    CreateVolumeFromBackend = "008" "create volume from backend storage",
    SnapshotCreate = "009" "create snapshot",
    SnapshotDelete = "010" "delete snapshot",
    SnapshotUpdate = "011" "update snapshot",
    SnapshotMetadataUpdate = "012" "update snapshot metadata",
    BackupCreate = "013" "create backup",
    BackupDelete = "014" "delete backup",
    BackupRestore = "015" "restore backup",
    ReimageVolume = "016" "reimage volume",
    // ours, in a range of their own
    DeleteVolume = "101" "delete volume",
    RevertVolume = "102" "revert volume to snapshot",
    RetypeVolume = "103" "retype volume",
    MigrateVolume = "104" "migrate volume",
    EnsureExport = "105" "export volume again",
}

texts! {
    /// How it failed.
    Detail, "An unknown error occurred.";
    UnknownError = "001" "An unknown error occurred.",
    DriverNotInitialized = "002" "Driver is not initialized at present.",
    NotEnoughSpace = "003" "Could not find any available weighted backend.",
    FailedToUploadVolume = "004" "Failed to upload volume to image at backend.",
    VolumeAttachModeInvalid = "005" "Volume's attach mode is invalid.",
    QuotaExceed = "006" "Not enough quota resource for operation.",
    NotEnoughSpaceForImage = "007" "Image used for creating volume exceeds available space.",
    UnmanageEncryptedVolume = "008" "Unmanaging encrypted volumes is not supported.",
    NotifyComputeServiceFailed = "009" "Compute service failed to extend volume.",
    DriverFailedExtend = "010" "Volume Driver failed to extend volume.",
    SignatureVerificationFailed = "011" "Image signature verification failed.",
    DriverFailedCreate = "012" "Driver failed to create the volume.",
    SnapshotCreateError = "013" "Snapshot failed to create.",
    SnapshotUpdateMetadataFailed = "014" "Volume snapshot update metadata failed.",
    SnapshotIsBusy = "015" "Snapshot is busy.",
    SnapshotDeleteError = "016" "Snapshot failed to delete.",
    AttachingFailed = "021" "Attaching volume failed.",
    DetachingFailed = "022" "Detaching volume failed.",
    // ours, in a range of their own
    DriverFailedDelete = "101" "Driver failed to delete the volume.",
    VolumeIsBusy = "102" "The volume is in use on the storage back end and was kept.",
    TookTooLong = "103" "The operation did not end in time.",
    DriverFailedRevert = "104" "Driver failed to revert the volume.",
    DriverFailedRetype = "105" "Driver failed to retype the volume.",
    NeedsMigration = "106" "The new type needs the volume to be copied, which was not asked for or is not possible now.",
    HasSnapshots = "107" "The volume still has snapshots.",
    CopyFailed = "108" "Copying the volume failed; it is where and what it was.",
    ExportNotEnsured = "109" "The storage back end came back and could not be made to export the volume again. Where it is out of reach, detach and attach it.",
}

/// A message to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    pub resource: Resource,
    pub resource_id: String,
    pub project_id: String,
    pub request_id: String,
    pub action: Action,
    pub detail: Detail,
    /// A sentence for the user beyond the detail's text: the kind of limit, the driver's own text for users. No internals.
    pub extra: String,
}

impl NewMessage {
    /// `VOLUME_VOLUME_001_003`
    pub fn event_id(&self) -> String {
        format!("VOLUME_{}_{}_{}", self.resource.name(), self.action.id(), self.detail.id())
    }
}

/// What the user reads.
pub fn user_message(action_id: &str, detail_id: &str, extra: &str) -> String {
    let text = format!("{}:{}", Action::text_of(action_id), Detail::text_of(detail_id));
    if extra.is_empty() { text } else { format!("{text} {extra}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_failure_has_upstreams_event_id_and_text() {
        let m = NewMessage {
            resource: Resource::Volume,
            resource_id: String::new(),
            project_id: String::new(),
            request_id: String::new(),
            action: Action::ScheduleAllocateVolume,
            detail: Detail::NotEnoughSpace,
            extra: String::new(),
        };
        assert_eq!(m.event_id(), "VOLUME_VOLUME_001_003");
        assert_eq!(user_message("001", "003", ""), "schedule allocate volume:Could not find any available weighted backend.");
    }

    #[test]
    fn an_id_of_another_version_still_reads() {
        assert_eq!(user_message("999", "999", ""), "unknown action:An unknown error occurred.");
    }
}
