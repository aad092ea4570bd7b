//! The promises of drivers that build share servers, and of shares on such a server.
//!
//! The networks are made up: not tagged, in the address blocks that are kept for documentation. Nothing is mounted, so nobody has
//! to route them; a server of the kit is in nobody's way.

use uuid::Uuid;

use super::{
    Desk, OrSay as _, Report, migration, same, server_manage,
    share::{self, On},
};
use crate::driver::{
    capability::{Features, ShareServerMode},
    share::{ShareServers, Shares},
    types::{
        AddressCounts, Allocation, ExportLocation, IpVersion, NetworkCheck, NetworkInfo, NetworkUpdate, PollOutcome, ServerDetails,
        ServerSituation, Share, ShareServer, StringMap, Subnet,
    },
};

/// Addresses that one of the kit's networks has.
const ROOM: u32 = 240;
/// The last one is the operator's.
const BLOCKS: [&str; 4] = ["192.0.2.", "198.51.100.", "203.0.113.", "198.18.0."];
const ADMIN: usize = 3;

/// The networks of a run, by number.
struct Networks {
    version: IpVersion,
    counts: AddressCounts,
    /// In the operator's network: the same with each subnet.
    admin: Vec<Allocation>,
}

impl Networks {
    fn new(features: &Features, counts: AddressCounts) -> Self {
        let version = if share::only_ipv6(features) { IpVersion::V6 } else { IpVersion::V4 };
        Self { version, counts, admin: given(version, ADMIN, 0, counts.admin, "admin") }
    }

    fn network(&self, number: usize) -> NetworkInfo {
        let length = if self.version == IpVersion::V4 { 24 } else { 64 };
        let subnet = Subnet {
            id: Uuid::new_v4().to_string(),
            availability_zone: None,
            network_type: Some("flat".to_owned()),
            segmentation_id: None,
            cidr: format!("{}/{length}", address(self.version, number, 0)),
            gateway: Some(address(self.version, number, 1)),
            mtu: None,
            ip_version: self.version,
            neutron_net_id: None,
            neutron_subnet_id: None,
        };
        NetworkInfo {
            subnet,
            allocations: given(self.version, number, 0, self.counts.per_subnet, ""),
            admin_allocations: self.admin.clone(),
            security_services: Vec::new(),
        }
    }
}

fn address(version: IpVersion, network: usize, number: u32) -> String {
    match (version, number) {
        (IpVersion::V4, _) => format!("{}{number}", BLOCKS[network]),
        (IpVersion::V6, 0) => format!("2001:db8:{network}::"),
        (IpVersion::V6, _) => format!("2001:db8:{network}::{number:x}"),
    }
}

fn given(version: IpVersion, network: usize, first: u32, count: u32, label: &str) -> Vec<Allocation> {
    let one = |n| Allocation {
        id: Uuid::new_v4().to_string(),
        ip_address: address(version, network, 10 + first + n),
        mac_address: None,
        label: label.to_owned(),
    };
    (0..count).map(one).collect()
}

impl Networks {
    /// Of servers that are there at one time: each on a subnet of its own, also with addresses of its own in the operator's network.
    fn of_three(&self) -> Option<[NetworkInfo; 3]> {
        let alone = |n: u32| {
            let network = self.network(n as usize);
            NetworkInfo { admin_allocations: given(self.version, ADMIN, n * self.counts.admin, self.counts.admin, "admin"), ..network }
        };
        (self.counts.admin <= ROOM / 3).then(|| [alone(0), alone(1), alone(2)])
    }
}

impl Desk<'_> {
    pub async fn set_up(&self, servers: &dyn ShareServers, id: &str, networks: &[NetworkInfo]) -> Result<ServerDetails, String> {
        let answer = servers.setup(&self.call(&format!("set up {id}")), id, networks, &StringMap::new()).await;
        self.finish("set-up", answer, |outcome| if let PollOutcome::Server(details) = outcome { Some(details) } else { None }).await
    }
}

