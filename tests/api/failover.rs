//! Fail-over of a back end: what becomes of it and of its volumes, and what an operator reads.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    clock,
    config::Config,
    driver::ErrorKind,
    store::sql::volumes::{BackendIdentity, CreatedVolume, NewVolume},
};
use support::{Client, Persona, both_databases, db::Db, wait};

use crate::{
    array::Fault,
    site::{Site, attach, create, uuid},
};

const HOST: &str = "stowage@a";

/// A site whose array has two targets, and a type `safe` of replicated volumes.
async fn site(db: &Db) -> Site {
    site_with(db, |_| {}).await
}

async fn site_with(db: &Db, change: impl FnOnce(&mut Config)) -> Site {
    let url = db.options.url.clone();
    let site = Site::start_with(|c| {
        // a SQLite file has one process, which has it open: then a fresh one will do
        if db.is_postgres() {
            c.database.url = url;
        }
        change(c);
    })
    .await;
    site.array.replicates_to(&["east", "west"]);
    site.serve(HOST, &site.array).await;
    let body = json!({ "volume_type": { "name": "safe", "extra_specs": { "replication_enabled": "<is> True" } } });
    site.operator().await.post("/types", body).await.expect(200);
    site
}

async fn safe(site: &Site) -> String {
    site.volume_with(json!({ "volume_type": "safe" })).await
}

async fn begin(site: &Site, target: Option<&str>) {
    let body = json!({ "host": HOST, "backend_id": target });
    site.operator().await.put("/os-services/failover_host", body).await.expect(202);
}

async fn service(operator: &Client) -> Value {
    operator.get(&format!("/os-services?host={HOST}&binary=cinder-volume")).await.expect(200)["services"][0].clone()
}

/// The service when it is no longer failing over: replication status, active target, status, reason.
async fn ended(site: &Site) -> (String, Value, String, Value) {
    let operator = site.operator().await;
    let shown = wait::until("the fail-over to end", || async {
        Some(service(&operator).await).filter(|s| s["replication_status"] != "failing-over")
    })
    .await;
    let text = |key: &str| shown[key].as_str().unwrap().to_owned();
    (text("replication_status"), shown["active_backend_id"].clone(), text("status"), shown["disabled_reason"].clone())
}

async fn failed_over(site: &Site, target: Option<&str>) -> (String, Value, String, Value) {
    begin(site, target).await;
    ended(site).await
}

/// Status and replication status.
async fn volume(site: &Site, id: &str) -> (String, Value) {
    let shown = site.member().await.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    (shown["status"].as_str().unwrap().to_owned(), shown["replication_status"].clone())
}

async fn reason(site: &Site) -> Value {
    let all = site.admin(Persona::Admin).await.get("/backends").await.expect(200);
    all["backends"].as_array().unwrap().iter().find(|b| b["host"] == HOST).unwrap()["replication_reason"].clone()
}

fn normal() -> (String, Value, String, Value) {
    ("enabled".into(), Value::Null, "enabled".into(), Value::Null)
}

