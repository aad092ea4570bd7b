//! Every interface of the contract is bound and reaches a component: each verb once, through the real sandbox.

use serde_json::json;
use stowage::driver::{
    ErrorKind,
    types::{
        AccessChange, AccessMode, Answer, ConnectionTarget, DisconnectTarget, EnsureItem, EnsureOutcome, NetworkCheck, NewType,
        PollOutcome, RetypeOutcome, ServerSituation, ShareServer, StringMap,
    },
};

use crate::{
    objects::{connector, id, network, rule, share, snapshot_of, snapshot_of_share, volume},
    rig::{Rig, call},
};

fn done<T: std::fmt::Debug>(answer: Answer<T>) -> T {
    match answer {
        Answer::Done(answer) => answer,
        Answer::Pending(p) => panic!("pending: {p:?}"),
    }
}

fn map(pairs: &[(&str, &str)]) -> StringMap {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn volumes_their_snapshots_and_copies() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({})).await;
    let c = call("op");
    let mut v = volume(2);
    let volumes = backend.need_volumes().unwrap();
    let made = done(volumes.create(&c, &v).await.unwrap());
    assert_eq!(done(volumes.create(&c, &v).await.unwrap()), made, "a repeat finds the same");
    done(volumes.extend(&c, &v, 3).await.unwrap());
    v.size_gib = 3;

    let clone = volume(3);
    done(backend.need_volume_clone().unwrap().clone_volume(&c, &clone, &v).await.unwrap());
    let snapshot = snapshot_of(&v);
    let snapshots = backend.need_volume_snapshots().unwrap();
    snapshots.create_snapshot(&c, &snapshot, &v).await.unwrap();
    let copy = volume(4);
    done(backend.need_volume_from_snapshot().unwrap().create_from_snapshot(&c, &copy, &snapshot).await.unwrap());
    backend.need_volume_revert().unwrap().revert(&c, &v, &snapshot).await.unwrap();
    let to = NewType { pool: "pool0".into(), ..NewType::default() };
    assert!(matches!(backend.need_volume_retype().unwrap().retype(&c, &v, &to).await.unwrap(), RetypeOutcome::Done(_)));

    snapshots.delete_snapshot(&c, &snapshot, &v).await.unwrap();
    for gone in [&v, &clone, &copy] {
        volumes.delete(&c, gone).await.unwrap();
        volumes.delete(&c, gone).await.unwrap();
    }
    let report = backend.refresh(&c).await.unwrap();
    assert_eq!(report.report.pools[0].provisioned_gib, Some(0.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn volumes_that_somebody_else_made() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({ "foreign": ["old:7"] })).await;
    let (c, manage) = (call("op"), backend.need_volume_manage().unwrap());
    let page = manage.list_manageable(&c, "pool0", None, 10).await.unwrap();
    assert_eq!(page.items.iter().map(|i| i.size_gib).collect::<Vec<_>>(), [7]);
    let reference = page.items[0].reference.clone();
    assert_eq!(manage.size_of(&c, &reference).await.unwrap(), 7);
    let v = volume(7);
    assert_eq!(manage.adopt(&c, &v, &reference).await.unwrap().size_gib, 7);
    manage.release(&c, &v).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn replicated_volumes_fail_over_and_each_is_answered_once() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({ "replication_targets": ["east", "west"] })).await;
    let (c, v, missing) = (call("op"), volume(1), volume(1));
    done(backend.need_volumes().unwrap().create(&c, &v).await.unwrap());
    let replication = backend.need_volume_replication().unwrap();
    assert_eq!(replication.choose(&c, Some("nowhere")).await.unwrap_err().kind, ErrorKind::Invalid);
    assert_eq!(replication.choose(&c, None).await.unwrap(), "east");
    let states = replication.failover(&c, "east", &[v.clone(), missing.clone()]).await.unwrap();
    assert_eq!(states[&v.id].as_ref().unwrap().provider_data.as_deref(), Some("on east"));
    assert!(states[&missing.id].is_err());
    replication.complete(&c, "east").await.unwrap();
    assert_eq!(replication.choose(&c, None).await.unwrap(), "west");
    replication.complete(&c, "default").await.unwrap();

    for wrong in ["leave-out", "wrong-id"] {
        let options = json!({ "replication_targets": ["east"], "faults": [format!("volume-replication.failover={wrong}")] });
        let backend = rig.memory("m", options).await;
        let answer = backend.need_volume_replication().unwrap().failover(&c, "east", std::slice::from_ref(&v)).await;
        assert_eq!(answer.unwrap_err().kind, ErrorKind::WrongAnswer, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({ "chap": true })).await;
    let (c, v, host) = (call("op"), volume(1), connector("compute1"));
    done(backend.need_volumes().unwrap().create(&c, &v).await.unwrap());
    let connections = backend.need_connection_info().unwrap();
    connections.validate_connector(&c, &host).await.unwrap();
    let connection = connections.connect(&c, &v, &id(), AccessMode::ReadWrite, &host).await.unwrap();
    let ConnectionTarget::Iscsi(iscsi) = &connection.target else { panic!("{:?}", connection.target) };
    assert!(iscsi.auth.is_some());
    assert!(!format!("{connection:?}").contains(&iscsi.auth.as_ref().unwrap().password), "a secret is shown by Debug");
    connections.ensure_export(&c, &v).await.unwrap();
    connections.disconnect(&c, &v, &DisconnectTarget::Connector(host)).await.unwrap();
    connections.disconnect(&c, &v, &DisconnectTarget::All).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_work_is_polled_to_its_end() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({ "faults": ["volumes.create=pending:1"] })).await;
    let (c, v) = (call("op"), volume(1));
    let Answer::Pending(pending) = backend.need_volumes().unwrap().create(&c, &v).await.unwrap() else { panic!("done at once") };
    let mut token = pending.token;
    for _ in 0..10 {
        match backend.need_poll().unwrap().poll(&c, &token).await.unwrap() {
            PollOutcome::Pending(again) => token = again.token,
            PollOutcome::Volume(_) => return,
            other => panic!("{other:?}"),
        }
    }
    panic!("never done");
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_their_rules_and_snapshots() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({})).await;
    let c = call("op");
    let shares = backend.need_shares().unwrap();
    let mut s = share(2, None);
    let update = done(shares.create(&c, &s).await.unwrap());
    s.locations = update.locations;
    done(shares.extend(&c, &s, 5).await.unwrap());
    s.size_gib = 5;
    backend.need_share_shrink().unwrap().shrink(&c, &s, 4).await.unwrap();
    s.size_gib = 4;

    let rules = vec![rule("192.0.2.0/24"), rule("198.51.100.7")];
    let change = AccessChange { rules: rules.clone(), added: rules.clone(), ..AccessChange::default() };
    let states = backend.need_access().unwrap().apply(&c, &s, &change).await.unwrap();
    assert!(states.iter().all(|r| r.outcome.is_ok()), "{states:?}");

    let snapshot = snapshot_of_share(&s);
    let snapshots = backend.need_share_snapshots().unwrap();
    snapshots.create_snapshot(&c, &snapshot, &s).await.unwrap();
    let states = backend.need_snapshot_access().unwrap().apply(&c, &snapshot, &change).await.unwrap();
    assert_eq!(states.len(), 2);
    let copy = share(4, None);
    done(backend.need_share_from_snapshot().unwrap().create_from_snapshot(&c, &copy, &snapshot, &s).await.unwrap());
    backend.need_share_revert().unwrap().revert(&c, &s, &snapshot, &rules, &[]).await.unwrap();

    let ensure = backend.need_ensure().unwrap();
    assert!(!ensure.fingerprint(&c).await.unwrap().is_empty());
    let items = [EnsureItem { share: s.clone(), snapshots: vec![] }, EnsureItem { share: share(1, None), snapshots: vec![] }];
    let outcomes = ensure.ensure_shares(&c, &items).await.unwrap();
    assert_eq!(outcomes[&s.id], EnsureOutcome::Unchanged);
    assert!(matches!(&outcomes[&items[1].share.id], EnsureOutcome::Updated(u) if u.broken_because.is_some()), "{outcomes:?}");

    snapshots.delete_snapshot(&c, &snapshot, &s).await.unwrap();
    shares.delete(&c, &copy).await.unwrap();
    shares.delete(&c, &s).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_that_somebody_else_made() {
    let rig = Rig::new().await;
    let backend = rig.memory("m", json!({ "foreign": ["old:7"] })).await;
    let (c, s, manage) = (call("op"), share(7, None), backend.need_share_manage().unwrap());
    let adopted = manage.adopt(&c, &s, "192.0.2.10:/old", &StringMap::new()).await.unwrap();
    assert_eq!(adopted.size_gib, 7);
    let taken = snapshot_of_share(&s);
    let (snapshots, adopts) = (backend.need_share_snapshots().unwrap(), backend.need_share_snapshot_manage().unwrap());
    let update = snapshots.create_snapshot(&c, &taken, &s).await.unwrap();
    adopts.release(&c, &taken, &s).await.unwrap();
    let again = snapshot_of_share(&s);
    let adopted = adopts.adopt(&c, &again, &s, &update.provider_id.unwrap(), &StringMap::new()).await.unwrap();
    assert_eq!(adopted.size_gib, 7);
    adopts.release(&c, &again, &s).await.unwrap();
    manage.release(&c, &s).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn share_servers_and_more_networks_for_them() {
    let rig = Rig::new().await;
    let options = json!({ "driver_handles_share_servers": "yes", "multiple_subnets": true, "allocation_update": true });
    let backend = rig.memory("m", options).await;
    let c = call("op");
    let servers = backend.need_share_servers().unwrap();
    assert_eq!(servers.allocations_wanted(&c).await.unwrap().per_subnet, 1);
    let server_id = id();
    let networks = vec![network(1), network(2)];
    let details = done(servers.setup(&c, &server_id, &networks, &map(&[("snapshot_support", "True")])).await.unwrap());
    let server = ShareServer { id: server_id.clone(), details };
    let mut s = share(1, Some(server.clone()));
    s.locations = done(backend.need_shares().unwrap().create(&c, &s).await.unwrap()).locations;

    let situation = ServerSituation {
        server: server.clone(),
        current: networks,
        shares: vec![s.clone()],
        snapshots: vec![],
        rules: [(s.id.clone(), vec![])].into(),
    };
    let allocations = backend.need_allocations().unwrap();
    let added = network(3);
    assert_eq!(allocations.check_update(&c, &situation, &added.subnet).await.unwrap(), NetworkCheck::Ok);
    let update = done(allocations.update(&c, &situation, &added).await.unwrap());
    assert_eq!(update.shares.len(), 1);
    assert!(update.shares[0].locations.iter().any(|l| l.path.contains("198.51.3.9")), "{update:?}");

    backend.need_shares().unwrap().delete(&c, &s).await.unwrap();
    servers.teardown(&c, &server_id, Some(&update.details), &[]).await.unwrap();
    servers.teardown(&c, &server_id, None, &[]).await.unwrap();
}
