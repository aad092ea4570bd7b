//! Services, pools, capabilities, quotas, discovery: what operators and clients' start-up ask.

use serde_json::{Value, json};
use support::Persona;

use crate::site::{Site, create};

#[tokio::test]
async fn a_service_is_a_back_end_and_toggles_as_it_answers() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    assert_eq!(member.get("/os-services").await.status, 403);
    let all = operator.get("/os-services").await.expect(200);
    let binaries: Vec<&str> = all["services"].as_array().unwrap().iter().map(|s| s["binary"].as_str().unwrap()).collect();
    assert_eq!(binaries, ["cinder-scheduler", "cinder-volume"]);
    let of = |query: &str| {
        let (operator, path) = (operator.clone(), format!("/os-services?{query}"));
        async move { operator.get(&path).await.expect(200)["services"].clone() }
    };
    let one = of("binary=cinder-volume&host=stowage@a").await[0].clone();
    assert_eq!(
        (&one["status"], &one["state"], &one["zone"], &one["frozen"]),
        (&json!("enabled"), &json!("up"), &json!("nova"), &json!(false))
    );
    assert!(one.get("cluster").is_none() && one.get("backend_state").is_none());
    let late = operator.at("3.49").get("/os-services?binary=cinder-volume").await.expect(200)["services"][0].clone();
    assert_eq!((&late["cluster"], &late["backend_state"]), (&Value::Null, &json!("up")));

    let which = json!({ "host": "stowage@a", "binary": "cinder-volume" });
    let answer = operator.put("/os-services/disable", which.clone()).await.expect(200);
    assert_eq!(
        answer,
        json!({ "host": "stowage@a", "service": "cinder-volume", "binary": "cinder-volume", "status": "disabled", "disabled": true })
    );
    assert_eq!(of("host=stowage@a").await[0]["status"], "disabled");
    let id = create(&member, json!({})).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    operator.put("/os-services/enable", which).await.expect(200);
    assert_eq!(of("host=stowage@a").await[0]["status"], "enabled");
    site.volume().await;
    let reason = json!({ "host": "stowage@a", "binary": "cinder-volume", "disabled_reason": "broken fan" });
    operator.put("/os-services/disable-log-reason", reason).await.expect(200);
    assert_eq!(of("host=stowage@a").await[0]["disabled_reason"], "broken fan");

    for path in ["enable", "disable", "disable-log-reason"] {
        let path = format!("/os-services/{path}");
        let body = |host: &str, binary: &str| json!({ "host": host, "binary": binary, "disabled_reason": "r" });
        assert_eq!(operator.put(&path, body("nowhere", "cinder-volume")).await.status, 404);
        assert_eq!(operator.put(&path, body("stowage@a", "nova-compute")).await.status, 404);
        assert_eq!(operator.put(&path, json!({ "binary": "cinder-volume" })).await.status, 400);
        assert_eq!(member.put(&path, body("stowage@a", "cinder-volume")).await.status, 403);
    }
    assert_eq!(
        operator
            .put("/os-services/disable-log-reason", json!({ "host": "stowage@a", "binary": "cinder-volume", "disabled_reason": " " }))
            .await
            .status,
        400
    );
    operator.put("/os-services/enable", json!({ "host": "stowage@a", "binary": "cinder-volume" })).await.expect(200);
    operator.put("/os-services/freeze", json!({ "host": "stowage@a" })).await.expect(200);
    let frozen = of("host=stowage@a").await[0].clone();
    assert_eq!((&frozen["frozen"], &frozen["status"], &frozen["disabled_reason"]), (&json!(true), &json!("disabled"), &json!("frozen")));
    operator.put("/os-services/thaw", json!({ "host": "stowage@a" })).await.expect(200);
    let thawed = of("host=stowage@a").await[0].clone();
    assert_eq!((&thawed["status"], &thawed["disabled_reason"]), (&json!("enabled"), &Value::Null));
    for path in ["/os-services/freeze", "/os-services/thaw"] {
        assert_eq!(operator.put(path, json!({ "host": "nowhere" })).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn pools_are_named_by_host_back_end_and_pool_and_shown_with_what_they_can_do() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    assert_eq!(member.get("/scheduler-stats/get_pools").await.status, 403);
    assert_eq!(operator.get("/scheduler-stats/get_pools").await.expect(200), json!({ "pools": [{ "name": "stowage@a#p1" }] }));
    let detail = operator.get("/scheduler-stats/get_pools?detail=true").await.expect(200);
    let c = &detail["pools"][0]["capabilities"];
    assert_eq!((&c["total_capacity_gb"], &c["multiattach"], &c["storage_protocol"]), (&json!(10_000), &json!(true), &json!("iSCSI")));
    for key in ["free_capacity_gb", "driver_version", "vendor_name", "volume_backend_name"] {
        assert!(!c[key].is_null(), "{key} in {c}");
    }
    assert_eq!(operator.at("3.28").get("/scheduler-stats/get_pools?name=nope").await.expect(200), json!({ "pools": [] }));
    assert_eq!(operator.at("3.31").get("/scheduler-stats/get_pools?color=red").await.status, 400);
    operator.post("/types", json!({ "volume_type": { "name": "red", "extra_specs": { "color": "red" } } })).await.expect(200);
    assert_eq!(operator.at("3.35").get("/scheduler-stats/get_pools?volume_type=red").await.expect(200), json!({ "pools": [] }));
    let shown = operator.get("/capabilities/stowage@a").await.expect(200);
    assert_eq!((&shown["storage_protocol"], &shown["visibility"]), (&json!("iSCSI"), &json!("public")));
    operator.get("/capabilities/stowage@a%23p1").await.expect(200);
    assert_eq!(operator.get("/capabilities/nowhere").await.status, 404);
    assert_eq!(member.get("/capabilities/stowage@a").await.status, 403);
}

#[tokio::test]
async fn quota_sets_show_limits_and_usage_and_take_changes() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    site.volume_with(json!({ "size": 3 })).await;
    let path = format!("/os-quota-sets/{}", member.project_id);
    let shown = member.get(&path).await.expect(200)["quota_set"].clone();
    assert_eq!((&shown["id"], &shown["volumes"], &shown["gigabytes___DEFAULT__"]), (&json!(member.project_id), &json!(10), &json!(-1)));
    let used = member.get(&format!("{path}?usage=true")).await.expect(200)["quota_set"]["gigabytes"].clone();
    assert_eq!(used, json!({ "limit": 1000, "in_use": 3, "reserved": 0, "allocated": 0 }));
    assert_eq!(operator.put(&path, json!({ "quota_set": { "volumes": 1 } })).await.expect(200)["quota_set"]["volumes"], 1);
    assert!(member.post("/volumes", json!({ "volume": { "size": 1 } })).await.fault(413).contains("exceed"));
    assert_eq!(member.put(&path, json!({ "quota_set": { "volumes": 99 } })).await.status, 403);
    for bad in
        [json!({ "volumes": "x" }), json!({ "volumes": -2 }), json!({ "colors": 1 }), json!({ "volumes": 1.5 }), json!({ "volumes": null })]
    {
        assert_eq!(operator.put(&path, json!({ "quota_set": bad })).await.status, 400, "{bad}");
    }
    operator.delete(&path).await.expect(200);
    assert_eq!(member.get(&path).await.expect(200)["quota_set"]["volumes"], 10);
    assert_eq!(member.get(&format!("{path}/defaults")).await.expect(200)["quota_set"]["snapshots"], 10);
    assert_eq!(site.block(Persona::Stranger).await.get(&path).await.status, 403);
    operator.put("/os-quota-class-sets/default", json!({ "quota_class_set": { "volumes": 7 } })).await.expect(200);
    assert_eq!(operator.get("/os-quota-class-sets/default").await.expect(200)["quota_class_set"]["volumes"], 7);
    assert_eq!(member.get(&path).await.expect(200)["quota_set"]["volumes"], 7);
    let limits = member.get("/limits").await.expect(200)["limits"].clone();
    assert_eq!(
        (&limits["rate"], &limits["absolute"]["maxTotalVolumes"], &limits["absolute"]["totalGigabytesUsed"]),
        (&json!([]), &json!(7), &json!(3))
    );
    assert_eq!(limits["absolute"].as_object().unwrap().len(), 10);
}