both_databases! {
    async fn replicated_volumes_come_along_the_others_are_in_error_and_nothing_new_is_placed_until_failback(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let (kept, left) = (safe(&site).await, site.volume().await);
        assert_eq!(volume(&site, &kept).await, ("available".into(), json!("enabled")));
        assert_eq!(volume(&site, &left).await, ("available".into(), Value::Null));
        let used = safe(&site).await;
        attach(&member, &used, "h1").await;
        let snapshot = member.post("/snapshots", json!({ "snapshot": { "volume_id": left } })).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned();
        member.until(&format!("/snapshots/{snapshot}"), |a| a.body()["snapshot"]["status"] == "available").await;
        assert_eq!(ended(&site).await, normal());
        let uses = site.app.app().store.backend_uses(HOST).await.unwrap();
        assert_eq!((uses.volumes, uses.replicated), (3, 2), "another driver has to replicate them, too");

        let over = failed_over(&site, Some("west")).await;
        assert_eq!(over, ("failed-over".into(), json!("west"), "disabled".into(), json!("failed-over")));
        assert_eq!(volume(&site, &kept).await, ("available".into(), json!("failed-over")));
        assert_eq!(volume(&site, &used).await, ("in-use".into(), json!("failed-over")));
        assert_eq!(volume(&site, &left).await, ("error".into(), json!("not-capable")));
        assert_eq!(member.get(&format!("/snapshots/{snapshot}")).await.expect(200)["snapshot"]["status"], "error");
        let row = |id: String| { let app = site.app.app().clone(); async move { app.store.volume(&id).await.unwrap().unwrap() } };
        assert_eq!(row(kept.clone()).await.provider_id, Some(format!("west-{kept}")));
        assert_eq!(row(left.clone()).await.previous_status.as_deref(), Some("available"));
        let refused = create(&member, json!({})).await;
        member.volume_until(&refused, "error").await;

        // to another one, of the driver's choice; the reasons stay true
        assert_eq!(failed_over(&site, None).await.1, json!("east"));
        assert_eq!(failed_over(&site, Some("default")).await, normal());
        assert_eq!(volume(&site, &kept).await, ("available".into(), json!("enabled")));
        assert_eq!(volume(&site, &left).await, ("error".into(), json!("not-capable")), "an operator says when it is whole again");
        assert_eq!(site.array.ends("complete").len(), 3);
        assert_eq!(reason(&site).await, Value::Null);
        site.volume().await;
    }

    async fn an_unknown_target_leaves_everything_as_it_was_and_says_why(db) {
        let site = site(&db).await;
        let left = site.volume().await;
        assert_eq!(failed_over(&site, Some("nowhere")).await, normal());
        assert_eq!(volume(&site, &left).await.0, "available");
        let why = reason(&site).await.as_str().unwrap().to_owned();
        assert!(why.contains("nowhere was not begun") && why.contains("there is no target nowhere"), "{why}");
        failed_over(&site, Some("east")).await;
        let over = ("failed-over".into(), json!("east"), "disabled".into(), json!("failed-over"));
        assert_eq!(failed_over(&site, Some("nowhere")).await, over, "from one target to another that is none");
    }

    async fn a_volume_that_the_target_lacks_is_in_error_and_the_others_come_along(db) {
        let site = site(&db).await;
        let (kept, lost) = (safe(&site).await, safe(&site).await);
        site.array.lose_copy(&lost);
        assert_eq!(failed_over(&site, Some("east")).await.0, "failed-over");
        assert_eq!(volume(&site, &lost).await, ("error".into(), json!("failover-error")));
        assert_eq!(volume(&site, &kept).await, ("available".into(), json!("failed-over")));
        let why = reason(&site).await.as_str().unwrap().to_owned();
        assert_eq!(why, format!("1 of 2 replicated volumes are lost, the first of them {lost}: no copy"));
    }

    async fn a_failure_on_the_way_ends_in_an_error_with_its_reason_and_can_be_tried_again(db) {
        let site = site(&db).await;
        let kept = safe(&site).await;
        site.array.fault("failover", Fault::Refuse(ErrorKind::Exhausted));
        let (status, active, enabled, why) = failed_over(&site, Some("east")).await;
        assert_eq!((status.as_str(), active, enabled.as_str()), ("failover-error", Value::Null, "disabled"));
        assert!(why.as_str().unwrap().contains("failover was told to fail"), "{why}");
        assert_eq!(volume(&site, &kept).await, ("available".into(), json!("enabled")));
        assert_eq!(failed_over(&site, Some("east")).await.0, "failed-over");
        assert_eq!(failed_over(&site, Some("default")).await, normal());
    }

    async fn one_that_was_switched_off_before_stays_so_after_failback(db) {
        let site = site(&db).await;
        let body = json!({ "host": HOST, "binary": "cinder-volume", "disabled_reason": "broken fan" });
        site.operator().await.put("/os-services/disable-log-reason", body).await.expect(200);
        for (target, status) in [("east", "failed-over"), ("default", "enabled")] {
            let (replication, _, enabled, why) = failed_over(&site, Some(target)).await;
            assert_eq!((replication.as_str(), enabled.as_str(), why), (status, "disabled", json!("broken fan")));
        }
    }

    async fn a_lost_answer_is_asked_for_again(db) {
        let site = site(&db).await;
        let kept = safe(&site).await;
        for verb in ["choose", "failover", "complete"] {
            site.array.fault(verb, Fault::LoseAnswer(ErrorKind::Transient));
        }
        assert_eq!(failed_over(&site, Some("east")).await.0, "failed-over");
        assert_eq!(site.array.failed_over(), [vec![kept.clone()], vec![kept]]);
    }

    async fn a_fail_over_that_never_ends_is_given_up_in_time(db) {
        let site = site_with(&db, |c| c.jobs.max_age = Duration::from_secs(3)).await;
        site.array.hold("complete");
        begin(&site, Some("east")).await;
        let (status, _, enabled, why) = ended(&site).await;
        assert_eq!((status.as_str(), enabled.as_str()), ("failover-error", "disabled"));
        assert!(why.as_str().unwrap().starts_with("failover failed: to east"), "{why}");
        site.array.release("complete");
    }

    async fn many_volumes_have_their_turn_some_at_a_time(db) {
        let site = site(&db).await;
        let one = safe(&site).await;
        let app = site.app.app();
        let model = app.store.volume(&one).await.unwrap().unwrap();
        let mut tx = app.store.begin().await.unwrap();
        for _ in 0..450 {
            let new = NewVolume {
                id: uuid(),
                project_id: model.project_id.clone(),
                user_id: model.user_id.clone(),
                name: None,
                description: None,
                size_gib: 1,
                volume_type_id: model.volume_type_id.clone(),
                availability_zone: "nova".into(),
                multiattach: false,
                bootable: false,
                snapshot_id: None,
                source_volid: None,
                created_at: clock::now(),
            };
            tx.volume_insert(&new).await.unwrap();
            tx.volume_placed(&new.id, "stowage@a#p1", clock::now()).await.unwrap();
            let identity = BackendIdentity { shared_targets: Some(true), service_uuid: uuid(), backend_name: "a".into() };
            tx.volume_created(&new.id, &CreatedVolume { provider_id: None, provider_data: None, identity }, clock::now()).await.unwrap();
        }
        tx.commit().await.unwrap();
        assert_eq!(failed_over(&site, Some("east")).await.0, "failed-over");
        let calls = site.array.failed_over();
        assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [200, 200, 51]);
        let mut all = calls.concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 451);
    }

    async fn a_type_says_whether_a_volume_is_replicated_also_when_it_gets_another_one(db) {
        let site = site(&db).await;
        let operator = site.operator().await;
        operator.post("/types", json!({ "volume_type": { "name": "plain" } })).await.expect(200);
        let id = site.volume_with(json!({ "volume_type": "plain" })).await;
        for (name, wanted) in [("safe", json!("enabled")), ("plain", Value::Null)] {
            let body = json!({ "os-retype": { "new_type": name, "migration_policy": "never" } });
            operator.post(&format!("/volumes/{id}/action"), body).await.expect(202);
            site.member().await.volume_until(&id, "available").await;
            assert_eq!(volume(&site, &id).await.1, wanted, "{name}");
        }
    }
}

