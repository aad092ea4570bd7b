//! Share servers that move: between back ends that know nothing of each other, and inside one array.

use super::*;

fn served(pool: &str) -> mock::Host {
    host(pool).option("driver_handles_share_servers", "yes")
}

fn server(id: &str) -> ShareServer {
    ShareServer { id: id.into(), details: Vec::new() }
}

fn set_up(host: &mock::Host, id: &str, address: &str) {
    let (memory, cx) = open(host, "share-servers.setup");
    memory.set_up_server(&cx, id, &[network("n", address)], &[]).unwrap();
}

fn share_snapshot(share: &str, id: &str) -> ShareSnapshot {
    ShareSnapshot {
        id: id.into(),
        name: String::new(),
        project_id: String::new(),
        share_id: share.into(),
        size_gib: 1,
        provider_id: None,
        provider_data: None,
        locations: Vec::new(),
        server: None,
        metadata: Vec::new(),
    }
}

const REQUEST: MigrationRequest = MigrationRequest { writable: true, preserve_snapshots: true };

/// Server `from` at 192.0.2.1 with two shares, one with a snapshot.
fn source_on(host: &mock::Host) -> MigrationSource {
    set_up(host, "from", "192.0.2.1");
    let (memory, cx) = open(host, "shares.create");
    let shares = vec![share("s1", Some("from")), share("s2", Some("from"))];
    for share in &shares {
        memory.create_share(&cx, share).unwrap();
    }
    memory.create_share_snapshot(&cx, &share_snapshot("s1", "n1"), &shares[0]).unwrap();
    memory.apply_access(&cx, &shares[0], &[rule("1", "192.0.2.0/24")], NO_CHANGES).unwrap();
    MigrationSource {
        host: "stowage@a".into(),
        server: server("from"),
        networks: vec![network("n", "192.0.2.1")],
        shares,
        snapshots: vec![share_snapshot("s1", "n1")],
        rules: Vec::new(),
    }
}

fn start(host: &mock::Host, source: &MigrationSource) -> Result<CopyOutcome> {
    let (memory, cx) = open(host, "share-server-migration.start");
    let destination = server("to");
    memory.start_migration(&cx, ServerMigration { source, destination: &destination, networks: &[], request: REQUEST })
}

fn complete(host: &mock::Host, source: &MigrationSource) -> Result<CompleteOutcome> {
    let (memory, cx) = open(host, "share-server-migration.complete");
    let destination = server("to");
    memory.complete_migration(&cx, ServerMigration { source, destination: &destination, networks: &[], request: REQUEST })
}

fn cancel(host: &mock::Host, source: &MigrationSource) -> Result<()> {
    let (memory, cx) = open(host, "share-server-migration.cancel");
    memory.cancel_migration(&cx, source, &server("to"))
}

fn abandon(host: &mock::Host, source: &MigrationSource) -> Result<()> {
    let (memory, cx) = open(host, "share-server-migration.abandon");
    memory.abandon_server(&cx, &source.server, &source.shares, &source.snapshots)
}

fn tear_down(host: &mock::Host, id: &str) -> Result<()> {
    let (memory, cx) = open(host, "share-servers.teardown");
    memory.tear_down_server(&cx, id, None, &[])
}

fn moved(outcome: CompleteOutcome) -> ServerMoved {
    match outcome {
        CompleteOutcome::Done(moved) => moved,
        CompleteOutcome::Pending(pending) => panic!("pending: {pending:?}"),
    }
}

/// (share, pool, path) of each.
fn places(moved: &ServerMoved) -> Vec<(&str, &str, &str)> {
    moved.shares.iter().map(|s| (s.id.as_str(), s.pool.as_str(), s.locations[0].path.as_str())).collect()
}

fn poll(host: &mock::Host, token: &str) -> PollOutcome {
    let (memory, cx) = open(host, "poll.poll");
    memory.poll(&cx, token).unwrap()
}

fn held(host: &mock::Host, kind: &str, id: &str) -> Option<serde_json::Value> {
    let (memory, cx) = open(host, "test");
    memory.array(&cx).get(kind, id).unwrap().map(|o| o.data)
}

fn refusal(host: &mock::Host, source: &MigrationSource, subnets: &[Subnet]) -> String {
    let (memory, cx) = open(host, "share-server-migration.check");
    match memory.check_migration(&cx, source, subnets, REQUEST).unwrap() {
        MigrationCheck::Refused(reason) => reason,
        MigrationCheck::Compatible(abilities) => panic!("compatible: {abilities:?}"),
    }
}

