//! The key set of a volume, by microversion, role and answer; shared targets (C1 to C5).

use serde_json::{Value, json};
use stowage::driver::capability::{BlockProtocol, SharedTargets};
use support::{Client, Persona};

use crate::site::{Site, attach, connect, create, reserve};

fn keys(volume: &Value) -> Vec<String> {
    volume.as_object().unwrap().keys().cloned().collect()
}

const MEMBER_3_0: &[&str] = &[
    "attachments",
    "availability_zone",
    "bootable",
    "consistencygroup_id",
    "created_at",
    "description",
    "encrypted",
    "id",
    "links",
    "metadata",
    "multiattach",
    "name",
    "os-vol-tenant-attr:tenant_id",
    "replication_status",
    "size",
    "snapshot_id",
    "source_volid",
    "status",
    "updated_at",
    "user_id",
    "volume_type",
];
const ADMIN_MORE: &[&str] =
    &["migration_status", "os-vol-host-attr:host", "os-vol-mig-status-attr:migstat", "os-vol-mig-status-attr:name_id"];
/// First microversion, field, for admins only.
const LATER: &[(u16, &str, bool)] = &[
    (13, "group_id", false),
    (21, "provider_id", true),
    (48, "backend_name", false),
    (48, "service_uuid", false),
    (48, "shared_targets", false),
    (61, "cluster_name", true),
    (63, "volume_type_id", false),
    (65, "consumes_quota", false),
];

fn expected(minor: u16, admin: bool, shown: bool) -> Vec<String> {
    let mut all: Vec<&str> = MEMBER_3_0.to_vec();
    if admin {
        all.extend(ADMIN_MORE);
    }
    if !shown {
        all.retain(|k| !k.starts_with("os-vol-"));
    }
    all.extend(LATER.iter().filter(|(since, _, admins)| minor >= *since && (admin || !admins)).map(|(_, name, _)| *name));
    let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
    all.sort();
    all
}

#[tokio::test]
async fn the_key_set_is_exact_by_microversion_and_role() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    let path = format!("/volumes/{id}");
    for minor in [0, 12, 13, 20, 21, 47, 48, 60, 61, 62, 63, 64, 65, 71] {
        for (client, admin) in [(&member, false), (&operator, true)] {
            let client: Client = client.at(&format!("3.{minor}"));
            let shown = client.get(&path).await.expect(200);
            assert_eq!(keys(&shown["volume"]), expected(minor, admin, true), "show 3.{minor} admin {admin}");
            let listed = client.get("/volumes/detail?all_tenants=1").await.expect(200);
            assert_eq!(keys(&listed["volumes"][0]), expected(minor, admin, true), "detail 3.{minor} admin {admin}");
            let changed = client.put(&path, json!({ "volume": { "name": "n" } })).await.expect(200);
            assert_eq!(keys(&changed["volume"]), expected(minor, admin, false), "update 3.{minor} admin {admin}");
        }
    }
    let made = member.at("3.71").post("/volumes", json!({ "volume": { "size": 1 } })).await.expect(202);
    assert_eq!(keys(&made["volume"]), expected(71, false, false));
}

#[tokio::test]
async fn values_have_the_wires_forms() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    let v = operator.at("3.71").get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    let time = v["created_at"].as_str().unwrap();
    assert!(time.len() == 26 && time.as_bytes()[19] == b'.' && !time.ends_with('Z'), "{time}");
    assert_eq!((&v["bootable"], &v["encrypted"], &v["multiattach"]), (&json!("false"), &json!(false), &json!(false)));
    assert_eq!((&v["provider_id"], &v["os-vol-tenant-attr:tenant_id"]), (&json!(format!("lun-{id}")), &json!(member.project_id)));
    assert_eq!((&v["consumes_quota"], &v["cluster_name"], &v["group_id"]), (&json!(true), &Value::Null, &Value::Null));
}

#[tokio::test]
async fn attachments_show_their_host_to_admins_and_services_only() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    let path = format!("/volumes/{id}");
    assert_eq!(member.get(&path).await.expect(200)["volume"]["attachments"][0]["host_name"], Value::Null);
    let shown = operator.get(&path).await.expect(200)["volume"]["attachments"][0].clone();
    assert_eq!(shown["host_name"], "c1");
    assert_eq!(keys(&shown), ["attached_at", "attachment_id", "device", "host_name", "id", "server_id", "volume_id"]);
    // only what is attached stands there
    let other = site.volume().await;
    let reserved = reserve(&member, &other, None).await;
    connect(&member, &reserved, "c1").await.expect(200);
    assert_eq!(member.get(&format!("/volumes/{other}")).await.expect(200)["volume"]["attachments"], json!([]));
}