#[tokio::test]
async fn what_cannot_fail_over_is_refused() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    let path = "/os-services/failover_host";
    let body = json!({ "host": HOST, "backend_id": "east" });
    let said = operator.put(path, body.clone()).await.fault(400);
    assert!(said.contains("replication_status in ['stowage@a'] must be enabled or failed-over"), "{said}");
    site.array.replicates_to(&["east"]);
    site.serve(HOST, &site.array).await;
    for (path, clients, bad) in [
        (path, &operator, json!({ "host": "nowhere" })),
        (path, &operator, json!({})),
        (path, &operator, json!({ "host": HOST, "target": "east" })),
        (path, &operator, json!({ "host": [HOST] })),
        (path, &operator, json!({ "host": HOST, "backend_id": 7 })),
        ("/os-services/failover", &operator.at("3.26"), json!({ "cluster": "c" })),
        ("/os-services/failover", &operator.at("3.26"), json!({ "host": HOST, "cluster": "c" })),
    ] {
        clients.put(path, bad).await.fault(400);
    }
    assert_eq!(operator.put(path, json!({ "host": "nowhere" })).await.fault(400), "No service found with host=nowhere");
    assert_eq!(operator.at("3.25").put("/os-services/failover", body.clone()).await.status, 404);
    member.put(path, body.clone()).await.fault(403);
    assert_eq!(service(&operator).await["replication_status"], "enabled");

    site.array.hold("choose");
    operator.at("3.26").put("/os-services/failover", body.clone()).await.expect(202);
    let during = service(&operator).await;
    assert_eq!(
        (&during["replication_status"], &during["status"], &during["disabled_reason"]),
        (&json!("failing-over"), &json!("disabled"), &json!("failing-over"))
    );
    operator.put(path, body).await.fault(400);
    site.array.release("choose");
    assert_eq!(ended(&site).await.0, "failed-over");
}

#[tokio::test]
async fn targets_show_in_capabilities_and_pools() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let shown = async || {
        let pools = operator.get("/scheduler-stats/get_pools?detail=true").await.expect(200);
        let targets = operator.get("/capabilities/stowage@a").await.expect(200)["replication_targets"].clone();
        (pools["pools"][0]["capabilities"]["replication_enabled"].clone(), targets)
    };
    assert_eq!(shown().await, (json!(false), json!([])));
    site.array.replicates_to(&["east", "west"]);
    site.serve(HOST, &site.array).await;
    assert_eq!(shown().await, (json!(true), json!(["east", "west"])));
}