pub async fn run(desk: &Desk<'_>, pool: &str, report: &mut Report) {
    let Some(servers) = desk.backend.share_servers() else { return };
    let Some(shares) = desk.backend.shares() else { return report.skip("share servers", "shares is not exported") };
    let features = desk.features();
    if features.share_server_mode == ShareServerMode::WithoutServers {
        return report.skip("share servers", "the back end is said to build none");
    }
    let Some(protocol) = features.share_protocols.first().cloned() else {
        return report.skip("share servers", "no share protocol is reported");
    };
    let mut counts = None;
    report
        .check("the addresses that a share server wants stay the same", async {
            let ask = || async { servers.allocations_wanted(&desk.call("addresses wanted")).await.or_say("allocations-wanted") };
            let first = ask().await?;
            same("allocations-wanted", &first, &ask().await?)?;
            counts = Some(first);
            Ok(())
        })
        .await;
    let Some(counts) = counts else { return };
    if counts.per_subnet.max(counts.admin) > ROOM {
        return report.skip("share servers", "they want more addresses in one place than the kit's networks have");
    }
    let networks = Networks::new(&features, counts);
    let current = if features.share_server_multiple_subnet_support {
        vec![networks.network(0), networks.network(1)]
    } else {
        vec![networks.network(0)]
    };
    let id = Uuid::new_v4().to_string();
    let mut server = None;
    let promise = match current.len() {
        1 => "a repeated set-up finds the share server and answers the same",
        _ => "a repeated set-up over two subnets finds the share server and answers the same",
    };
    report
        .check(promise, async {
            let first = desk.set_up(&**servers, &id, &current).await?;
            same("set-up", &first, &desk.set_up(&**servers, &id, &current).await?)?;
            server = Some(ShareServer { id: id.clone(), details: first });
            Ok(())
        })
        .await;
    let mut details = None;
    if let Some(server) = server {
        let on = On { pool, protocol: protocol.clone(), server: Some(server) };
        details = live(desk, &**shares, &on, current.clone(), networks.network(2), report).await;
        if features.share_server_mode == ShareServerMode::WithServers {
            share::checks(desk, &on, report).await;
        }
    }
    report
        .check(
            "a share server's teardown may be repeated, also without details, and what was never built is torn down with success",
            async {
                let down = async |what: &str, id: &str, details: Option<&ServerDetails>| {
                    servers.teardown(&desk.call(&format!("tear down {id}")), id, details, &[]).await.or_say(what)
                };
                down("teardown", &id, details.as_ref()).await?;
                down("repeated teardown, without details", &id, None).await?;
                let lost = Uuid::new_v4().to_string();
                desk.set_up(&**servers, &lost, &current).await?;
                down("teardown after a set-up whose answer was lost", &lost, None).await?;
                down("teardown of what was never built", &Uuid::new_v4().to_string(), None).await
            },
        )
        .await;
    server_manage::run(desk, &**servers, networks.network(0), report).await;
    match networks.of_three() {
        Some(three) => migration::run(desk, desk, &On { pool, protocol, server: None }, three, report).await,
        None => report.skip("migration of share servers", "they want too many addresses in the operator's network for three at once"),
    }
}

