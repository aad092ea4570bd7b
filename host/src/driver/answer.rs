//! What an answer must look like, whatever version of the contract it came through.
//!
//! A driver is not trusted: ids nobody asked for, lists that are too long, texts that do not fit a column each become
//! [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer) on that one call, naming the member.

mod server;

use std::collections::{BTreeMap, BTreeSet};

pub use server::{MAX_ADDRESSES, addresses, failure, moved_answer, network_answer, network_polled, network_update, server_moved};

use super::{
    block::FailedOver,
    error::{DriverError, DriverResult},
    types::{
        Adopted, Answer, Connection, ConnectionTarget, EnsureItem, EnsureOutcome, ExportLocation, ManageablePage, Pending, PollOutcome,
        RetypeOutcome, RuleState, ShareSnapshotUpdate, ShareUpdate, SnapshotUpdate, StringMap, Volume, VolumeUpdate,
    },
};

/// Entries of any list.
pub const MAX_LIST: usize = 100_000;
const MAX_ID: usize = 255;
const MAX_DATA: usize = 4096;
const MAX_TOKEN: usize = 4096;
const MAX_DETAILS: usize = 64 << 10;
const MAX_LOCATIONS: usize = 256;
const MAX_PATH: usize = 2000;
const MAX_METADATA: usize = 128;
const MAX_TARGETS: usize = 64;

fn wrong<T>(text: String) -> DriverResult<T> {
    Err(DriverError::wrong_answer(text))
}

fn fits(name: &str, text: Option<&str>, limit: usize) -> DriverResult<()> {
    match text {
        Some(t) if t.len() > limit => wrong(format!("{name} has {} bytes, at most {limit} are allowed", t.len())),
        // no database column and no log line takes it
        Some(t) if t.contains('\0') => wrong(format!("{name} holds a NUL")),
        _ => Ok(()),
    }
}

/// An answer that has a rule.
pub trait Check {
    /// # Errors
    /// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer) naming the member.
    fn check(&self) -> DriverResult<()>;
}

/// `Ok(answer)` if it keeps its rule.
///
/// # Errors
/// As [`Check::check`].
pub fn checked<T: Check>(answer: T) -> DriverResult<T> {
    answer.check()?;
    Ok(answer)
}

fn provider(id: Option<&str>, data: Option<&str>) -> DriverResult<()> {
    fits("provider-id", id, MAX_ID)?;
    fits("provider-data", data, MAX_DATA)
}

fn map(name: &str, map: &StringMap, entries: usize, bytes: usize) -> DriverResult<()> {
    if map.len() > entries {
        return wrong(format!("{name} has {} entries, at most {entries} are allowed", map.len()));
    }
    let mut total = 0;
    for (key, value) in map {
        fits(name, Some(key), MAX_ID)?;
        fits(name, Some(value), bytes)?;
        total += key.len() + value.len();
    }
    if total > bytes { wrong(format!("{name} has {total} bytes, at most {bytes} are allowed")) } else { Ok(()) }
}

/// The export locations of one share or snapshot.
fn locations(of: &[ExportLocation]) -> DriverResult<()> {
    if of.len() > MAX_LOCATIONS {
        return wrong(format!("{} export locations, at most {MAX_LOCATIONS} are allowed", of.len()));
    }
    let mut seen = BTreeSet::new();
    for l in of {
        if l.path.trim().is_empty() || l.path.chars().any(char::is_control) {
            return wrong(format!("{:?} cannot be an export path", l.path));
        }
        fits("an export path", Some(&l.path), MAX_PATH)?;
        map("an export location's metadata", &l.metadata, MAX_METADATA, MAX_DETAILS)?;
        if !seen.insert(&l.path) {
            return wrong(format!("export path {:?} stands twice", l.path));
        }
    }
    Ok(())
}

