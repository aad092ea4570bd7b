//! Addresses for share servers from the built-in network plug-in: never given twice, whoever asks at the same time.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use rand::{Rng, SeedableRng, rngs::StdRng};
use stowage::{
    clock,
    config::{Config, Live, SubnetConfig, load::Source},
    domain::{share_network::NetworkStatus, share_server::ServerStatus},
    network::{NetworkError, NetworkPlugin, Place, Reserved, SubnetIds, Want, r#static::Static},
    store::{
        Store, StoreError,
        sql::{network_allocations::AllocationRow, share_networks::ShareNetworkRow, share_servers::NewShareServer},
    },
};
use support::both_databases;

use crate::share_networks;

fn subnet(id: &str, cidr: &str, ranges: &[&str]) -> SubnetConfig {
    SubnetConfig {
        id: id.into(),
        network_id: "net".into(),
        cidr: cidr.parse().unwrap(),
        gateway: None,
        ranges: ranges.iter().map(|r| r.parse().unwrap()).collect(),
        vlan: Some(7),
        mtu: Some(9000),
    }
}

fn plugin(subnets: Vec<SubnetConfig>) -> Static {
    let mut config = Config::default();
    config.network.default_subnet = subnets.first().map(|s| s.id.clone()).unwrap_or_default();
    config.network.admin_subnet = subnets.last().map(|s| s.id.clone()).unwrap_or_default();
    config.network.subnets = subnets;
    Static::new(Live::new(config, Source::default()))
}

/// A network `n` with two subnets `a` and `b`.
async fn network(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    let network = ShareNetworkRow {
        id: "n".into(),
        project_id: "p".into(),
        user_id: "u".into(),
        name: None,
        description: None,
        status: NetworkStatus::Active.as_str().into(),
        created_at: clock::now(),
        updated_at: None,
    };
    tx.share_network_insert(&network).await.unwrap();
    for id in ["a", "b"] {
        tx.subnet_insert(&share_networks::subnet(id, None)).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn server(store: &Store, id: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.share_server_insert(&NewShareServer {
        id: id.into(),
        share_network_id: "n".into(),
        project_id: "p".into(),
        backend: "stowage@m".into(),
        status: ServerStatus::Creating,
        is_auto_deletable: true,
        network_allocation_update_support: false,
        security_service_update_support: false,
        subnet_ids: vec!["a".into()],
        source_share_server_id: None,
        created_at: clock::now(),
    })
    .await
    .unwrap();
    tx.commit().await.unwrap();
}

/// In the subnet `a`, which names none.
fn want(count: u32) -> Want {
    Want { place: Place::Subnet { id: "a".into(), ids: SubnetIds::default() }, count }
}

/// In the subnet `b`, which names `subnet`.
fn want_of(subnet: &str, count: u32) -> Want {
    let ids = SubnetIds { neutron_net_id: Some("net".into()), neutron_subnet_id: Some(subnet.into()) };
    Want { place: Place::Subnet { id: "b".into(), ids }, count }
}

async fn reserve(store: &Store, plugin: &Static, server: &str, wants: &[Want]) -> Result<Vec<Reserved>, NetworkError> {
    let mut tx = store.begin().await?;
    let got = plugin.reserve(&mut tx, server, wants).await?;
    tx.commit().await?;
    Ok(got)
}

async fn release(store: &Store, plugin: &Static, rows: &[AllocationRow]) {
    let mut tx = store.begin().await.unwrap();
    plugin.release(&mut tx, rows).await.unwrap();
    tx.commit().await.unwrap();
}

fn addresses(got: &[Reserved]) -> Vec<String> {
    got.iter().flat_map(|r| r.allocations.iter().map(|a| a.ip_address.clone())).collect()
}

/// The free intervals of a pool.
async fn free(store: &Store, key: &str) -> Vec<(i64, i64)> {
    let mut tx = store.begin().await.unwrap();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((first, last)) = tx.free_interval_from(key, at).await.unwrap() {
        found.push((first, last));
        at = last + 1;
    }
    found
}

both_databases! {
    async fn a_subnet_that_got_another_id_gives_no_address_that_a_server_has_under_the_old_one(db) {
        network(&db.store).await;
        for id in ["s", "t"] {
            server(&db.store, id).await;
        }
        let had = reserve(&db.store, &plugin(vec![subnet("old", "10.0.0.0/24", &[])]), "s", &[want(2)]).await.unwrap();
        assert_eq!(addresses(&had), ["10.0.0.1", "10.0.0.2"]);
        let renamed = plugin(vec![subnet("new", "10.0.0.0/24", &[])]);
        assert_eq!(addresses(&reserve(&db.store, &renamed, "t", &[want(1)]).await.unwrap()), ["10.0.0.3"]);
        // given back, it can be given again
        release(&db.store, &renamed, &had[0].allocations).await;
        assert_eq!(addresses(&reserve(&db.store, &renamed, "t", &[want(3)]).await.unwrap()), ["10.0.0.3", "10.0.0.1", "10.0.0.2"]);
        assert_eq!(free(&db.store, "new").await, [(4, 254)]);
    }

    async fn a_place_that_means_another_subnet_by_now_gives_back_what_it_meant_before(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let (one, two) = (subnet("one", "10.0.0.0/24", &[]), subnet("two", "10.1.0.0/24", &[]));
        let before = plugin(vec![one.clone(), two.clone()]);
        let got = reserve(&db.store, &before, "s", &[want(2)]).await.unwrap();
        assert_eq!(addresses(&got), ["10.0.0.1", "10.0.0.2"]);
        // the default is another
        let after = plugin(vec![two, one]);
        for _ in 0..2 {
            let got = reserve(&db.store, &after, "s", &[want(2)]).await.unwrap();
            assert_eq!(addresses(&got), ["10.1.0.1", "10.1.0.2"], "the same at each repeat");
            assert_eq!(got[0].segment.cidr, "10.1.0.0/24");
        }
        let has = db.store.network_allocations_of("s").await.unwrap();
        assert_eq!(has.iter().map(|a| a.network_key.as_str()).collect::<Vec<_>>(), ["two", "two"]);
        assert_eq!(free(&db.store, "one").await, [(1, 254)]);
    }

    async fn a_server_gets_addresses_of_the_subnet_that_its_network_names(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/24", &["10.0.0.10-10.0.0.20"]), subnet("six", "fd00::/64", &["fd00::a-fd00::f"])]);
        let got = reserve(&db.store, &plugin, "s", &[want_of("six", 2), want(1), Want { place: Place::Admin, count: 1 }]).await.unwrap();
        assert_eq!(addresses(&got), ["fd00::a", "fd00::b", "10.0.0.10", "fd00::c"]);
        let segment = &got[0].segment;
        assert_eq!((segment.cidr.as_str(), segment.network_type.as_str(), segment.segmentation_id, segment.mtu), ("fd00::/64", "vlan", Some(7), Some(9000)));
        let written = db.store.network_allocations_of("s").await.unwrap();
        let told = |a: &AllocationRow| (a.ip_address.clone(), a.subnet_id.clone(), a.label.clone());
        let expected = [("10.0.0.10", Some("a"), ""), ("fd00::a", Some("b"), ""), ("fd00::b", Some("b"), ""), ("fd00::c", None, "admin")];
        assert_eq!(
            written.iter().map(told).collect::<BTreeSet<_>>(),
            expected.map(|(ip, s, l)| (ip.to_owned(), s.map(str::to_owned), l.to_owned())).into_iter().collect()
        );
    }

    async fn asked_again_it_gives_what_was_given(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/24", &[])]);
        let first = addresses(&reserve(&db.store, &plugin, "s", &[want(2)]).await.unwrap());
        assert_eq!(addresses(&reserve(&db.store, &plugin, "s", &[want(2)]).await.unwrap()), first);
        let more = addresses(&reserve(&db.store, &plugin, "s", &[want(3)]).await.unwrap());
        assert_eq!((&more[..2], more.len()), (&first[..], 3));
        assert_eq!(db.store.network_allocations_of("s").await.unwrap().len(), 3);
    }

    async fn what_is_given_back_twice_is_free_once(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/29", &[])]);
        let whole = vec![(1, 6)];
        reserve(&db.store, &plugin, "s", &[want(3)]).await.unwrap();
        let rows = db.store.network_allocations_of("s").await.unwrap();
        assert_eq!(free(&db.store, "four").await, [(4, 6)]);
        release(&db.store, &plugin, &rows[1..2]).await;
        release(&db.store, &plugin, &rows[1..2]).await;
        assert_eq!(free(&db.store, "four").await, [(2, 2), (4, 6)]);
        release(&db.store, &plugin, &rows).await;
        release(&db.store, &plugin, &rows).await;
        assert_eq!(free(&db.store, "four").await, whole);
        assert!(db.store.network_allocations_of("s").await.unwrap().is_empty());
    }

    async fn an_address_rests_after_it_was_given_back(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/29", &[])]);
        let mut seen = Vec::new();
        for _ in 0..7 {
            let got = reserve(&db.store, &plugin, "s", &[want(1)]).await.unwrap();
            seen.push(addresses(&got).remove(0));
            release(&db.store, &plugin, &got[0].allocations).await;
        }
        let expected: Vec<String> = [1, 2, 3, 4, 5, 6, 1].map(|n| format!("10.0.0.{n}")).into();
        assert_eq!(seen, expected);
    }

    async fn a_full_subnet_is_named_and_nothing_is_kept_of_the_others(db) {
        network(&db.store).await;
        for id in ["s", "t"] {
            server(&db.store, id).await;
        }
        let plugin = plugin(vec![subnet("large", "10.0.0.0/24", &[]), subnet("small", "10.1.0.0/24", &["10.1.0.5-10.1.0.6"])]);
        reserve(&db.store, &plugin, "s", &[want(1), want_of("small", 1)]).await.unwrap();
        let refused = reserve(&db.store, &plugin, "t", &[want(1), want_of("small", 2)]).await.unwrap_err();
        assert!(matches!(&refused, NetworkError::Exhausted { subnet, cidr } if subnet == "small" && cidr == "10.1.0.0/24"), "{refused:?}");
        assert!(db.store.network_allocations_of("t").await.unwrap().is_empty());
        assert_eq!(addresses(&reserve(&db.store, &plugin, "t", &[want_of("small", 1)]).await.unwrap()), ["10.1.0.6"]);
        release(&db.store, &plugin, &db.store.network_allocations_of("s").await.unwrap()).await;
        assert_eq!(addresses(&reserve(&db.store, &plugin, "t", &[want_of("small", 2)]).await.unwrap()), ["10.1.0.6", "10.1.0.5"]);
    }

    async fn who_asks_at_the_same_time_gets_other_addresses(db) {
        network(&db.store).await;
        let plugin = Arc::new(plugin(vec![subnet("one", "10.0.0.0/27", &[]), subnet("two", "10.1.0.0/27", &[])]));
        let tasks: Vec<_> = (0..15)
            .map(|n| {
                let (store, plugin) = (db.store.clone(), Arc::clone(&plugin));
                tokio::spawn(async move {
                    let id = format!("s{n}");
                    server(&store, &id).await;
                    // in either order: whoever waits does not wait for somebody who waits for him
                    let wants = if n % 2 == 0 { [want(2), want_of("two", 2)] } else { [want_of("two", 2), want(2)] };
                    addresses(&reserve(&store, &plugin, &id, &wants).await.unwrap())
                })
            })
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.unwrap());
        }
        assert_eq!((all.len(), all.iter().collect::<HashSet<_>>().len()), (60, 60));
        assert!(free(&db.store, "one").await.is_empty() && free(&db.store, "two").await.is_empty());
    }

    async fn one_server_that_is_asked_for_twice_at_once_gets_its_number(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/24", &[])]);
        let two = [want(2)];
        let (one, other) = tokio::join!(reserve(&db.store, &plugin, "s", &two), reserve(&db.store, &plugin, "s", &two));
        assert_eq!(addresses(&one.unwrap()), addresses(&other.unwrap()));
        assert_eq!(db.store.network_allocations_of("s").await.unwrap().len(), 2);
    }

    async fn changed_ranges_are_followed_and_what_was_given_stays(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let before = plugin(vec![subnet("four", "10.0.0.0/24", &["10.0.0.10-10.0.0.12"])]);
        reserve(&db.store, &before, "s", &[want(2)]).await.unwrap();
        let after = plugin(vec![subnet("four", "10.0.0.0/23", &["10.0.0.11-10.0.0.12", "10.0.1.5"])]);
        let got = addresses(&reserve(&db.store, &after, "s", &[want(4)]).await.unwrap());
        assert_eq!(got, ["10.0.0.10", "10.0.0.11", "10.0.0.12", "10.0.1.5"]);
        let full = reserve(&db.store, &after, "s", &[want(5)]).await.unwrap_err();
        assert!(matches!(full, NetworkError::Exhausted { .. }), "{full:?}");
        // what is no longer in a range is given back and not given again
        release(&db.store, &after, &db.store.network_allocations_of("s").await.unwrap()).await;
        assert_eq!(free(&db.store, "four").await, [(11, 12), (261, 261)]);
    }

    async fn what_was_given_in_a_subnet_that_is_gone_is_given_back(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let before = plugin(vec![subnet("old", "10.0.0.0/24", &[])]);
        reserve(&db.store, &before, "s", &[want(2)]).await.unwrap();
        let after = plugin(vec![]);
        release(&db.store, &after, &db.store.network_allocations_of("s").await.unwrap()).await;
        assert!(db.store.network_allocations_of("s").await.unwrap().is_empty());
        assert_eq!(free(&db.store, "old").await, [(1, 254)]);
    }

    async fn what_nobody_configured_is_refused(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let none = plugin(vec![]);
        let refused = |wants: Vec<Want>| { let (store, none) = (db.store.clone(), none.clone()); async move { reserve(&store, &none, "s", &wants).await.unwrap_err() } };
        assert!(matches!(refused(vec![want(1)]).await, NetworkError::NoDefault));
        assert!(matches!(refused(vec![Want { place: Place::Admin, count: 1 }]).await, NetworkError::NoAdminSubnet));
        assert!(matches!(refused(vec![want_of("four", 1)]).await, NetworkError::UnknownSubnet { subnet_id, .. } if subnet_id == "four"));
        // the subnet is there, in another network
        let mut elsewhere = subnet("four", "10.0.0.0/24", &[]);
        elsewhere.network_id = "other".into();
        let refused = reserve(&db.store, &plugin(vec![elsewhere]), "s", &[want_of("four", 1)]).await.unwrap_err();
        assert!(matches!(refused, NetworkError::UnknownSubnet { .. }), "{refused:?}");
    }

    async fn an_address_is_not_written_twice_and_not_for_a_server_that_is_gone(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/24", &[])]);
        let got = reserve(&db.store, &plugin, "s", &[want(1)]).await.unwrap();
        let again = AllocationRow { id: "other".into(), ..got[0].allocations[0].clone() };
        let mut tx = db.store.begin().await.unwrap();
        assert!(matches!(tx.network_allocation_insert(&again).await, Err(StoreError::Duplicate { .. })));
        drop(tx);
        let refused = reserve(&db.store, &plugin, "gone", &[want(1)]).await.unwrap_err();
        assert!(matches!(refused, NetworkError::Store(StoreError::Missing { .. })), "{refused:?}");
    }

    async fn free_and_given_are_the_whole_whatever_happened(db) {
        network(&db.store).await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/26", &["10.0.0.1-10.0.0.30", "10.0.0.40-10.0.0.50"])]);
        let mut dice = StdRng::seed_from_u64(7);
        for n in 0..6 {
            server(&db.store, &format!("s{n}")).await;
        }
        for _ in 0..60 {
            let id = format!("s{}", dice.random_range(0..6));
            if dice.random_bool(0.6) {
                match reserve(&db.store, &plugin, &id, &[want(dice.random_range(1..12))]).await {
                    Ok(_) | Err(NetworkError::Exhausted { .. }) => {}
                    Err(e) => panic!("{e}"),
                }
            } else {
                let mut rows = db.store.network_allocations_of(&id).await.unwrap();
                rows.retain(|_| dice.random_bool(0.7));
                release(&db.store, &plugin, &rows).await;
            }
            let mut given = BTreeSet::new();
            for n in 0..6 {
                for row in db.store.network_allocations_of(&format!("s{n}")).await.unwrap() {
                    let last: i64 = row.ip_address.rsplit_once('.').unwrap().1.parse().unwrap();
                    assert!(given.insert(last), "{} was given twice", row.ip_address);
                }
            }
            let intervals = free(&db.store, "four").await;
            let open: BTreeSet<i64> = intervals.iter().flat_map(|(a, b)| *a..=*b).collect();
            assert!(open.is_disjoint(&given));
            assert_eq!(open.union(&given).copied().collect::<Vec<_>>(), (1..=30).chain(40..=50).collect::<Vec<i64>>());
            assert!(intervals.windows(2).all(|w| w[0].1 + 1 < w[1].0), "what touches is one: {intervals:?}");
        }
    }

    async fn a_pool_has_as_many_intervals_as_it_has_holes(db) {
        network(&db.store).await;
        server(&db.store, "s").await;
        let plugin = plugin(vec![subnet("four", "10.0.0.0/8", &[])]);
        reserve(&db.store, &plugin, "s", &[want(300)]).await.unwrap();
        assert_eq!(free(&db.store, "four").await, [(301, (1 << 24) - 2)]);
        let rows = db.store.network_allocations_of("s").await.unwrap();
        let every_tenth: Vec<AllocationRow> = rows.into_iter().filter(|r| r.ip_address.ends_with('5')).collect();
        release(&db.store, &plugin, &every_tenth).await;
        assert_eq!(free(&db.store, "four").await.len(), every_tenth.len() + 1);
    }
}
