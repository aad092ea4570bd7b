//! What the host may rely on, tried natively against the mock host.

mod migration;

use stowage_driver_sdk::{RuleChanges, mock, prelude::*};

use crate::Memory;

fn open(host: &mock::Host, verb: &'static str) -> (Memory, Context) {
    let cx = host.context(verb);
    (Memory::open(&cx).unwrap(), cx)
}

fn host(pool: &str) -> mock::Host {
    mock::Host::new().option("pools", [pool])
}

fn free(host: &mock::Host) -> Capacity {
    let (memory, cx) = open(host, "capabilities.report");
    memory.report(&cx).unwrap().pools[0].free
}

fn create(host: &mock::Host, id: &str, gib: u64) -> Result<VolumeOutcome> {
    let (memory, cx) = open(host, "volumes.create");
    memory.create_volume(&cx, &mock::volume(id, gib, "gold"))
}

fn content(host: &mock::Host, id: &str) -> String {
    let (memory, cx) = open(host, "test");
    let object = memory.array(&cx).get("volumes", id).unwrap().unwrap();
    object.data["content"].as_str().unwrap().to_owned()
}

fn snapshot(volume: &str, id: &str) -> VolumeSnapshot {
    VolumeSnapshot {
        id: id.into(),
        name: String::new(),
        project_id: String::new(),
        volume_id: volume.into(),
        size_gib: 1,
        provider_id: None,
        provider_data: None,
        metadata: Vec::new(),
    }
}

fn connector(name: &str) -> Connector {
    Connector {
        host: name.into(),
        ip: None,
        initiator: Some(format!("iqn.1994-05.test:{name}")),
        wwpns: Vec::new(),
        wwnns: Vec::new(),
        nqn: None,
        nvme_host_id: None,
        system_uuid: None,
        multipath: false,
        os_type: None,
        platform: None,
        mountpoint: None,
        extra: Vec::new(),
    }
}

fn share(id: &str, server: Option<&str>) -> Share {
    Share {
        id: id.into(),
        name: String::new(),
        project_id: String::new(),
        pool: "gold".into(),
        protocol: ShareProtocol::Nfs,
        size_gib: 1,
        provider_id: None,
        provider_data: None,
        locations: Vec::new(),
        server: server.map(|id| ShareServer { id: id.into(), details: Vec::new() }),
        specs: Vec::new(),
        metadata: Vec::new(),
    }
}

fn network(subnet: &str, address: &str) -> NetworkInfo {
    NetworkInfo {
        subnet: Subnet {
            id: subnet.into(),
            availability_zone: None,
            network_type: None,
            segmentation_id: None,
            cidr: "192.0.2.0/24".into(),
            gateway: None,
            mtu: None,
            ip_version: IpVersion::V4,
            neutron_net_id: None,
            neutron_subnet_id: None,
        },
        allocations: vec![Allocation { id: format!("a-{subnet}"), ip_address: address.into(), mac_address: None, label: String::new() }],
        admin_allocations: Vec::new(),
        security_services: Vec::new(),
    }
}

fn rule(id: &str, to: &str) -> AccessRule {
    AccessRule { id: id.into(), kind: AccessKind::Ip, to: to.into(), level: AccessMode::ReadWrite, key: None }
}

const NO_CHANGES: RuleChanges<'_> = RuleChanges { added: &[], removed: &[], changed: &[] };

#[test]
fn room_is_counted_exactly_over_create_extend_snapshot_and_delete() {
    let host = host("gold:100");
    create(&host, "a", 10).unwrap();
    assert_eq!(free(&host), Capacity::Gib(90.0));
    let (memory, cx) = open(&host, "volumes.extend");
    memory.extend_volume(&cx, &mock::volume("a", 10, "gold"), 15).unwrap();
    assert_eq!(free(&host), Capacity::Gib(85.0));
    memory.create_snapshot(&cx, &snapshot("a", "s"), &mock::volume("a", 15, "gold")).unwrap();
    assert_eq!(free(&host), Capacity::Gib(70.0));
    memory.delete_snapshot(&cx, &snapshot("a", "s"), &mock::volume("a", 15, "gold")).unwrap();
    memory.delete_volume(&cx, &mock::volume("a", 15, "gold")).unwrap();
    assert_eq!(free(&host), Capacity::Gib(100.0));
    assert!(host.kv_keys().is_empty());
}