/// A server of the first back end moves to the second.
pub async fn between(from: &Desk<'_>, to: &Desk<'_>, pool: &str, report: &mut Report) {
    let (of, here) = (from.features(), to.features());
    let mut networks = None;
    report
        .check("both say how many addresses a share server wants", async {
            let mut wanted = Vec::new();
            for desk in [from, to] {
                let servers = desk.backend.share_servers().ok_or("share-servers is not exported")?;
                wanted.push(servers.allocations_wanted(&desk.call("addresses wanted")).await.or_say("allocations-wanted")?);
            }
            let too_many = || "they want more addresses in one place than the kit's networks have".to_owned();
            if wanted.iter().any(|counts| counts.per_subnet > ROOM) {
                return Err(too_many());
            }
            let [source, ..] = Networks::new(&of, wanted[0]).of_three().ok_or_else(too_many)?;
            let [_, destination, given_up] = Networks::new(&here, wanted[1]).of_three().ok_or_else(too_many)?;
            networks = Some([source, destination, given_up]);
            Ok(())
        })
        .await;
    let Some(networks) = networks else { return };
    let Some(protocol) = of.share_protocols.first().cloned() else {
        return report.skip("migration of share servers", "no share protocol is reported");
    };
    migration::run(from, to, &On { pool, protocol, server: None }, networks, report).await;
}

/// A share on the server, and what else the server can be given. The server's details after that.
async fn live(
    desk: &Desk<'_>,
    shares: &dyn Shares,
    on: &On<'_>,
    current: Vec<NetworkInfo>,
    added: NetworkInfo,
    report: &mut Report,
) -> Option<ServerDetails> {
    let server = on.server.clone()?;
    let mut details = server.details.clone();
    let mut s = on.share();
    let create = async |s: &Share| desk.made_share("create", shares.create(&desk.call(&format!("create {}", s.id)), s).await).await;
    let mut locations = Vec::new();
    report
        .check("a share on a server is exported at addresses of the server, and its repeated create answers the same", async {
            let first = create(&s).await?;
            same("create", &first, &create(&s).await?)?;
            at_addresses_of(&current, &first.locations)?;
            locations = first.locations;
            Ok(())
        })
        .await;
    s.locations = locations;
    if !s.locations.is_empty() {
        let situation =
            ServerSituation { server, current, shares: vec![s.clone()], snapshots: Vec::new(), rules: [(s.id.clone(), Vec::new())].into() };
        if may_be_given(desk, shares, &situation, &added.subnet, report).await {
            details = given_subnet(desk, &situation, &added, report).await.unwrap_or(details);
        }
    }
    report
        .check("a share on a server is deleted like any other", async {
            for attempt in ["delete", "repeated delete"] {
                shares.delete(&desk.call("delete share on a server"), &s).await.or_say(attempt)?;
            }
            Ok(())
        })
        .await;
    Some(details)
}

/// Locations that name an address name one that the server was given; names are the driver's to choose.
pub fn at_addresses_of(networks: &[NetworkInfo], locations: &[ExportLocation]) -> Result<(), String> {
    if locations.is_empty() {
        return Err("it has no location".to_owned());
    }
    for location in locations {
        let Some(address) = share::address_of(&location.path) else { continue };
        // an administrator may come in by any of them
        let of = |n: &NetworkInfo| {
            let admin = n.admin_allocations.iter().filter(|_| location.admin_only);
            n.allocations.iter().chain(admin).any(|a| a.ip_address.parse() == Ok(address))
        };
        if !networks.iter().any(of) {
            return Err(format!("{} is not at an address that its server was given", location.path));
        }
    }
    Ok(())
}

/// Asks whether the server can be given one more subnet.
async fn may_be_given(desk: &Desk<'_>, shares: &dyn Shares, of: &ServerSituation, subnet: &Subnet, report: &mut Report) -> bool {
    let Some(allocations) = desk.backend.allocations() else {
        report.skip("more subnets for a live share server", "allocations is not exported");
        return false;
    };
    if !desk.features().network_allocation_update_support {
        report.skip("more subnets for a live share server", "the back end is said to give none");
        return false;
    }
    let Some(servers) = desk.backend.share_servers() else { return false };
    let mut verdict = None;
    report
        .check("asking whether a share server can be given another subnet answers the same again, and changes nothing", async {
            let ask = || async { allocations.check_update(&desk.call("check"), of, subnet).await.or_say("check") };
            let first = ask().await?;
            same("check", &first, &ask().await?)?;
            if matches!(&first, NetworkCheck::Refused(why) if why.trim().is_empty()) {
                return Err("the check was refused without a reason".to_owned());
            }
            same("the server after the check", &of.server.details, &desk.set_up(&**servers, &of.server.id, &of.current).await?)?;
            for s in &of.shares {
                let call = desk.call(&format!("create {}", s.id));
                let now = desk.made_share("create after the check", shares.create(&call, s).await).await?;
                same("the share after the check", &s.locations, &now.locations)?;
            }
            verdict = Some(first);
            Ok(())
        })
        .await;
    match verdict {
        Some(NetworkCheck::Ok) => true,
        Some(NetworkCheck::Refused(why)) => {
            report.skip("another subnet for a live share server", &format!("the driver refuses it: {why}"));
            false
        }
        None => false,
    }
}

