//! What drivers answer of share servers.

use std::{collections::BTreeSet, net::IpAddr};

use super::{Check, MAX_DATA, MAX_DETAILS, MAX_ID, MAX_LIST, fits, locations, map, provider, wrong};
use crate::driver::{
    error::{DriverError, DriverResult},
    types::{AddressCounts, Answer, NetworkUpdate, ServerDetails, ServerMoved, ServerSituation},
};

/// Addresses of a share server in one place: more than any driver has use for.
pub const MAX_ADDRESSES: u32 = 256;
/// Addresses of a share server that is taken over, in all places together.
const MAX_SERVER_ADDRESSES: usize = 512;

impl Check for AddressCounts {
    fn check(&self) -> DriverResult<()> {
        match self.per_subnet.max(self.admin) {
            n if n > MAX_ADDRESSES => wrong(format!("{n} addresses in one place are wanted, at most {MAX_ADDRESSES} are allowed")),
            _ => Ok(()),
        }
    }
}

/// The addresses of a server: each of them one, and once.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](crate::driver::ErrorKind::WrongAnswer).
pub fn addresses(told: &[String]) -> DriverResult<Vec<IpAddr>> {
    if told.len() > MAX_SERVER_ADDRESSES {
        return wrong(format!("a share server has {} addresses, at most {MAX_SERVER_ADDRESSES} are allowed", told.len()));
    }
    let mut found = Vec::with_capacity(told.len());
    for text in told {
        match text.parse() {
            Ok(address) if !found.contains(&address) => found.push(address),
            Ok(address) => return wrong(format!("the address {address} stands twice")),
            Err(_) => return wrong(format!("{text:.64?} is no address")),
        }
    }
    Ok(found)
}

/// A share server's details.
impl Check for ServerDetails {
    fn check(&self) -> DriverResult<()> {
        map("server details", self, MAX_LIST, MAX_DETAILS)
    }
}
impl Check for NetworkUpdate {
    fn check(&self) -> DriverResult<()> {
        self.details.check()?;
        for share in &self.shares {
            fits("a pool", share.pool.as_deref(), MAX_ID)?;
            if share.locations.is_empty() {
                return wrong(format!("share {} has no export location", share.id));
            }
            locations(&share.locations)?;
        }
        for snapshot in &self.snapshots {
            fits("provider-data", snapshot.provider_data.as_deref(), MAX_DATA)?;
            locations(&snapshot.locations)?;
        }
        Ok(())
    }
}
impl Check for ServerMoved {
    fn check(&self) -> DriverResult<()> {
        self.details.check()?;
        for share in &self.shares {
            if share.pool.is_empty() {
                return wrong(format!("share {:.64} is in no pool", share.id));
            }
            fits("a pool", Some(&share.pool), MAX_ID)?;
            provider(share.provider_id.as_deref(), share.provider_data.as_deref())?;
            if share.locations.is_empty() {
                return wrong(format!("share {:.64} has no export location", share.id));
            }
            locations(&share.locations)?;
        }
        for snapshot in &self.snapshots {
            provider(snapshot.provider_id.as_deref(), snapshot.provider_data.as_deref())?;
            locations(&snapshot.locations)?;
        }
        Ok(())
    }
}

/// An update names only shares and snapshots of the server.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](crate::driver::ErrorKind::WrongAnswer).
pub fn network_update(of: &ServerSituation, update: &NetworkUpdate) -> DriverResult<()> {
    update.check()?;
    let mut seen = BTreeSet::new();
    for id in update.shares.iter().map(|s| &s.id).chain(update.snapshots.iter().map(|s| &s.id)) {
        if !seen.insert(id) {
            return wrong(format!("{id:?} is answered twice"));
        }
    }
    let (shares, snapshots) = on_server(of);
    if let Some(share) = update.shares.iter().find(|s| !shares.contains(s.id.as_str())) {
        return wrong(format!("share {:?} is answered but is not on the server", share.id));
    }
    if let Some(snapshot) = update.snapshots.iter().find(|s| !snapshots.contains(s.id.as_str())) {
        return wrong(format!("snapshot {:?} is answered but is not on the server", snapshot.id));
    }
    Ok(())
}

