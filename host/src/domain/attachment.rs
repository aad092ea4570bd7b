//! An attachment's states and modes, and what the volume shows for the attachments it has.

use super::{
    text_enum,
    volume::{AttachStatus, VolumeStatus},
};

text_enum! {
    /// `attach_status` of one attachment.
    pub enum AttachmentStatus {
        /// Made without a connector.
        Reserved = "reserved",
        /// The back end exports the volume to the connector.
        Attaching = "attaching",
        /// The consumer says that it has the device.
        Attached = "attached",
        /// A disconnect is under way.
        Detaching = "detaching",
        ErrorAttaching = "error_attaching",
        ErrorDetaching = "error_detaching",
    }
}

text_enum! {
    /// `attach_mode`: what the consumer may do. `Unset` is the literal word the wire has until a connector arrives.
    pub enum AttachMode {
        ReadWrite = "rw",
        ReadOnly = "ro",
        Unset = "null",
    }
}

text_enum! {
    /// What the older actions, which name a volume and no attachment, made of one last.
    pub enum OlderAction {
        /// `os-reserve`: it waits for the other two.
        Reserve = "reserve",
        /// `os-initialize_connection` of what nobody had reserved: it lasts as long as its connection.
        Connect = "connect",
        /// `os-attach`.
        Attach = "attach",
    }
}

/// What an attachment counts as in its volume's status: one that is attached and whose detach was announced is detaching.
pub fn counts_as(status: &str, leaving: bool) -> &str {
    if leaving && status == AttachmentStatus::Attached.as_str() { AttachmentStatus::Detaching.as_str() } else { status }
}

/// The volume's status and attach status for what is attached to it: the alphabetically first `attach_status` that is no
/// error decides. With nothing left it is available and detached.
pub fn volume_follows<'a>(attachments: impl IntoIterator<Item = &'a str>) -> (VolumeStatus, AttachStatus) {
    let first = attachments
        .into_iter()
        .filter_map(AttachmentStatus::parse)
        .filter(|s| !s.as_str().starts_with("error_"))
        .min_by_key(|s| s.as_str());
    match first {
        Some(AttachmentStatus::Attached) => (VolumeStatus::InUse, AttachStatus::Attached),
        Some(AttachmentStatus::Attaching) => (VolumeStatus::Attaching, AttachStatus::Attaching),
        Some(AttachmentStatus::Detaching) => (VolumeStatus::Detaching, AttachStatus::Detaching),
        Some(AttachmentStatus::Reserved) => (VolumeStatus::Reserved, AttachStatus::Reserved),
        Some(AttachmentStatus::ErrorAttaching | AttachmentStatus::ErrorDetaching) | None => {
            (VolumeStatus::Available, AttachStatus::Detached)
        }
    }
}

/// From where an attachment is connected and is said to be attached: nothing takes it away.
pub const STAYS: &[AttachmentStatus] =
    &[AttachmentStatus::Reserved, AttachmentStatus::Attaching, AttachmentStatus::Attached, AttachmentStatus::ErrorAttaching];

/// What an attachment in `status` is without the connection it had: what the older actions say of it they say apart from its
/// connection; any other is a reservation again.
pub fn without_connection(status: &str, is_older: bool) -> &str {
    if is_older { status } else { AttachmentStatus::Reserved.as_str() }
}

/// The mode of an attachment: what the caller asked for beats what the connector says; nothing said is read and write.
/// None when the word is no mode.
pub fn mode_of(asked: Option<&str>, connector: Option<&str>) -> Option<AttachMode> {
    let known = |word: &str| match AttachMode::parse(word) {
        Some(AttachMode::Unset) | None => None,
        mode => mode,
    };
    match (asked.filter(|a| *a != AttachMode::Unset.as_str()), connector) {
        (Some(word), _) | (None, Some(word)) => known(word),
        (None, None) => Some(AttachMode::ReadWrite),
    }
}

/// CVE-2023-2088: an attachment that a server uses may only be removed by the compute service itself, which shows a
/// service token. "Uses" is decided from our own record: it has an instance and a connection.
pub const fn held_by_compute(has_instance: bool, has_connection: bool, service_token: bool) -> bool {
    has_instance && has_connection && !service_token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_shows_the_furthest_attachment() {
        let cases: &[(&[&str], VolumeStatus, AttachStatus)] = &[
            (&[], VolumeStatus::Available, AttachStatus::Detached),
            (&["reserved"], VolumeStatus::Reserved, AttachStatus::Reserved),
            (&["attaching"], VolumeStatus::Attaching, AttachStatus::Attaching),
            (&["attached"], VolumeStatus::InUse, AttachStatus::Attached),
            (&["detaching"], VolumeStatus::Detaching, AttachStatus::Detaching),
            (&["reserved", "attached"], VolumeStatus::InUse, AttachStatus::Attached),
            (&["detaching", "attaching"], VolumeStatus::Attaching, AttachStatus::Attaching),
            (&["detaching", "reserved"], VolumeStatus::Detaching, AttachStatus::Detaching),
            (&["attaching", "attached", "reserved", "detaching"], VolumeStatus::InUse, AttachStatus::Attached),
        ];
        for (have, status, attach) in cases {
            assert_eq!(volume_follows(have.iter().copied()), (*status, *attach), "{have:?}");
        }
    }

    #[test]
    fn attachments_in_error_do_not_count() {
        assert_eq!(volume_follows(["error_attaching", "error_detaching"]), (VolumeStatus::Available, AttachStatus::Detached));
        assert_eq!(volume_follows(["error_attaching", "reserved"]), (VolumeStatus::Reserved, AttachStatus::Reserved));
    }

    #[test]
    fn a_detach_that_was_announced_counts_as_begun_and_only_of_what_is_attached() {
        assert_eq!(counts_as("attached", true), "detaching");
        assert_eq!((counts_as("attached", false), counts_as("attaching", true)), ("attached", "attaching"));
    }

    #[test]
    fn without_its_connection_an_attachment_is_a_reservation_unless_the_older_actions_speak_of_it() {
        assert_eq!((without_connection("attached", false), without_connection("attaching", false)), ("reserved", "reserved"));
        assert_eq!((without_connection("attached", true), without_connection("attaching", true)), ("attached", "attaching"));
    }

    #[test]
    fn the_mode_asked_for_beats_the_connectors() {
        assert_eq!(mode_of(Some("ro"), Some("rw")), Some(AttachMode::ReadOnly));
        assert_eq!(mode_of(None, Some("ro")), Some(AttachMode::ReadOnly));
        assert_eq!(mode_of(Some("null"), Some("ro")), Some(AttachMode::ReadOnly));
        assert_eq!(mode_of(None, None), Some(AttachMode::ReadWrite));
        assert_eq!(mode_of(Some("rwx"), None), None);
        assert_eq!(mode_of(None, Some("")), None);
    }

    #[test]
    fn only_a_service_token_removes_what_a_server_uses() {
        assert!(held_by_compute(true, true, false));
        assert!(!held_by_compute(true, true, true));
        assert!(!held_by_compute(true, false, false));
        assert!(!held_by_compute(false, true, false));
    }
}