/// Gives it; the server's details from then on.
async fn given_subnet(desk: &Desk<'_>, of: &ServerSituation, added: &NetworkInfo, report: &mut Report) -> Option<ServerDetails> {
    let allocations = desk.backend.allocations()?;
    let mut details = None;
    report
        .check("a live share server is given another subnet once, however often, and what is mounted stays where it is", async {
            let give = || async {
                let answer = allocations.update(&desk.call("update"), of, added).await;
                let end = |outcome| if let PollOutcome::Network(update) = outcome { Some(update) } else { None };
                desk.finish("update", answer, end).await
            };
            let first: NetworkUpdate = give().await?;
            details = Some(first.details.clone());
            same("update", &first, &give().await?)?;
            let networks: Vec<NetworkInfo> = of.current.iter().chain([added]).cloned().collect();
            for share in &of.shares {
                let Some(now) = first.shares.iter().find(|change| change.id == share.id) else { continue };
                at_addresses_of(&networks, &now.locations)?;
                if let Some(lost) = share.locations.iter().find(|l| !now.locations.iter().any(|n| n.path == l.path)) {
                    return Err(format!("share {} is not at {} any more", share.id, lost.path));
                }
            }
            Ok(())
        })
        .await;
    details
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(version: IpVersion) -> Vec<NetworkInfo> {
        let features = Features { ip_versions: vec![version], ..Features::default() };
        let networks = Networks::new(&features, AddressCounts { per_subnet: 2, admin: 1 });
        vec![networks.network(0), networks.network(1)]
    }

    #[test]
    fn the_kits_networks_are_subnets_with_addresses_in_them() {
        for version in [IpVersion::V4, IpVersion::V6] {
            let mut seen = std::collections::BTreeSet::new();
            for network in networks(version) {
                let cidr: ipnet::IpNet = network.subnet.cidr.parse().unwrap();
                assert!(cidr.contains(&network.subnet.gateway.unwrap().parse::<std::net::IpAddr>().unwrap()));
                for allocation in network.allocations {
                    assert!(cidr.contains(&allocation.ip_address.parse::<std::net::IpAddr>().unwrap()), "{allocation:?}");
                    assert!(seen.insert(allocation.ip_address));
                }
            }
            assert_eq!(seen.len(), 4);
        }
    }

    #[test]
    fn a_location_is_at_an_address_of_its_server_or_under_a_name() {
        let at = |path: &str, admin_only| {
            at_addresses_of(&networks(IpVersion::V4), &[ExportLocation { path: path.into(), admin_only, ..ExportLocation::default() }])
        };
        for (path, admin_only) in
            [("192.0.2.10:/a", false), ("\\\\198.51.100.11\\a", false), ("nas.test:/a", false), ("198.18.0.10:/a", true)]
        {
            at(path, admin_only).unwrap_or_else(|e| panic!("{e}"));
        }
        for path in ["192.0.2.12:/a", "198.18.0.10:/a", "[2001:db8::a]:/a"] {
            assert!(at(path, false).is_err(), "{path}");
        }
        assert!(at_addresses_of(&networks(IpVersion::V4), &[]).is_err());
    }
}