impl Check for () {
    fn check(&self) -> DriverResult<()> {
        Ok(())
    }
}
impl Check for Pending {
    fn check(&self) -> DriverResult<()> {
        if self.token.is_empty() {
            return wrong("a pending answer has no token".to_owned());
        }
        fits("a pending token", Some(&self.token), MAX_TOKEN)
    }
}
impl<T: Check> Check for Answer<T> {
    fn check(&self) -> DriverResult<()> {
        match self {
            Self::Done(answer) => answer.check(),
            Self::Pending(pending) => pending.check(),
        }
    }
}
impl Check for VolumeUpdate {
    fn check(&self) -> DriverResult<()> {
        provider(self.provider_id.as_deref(), self.provider_data.as_deref())
    }
}
impl Check for RetypeOutcome {
    fn check(&self) -> DriverResult<()> {
        match self {
            Self::Done(update) => update.check(),
            Self::NeedsMigration => Ok(()),
        }
    }
}
impl<U: Check> Check for Adopted<U> {
    fn check(&self) -> DriverResult<()> {
        if self.size_gib == 0 {
            return wrong("an adopted object has no size".to_owned());
        }
        self.update.check()
    }
}
impl Check for SnapshotUpdate {
    fn check(&self) -> DriverResult<()> {
        provider(self.provider_id.as_deref(), self.provider_data.as_deref())
    }
}
impl Check for ShareUpdate {
    fn check(&self) -> DriverResult<()> {
        provider(self.provider_id.as_deref(), self.provider_data.as_deref())?;
        if self.locations.is_empty() {
            return wrong("a share has no export location".to_owned());
        }
        locations(&self.locations)?;
        map("metadata", &self.metadata, MAX_METADATA, MAX_DETAILS)
    }
}
impl Check for ShareSnapshotUpdate {
    fn check(&self) -> DriverResult<()> {
        provider(self.provider_id.as_deref(), self.provider_data.as_deref())?;
        locations(&self.locations)
    }
}
impl Check for PollOutcome {
    fn check(&self) -> DriverResult<()> {
        match self {
            Self::Pending(v) => v.check(),
            Self::Volume(v) => v.check(),
            Self::Share(v) => v.check(),
            Self::Resized | Self::Copied => Ok(()),
            Self::Server(v) => v.check(),
            Self::Network(v) => v.check(),
            Self::Moved(v) => v.check(),
        }
    }
}
impl Check for Connection {
    fn check(&self) -> DriverResult<()> {
        let some = |n: usize| match n {
            0 => wrong("a connection has no target".to_owned()),
            n if n > MAX_TARGETS => wrong(format!("a connection has {n} targets, at most {MAX_TARGETS} are allowed")),
            _ => Ok(()),
        };
        if self.extra.len() > MAX_METADATA {
            return wrong(format!("a connection has {} extra properties, at most {MAX_METADATA} are allowed", self.extra.len()));
        }
        match &self.target {
            ConnectionTarget::Iscsi(c) => {
                some(c.targets.len())?;
                for t in &c.targets {
                    fits("an iSCSI target", Some(&t.iqn), MAX_ID)?;
                    fits("a portal", Some(&t.portal), MAX_ID)?;
                }
                for auth in [&c.auth, &c.discovery_auth].into_iter().flatten() {
                    fits("a CHAP user", Some(&auth.user), MAX_ID)?;
                }
                match c.targets.iter().find(|t| t.iqn.is_empty() || !is_portal(&t.portal)) {
                    Some(t) => wrong(format!("{:?} at {:?} is no iSCSI target", t.iqn, t.portal)),
                    None => Ok(()),
                }
            }
            ConnectionTarget::FibreChannel(c) => some(c.targets.len()),
            ConnectionTarget::NvmeOf(c) => {
                some(c.portals.len())?;
                if c.volume_uuid.is_none() && c.volume_nguid.is_none() && c.namespace_id.is_none() {
                    return wrong("an NVMe connection does not say which namespace".to_owned());
                }
                Ok(())
            }
            ConnectionTarget::Rbd(c) if !c.name.contains('/') => wrong(format!("{:?} is no pool/image", c.name)),
            ConnectionTarget::Rbd(c) if c.hosts.len() != c.ports.len() => {
                wrong("an RBD connection has not one port for each host".to_owned())
            }
            ConnectionTarget::Nfs(c) if c.share.is_empty() || c.name.is_empty() => {
                wrong("an NFS connection lacks share or name".to_owned())
            }
            ConnectionTarget::Other { driver_volume_type } if driver_volume_type.len() > MAX_ID => {
                fits("a connection's type", Some(driver_volume_type), MAX_ID)
            }
            ConnectionTarget::Other { driver_volume_type } if driver_volume_type.is_empty() => wrong("a connection has no type".to_owned()),
            _ => Ok(()),
        }
    }
}

/// `address:port`, IPv6 in brackets.
fn is_portal(text: &str) -> bool {
    let Some((address, port)) = text.rsplit_once(':') else { return false };
    let bare = address.starts_with('[') == address.ends_with(']') && (address.starts_with('[') || !address.contains(':'));
    bare && !address.is_empty() && port.parse::<u16>().is_ok_and(|p| p != 0)
}