#[test]
fn a_repeated_create_or_delete_changes_nothing_more() {
    let host = host("gold:100");
    let first = create(&host, "a", 10).unwrap();
    assert_eq!(create(&host, "a", 10).unwrap(), first);
    assert_eq!(free(&host), Capacity::Gib(90.0));
    let (memory, cx) = open(&host, "volumes.delete");
    for _ in 0..2 {
        memory.delete_volume(&cx, &mock::volume("a", 10, "gold")).unwrap();
    }
}

#[test]
fn a_full_pool_refuses_until_something_goes() {
    let host = host("gold:10");
    create(&host, "a", 6).unwrap();
    assert_eq!(create(&host, "b", 5).unwrap_err().kind, ErrorKind::Exhausted);
    create(&host, "c", 4).unwrap();
    let (memory, cx) = open(&host, "volumes.delete");
    memory.delete_volume(&cx, &mock::volume("a", 6, "gold")).unwrap();
    create(&host, "b", 5).unwrap();
    let (memory, cx) = open(&host, "volumes.extend");
    assert_eq!(memory.extend_volume(&cx, &mock::volume("b", 5, "gold"), 7).unwrap_err().kind, ErrorKind::Exhausted);
    memory.extend_volume(&cx, &mock::volume("b", 5, "gold"), 6).unwrap();
    assert_eq!(free(&host), Capacity::Gib(0.0));
}

#[test]
fn a_repeat_in_a_pool_that_filled_up_meanwhile_finds_its_volume() {
    let host = host("gold:10");
    create(&host, "a", 10).unwrap();
    assert!(create(&host, "a", 10).is_ok());
}

#[test]
fn an_answer_that_was_lost_left_the_volume_behind() {
    let host = host("gold:10").option("faults", ["volumes.create#1=lose-answer"]);
    assert_eq!(create(&host, "a", 4).unwrap_err().kind, ErrorKind::Transient);
    assert_eq!(free(&host), Capacity::Gib(6.0));
    assert!(create(&host, "a", 4).is_ok());
    assert_eq!(free(&host), Capacity::Gib(6.0));
}

#[test]
fn long_work_is_pending_until_it_was_polled_often_enough() {
    let host = host("gold:10").option("faults", ["volumes.create=pending:2"]);
    let VolumeOutcome::Pending(pending) = create(&host, "a", 4).unwrap() else { panic!("not pending") };
    let VolumeOutcome::Pending(again) = create(&host, "a", 4).unwrap() else { panic!("a repeat is not pending") };
    assert_eq!(pending.token, again.token);
    let (memory, cx) = open(&host, "poll.poll");
    assert!(matches!(memory.poll(&cx, &pending.token).unwrap(), PollOutcome::Pending(_)));
    assert!(matches!(memory.poll(&cx, &pending.token).unwrap(), PollOutcome::Volume(_)));
    assert!(matches!(memory.poll(&cx, &pending.token).unwrap(), PollOutcome::Volume(_)));
    assert!(matches!(create(&host, "a", 4).unwrap(), VolumeOutcome::Done(_)));
}

#[test]
fn a_snapshot_keeps_what_the_volume_held_and_a_clone_copies_it() {
    let host = host("gold:100");
    create(&host, "a", 1).unwrap();
    let (memory, cx) = open(&host, "test");
    let (a, b) = (mock::volume("a", 1, "gold"), mock::volume("b", 2, "gold"));
    memory.create_snapshot(&cx, &snapshot("a", "s"), &a).unwrap();
    memory.create_volume_from_snapshot(&cx, &b, &snapshot("a", "s")).unwrap();
    memory.clone_volume(&cx, &mock::volume("c", 2, "gold"), &b).unwrap();
    assert_eq!(content(&host, "c"), content(&host, "a"));
    assert_eq!(memory.delete_volume(&cx, &a).unwrap_err().kind, ErrorKind::Busy);
}

/// What is exported of the volume `a`.
fn connections(memory: &Memory, cx: &Context) -> Vec<String> {
    memory.array(cx).list("connections", "a.").unwrap().into_iter().map(|(id, _)| id).collect()
}

