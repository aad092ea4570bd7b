//! Specification C, row by row: shared targets, and the two names of a volume's back end. What storing reports does to volumes
//! is in the scheduler's suite.

use serde_json::{Value, json};
use stowage::driver::capability::{BlockProtocol, SharedTargets};
use support::Persona;

use crate::{
    array::Array,
    site::{Site, connect, create, reserve},
};

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

#[tokio::test]
async fn c1_yes_and_unknown_are_true_and_what_nobody_reported_is_true() {
    let site = Site::start().await;
    let member = site.member().await.at("3.69");
    for report in [SharedTargets::Yes, SharedTargets::Unknown] {
        site.array.report(|r| r.features.shared_targets = report);
        site.serve("stowage@a", &site.array).await;
        let id = site.volume().await;
        assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["shared_targets"], true, "{report:?}");
    }
    // until the driver has answered
    site.array.hold("create");
    let id = create(&member, json!({})).await;
    assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["shared_targets"], true);
    site.array.release("create");
    member.volume_until(&id, "available").await;
}

#[tokio::test]
async fn c2_the_fields_stand_in_show_detail_create_and_update_from_3_48() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    let path = format!("/volumes/{id}");
    for (minor, has) in [(47, false), (48, true), (71, true)] {
        let member = member.at(&format!("3.{minor}"));
        let answers = [
            member.get(&path).await.expect(200)["volume"].clone(),
            member.get("/volumes/detail").await.expect(200)["volumes"][0].clone(),
            member.put(&path, json!({ "volume": { "name": format!("n{minor}") } })).await.expect(200)["volume"].clone(),
            member.post("/volumes", json!({ "volume": { "size": 1 } })).await.expect(202)["volume"].clone(),
        ];
        for shown in answers {
            for field in ["shared_targets", "service_uuid", "backend_name"] {
                assert_eq!(shown.get(field).is_some(), has, "3.{minor} {field} in {shown}");
            }
        }
        let summary = member.get("/volumes").await.expect(200)["volumes"][0].clone();
        assert_eq!(summary.as_object().unwrap().len(), 3, "nothing of it in the short list: {summary}");
    }
}

#[tokio::test]
async fn c2_null_reads_as_true_below_3_69_in_every_answer() {
    let site = Site::start().await;
    site.array.report(|r| r.features.block_protocols = vec![BlockProtocol::NvmeOf]);
    site.serve("stowage@a", &site.array).await;
    let member = site.member().await;
    let id = site.volume().await;
    let path = format!("/volumes/{id}");
    for (minor, expected) in [(48, json!(true)), (68, json!(true)), (69, Value::Null), (71, Value::Null)] {
        let member = member.at(&format!("3.{minor}"));
        let rename = json!({ "volume": { "name": format!("n{minor}") } });
        assert_eq!(member.get(&path).await.expect(200)["volume"]["shared_targets"], expected, "3.{minor}");
        assert_eq!(member.get("/volumes/detail").await.expect(200)["volumes"][0]["shared_targets"], expected, "3.{minor}");
        assert_eq!(member.put(&path, rename).await.expect(200)["volume"]["shared_targets"], expected, "3.{minor}");
    }
}

#[tokio::test]
async fn c3_a_configured_id_is_the_name_and_several_back_ends_of_one_array_share_it_and_the_lock() {
    let site = Site::start().await;
    let member = site.member().await.at("3.48");
    let own_uuid = "7d5bfbfb-8d2f-4d9c-8f0e-0f6a5e1ad0aa";
    let mut of = Vec::new();
    for (host, id) in [("stowage@a", "array-7"), ("stowage@b", "array-7"), ("stowage@c", own_uuid)] {
        let array = Array::new(&["p1"]);
        site.serve_as(host, &array, Some(id)).await;
        // placed on this one: the others are full
        let body =
            json!({ "volume_type": { "name": host, "extra_specs": { "volume_backend_name": host.trim_start_matches("stowage@") } } });
        site.operator().await.post("/types", body).await.expect(200);
        let volume = site.volume_with(json!({ "volume_type": host })).await;
        let shown = member.get(&format!("/volumes/{volume}")).await.expect(200)["volume"].clone();
        let text = |field: &str| shown[field].as_str().unwrap().to_owned();
        of.push((text("backend_name"), text("service_uuid")));
    }
    assert_eq!(of[0], of[1]);
    assert_eq!(of[0].0, "array-7");
    assert_eq!(uuid::Uuid::parse_str(&of[0].1).unwrap().get_version_num(), 5, "made of the id");
    assert_eq!(of[2], (own_uuid.to_owned(), own_uuid.to_owned()));
}

#[tokio::test]
async fn c4_left_out_it_is_left_out_of_every_answer_and_there_is_never_one_below_3_48() {
    let site = Site::start_with(|c| c.block.backend_name_field = false).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    let path = format!("/volumes/{id}");
    for client in [member.at("3.71"), operator.at("3.71"), member.at("3.48")] {
        let answers = [
            client.get(&path).await.expect(200)["volume"].clone(),
            client.get("/volumes/detail?all_tenants=1").await.expect(200)["volumes"][0].clone(),
            client.put(&path, json!({ "volume": { "name": "n" } })).await.expect(200)["volume"].clone(),
            client.post("/volumes", json!({ "volume": { "size": 1 } })).await.expect(202)["volume"].clone(),
        ];
        for shown in answers {
            assert!(shown.get("backend_name").is_none() && shown.get("service_uuid").is_some(), "{shown}");
        }
    }
}

#[tokio::test]
async fn c5_a_volume_with_a_host_has_a_service_uuid_whatever_its_targets_are() {
    let site = Site::start().await;
    let member = site.member().await.at("3.69");
    for (report, protocol) in [
        (SharedTargets::Yes, BlockProtocol::Iscsi),
        (SharedTargets::Unknown, BlockProtocol::NvmeOf),
        (SharedTargets::No, BlockProtocol::Iscsi),
    ] {
        site.array.report(|r| (r.features.shared_targets, r.features.block_protocols) = (report, vec![protocol.clone()]));
        site.serve("stowage@a", &site.array).await;
        site.volume().await;
    }
    let listed = member.get("/volumes/detail").await.expect(200)["volumes"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 3);
    for v in listed {
        assert!(v["service_uuid"].is_string(), "{v}");
    }
}

#[test]
fn c6_the_documentation_says_which_lock_to_take_and_shows_how() {
    let page = include_str!("../../docs/shared-targets.md");
    for said in [
        "`shared_targets`",
        "`service_uuid`",
        "`backend_name`",
        "backend_name_field = false",
        "```python",
        "os-brick-{volume.service_uuid}",
    ] {
        assert!(page.contains(said), "{said}");
    }
}