/// One state for each rule asked for, in that order.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer): a rule is missing, repeated, or was never asked for.
pub fn rule_states<'a>(asked: impl Iterator<Item = &'a str>, answered: Vec<RuleState>) -> DriverResult<Vec<RuleState>> {
    let mut by_id = BTreeMap::new();
    for state in answered {
        fits("an access key", state.key.as_deref(), MAX_DATA)?;
        let id = state.id.clone();
        if by_id.insert(id.clone(), state).is_some() {
            return wrong(format!("rule {id:?} is answered twice"));
        }
    }
    let mut states = Vec::with_capacity(by_id.len());
    for id in asked {
        match by_id.remove(id) {
            Some(state) => states.push(state),
            None => return wrong(format!("rule {id} is not answered")),
        }
    }
    match by_id.into_keys().next() {
        Some(id) => wrong(format!("rule {id:?} is answered but was not asked for")),
        None => Ok(states),
    }
}

/// A replication target's id.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer): empty, or longer than 255 bytes.
pub fn target(id: String) -> DriverResult<String> {
    if id.is_empty() {
        return wrong("a replication target has no id".to_owned());
    }
    fits("a replication target", Some(&id), MAX_ID)?;
    Ok(id)
}

/// The state of each volume that was to fail over.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer): a volume is missing, repeated, or was never asked for.
pub fn failed_over(
    asked: &[Volume],
    answered: impl IntoIterator<Item = (String, Result<VolumeUpdate, String>)>,
) -> DriverResult<FailedOver> {
    let ids: BTreeSet<&str> = asked.iter().map(|v| v.id.as_str()).collect();
    let mut states = FailedOver::new();
    for (id, state) in answered {
        if !ids.contains(id.as_str()) {
            return wrong(format!("volume {id:.64?} is answered but was not asked for"));
        }
        if let Ok(update) = &state {
            update.check()?;
        }
        if states.insert(id.clone(), state.map_err(|why| why.chars().filter(|c| !c.is_control()).take(MAX_DATA).collect())).is_some() {
            return wrong(format!("volume {id} is answered twice"));
        }
    }
    match ids.into_iter().find(|id| !states.contains_key(*id)) {
        Some(id) => wrong(format!("volume {id} is not answered")),
        None => Ok(states),
    }
}

/// The outcome of each share. One left out stays out: its caller must say so to its owner.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer): a share is repeated or was never asked for.
pub fn ensured(asked: &[EnsureItem], answered: Vec<(String, EnsureOutcome)>) -> DriverResult<BTreeMap<String, EnsureOutcome>> {
    let shares: BTreeMap<&str, &EnsureItem> = asked.iter().map(|i| (i.share.id.as_str(), i)).collect();
    let mut outcomes = BTreeMap::new();
    for (id, outcome) in answered {
        let Some(item) = shares.get(id.as_str()) else { return wrong(format!("share {id:?} is answered but was not asked for")) };
        if let EnsureOutcome::Updated(update) = &outcome {
            provider(update.provider_id.as_deref(), update.provider_data.as_deref())?;
            fits("a pool", update.pool.as_deref(), MAX_ID)?;
            if let Some(of) = &update.locations {
                if of.is_empty() && update.broken_because.is_none() {
                    return wrong(format!("share {id} has no export location"));
                }
                locations(of)?;
            }
            if let Some(metadata) = &update.metadata {
                map("metadata", metadata, MAX_METADATA, MAX_DETAILS)?;
            }
            for (snapshot, of) in &update.snapshots {
                if !item.snapshots.iter().any(|s| &s.id == snapshot) {
                    return wrong(format!("snapshot {snapshot:?} of share {id} is answered but was not asked for"));
                }
                locations(of)?;
            }
        }
        if outcomes.insert(id.clone(), outcome).is_some() {
            return wrong(format!("share {id} is answered twice"));
        }
    }
    Ok(outcomes)
}

/// A page of adoptable objects is no longer than asked for.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer).
pub fn page(limit: u32, page: ManageablePage) -> DriverResult<ManageablePage> {
    if page.items.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
        return wrong(format!("{} entries, asked for were {limit}", page.items.len()));
    }
    fits("next", page.next.as_deref(), MAX_DATA)?;
    for item in &page.items {
        map("a reference", &item.reference, MAX_METADATA, MAX_DATA)?;
    }
    Ok(page)
}