#[test]
fn two_attachments_by_one_name_are_one_connection_and_others_are_not_disturbed() {
    let host = host("gold:100");
    create(&host, "a", 1).unwrap();
    let (memory, cx) = open(&host, "connection-info.connect");
    let a = mock::volume("a", 1, "gold");
    let one = memory.connect(&cx, &a, "1", AccessMode::ReadWrite, &connector("h1")).unwrap();
    assert_eq!(memory.connect(&cx, &a, "2", AccessMode::ReadWrite, &connector("h1")).unwrap(), one);
    memory.connect(&cx, &a, "3", AccessMode::ReadOnly, &connector("h2")).unwrap();
    assert_eq!(connections(&memory, &cx), ["a.iqn.1994-05.test%3ah1", "a.iqn.1994-05.test%3ah2"]);
    for _ in 0..2 {
        memory.disconnect(&cx, &a, &DisconnectTarget::Connector(connector("h1"))).unwrap();
    }
    assert_eq!(connections(&memory, &cx), ["a.iqn.1994-05.test%3ah2"]);
    memory.disconnect(&cx, &a, &DisconnectTarget::All).unwrap();
    assert!(connections(&memory, &cx).is_empty());
}

#[test]
fn names_of_one_host_are_connections_of_their_own_in_every_protocol() {
    let named = |initiator: &str, nqn: &str, wwpns: &[&str]| Connector {
        initiator: Some(initiator.into()),
        nqn: Some(nqn.into()),
        wwpns: wwpns.iter().map(|w| (*w).into()).collect(),
        ..connector("h")
    };
    let (one, two) = (named("i1", "n1", &["A1", "a2"]), named("i2", "n2", &["b1"]));
    for (protocol, both, left) in [
        ("iscsi", &["a.i1", "a.i2"][..], &["a.i2"][..]),
        ("nvme-of", &["a.n1", "a.n2"], &["a.n2"]),
        ("fibre-channel", &["a.a1", "a.a2", "a.b1"], &["a.b1"]),
        ("rbd", &["a.h"], &[]),
        ("nfs", &["a.h"], &[]),
    ] {
        let host = host("gold:100").option("block_protocol", protocol);
        create(&host, "a", 1).unwrap();
        let (memory, cx) = open(&host, "connection-info.connect");
        let a = mock::volume("a", 1, "gold");
        for connector in [&one, &two] {
            memory.connect(&cx, &a, "1", AccessMode::ReadWrite, connector).unwrap();
        }
        assert_eq!(connections(&memory, &cx), both, "{protocol}");
        memory.disconnect(&cx, &a, &DisconnectTarget::Connector(one.clone())).unwrap();
        assert_eq!(connections(&memory, &cx), left, "{protocol}");
    }
}

#[test]
fn a_connector_without_a_name_ends_what_its_host_has() {
    let host = host("gold:100");
    create(&host, "a", 1).unwrap();
    let (memory, cx) = open(&host, "connection-info.connect");
    let a = mock::volume("a", 1, "gold");
    for name in ["h1", "h2"] {
        memory.connect(&cx, &a, "1", AccessMode::ReadWrite, &connector(name)).unwrap();
    }
    memory.disconnect(&cx, &a, &DisconnectTarget::Connector(Connector { initiator: None, ..connector("h1") })).unwrap();
    assert_eq!(connections(&memory, &cx), ["a.iqn.1994-05.test%3ah2"]);
}

#[test]
fn a_connector_that_lacks_what_the_protocol_needs_is_invalid() {
    let host = host("gold:100").option("block_protocol", "nvme-of");
    let (memory, cx) = open(&host, "test");
    let refusal = memory.validate_connector(&cx, &connector("h")).unwrap_err();
    assert_eq!(refusal.kind, ErrorKind::Invalid);
    assert!(refusal.message.contains("nqn"));
}

#[test]
fn a_foreign_volume_is_adopted_once_and_can_be_released() {
    let host = host("gold:100").option("foreign", ["old:7"]);
    let (memory, cx) = open(&host, "test");
    let reference = [KeyValue::new("source-name", "old")];
    assert_eq!(memory.size_of(&cx, &reference).unwrap(), 7);
    let a = mock::volume("a", 7, "gold");
    for _ in 0..2 {
        assert_eq!(memory.adopt_volume(&cx, &a, &reference).unwrap().size_gib, 7);
    }
    assert_eq!(memory.adopt_volume(&cx, &mock::volume("b", 7, "gold"), &reference).unwrap_err().kind, ErrorKind::Busy);
    memory.release_volume(&cx, &a).unwrap();
    let listed = memory.list_manageable(&cx, "gold", None, 10).unwrap().items;
    assert_eq!((listed.len(), listed[0].managed_as.as_deref()), (1, None));
    assert_eq!(memory.adopt_volume(&cx, &mock::volume("b", 7, "gold"), &reference).unwrap().size_gib, 7);
}