/// The ids of the shares and of the snapshots on a server.
fn on_server(of: &ServerSituation) -> (BTreeSet<&str>, BTreeSet<&str>) {
    (of.shares.iter().map(|s| s.id.as_str()).collect(), of.snapshots.iter().map(|s| s.id.as_str()).collect())
}

/// As [`network_update`], of work that went on in the array since the driver was told of the server. What is not on the server
/// any more by now is left out: the driver answers for what there was when it began.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](crate::driver::ErrorKind::WrongAnswer).
pub fn network_polled(of: &ServerSituation, mut update: NetworkUpdate) -> DriverResult<NetworkUpdate> {
    let (shares, snapshots) = on_server(of);
    update.shares.retain(|s| shares.contains(s.id.as_str()));
    update.snapshots.retain(|s| snapshots.contains(s.id.as_str()));
    network_update(of, &update)?;
    Ok(update)
}

/// An update that is done names only shares and snapshots of the server; one that is pending has a token.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](crate::driver::ErrorKind::WrongAnswer).
pub fn network_answer(of: &ServerSituation, answer: Answer<NetworkUpdate>) -> DriverResult<Answer<NetworkUpdate>> {
    answer.check()?;
    if let Answer::Done(update) = &answer {
        network_update(of, update)?;
    }
    Ok(answer)
}

/// Each share and each snapshot of the server that moved is answered once, and nothing else.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](crate::driver::ErrorKind::WrongAnswer).
pub fn server_moved(of: &ServerSituation, moved: &ServerMoved) -> DriverResult<()> {
    moved.check()?;
    let (shares, snapshots) = on_server(of);
    each_once("share", &shares, moved.shares.iter().map(|s| s.id.as_str()))?;
    each_once("snapshot", &snapshots, moved.snapshots.iter().map(|s| s.id.as_str()))
}

fn each_once<'a>(what: &str, asked: &BTreeSet<&str>, answered: impl Iterator<Item = &'a str>) -> DriverResult<()> {
    let mut seen = BTreeSet::new();
    for id in answered {
        if !asked.contains(id) {
            return wrong(format!("{what} {id:.64?} is answered but is not on the server"));
        }
        if !seen.insert(id) {
            return wrong(format!("{what} {id} is answered twice"));
        }
    }
    match asked.iter().find(|id| !seen.contains(*id)) {
        Some(left_out) => wrong(format!("{what} {left_out} is not answered")),
        None => Ok(()),
    }
}

/// As [`server_moved`] when it has; one that is pending has a token.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`](crate::driver::ErrorKind::WrongAnswer).
pub fn moved_answer(of: &ServerSituation, answer: Answer<ServerMoved>) -> DriverResult<Answer<ServerMoved>> {
    answer.check()?;
    if let Answer::Done(moved) = &answer {
        server_moved(of, moved)?;
    }
    Ok(answer)
}

