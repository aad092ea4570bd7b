//! The promises of share drivers, for shares on the array's own addresses, or where every share needs one, on a server.

use std::{collections::BTreeSet, net::IpAddr};

use uuid::Uuid;

use super::{Desk, OrSay as _, Report, refused_as, same};
use crate::driver::{
    DriverResult, ErrorKind,
    capability::{Features, ShareServerMode},
    types::{
        AccessChange, AccessKind, AccessMode, AccessRule, Answer, EnsureItem, EnsureOutcome, IpVersion, PollOutcome, Share, ShareProtocol,
        ShareServer, ShareSnapshot, ShareUpdate, StringMap,
    },
};

/// Where the shares of a run are.
pub struct On<'a> {
    pub pool: &'a str,
    pub protocol: ShareProtocol,
    /// None: on the array's own addresses.
    pub server: Option<ShareServer>,
}

impl On<'_> {
    pub fn share(&self) -> Share {
        Share {
            id: Uuid::new_v4().to_string(),
            name: "stowage-kit".to_owned(),
            project_id: String::new(),
            pool: self.pool.to_owned(),
            protocol: self.protocol.clone(),
            size_gib: 1,
            provider_id: None,
            provider_data: None,
            locations: Vec::new(),
            server: self.server.clone(),
            specs: StringMap::new(),
            metadata: StringMap::new(),
        }
    }
}

/// The address that an export path begins with: `192.0.2.1:/a`, `[2001:db8::1]:/a`, `\\192.0.2.1\a`. None: it is a name.
pub fn address_of(path: &str) -> Option<IpAddr> {
    if let Some(unc) = path.strip_prefix("\\\\") {
        return unc.split('\\').next()?.parse().ok();
    }
    match path.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0.parse().ok(),
        None => path.split_once(':')?.0.parse().ok(),
    }
}

/// A back end that does not say exports over IPv4.
pub fn only_ipv6(features: &Features) -> bool {
    !features.ip_versions.is_empty() && !features.ip_versions.contains(&IpVersion::V4)
}

/// Of an address family that the back end exports in.
fn rule(features: &Features, protocol: &ShareProtocol, number: u8) -> AccessRule {
    let (kind, to) = match protocol {
        ShareProtocol::Cephfs => (AccessKind::Cephx, format!("kit{number}")),
        ShareProtocol::Cifs => (AccessKind::User, format!("kit{number}")),
        ShareProtocol::Glusterfs => (AccessKind::Cert, format!("kit{number}.test")),
        _ if only_ipv6(features) => (AccessKind::Ip, format!("2001:db8::{number}")),
        _ => (AccessKind::Ip, format!("192.0.2.{number}")),
    };
    AccessRule { id: Uuid::new_v4().to_string(), kind, to, level: AccessMode::ReadWrite, key: None }
}

impl Desk<'_> {
    pub async fn made_share(&self, what: &str, answer: DriverResult<Answer<ShareUpdate>>) -> Result<ShareUpdate, String> {
        let end = |outcome| if let PollOutcome::Share(update) = outcome { Some(update) } else { None };
        self.finish(what, answer, end).await
    }
}

pub async fn run(desk: &Desk<'_>, pool: &str, report: &mut Report) {
    let features = desk.features();
    if features.share_server_mode == ShareServerMode::WithServers {
        // each of them is on a server
        return;
    }
    let Some(protocol) = features.share_protocols.first().cloned() else {
        return report.skip("shares", "no share protocol is reported");
    };
    checks(desk, &On { pool, protocol, server: None }, report).await;
}

/// Makes a share there, and tries everything with it.
pub async fn checks(desk: &Desk<'_>, on: &On<'_>, report: &mut Report) {
    let Some(shares) = desk.backend.shares() else { return };
    let mut s = on.share();
    let mut locations = Vec::new();
    report
        .check("a repeated create finds the share, whose locations are there and distinct", async {
            let make = || async { desk.made_share("create", shares.create(&desk.call("create share"), &s).await).await };
            let first = make().await?;
            same("create", &first, &make().await?)?;
            let paths: BTreeSet<&str> = first.locations.iter().map(|l| l.path.as_str()).collect();
            if paths.is_empty() || paths.contains("") || paths.len() != first.locations.len() {
                return Err(format!("its locations are {:?}", first.locations));
            }
            locations = first.locations;
            Ok(())
        })
        .await;
    s.locations = locations;
    let s = s;
    report
        .check("an extend may be repeated", async {
            for attempt in ["extend", "repeated extend"] {
                let end = |outcome| matches!(outcome, PollOutcome::Resized).then_some(());
                desk.finish(attempt, shares.extend(&desk.call("extend share"), &s, 3).await, end).await?;
            }
            Ok(())
        })
        .await;
    access(desk, &s, &on.protocol, report).await;
    snapshots(desk, on, &s, report).await;
    ensure(desk, on, &s, report).await;
    report
        .check("a delete may be repeated, and what was never made is deleted with success", async {
            for attempt in ["delete", "repeated delete"] {
                shares.delete(&desk.call("delete share"), &s).await.or_say(attempt)?;
            }
            let never = on.share();
            shares.delete(&desk.call("delete never"), &never).await.or_say("delete of what was never made")
        })
        .await;
}