#[test]
fn a_foreign_share_is_adopted_once_and_can_be_released() {
    let host = host("gold:100").option("foreign", ["old:7"]);
    let (memory, cx) = open(&host, "test");
    let adopt = |id: &str| memory.adopt_share(&cx, &share(id, None), "192.0.2.10:/shares/old", &[]);
    for _ in 0..2 {
        assert_eq!(adopt("a").unwrap().size_gib, 7);
    }
    assert_eq!(adopt("b").unwrap_err().kind, ErrorKind::Busy);
    memory.release_share(&cx, &share("a", None)).unwrap();
    assert_eq!(adopt("b").unwrap().size_gib, 7);
}

#[test]
fn every_rule_gets_a_state_and_only_usable_ones_hold() {
    let host = host("gold:100");
    let (memory, cx) = open(&host, "test");
    memory.create_share(&cx, &share("s", None)).unwrap();
    let states = memory.apply_access(&cx, &share("s", None), &[rule("1", "192.0.2.0/24"), rule("2", "2001:db8::/64")], NO_CHANGES).unwrap();
    assert_eq!(states.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(states[0].outcome, RuleOutcome::Active);
    assert!(matches!(states[1].outcome, RuleOutcome::Failed(_)));
}

#[test]
fn a_live_server_with_another_subnet_exports_its_shares_on_both() {
    let host = host("gold:100").option("driver_handles_share_servers", "yes").option("allocation_update", true);
    let (memory, cx) = open(&host, "test");
    let first = network("n1", "192.0.2.5");
    memory.set_up_server(&cx, "v", std::slice::from_ref(&first), &[]).unwrap();
    memory.create_share(&cx, &share("s", Some("v"))).unwrap();
    let server = ShareServer { id: "v".into(), details: Vec::new() };
    let on_it = [share("s", Some("v"))];
    let live = LiveServer { server: &server, current: &[first], shares: &on_it, snapshots: &[] };
    for _ in 0..2 {
        let UpdateOutcome::Done(update) = memory.update_network(&cx, live, &network("n2", "198.51.100.5")).unwrap() else {
            panic!("pending")
        };
        let paths: Vec<&str> = update.shares[0].locations.iter().map(|l| l.path.as_str()).collect();
        assert_eq!(paths, ["192.0.2.5:/shares/s", "198.51.100.5:/shares/s"]);
    }
    assert_eq!(memory.tear_down_server(&cx, "v", None, &[]).unwrap_err().kind, ErrorKind::Busy);
}

#[test]
fn ensure_says_what_moved_and_what_is_lost() {
    let host = host("gold:100");
    let (memory, cx) = open(&host, "test");
    let ShareOutcome::Done(made) = memory.create_share(&cx, &share("s", None)).unwrap() else { panic!("pending") };
    let item =
        |id: &str, locations: Vec<ExportLocation>| EnsureItem { share: Share { locations, ..share(id, None) }, snapshots: Vec::new() };
    assert_eq!(memory.ensure_share(&cx, &item("s", made.locations.clone())).unwrap(), EnsureOutcome::Unchanged);
    let before = memory.fingerprint(&cx).unwrap();
    let (moved, cx) = open(&host.option("export_addresses", ["203.0.113.9"]), "test");
    assert_ne!(moved.fingerprint(&cx).unwrap(), before);
    let EnsureOutcome::Updated(update) = moved.ensure_share(&cx, &item("s", made.locations)).unwrap() else { panic!("not updated") };
    assert_eq!(update.locations.unwrap()[0].path, "203.0.113.9:/shares/s");
    let EnsureOutcome::Updated(lost) = moved.ensure_share(&cx, &item("lost", Vec::new())).unwrap() else { panic!("not updated") };
    assert_eq!(lost.broken_because.unwrap().kind, ErrorKind::NotFound);
}