/// # Errors
/// [`ErrorKind::WrongAnswer`](super::ErrorKind::WrongAnswer): longer than 4,096 bytes.
pub fn fingerprint(text: String) -> DriverResult<String> {
    fits("a fingerprint", Some(&text), MAX_DATA)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::{ErrorKind, types::*};
    use super::*;

    pub(super) fn is_wrong<T: std::fmt::Debug>(r: DriverResult<T>) -> bool {
        r.unwrap_err().kind == ErrorKind::WrongAnswer
    }
    fn state(id: &str) -> RuleState {
        RuleState { id: id.into(), outcome: Ok(()), key: None }
    }
    pub(super) fn location(path: &str) -> ExportLocation {
        ExportLocation { path: path.into(), ..ExportLocation::default() }
    }
    pub(super) fn share(id: &str) -> Share {
        Share {
            id: id.into(),
            name: String::new(),
            project_id: String::new(),
            pool: String::new(),
            protocol: ShareProtocol::Nfs,
            size_gib: 1,
            provider_id: None,
            provider_data: None,
            locations: Vec::new(),
            server: None,
            specs: StringMap::new(),
            metadata: StringMap::new(),
        }
    }
    fn iscsi(portal: &str) -> Connection {
        let targets = vec![IscsiTarget { portal: portal.into(), iqn: "iqn.2001-01.x:y".into(), lun: 0 }];
        Connection {
            target: ConnectionTarget::Iscsi(IscsiConnection { targets, auth: None, discovery_auth: None, discard: false }),
            extra: BTreeMap::new(),
        }
    }

    #[test]
    fn texts_that_do_not_fit_are_refused() {
        VolumeUpdate { provider_id: Some("x".repeat(255)), provider_data: Some("y".repeat(4096)) }.check().unwrap();
        assert!(is_wrong(VolumeUpdate { provider_id: Some("x".repeat(256)), provider_data: None }.check()));
        assert!(is_wrong(VolumeUpdate { provider_id: None, provider_data: Some("y".repeat(4097)) }.check()));
        assert!(is_wrong(VolumeUpdate { provider_id: Some("a\0b".into()), provider_data: None }.check()));
    }

    #[test]
    fn rules_are_answered_one_by_one() {
        let asked = || ["a", "b"].into_iter();
        let in_order = rule_states(asked(), vec![state("b"), state("a")]).unwrap();
        assert_eq!(in_order.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(is_wrong(rule_states(asked(), vec![state("a")])), "left out");
        assert!(is_wrong(rule_states(asked(), vec![state("a"), state("b"), state("c")])), "invented");
        assert!(is_wrong(rule_states(asked(), vec![state("a"), state("a"), state("b")])), "twice");
    }

    #[test]
    fn a_share_left_out_of_ensure_is_no_lie_but_an_invented_one_is() {
        assert!(ensured(&[], vec![]).unwrap().is_empty());
        assert!(is_wrong(ensured(&[], vec![("x".into(), EnsureOutcome::Unchanged)])));
    }

    #[test]
    fn a_share_has_locations_and_each_once() {
        let with = |locations| ShareUpdate { locations, ..ShareUpdate::default() };
        with(vec![location("h:/a"), location("h:/b")]).check().unwrap();
        assert!(is_wrong(with(vec![]).check()));
        assert!(is_wrong(with(vec![location("h:/a"), location("h:/a")]).check()));
        assert!(is_wrong(with(vec![location(" ")]).check()));
        assert!(is_wrong(with(vec![location("h:/a\n")]).check()));
    }

    #[test]
    fn a_share_that_is_whole_keeps_a_location_when_it_is_ensured() {
        let of = |locations, broken_because| {
            let update = EnsuredUpdate { locations: Some(locations), broken_because, ..EnsuredUpdate::default() };
            let item = EnsureItem { share: share("a"), snapshots: Vec::new() };
            ensured(&[item], vec![("a".into(), EnsureOutcome::Updated(Box::new(update)))])
        };
        assert!(is_wrong(of(vec![], None)));
        of(vec![location("h:/a")], None).unwrap();
        of(vec![], Some(DriverError::wrong_answer("it is gone"))).unwrap();
    }

    #[test]
    fn portals_are_address_and_port() {
        for good in ["192.0.2.1:3260", "[2001:db8::1]:3260", "array.example:3260"] {
            iscsi(good).check().unwrap();
        }
        for bad in ["", "192.0.2.1", "192.0.2.1:0", "192.0.2.1:x", "2001:db8::1:3260", "[2001:db8::1:3260", ":3260"] {
            assert!(is_wrong(iscsi(bad).check()), "{bad}");
        }
    }

    #[test]
    fn pending_work_has_a_token() {
        let pending = |token: &str| Pending { token: token.into(), retry_after: std::time::Duration::ZERO, percent: None };
        pending("t").check().unwrap();
        assert!(is_wrong(Answer::<VolumeUpdate>::Pending(pending("")).check()));
    }
}
