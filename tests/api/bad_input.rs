//! Whatever is sent, the answer is the API's own fault: never a 500, never a panic, never a foreign row.

use serde_json::{Value, json};
use support::Persona;

use crate::site::{Site, connector, uuid};

/// Values that fit nowhere.
fn oddities() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}"),
        json!("\u{feff}\u{202e}卷🧱"),
        json!("x".repeat(10_000)),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({ "a": { "b": { "c": [1, "2", null] } } }),
        json!("'; DROP TABLE volumes; --"),
        json!("%00%ff../../etc/passwd"),
    ]
}

#[tokio::test]
async fn no_member_of_any_body_gets_a_500() {
    let site = Site::start().await;
    let operator = site.operator().await.at("3.71");
    let volume = site.volume().await;
    let made = operator.post("/types", json!({ "volume_type": { "name": "t" } })).await.expect(200);
    let t = made["volume_type"]["id"].as_str().unwrap().to_owned();
    let reserved = operator.post("/attachments", json!({ "attachment": { "volume_uuid": volume } })).await.expect(200);
    let a = reserved["attachment"]["id"].as_str().unwrap().to_owned();
    let bodies: Vec<(http::Method, String, Value, &str)> = vec![
        (
            http::Method::POST,
            "/volumes".into(),
            json!({ "size": 1, "name": "n", "description": "d", "volume_type": "t", "availability_zone": "nova", "metadata": {}, "snapshot_id": null,
                    "source_volid": null, "imageRef": null, "multiattach": false, "group_id": null, "backup_id": null, "consistencygroup_id": null, "image_id": null }),
            "volume",
        ),
        (http::Method::PUT, format!("/volumes/{volume}"), json!({ "name": "n", "description": "d", "metadata": {} }), "volume"),
        (http::Method::PUT, format!("/volumes/{volume}/metadata/k"), json!({ "k": "v" }), "meta"),
        (
            http::Method::POST,
            "/types".into(),
            json!({ "name": "u", "description": "d", "extra_specs": {}, "os-volume-type-access:is_public": true }),
            "volume_type",
        ),
        (http::Method::PUT, format!("/types/{t}"), json!({ "name": "t2", "description": "d", "is_public": true }), "volume_type"),
        (http::Method::POST, format!("/types/{t}/action"), json!({ "project": "p" }), "addProjectAccess"),
        (
            http::Method::POST,
            "/attachments".into(),
            json!({ "volume_uuid": volume, "instance_uuid": uuid(), "connector": null, "mode": "rw" }),
            "attachment",
        ),
        (http::Method::PUT, format!("/attachments/{a}"), json!({ "connector": connector("c1") }), "attachment"),
        (http::Method::PUT, "/os-quota-sets/p".into(), json!({ "volumes": 1 }), "quota_set"),
        (http::Method::PUT, "/os-quota-class-sets/default".into(), json!({ "volumes": 1 }), "quota_class_set"),
    ];
    for (method, path, good, key) in &bodies {
        for odd in oddities() {
            for member in good.as_object().unwrap().keys() {
                let mut body = good.clone();
                body[member] = odd.clone();
                let answer = operator.send(method.clone(), path, Some(json!({ *key: body }))).await;
                assert!(answer.status.as_u16() < 500, "{member} = {odd:.60}: {answer:?}");
            }
            for whole in [json!({ *key: odd }), odd.clone(), json!({ "other": odd })] {
                let answer = operator.send(method.clone(), path, Some(whole)).await;
                assert!(answer.status.as_u16() < 500, "{odd:.60}: {answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn no_connector_gets_a_500_unless_the_array_fails() {
    let site = Site::start().await;
    let member = site.member().await.at("3.54");
    let volume = site.volume().await;
    let reserved = member.post("/attachments", json!({ "attachment": { "volume_uuid": volume } })).await.expect(200);
    let path = format!("/attachments/{}", reserved["attachment"]["id"].as_str().unwrap());
    for odd in oddities() {
        for key in ["host", "initiator", "ip", "wwpns", "multipath", "mode", "mountpoint", "other"] {
            let mut c = connector("c1");
            c[key] = odd.clone();
            let answer = member.put(&path, json!({ "attachment": { "connector": c } })).await;
            assert!(answer.status.as_u16() < 500, "{key} = {odd:.60}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn no_query_gets_a_500() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await.at("3.71"), site.operator().await.at("3.71"));
    site.volume().await;
    let keys = [
        "limit",
        "marker",
        "offset",
        "sort",
        "sort_key",
        "sort_dir",
        "with_count",
        "all_tenants",
        "name",
        "name~",
        "status",
        "metadata",
        "bootable",
        "size",
        "created_at",
        "updated_at",
        "availability_zone",
        "migration_status",
        "group_id",
        "consumes_quota",
        "host",
        "id",
        "project_id",
        "usage",
        "detail",
        "is_public",
        "extra_specs",
        "volume_id",
        "instance_id",
        "resource_uuid",
        "cascade",
    ];
    let values = [
        "",
        "x",
        "-1",
        "0",
        "999999999999999999999",
        "1e9",
        "true",
        "None",
        "%00",
        "%ff",
        "%F0%9F%A7%B1",
        "{}",
        "{'a'}",
        "%7B%27k%27%3A%27v%27%7D",
        "gt:",
        "gt:9999-99-99",
        "name:asc:desc",
        ",,,",
        "'--",
        "..%2f..",
    ];
    for path in [
        "/volumes",
        "/volumes/detail",
        "/volumes/summary",
        "/types",
        "/attachments",
        "/attachments/detail",
        "/messages",
        "/scheduler-stats/get_pools",
        "/os-services",
        "/os-quota-sets/p",
    ] {
        for key in keys {
            for value in values {
                for client in [&member, &operator] {
                    let answer = client.get(&format!("{path}?{key}={value}")).await;
                    assert!(answer.status.as_u16() < 500, "{answer:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn no_id_in_a_path_gets_anything_but_404_or_400() {
    let site = Site::start().await;
    let operator = site.operator().await.at("3.71");
    let long = "x".repeat(5000);
    let ids = [uuid(), "nope".into(), "%F0%9F%A7%B1".into(), "'%3B--".into(), long];
    for id in &ids {
        for (method, path) in [
            ("GET", format!("/volumes/{id}")),
            ("PUT", format!("/volumes/{id}")),
            ("DELETE", format!("/volumes/{id}")),
            ("GET", format!("/volumes/{id}/metadata")),
            ("PUT", format!("/volumes/{id}/metadata")),
            ("DELETE", format!("/volumes/{id}/metadata/k")),
            ("GET", format!("/types/{id}")),
            ("PUT", format!("/types/{id}")),
            ("DELETE", format!("/types/{id}")),
            ("GET", format!("/types/{id}/extra_specs")),
            ("GET", format!("/attachments/{id}")),
            ("PUT", format!("/attachments/{id}")),
            ("DELETE", format!("/attachments/{id}")),
            ("GET", format!("/messages/{id}")),
            ("DELETE", format!("/messages/{id}")),
            ("GET", format!("/capabilities/{id}")),
            ("GET", format!("/extensions/{id}")),
        ] {
            let body = (method == "PUT").then(|| json!({ "volume": {}, "metadata": {}, "volume_type": {}, "attachment": {} }));
            let answer = operator.send(method.parse().unwrap(), &path, body).await;
            assert!([400, 404].contains(&answer.status.as_u16()), "{:.200}: {}", path, answer.status);
        }
    }
}

#[tokio::test]
async fn concurrent_conflicting_requests_leave_true_states() {
    let site = Site::start().await;
    let member = site.member().await.at("3.44");
    let volume = site.multiattach_volume().await;
    let mut asks = Vec::new();
    for n in 0..24 {
        let (member, volume) = (member.clone(), volume.clone());
        asks.push(tokio::spawn(async move {
            match n % 4 {
                0 => member.delete(&format!("/volumes/{volume}")).await,
                1 => member.put(&format!("/volumes/{volume}"), json!({ "volume": { "name": format!("n{n}") } })).await,
                2 => member.post(&format!("/volumes/{volume}/metadata"), json!({ "metadata": { format!("k{n}"): "v" } })).await,
                _ => {
                    member
                        .post("/attachments", json!({ "attachment": { "volume_uuid": volume, "connector": connector(&format!("c{n}")) } }))
                        .await
                }
            }
        }));
    }
    let mut deleted = false;
    for ask in asks {
        let answer = ask.await.unwrap();
        assert!(answer.status.as_u16() < 500, "{answer:?}");
        deleted |= answer.status == 202;
    }
    if deleted {
        member.until_gone(&format!("/volumes/{volume}")).await;
        assert!(site.array.volumes().is_empty() && site.array.hosts_of(&volume).is_empty());
        assert_eq!(site.block(Persona::Member).await.at("3.27").get("/attachments").await.expect(200)["attachments"], json!([]));
    } else {
        let attached = member.get(&format!("/attachments?volume_id={volume}")).await.expect(200)["attachments"].as_array().unwrap().len();
        assert_eq!(site.array.hosts_of(&volume).len(), attached);
    }
}