/// A failure as it is kept: what a driver says is left of a server obeys the rule of a server's details, or it is dropped.
pub fn failure(e: DriverError) -> DriverError {
    let Some(broken) = e.partial.as_ref().and_then(|partial| partial.check().err()) else { return e };
    tracing::warn!(error = %e, rule = %broken, "what a driver says is left of a failed share server is not kept");
    DriverError { partial: None, ..e }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        super::tests::{is_wrong, location, share},
        *,
    };
    use crate::driver::types::{MovedShare, MovedSnapshot, ShareChange, ShareServer, SnapshotChange};

    #[test]
    fn nobody_wants_more_addresses_than_there_is_use_for() {
        AddressCounts { per_subnet: MAX_ADDRESSES, admin: MAX_ADDRESSES }.check().unwrap();
        assert!(is_wrong(AddressCounts { per_subnet: MAX_ADDRESSES + 1, admin: 0 }.check()));
        assert!(is_wrong(AddressCounts { per_subnet: 1, admin: u32::MAX }.check()));
    }

    #[test]
    fn the_addresses_of_a_server_are_addresses_and_different() {
        let of = |list: &[&str]| addresses(&list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["10.0.0.1", "fd00::1"]).unwrap().len(), 2);
        for bad in [&["10.0.0.1/24"][..], &["host"], &["10.0.0.1", "10.0.0.1"], &["fd00::1", "fd00:0::1"]] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_left_a_server_meanwhile_is_left_out_of_a_late_answer() {
        let situation = ServerSituation {
            server: ShareServer::default(),
            current: Vec::new(),
            shares: vec![share("a")],
            snapshots: Vec::new(),
            rules: BTreeMap::new(),
        };
        let change = |id: &str| ShareChange { id: id.into(), locations: vec![location("h:/a")], pool: None };
        let snapshot = SnapshotChange { id: "n".into(), provider_data: None, locations: Vec::new() };
        let answer = |ids: &[&str]| NetworkUpdate {
            shares: ids.iter().copied().map(change).collect(),
            snapshots: vec![snapshot.clone()],
            ..NetworkUpdate::default()
        };
        let kept = network_polled(&situation, answer(&["a", "gone"])).unwrap();
        assert_eq!((kept.shares.len(), kept.shares[0].id.as_str(), kept.snapshots.len()), (1, "a", 0));
        assert!(is_wrong(network_polled(&situation, answer(&["a", "a"]))), "twice");
        assert!(is_wrong(network_update(&situation, &answer(&["a"]))), "an answer at once is for what was told");
    }

    #[test]
    fn a_server_that_moved_says_of_each_share_once_where_it_is() {
        let situation = ServerSituation {
            server: ShareServer::default(),
            current: Vec::new(),
            shares: vec![share("a"), share("b")],
            snapshots: Vec::new(),
            rules: BTreeMap::new(),
        };
        let moved = |id: &str| MovedShare {
            id: id.into(),
            pool: "p".into(),
            locations: vec![location("h:/a")],
            provider_id: None,
            provider_data: None,
        };
        let of = |ids: &[&str]| ServerMoved { shares: ids.iter().copied().map(moved).collect(), ..ServerMoved::default() };
        server_moved(&situation, &of(&["b", "a"])).unwrap();
        for (wrong, why) in [(&["a"][..], "left out"), (&["a", "b", "c"], "invented"), (&["a", "b", "b"], "twice")] {
            assert!(is_wrong(server_moved(&situation, &of(wrong))), "{why}");
        }
        let mut nowhere = of(&["a", "b"]);
        nowhere.shares[0].locations.clear();
        assert!(is_wrong(server_moved(&situation, &nowhere)), "without a location");
        let mut poolless = of(&["a", "b"]);
        poolless.shares[0].pool.clear();
        assert!(is_wrong(server_moved(&situation, &poolless)), "in no pool");
        let snapshot = MovedSnapshot { id: "n".into(), locations: Vec::new(), provider_id: None, provider_data: None };
        let invented = ServerMoved { snapshots: vec![snapshot], ..of(&["a", "b"]) };
        assert!(is_wrong(server_moved(&situation, &invented)), "a snapshot that is not there");
    }

    #[test]
    fn what_is_left_of_a_failed_server_fits_or_is_dropped() {
        let leaving = |partial: ServerDetails| failure(DriverError { partial: Some(partial), ..DriverError::wrong_answer("it failed") });
        let of = |bytes: usize| ServerDetails::from([("vserver".to_owned(), "x".repeat(bytes))]);
        assert_eq!(leaving(of(12)).partial, Some(of(12)));
        let dropped = leaving(of(1 << 20));
        assert_eq!((dropped.partial, dropped.message.as_str()), (None, "it failed"));
    }
}