async fn access(desk: &Desk<'_>, s: &Share, protocol: &ShareProtocol, report: &mut Report) {
    let Some(access) = desk.backend.access() else { return report.skip("access", "access is not exported") };
    report
        .check("each rule gets a state, whether it is new, given again or all are applied anew", async {
            let features = desk.features();
            let (one, two) = (rule(&features, protocol, 7), rule(&features, protocol, 8));
            let both = vec![one.clone(), two.clone()];
            for (what, rules, added, removed) in [
                ("first rule", vec![one.clone()], vec![one.clone()], vec![]),
                ("second rule", both.clone(), vec![two.clone()], vec![]),
                ("all anew", both, vec![], vec![]),
                ("removal of one", vec![two.clone()], vec![], vec![one]),
                ("removal of the last", vec![], vec![], vec![two]),
            ] {
                let change = AccessChange { rules, added, removed, changed: Vec::new() };
                let states = access.apply(&desk.call(what), s, &change).await.or_say(what)?;
                let wanted: Vec<&str> = change.rules.iter().map(|r| r.id.as_str()).collect();
                let given: Vec<&str> = states.iter().map(|r| r.id.as_str()).collect();
                same(what, &wanted, &given)?;
                if let Some(failed) = states.iter().find_map(|r| r.outcome.as_ref().err()) {
                    return Err(format!("{what}: a plain rule failed: {failed}"));
                }
            }
            Ok(())
        })
        .await;
}

async fn snapshots(desk: &Desk<'_>, on: &On<'_>, s: &Share, report: &mut Report) {
    let Some(snapshots) = desk.backend.share_snapshots() else {
        return report.skip("snapshots of shares", "share-snapshots is not exported");
    };
    let taken = ShareSnapshot {
        id: Uuid::new_v4().to_string(),
        name: "stowage-kit".to_owned(),
        project_id: String::new(),
        share_id: s.id.clone(),
        size_gib: s.size_gib,
        provider_id: None,
        provider_data: None,
        locations: Vec::new(),
        server: s.server.clone(),
        metadata: StringMap::new(),
    };
    report
        .check("a repeated snapshot of a share is the one that was taken first", async {
            let take = || async { snapshots.create_snapshot(&desk.call("share snapshot"), &taken, s).await.or_say("snapshot") };
            same("snapshot", &take().await?, &take().await?)
        })
        .await;
    if let (Some(from), Some(shares)) = (desk.backend.share_from_snapshot(), desk.backend.shares()) {
        report
            .check("a share made from a snapshot may be larger, and is deleted like any other", async {
                let copy = Share { size_gib: 4, ..on.share() };
                let call = desk.call("share from snapshot");
                let first = desk.made_share("from snapshot", from.create_from_snapshot(&call, &copy, &taken, s).await).await?;
                let again = desk.made_share("repeat", from.create_from_snapshot(&call, &copy, &taken, s).await).await?;
                shares.delete(&desk.call("delete copy"), &copy).await.or_say("delete")?;
                same("from snapshot", &first, &again)
            })
            .await;
    }
    report
        .check("a share snapshot's delete may be repeated", async {
            for attempt in ["delete", "repeated delete"] {
                snapshots.delete_snapshot(&desk.call("delete share snapshot"), &taken, s).await.or_say(attempt)?;
            }
            Ok(())
        })
        .await;
}

async fn ensure(desk: &Desk<'_>, on: &On<'_>, s: &Share, report: &mut Report) {
    let Some(ensure) = desk.backend.ensure() else { return report.skip("ensuring shares", "ensure is not exported") };
    report
        .check("the fingerprint stays while nothing changes", async {
            let ask = || async { ensure.fingerprint(&desk.call("fingerprint")).await.or_say("fingerprint") };
            same("fingerprint", &ask().await?, &ask().await?)
        })
        .await;
    report
        .check("ensuring answers for each share, and says of a good one that nothing changed", async {
            let lost = on.share();
            let item = |share: &Share| EnsureItem { share: share.clone(), snapshots: Vec::new() };
            let found = ensure.ensure_shares(&desk.call("ensure"), &[item(s), item(&lost)]).await.or_say("ensure")?;
            match found.get(&s.id) {
                None => return Err("the good share was left out".to_owned()),
                Some(EnsureOutcome::Failed(e)) => return Err(format!("the good share failed: {e}")),
                Some(EnsureOutcome::Updated(update)) if update.broken_because.is_some() => {
                    return Err("the good share is said to be broken".to_owned());
                }
                Some(_) => {}
            }
            match found.get(&lost.id) {
                None => Err("a share that is not on the array was left out".to_owned()),
                Some(EnsureOutcome::Unchanged) => Err("a share that is not on the array is said to be unchanged".to_owned()),
                Some(_) => Ok(()),
            }
        })
        .await;
    if let Some(access) = desk.backend.access() {
        report
            .check("rules of a share that is not there are refused as not-found", async {
                let lost = on.share();
                let applied = access.apply(&desk.call("rules of nothing"), &lost, &AccessChange::default()).await;
                refused_as("apply", applied, ErrorKind::NotFound)
            })
            .await;
    }
}
