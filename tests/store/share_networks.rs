//! Share networks that are deleted while they have servers.

use std::time::Duration;

use stowage::{
    clock,
    domain::{share_network::NetworkStatus, share_server::ServerStatus},
    store::{
        Store,
        sql::{share_network_subnets::SubnetRow, share_networks::ShareNetworkRow, share_servers::NewShareServer},
    },
};
use support::both_databases;

/// Of the network `n`, without anything of a network service.
pub fn subnet(id: &str, zone: Option<&str>) -> SubnetRow {
    SubnetRow {
        id: id.into(),
        share_network_id: "n".into(),
        availability_zone: zone.map(str::to_owned),
        neutron_net_id: None,
        neutron_subnet_id: None,
        network_type: None,
        segmentation_id: None,
        cidr: None,
        gateway: None,
        mtu: None,
        ip_version: None,
        created_at: clock::now(),
        updated_at: None,
    }
}

/// A network `n` with the subnets `a` and `b`, and a server `s` on `a`.
pub async fn network(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    tx.share_network_insert(&ShareNetworkRow {
        id: "n".into(),
        project_id: "p".into(),
        user_id: "u".into(),
        name: Some("name".into()),
        description: None,
        status: NetworkStatus::Active.as_str().into(),
        created_at: clock::now(),
        updated_at: None,
    })
    .await
    .unwrap();
    for (id, zone) in [("a", None), ("b", Some("here"))] {
        tx.subnet_insert(&subnet(id, zone)).await.unwrap();
    }
    tx.share_server_insert(&NewShareServer {
        id: "s".into(),
        share_network_id: "n".into(),
        project_id: "p".into(),
        backend: "stowage@m".into(),
        status: ServerStatus::Active,
        is_auto_deletable: true,
        network_allocation_update_support: true,
        security_service_update_support: false,
        subnet_ids: vec!["a".into()],
        source_share_server_id: None,
        created_at: clock::now(),
    })
    .await
    .unwrap();
    tx.commit().await.unwrap();
}

both_databases! {
    async fn a_hidden_network_is_found_by_nobody_and_its_server_still_knows_it(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.share_network_hide("n", clock::now()).await.unwrap());
        assert!(!tx.share_network_hide("n", clock::now()).await.unwrap(), "once");
        tx.share_network_reap("n").await.unwrap();
        assert!(tx.share_network_locked("n").await.unwrap().is_none());
        tx.commit().await.unwrap();
        assert!(db.store.share_network("n").await.unwrap().is_none());
        assert!(db.store.subnet("n", "a").await.unwrap().is_none());
        let server = db.store.share_server("s").await.unwrap().unwrap();
        assert_eq!((server.row.network_name.as_deref(), server.subnet_ids), (Some("name"), vec!["a".to_owned()]));
    }

    async fn a_hidden_subnet_goes_when_no_server_is_on_it(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        for id in ["a", "b"] {
            assert!(tx.subnet_hide(id, clock::now()).await.unwrap());
            assert!(!tx.subnet_hide(id, clock::now()).await.unwrap(), "once");
        }
        tx.share_network_reap("n").await.unwrap();
        assert!(tx.subnets("n").await.unwrap().is_empty());
        // the one without a server is gone: its id is free; the other's server knows it
        tx.subnet_insert(&subnet("b", None)).await.unwrap();
        tx.commit().await.unwrap();
        assert!(db.store.share_network("n").await.unwrap().is_some());
        assert_eq!(db.store.share_server("s").await.unwrap().unwrap().subnet_ids, ["a"]);
    }

    async fn a_status_changes_only_from_those_that_are_named(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        let change = NetworkStatus::NetworkChange;
        assert!(tx.share_network_status("n", &[NetworkStatus::Active], change, clock::now()).await.unwrap());
        assert!(!tx.share_network_status("n", &[NetworkStatus::Active], change, clock::now()).await.unwrap());
        assert!(tx.share_server_status("s", &[ServerStatus::Active], ServerStatus::NetworkChange, clock::now()).await.unwrap());
        assert!(!tx.share_server_status("s", &[ServerStatus::Active], ServerStatus::Deleting, clock::now()).await.unwrap());
        tx.commit().await.unwrap();
    }

    async fn a_server_changes_twice_while_somebody_else_holds_its_network(db) {
        if !db.is_postgres() {
            return; // there is one writer
        }
        network(&db.store).await;
        let mut holder = db.store.begin().await.unwrap();
        assert!(holder.share_network_locked("n").await.unwrap().is_some());
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.share_server_status("s", &[ServerStatus::Active], ServerStatus::Creating, clock::now()).await.unwrap());
        let built = tx.share_server_built("s", "{}", None, clock::now());
        // the holder may want the server next
        assert!(tokio::time::timeout(Duration::from_secs(10), built).await.expect("it waits for the network").unwrap());
        tx.commit().await.unwrap();
        holder.rollback().await.unwrap();
    }

    async fn support_is_what_every_server_has(db) {
        network(&db.store).await;
        let support = db.store.share_network_support(["n", "other"]).await.unwrap();
        let of_n = support["n"];
        assert_eq!((of_n.servers, of_n.network_allocation_update, of_n.security_service_update), (1, true, false));
        assert!(!support.contains_key("other"));
        assert!(db.store.share_network_support([]).await.unwrap().is_empty());
    }
}
