//! Verbs at once, their lanes, and what becomes of those that take too long.

use serde_json::json;
use support::{Client, Persona};

use super::{act, extend, messages, quota_is_true, take_status, until_status};
use crate::site::{Site, create};
use crate::snapshots::{snapshot, take, until};

#[tokio::test]
async fn verbs_at_once_on_one_volume_leave_true_figures() {
    let site = Site::start().await;
    let member = site.member().await.at("3.66");
    let id = site.volume().await;
    let mut going = Vec::new();
    for n in 0..12_i64 {
        let (client, id) = (member.clone(), id.clone());
        going.push(tokio::spawn(async move {
            match n % 3 {
                0 => extend(&client, &id, 2 + n).await.status,
                1 => client.post("/snapshots", json!({ "snapshot": { "volume_id": id } })).await.status,
                _ => act(&client, &id, "os-set_bootable", json!({ "bootable": n % 2 == 0 })).await.status,
            }
        }));
    }
    for one in going {
        let status = one.await.unwrap().as_u16();
        assert!([200, 202, 400].contains(&status), "{status}");
    }
    until_status(&member, &id, "available").await;
    let list = member.get("/snapshots").await.expect(200);
    for s in list["snapshots"].as_array().unwrap() {
        until(&member, s["id"].as_str().unwrap(), "available").await;
    }
    quota_is_true(&site).await;
    member.delete(&format!("/volumes/{id}?cascade=true")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes").await), (0, 0));
    // a volume that was never placed has nothing to extend
    let unplaced = create(&member, json!({ "volume_type": impossible(&site).await })).await;
    until_status(&member, &unplaced, "error").await;
    site.operator()
        .await
        .post(&format!("/volumes/{unplaced}/action"), json!({ "os-reset_status": { "status": "available" } }))
        .await
        .expect(202);
    assert!(extend(&member, &unplaced, 2).await.fault(400).contains("not on any back end"));
    assert!(take_status(&member, &unplaced).await.fault(400).contains("not on any back end"));
}

async fn impossible(site: &Site) -> String {
    let body = json!({ "volume_type": { "name": "impossible", "extra_specs": { "color": "red" } } });
    site.operator().await.post("/types", body).await.expect(200);
    "impossible".into()
}

#[tokio::test]
async fn jobs_of_a_volumes_verbs_run_in_the_lane_of_its_back_end() {
    let site = Site::start().await;
    let (member, admin) = (site.member().await, site.admin(Persona::Admin).await);
    let id = site.volume().await;
    for verb in ["extend", "snapshot"] {
        site.array.hold(verb);
    }
    extend(&member, &id, 2).await.expect(202);
    let running = || async {
        let jobs = admin.get("/jobs?state=running").await.expect(200);
        jobs["jobs"].as_array().unwrap().iter().any(|j| j["kind"] == "volume.extend" && j["backend"] == "stowage@a")
    };
    site.until("the extend to run in its lane", running).await;
    site.array.release("extend");
    until_status(&member, &id, "available").await;
    let taken = take(&member, &id, json!({})).await;
    let running = || async {
        let jobs = admin.get("/jobs?state=running").await.expect(200);
        jobs["jobs"].as_array().unwrap().iter().any(|j| j["kind"] == "snapshot.create" && j["backend"] == "stowage@a")
    };
    site.until("the snapshot to run in its lane", running).await;
    site.array.release("snapshot");
    until(&member, &taken, "available").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgresql_many_verbs_at_once_on_few_volumes_end_at_rest_with_true_figures() {
    if !support::db::is_wanted("postgres") {
        return;
    }
    let database = support::postgres::database().await;
    let url = database.url.clone();
    let site = Site::start_with(|c| {
        c.database.url = url;
        for limit in [&mut c.quota.volumes, &mut c.quota.snapshots, &mut c.quota.gigabytes] {
            *limit = -1;
        }
    })
    .await;
    let (member, operator) = (site.member().await.at("3.66"), site.operator().await);
    operator.post("/types", json!({ "volume_type": { "name": "gold", "extra_specs": { "vendor:tier": "gold" } } })).await.expect(200);
    let volumes = [site.volume().await, site.volume().await, site.volume().await];
    let mut going = Vec::new();
    for n in 0..90_usize {
        let (client, id) = (member.clone(), volumes[n % 3].clone());
        going.push(tokio::spawn(async move {
            let size = i64::try_from(n).unwrap() + 2;
            match (n / 3) % 6 {
                0 => extend(&client, &id, size).await,
                1 => take_status(&client, &id).await,
                2 => act(&client, &id, "os-retype", json!({ "new_type": if n % 2 == 0 { "gold" } else { "__DEFAULT__" } })).await,
                3 => client.post("/volumes", json!({ "volume": { "source_volid": id } })).await,
                4 => {
                    let list = client.get(&format!("/snapshots?volume_id={id}")).await.expect(200);
                    let Some(snapshot) = list["snapshots"][0]["id"].as_str() else { return 400 };
                    act(&client, &id, "revert", json!({ "snapshot_id": snapshot })).await
                }
                _ => {
                    let list = client.get(&format!("/snapshots?volume_id={id}")).await.expect(200);
                    let Some(snapshot) = list["snapshots"][0]["id"].as_str() else { return 400 };
                    client.delete(&format!("/snapshots/{snapshot}")).await
                }
            }
            .status
            .as_u16()
        }));
    }
    for one in going {
        let status = one.await.unwrap();
        assert!([200, 202, 400, 404, 409].contains(&status), "{status}");
    }
    let all = || async { member.get("/volumes/detail").await.expect(200)["volumes"].as_array().unwrap().clone() };
    site.until("every volume at rest", || async { all().await.iter().all(|v| v["status"] == "available") }).await;
    let admin = site.admin(Persona::Admin).await;
    for state in ["ready", "running"] {
        admin.until(&format!("/jobs?state={state}"), |a| a.body()["jobs"] == json!([])).await;
    }
    quota_is_true(&site).await;
    for volume in all().await {
        member.delete(&format!("/volumes/{}?cascade=true", volume["id"].as_str().unwrap())).await.expect(202);
    }
    site.until("every volume gone", || async { all().await.is_empty() }).await;
    quota_is_true(&site).await;
    assert!(site.array.volumes().is_empty() && site.array.snapshots().is_empty());
    assert_eq!((site.used(&member, "snapshots").await, site.used(&member, "gigabytes_gold").await), (0, 0));
}

#[tokio::test]
async fn past_its_maximum_age_every_verb_has_a_true_end_state_and_a_message() {
    let site = Site::start_with(|c| c.jobs.max_age = std::time::Duration::from_millis(2500)).await;
    let (member, operator) = (site.member().await.at("3.40"), site.operator().await);
    operator.post("/types", json!({ "volume_type": { "name": "gold", "extra_specs": { "vendor:tier": "gold" } } })).await.expect(200);
    let [extended, retyped, reverted, taken_of] = [site.volume().await, site.volume().await, site.volume().await, site.volume().await];
    let (latest, deleted) = (snapshot(&member, &reverted).await, snapshot(&member, &taken_of).await);
    let verbs = ["extend", "retype", "revert", "delete-snapshot"];
    for verb in verbs {
        site.array.hold(verb);
    }
    extend(&member, &extended, 5).await.expect(202);
    act(&member, &retyped, "os-retype", json!({ "new_type": "gold" })).await.expect(202);
    act(&member, &reverted, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    member.delete(&format!("/snapshots/{deleted}")).await.expect(202);
    assert_eq!(until_status(&member, &extended, "error_extending").await["size"], 1);
    assert_eq!(until_status(&member, &retyped, "available").await["volume_type"], "__DEFAULT__");
    // what the array was doing to it is not known
    until_status(&member, &reverted, "error").await;
    until(&member, &latest, "available").await;
    until(&member, &deleted, "error_deleting").await;
    for (resource, event) in [
        (&extended, "VOLUME_VOLUME_007_103"),
        (&retyped, "VOLUME_VOLUME_103_103"),
        (&reverted, "VOLUME_VOLUME_102_103"),
        (&deleted, "VOLUME_VOLUME_SNAPSHOT_010_103"),
    ] {
        assert_eq!(messages(&member, resource).await[0]["event_id"], event);
    }
    quota_is_true(&site).await;
    for verb in verbs {
        site.array.release(verb);
    }
    site.array.hold("snapshot");
    let failed = take(&member, &made_available(&member, &operator, &extended).await, json!({})).await;
    until(&member, &failed, "error").await;
    assert_eq!(messages(&member, &failed).await[0]["event_id"], "VOLUME_VOLUME_SNAPSHOT_009_103");
    site.array.release("snapshot");
    member.delete(&format!("/snapshots/{failed}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{failed}")).await;
    member.delete(&format!("/snapshots/{deleted}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{deleted}")).await;
    quota_is_true(&site).await;
}

/// An operator says that the volume is available.
async fn made_available(member: &Client, operator: &Client, volume: &str) -> String {
    act(operator, volume, "os-reset_status", json!({ "status": "available" })).await.expect(202);
    until_status(member, volume, "available").await;
    volume.to_owned()
}