#[test]
fn a_server_moves_to_an_array_that_never_saw_it() {
    let (here, there) = (served("gold:100"), served("gold:100"));
    let source = source_on(&here);
    set_up(&there, "to", "198.51.100.1");
    for _ in 0..2 {
        assert_eq!(start(&there, &source).unwrap(), CopyOutcome::Done);
        assert_eq!(free(&there), Capacity::Gib(97.0), "room is taken for all that comes");
    }
    let first = moved(complete(&there, &source).unwrap());
    assert_eq!(places(&first), [("s1", "gold", "198.51.100.1:/shares/s1"), ("s2", "gold", "198.51.100.1:/shares/s2")]);
    assert_eq!(first.snapshots.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["n1"]);
    assert_eq!(moved(complete(&there, &source).unwrap()), first, "a repeat answers the same");
    assert_eq!(start(&there, &source).unwrap(), CopyOutcome::Done, "also a late start changes nothing");
    assert_eq!(free(&there), Capacity::Gib(97.0));
    assert_eq!(held(&there, "shares", "s1").unwrap()["content"], "moved s1");

    assert_eq!(tear_down(&here, "from").unwrap_err().kind, ErrorKind::Busy);
    for _ in 0..2 {
        abandon(&here, &source).unwrap();
    }
    tear_down(&here, "from").unwrap();
    assert!(here.kv_keys().iter().all(|k| !k.starts_with("o/")), "nothing is left: {:?}", here.kv_keys());
}

#[test]
fn inside_one_array_a_share_keeps_its_content_and_is_not_abandoned_with_its_source() {
    let array = served("gold:100");
    let source = source_on(&array);
    set_up(&array, "to", "198.51.100.1");
    start(&array, &source).unwrap();
    assert_eq!(held(&array, "shares", "s1").unwrap()["server"], "from", "the source goes on serving");
    assert_eq!(free(&array), Capacity::Gib(94.0), "copies take room beside what they are made of");
    let first = moved(complete(&array, &source).unwrap());
    assert_eq!(places(&first)[0].2, "198.51.100.1:/shares/s1");
    for _ in 0..2 {
        abandon(&array, &source).unwrap();
    }
    tear_down(&array, "from").unwrap();
    assert_eq!(held(&array, "shares", "s1").unwrap()["content"], "empty s1");
    assert_eq!(held(&array, "share-snapshots", "s1.n1").unwrap()["content"], "empty s1");
    assert_eq!(free(&array), Capacity::Gib(97.0));
    assert_eq!(tear_down(&array, "to").unwrap_err().kind, ErrorKind::Busy);
}

#[test]
fn to_cancel_frees_the_room_and_may_come_twice_or_for_nothing() {
    let (here, there) = (served("gold:100"), served("gold:100"));
    let source = source_on(&here);
    cancel(&there, &source).unwrap();
    set_up(&there, "to", "198.51.100.1");
    start(&there, &source).unwrap();
    for _ in 0..2 {
        cancel(&there, &source).unwrap();
        assert_eq!(free(&there), Capacity::Gib(100.0));
    }
    assert_eq!(complete(&there, &source).unwrap_err().kind, ErrorKind::NotFound);
    tear_down(&there, "to").unwrap();
    assert!(there.kv_keys().iter().all(|k| !k.starts_with("o/")));
    assert!(held(&here, "shares", "s1").is_some());
}

#[test]
fn after_a_complete_that_failed_to_cancel_brings_all_back() {
    let failing = ["share-server-migration.complete=fail-after:internal"];
    let one = served("gold:100").option("faults", failing);
    let source = source_on(&one);
    set_up(&one, "to", "198.51.100.1");
    start(&one, &source).unwrap();
    assert_eq!(complete(&one, &source).unwrap_err().kind, ErrorKind::Internal);
    cancel(&one, &source).unwrap();
    assert_eq!(held(&one, "shares", "s1").unwrap()["server"], "from");
    assert_eq!(free(&one), Capacity::Gib(97.0));
    tear_down(&one, "to").unwrap();

    let there = served("gold:100").option("faults", failing);
    set_up(&there, "to", "198.51.100.1");
    start(&there, &source).unwrap();
    complete(&there, &source).unwrap_err();
    cancel(&there, &source).unwrap();
    assert_eq!(held(&there, "shares", "s1"), None);
    tear_down(&there, "to").unwrap();
}