#[tokio::test]
async fn clients_find_out_what_is_there() {
    let site = Site::start().await;
    let member = site.member().await;
    let all = member.get("/extensions").await.expect(200);
    assert!(all["extensions"].as_array().unwrap().iter().any(|e| e["alias"] == "os-volume-type-access"));
    assert_eq!(member.get("/extensions/os-quota-sets").await.expect(200)["extension"]["name"], "Quotas");
    assert_eq!(member.get("/extensions/nope").await.status, 404);
    assert_eq!(member.at("3.32").get("/resource_filters").await.status, 404);
    let filters = member.at("3.33").get("/resource_filters?resource=attachment").await.expect(200);
    assert_eq!(
        filters,
        json!({ "resource_filters": [{ "resource": "attachment", "filters": ["volume_id", "status", "instance_id", "attach_status"] }] })
    );
}

#[tokio::test]
async fn a_host_is_a_service_by_an_older_name_and_shows_what_it_holds_by_project() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    assert_eq!(member.get("/os-hosts").await.status, 403);
    let hosts = operator.get("/os-hosts").await.expect(200);
    let shown: Vec<(&str, &str)> = hosts["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| (h["host_name"].as_str().unwrap(), h["service-status"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [("stowage", "available"), ("stowage@a", "available")]);

    let volume = site.volume().await;
    let made = member.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.expect(202);
    let snapshot = format!("/snapshots/{}", made["snapshot"]["id"].as_str().unwrap());
    member.until(&snapshot, |a| a.body()["snapshot"]["status"] == "available").await;
    let held = operator.get("/os-hosts/stowage@a").await.expect(200);
    let of = |n: usize| held["host"][n]["resource"].clone();
    assert_eq!(
        of(0),
        json!({
            "host": "stowage@a", "project": "(total)", "volume_count": "1", "total_volume_gb": "1", "snapshot_count": "1", "total_snapshot_gb": "1"
        })
    );
    assert_eq!((of(1)["volume_count"].clone(), held["host"].as_array().unwrap().len()), (json!("1"), 2));

    let path = "/os-hosts/stowage@a";
    assert_eq!(operator.put(path, json!({ "status": "off" })).await.status, 400);
    assert_eq!(operator.put(path, json!({ "status": "disable" })).await.expect(200), json!({ "host": "stowage@a", "status": "disabled" }));
    for unknown in [path, "/os-hosts/nowhere", "/os-hosts/stowage"] {
        assert_eq!(operator.get(unknown).await.status, 404, "{unknown}");
    }
    operator.put(path, json!({ "status": "enable" })).await.expect(200);
    operator.get(path).await.expect(200);
}