#[tokio::test]
async fn c1_shared_targets_follow_the_report_in_both_directions() {
    let site = Site::start().await;
    let member = site.member().await.at("3.69");
    let id = site.volume().await;
    let shown = || async { member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["shared_targets"].clone() };
    assert_eq!(shown().await, true);
    for (report, protocol, expected) in [
        (SharedTargets::No, BlockProtocol::Iscsi, json!(false)),
        (SharedTargets::Unknown, BlockProtocol::Iscsi, json!(true)),
        (SharedTargets::Yes, BlockProtocol::NvmeOf, json!(null)),
        (SharedTargets::No, BlockProtocol::NvmeOf, json!(false)),
        (SharedTargets::Yes, BlockProtocol::Rbd, json!(true)),
    ] {
        site.array.report(|r| {
            r.features.shared_targets = report;
            r.features.block_protocols = vec![protocol.clone()];
        });
        site.serve("stowage@a", &site.array).await;
        stowage::service::volume::follow::follow(site.app.app(), "stowage@a").await.unwrap();
        assert_eq!(shown().await, expected, "{report:?} {protocol:?}");
        if expected.is_null() {
            assert_eq!(
                member.at("3.68").get(&format!("/volumes/{id}")).await.expect(200)["volume"]["shared_targets"],
                true,
                "no null below 3.69"
            );
        }
    }
}

#[tokio::test]
async fn c1_a_connect_brings_its_volume_in_line_before_anybody_is_connected() {
    let site = Site::start().await;
    site.array.report(|r| r.features.shared_targets = SharedTargets::No);
    site.serve("stowage@a", &site.array).await;
    let member = site.member().await.at("3.69");
    let id = site.volume().await;
    assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["shared_targets"], false);
    site.array.report(|r| r.features.shared_targets = SharedTargets::Yes);
    site.serve("stowage@a", &site.array).await;
    let attachment = reserve(&member, &id, None).await;
    connect(&member, &attachment, "c1").await.expect(200);
    assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["shared_targets"], true);
}

#[tokio::test]
async fn c2_c3_volumes_name_their_back_end_without_revealing_it() {
    let site = Site::start().await;
    let member = site.member().await.at("3.48");
    let id = site.volume().await;
    let v = member.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    let (service, backend) = (v["service_uuid"].as_str().unwrap().to_owned(), v["backend_name"].as_str().unwrap().to_owned());
    assert!(uuid::Uuid::parse_str(&service).is_ok() && uuid::Uuid::parse_str(&backend).is_ok());
    assert!(!v.to_string().contains("stowage@a"));
    let other = site.volume().await;
    let o = member.get(&format!("/volumes/{other}")).await.expect(200)["volume"].clone();
    assert_eq!((o["service_uuid"].as_str().unwrap(), o["backend_name"].as_str().unwrap()), (service.as_str(), backend.as_str()));
}

#[tokio::test]
async fn c4_the_operator_may_leave_backend_name_out() {
    let site = Site::start_with(|c| c.block.backend_name_field = false).await;
    let member = site.member().await.at("3.71");
    let id = site.volume().await;
    let v = member.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    assert!(v.get("backend_name").is_none() && v["service_uuid"].is_string());
}

#[tokio::test]
async fn c5_a_volume_without_a_host_shows_true_and_null_and_cannot_be_attached() {
    let site = Site::start().await;
    let member = site.member().await.at("3.69");
    let operator = site.block(Persona::Admin).await;
    let body = json!({ "volume_type": { "name": "impossible", "extra_specs": { "color": "red" } } });
    operator.post("/types", body).await.expect(200);
    let id = create(&member, json!({ "volume_type": "impossible" })).await;
    let v = member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await.body()["volume"].clone();
    assert_eq!((&v["shared_targets"], &v["service_uuid"], &v["backend_name"]), (&json!(true), &Value::Null, &Value::Null));
    assert_eq!(member.post("/attachments", json!({ "attachment": { "volume_uuid": id } })).await.status, 400);
}