#[test]
fn long_work_says_how_far_it_is_unless_it_cannot() {
    for (abilities, percents) in [(&["progress"][..], [Some(0), Some(33), Some(66)]), (&["cancel"], [None; 3])] {
        let faults = ["share-server-migration.start=pending:3", "share-server-migration.complete=pending:2"];
        let there = served("gold:100").option("faults", faults).option("migration", abilities);
        let source = source_on(&served("gold:100"));
        set_up(&there, "to", "198.51.100.1");
        let CopyOutcome::Pending(pending) = start(&there, &source).unwrap() else { panic!("done at once") };
        assert_eq!(complete(&there, &source).unwrap_err().kind, ErrorKind::Busy);
        let mut seen = vec![pending.percent];
        while let PollOutcome::Pending(again) = poll(&there, &pending.token) {
            seen.push(again.percent);
        }
        assert_eq!(seen, percents);
        assert_eq!(poll(&there, &pending.token), PollOutcome::Copied);
        assert_eq!(start(&there, &source).unwrap(), CopyOutcome::Done);
        let CompleteOutcome::Pending(pending) = complete(&there, &source).unwrap() else { panic!("done at once") };
        assert!(matches!(poll(&there, &pending.token), PollOutcome::Pending(_)));
        let PollOutcome::Moved(answer) = poll(&there, &pending.token) else { panic!("not moved") };
        assert_eq!(answer, moved(complete(&there, &source).unwrap()));
    }
}

#[test]
fn what_does_not_fit_takes_no_room() {
    let there = served("gold:2");
    let source = source_on(&served("gold:100"));
    assert_eq!(refusal(&there, &source, &[]), "no pool has 1 GiB for share s2");
    set_up(&there, "to", "198.51.100.1");
    assert_eq!(start(&there, &source).unwrap_err().kind, ErrorKind::Exhausted);
    assert_eq!(free(&there), Capacity::Gib(2.0));
}

#[test]
fn a_share_goes_where_its_pool_is_called_the_same_or_where_there_is_room() {
    let there = mock::Host::new().option("driver_handles_share_servers", "yes").option("pools", ["tin:1", "brass:100", "gold:2"]);
    let source = source_on(&served("gold:100"));
    set_up(&there, "to", "198.51.100.1");
    start(&there, &source).unwrap();
    let places = moved(complete(&there, &source).unwrap());
    assert_eq!(places.shares.iter().map(|s| (s.id.as_str(), s.pool.as_str())).collect::<Vec<_>>(), [("s1", "gold"), ("s2", "tin")]);
}

#[test]
fn a_check_says_why_not() {
    let source = source_on(&served("gold:100"));
    let six = Subnet { ip_version: IpVersion::V6, ..network("six", "2001:db8::1").subnet };
    assert_eq!(refusal(&host("gold:100"), &source, &[]), "there are no share servers here");
    assert_eq!(refusal(&served("gold:100").option("migration_refusal", "no licence"), &source, &[]), "no licence");
    assert_eq!(refusal(&served("gold:100").option("share_protocols", ["cifs"]), &source, &[]), "there are no nfs shares here");
    assert_eq!(refusal(&served("gold:100"), &source, &[six.clone(), six.clone()]), "share servers have one subnet here");
    assert_eq!(refusal(&served("gold:100"), &source, &[six]), "subnet six is of an address family that is not served");
}

#[test]
fn two_servers_do_not_move_onto_one() {
    let there = served("gold:100");
    let source = source_on(&served("gold:100"));
    set_up(&there, "to", "198.51.100.1");
    start(&there, &source).unwrap();
    let other = MigrationSource { server: server("another"), ..source };
    assert_eq!(start(&there, &other).unwrap_err().kind, ErrorKind::Busy);
}

#[test]
fn a_destination_that_is_torn_down_takes_with_it_what_was_never_cancelled() {
    let there = served("gold:100");
    let source = source_on(&served("gold:100"));
    set_up(&there, "to", "198.51.100.1");
    start(&there, &source).unwrap();
    tear_down(&there, "to").unwrap();
    assert_eq!(free(&there), Capacity::Gib(100.0));
}
