//! Volumes: what is accepted becomes true, what is refused says why, and what a client reads.

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::Persona;

use crate::{
    array::{Array, Fault},
    site::{Site, attach, create, uuid},
};

#[tokio::test]
async fn a_created_volume_becomes_available_on_a_pool() {
    let site = Site::start().await;
    let member = site.member().await;
    let made = member.post("/volumes", json!({ "volume": { "size": 2, "name": "  v  ", "metadata": { "k": "v" } } })).await.expect(202);
    let v = &made["volume"];
    assert_eq!((&v["status"], &v["size"], &v["name"], &v["metadata"]), (&json!("creating"), &json!(2), &json!("v"), &json!({ "k": "v" })));
    assert_eq!((&v["volume_type"], &v["bootable"], &v["attachments"]), (&json!("__DEFAULT__"), &json!("false"), &json!([])));
    let id = v["id"].as_str().unwrap();
    member.volume_until(id, "available").await;
    assert_eq!(site.array.volumes(), [id]);
    let operator = site.operator().await;
    let shown = operator.get(&format!("/volumes/{id}")).await.expect(200);
    assert_eq!(shown["volume"]["os-vol-host-attr:host"], "stowage@a#p1");
    assert_eq!(site.used(&member, "gigabytes").await, 2);
}

#[tokio::test]
async fn a_size_may_be_a_number_or_its_digits_and_nothing_else() {
    let site = Site::start().await;
    let member = site.member().await;
    create(&member, json!({ "size": "3" })).await;
    for bad in [json!(0), json!(-1), json!("x"), json!(1.5), json!(true), json!([]), json!({}), json!(1e300), json!(u64::MAX), json!("1 ")]
    {
        let answer = member.post("/volumes", json!({ "volume": { "size": bad } })).await;
        assert!(answer.fault(400).contains("size"), "{bad}");
    }
    assert!(member.post("/volumes", json!({ "volume": {} })).await.fault(400).contains("size"));
}

#[tokio::test]
async fn a_deleted_volume_shows_deleting_at_once_and_then_is_gone_with_its_quota() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    site.array.hold("delete");
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["status"], "deleting");
    assert!(member.delete(&format!("/volumes/{id}")).await.fault(400).contains("Volume status must be available or error"));
    site.array.release("delete");
    member.until_gone(&format!("/volumes/{id}")).await;
    assert!(site.array.volumes().is_empty());
    assert_eq!((site.used(&member, "volumes").await, site.used(&member, "gigabytes").await), (0, 0));
}

#[tokio::test]
async fn deleting_a_volume_that_is_being_created_is_refused_by_its_state() {
    let site = Site::start().await;
    let member = site.member().await;
    site.array.hold("create");
    let id = create(&member, json!({})).await;
    assert!(member.delete(&format!("/volumes/{id}")).await.fault(400).contains("creating"));
    site.array.release("create");
    member.volume_until(&id, "available").await;
}

#[tokio::test]
async fn a_forced_delete_of_a_volume_being_created_leaves_nothing_behind() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    site.array.hold("create");
    let id = create(&member, json!({})).await;
    site.until("the create to begin", || async { site.array.count("create") == 1 }).await;
    assert_eq!(member.at("3.23").delete(&format!("/volumes/{id}?force=true")).await.status, 403);
    operator.at("3.23").delete(&format!("/volumes/{id}?force=true")).await.expect(202);
    site.array.release("create");
    member.until_gone(&format!("/volumes/{id}")).await;
    assert!(site.array.volumes().is_empty());
    assert_eq!(site.used(&member, "volumes").await, 0);
}

#[tokio::test]
async fn a_placement_that_finds_nothing_ends_in_error_with_a_message_that_names_the_limit() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let body = json!({ "volume_type": { "name": "impossible", "extra_specs": { "color": "red" } } });
    operator.post("/types", body).await.expect(200);
    let id = create(&member, json!({ "volume_type": "impossible" })).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    let messages = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    let m = &messages["messages"][0];
    assert_eq!(
        (&m["event_id"], &m["resource_type"], &m["message_level"]),
        (&json!("VOLUME_VOLUME_001_003"), &json!("VOLUME"), &json!("ERROR"))
    );
    let text = m["user_message"].as_str().unwrap();
    assert!(
        text.starts_with("schedule allocate volume:Could not find any available weighted backend.") && text.contains("capabilities"),
        "{text}"
    );
    // nothing lies behind it: it is gone when the call returns
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/volumes/{id}")).await.status, 404);
    assert_eq!(site.used(&member, "volumes").await, 0);
    // and messages can be read one by one and deleted
    let message = format!("/messages/{}", m["id"].as_str().unwrap());
    assert_eq!(member.at("3.3").get(&message).await.expect(200)["message"]["event_id"], "VOLUME_VOLUME_001_003");
    assert_eq!(site.block(Persona::Stranger).await.at("3.3").get(&message).await.status, 404);
    member.at("3.3").delete(&message).await.expect(204);
    assert_eq!(member.at("3.3").get(&message).await.status, 404);
}

#[tokio::test]
async fn a_lost_answer_is_repeated_on_the_same_back_end_and_makes_one_object() {
    let site = Site::start().await;
    site.array.fault("create", Fault::LoseAnswer(ErrorKind::Transient));
    let id = site.volume().await;
    assert_eq!(site.array.volumes(), [id]);
    assert_eq!(site.array.count("create"), 2);
}

#[tokio::test]
async fn pending_work_is_asked_for_until_it_is_done() {
    let site = Site::start().await;
    site.array.fault("create", Fault::Pending(2));
    let id = site.volume().await;
    assert_eq!(site.array.volumes(), [id]);
    assert_eq!((site.array.count("create"), site.array.count("poll")), (1, 3));
}

#[tokio::test]
async fn a_pool_that_is_full_after_all_is_left_for_another_without_a_trace() {
    let site = Site::start().await;
    let second = Array::new(&["q"]);
    site.array.fault("create", Fault::Refuse(ErrorKind::Exhausted));
    second.fault("create", Fault::Refuse(ErrorKind::Exhausted));
    site.serve("stowage@b", &second).await;
    let third = Array::new(&["r"]);
    site.serve("stowage@c", &third).await;
    let id = site.volume().await;
    let everywhere: Vec<String> = [&site.array, &second, &third].iter().flat_map(|a| a.volumes()).collect();
    assert_eq!(everywhere, [id]);
}

#[tokio::test]
async fn an_uncertain_pool_is_given_up_with_a_clean_up_behind_it() {
    let site = Site::start().await;
    let other = Array::new(&["q"]);
    for _ in 0..3 {
        site.array.fault("create", Fault::LoseAnswer(ErrorKind::Internal));
        other.fault("create", Fault::LoseAnswer(ErrorKind::Internal));
    }
    let second = Array::new(&["r"]);
    site.serve("stowage@b", &other).await;
    site.serve("stowage@c", &second).await;
    let id = site.volume().await;
    // whichever was tried first holds nothing in the end
    site.until("the clean-up", || async { site.array.volumes().len() + other.volumes().len() + second.volumes().len() == 1 }).await;
    let host = site.app.app().store.volume(&id).await.unwrap().unwrap().host.unwrap();
    let holder =
        [("stowage@a#p1", &site.array), ("stowage@b#q", &other), ("stowage@c#r", &second)].into_iter().find(|(h, _)| *h == host).unwrap().1;
    assert_eq!(holder.volumes(), [id]);
}

#[tokio::test]
async fn a_create_that_fails_everywhere_ends_in_error_with_a_message_and_an_empty_array() {
    let site = Site::start().await;
    let member = site.member().await;
    for _ in 0..3 {
        site.array.fault("create", Fault::LoseAnswer(ErrorKind::Internal));
    }
    let id = create(&member, json!({})).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    let messages = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    assert_eq!(messages["messages"][0]["event_id"], "VOLUME_VOLUME_008_012");
    site.until("the clean-up", || async { site.array.volumes().is_empty() }).await;
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/volumes/{id}")).await.status, 404);
    assert_eq!(site.used(&member, "gigabytes").await, 0);
}

#[tokio::test]
async fn what_a_lost_answer_may_have_made_is_cleaned_up_whatever_the_repeat_answers() {
    for last in [ErrorKind::Exhausted, ErrorKind::Auth, ErrorKind::Invalid] {
        let site = Site::start().await;
        let member = site.member().await;
        site.array.fault("create", Fault::LoseAnswer(ErrorKind::Deadline));
        site.array.fault("create", Fault::Refuse(last));
        let id = create(&member, json!({})).await;
        member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
        assert_eq!(site.array.count("create"), 2, "{last:?}");
        site.until("the clean-up", || async { site.array.volumes().is_empty() }).await;
    }
}

#[tokio::test]
async fn a_request_that_can_never_work_is_tried_once() {
    let site = Site::start().await;
    let member = site.member().await;
    site.array.fault("create", Fault::Refuse(ErrorKind::Invalid));
    let id = create(&member, json!({})).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    assert_eq!(site.array.count("create"), 1);
}

#[tokio::test]
async fn a_busy_volume_becomes_available_again_with_a_message() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    for _ in 0..4 {
        site.array.fault("delete", Fault::Refuse(ErrorKind::Busy));
    }
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "available").await;
    let messages = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    assert!(messages["messages"][0]["user_message"].as_str().unwrap().starts_with("delete volume:"));
}

#[tokio::test]
async fn a_busy_volume_that_was_not_available_before_does_not_become_so() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    operator.post(&format!("/volumes/{id}/action"), json!({ "os-reset_status": { "status": "error" } })).await.expect(202);
    for _ in 0..4 {
        site.array.fault("delete", Fault::Refuse(ErrorKind::Busy));
    }
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error_deleting").await;
}

#[tokio::test]
async fn a_failed_delete_ends_in_error_deleting_and_may_be_repeated() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    site.array.fault("delete", Fault::Refuse(ErrorKind::Auth));
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error_deleting").await;
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
    assert!(site.array.volumes().is_empty());
}

#[tokio::test]
async fn quota_is_refused_with_413_that_says_exceed() {
    let site = Site::start_with(|c| {
        c.quota.volumes = 2;
        c.quota.gigabytes = 5;
        c.quota.per_volume_gigabytes = 4;
    })
    .await;
    let member = site.member().await;
    let ask = |size: i64| json!({ "volume": { "size": size } });
    assert!(member.post("/volumes", ask(5)).await.fault(413).starts_with("VolumeSizeExceedsLimit: "));
    site.volume_with(json!({ "size": 4 })).await;
    let over = member.post("/volumes", ask(2)).await;
    let text = over.fault(413);
    assert_eq!(
        text,
        "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 2G, quota is 5G and 4G has been consumed."
    );
    assert_eq!((over.header("retry-after"), &over.body()["overLimit"]["retryAfter"]), (Some("0"), &json!("0")));
    site.volume().await;
    let text = member.post("/volumes", ask(1)).await.fault(413);
    assert!(text.contains("exceed"), "{text}");
    assert_eq!((site.used(&member, "volumes").await, site.used(&member, "gigabytes").await), (2, 5));
}

#[tokio::test]
async fn names_of_a_type_are_ids_too_and_an_unknown_type_is_404() {
    let site = Site::start().await;
    let member = site.member().await;
    let types = member.get("/types").await.expect(200);
    let id = types["volume_types"][0]["id"].as_str().unwrap();
    create(&member, json!({ "volume_type": id })).await;
    assert!(member.post("/volumes", json!({ "volume": { "size": 1, "volume_type": "nope" } })).await.fault(404).contains("nope"));
}

#[tokio::test]
async fn what_is_not_offered_yet_is_refused_by_name() {
    let site = Site::start().await;
    let member = site.member().await;
    let source = site.volume().await;
    let refused = |members: Value| {
        let member = member.clone();
        async move {
            let mut volume = json!({ "size": 1 });
            volume.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            member.at("3.47").post("/volumes", json!({ "volume": volume })).await
        }
    };
    assert_eq!(refused(json!({ "snapshot_id": uuid() })).await.status, 404);
    assert_eq!(refused(json!({ "source_volid": uuid() })).await.status, 404);
    assert!(refused(json!({ "source_volid": source, "snapshot_id": source })).await.fault(400).contains("only one"));
    for key in ["imageRef", "group_id", "backup_id", "consistencygroup_id"] {
        assert!(refused(json!({ key: uuid() })).await.fault(400).contains(key), "{key}");
    }
    assert!(refused(json!({ "snapshot_id": "x" })).await.fault(400).contains("snapshot_id"));
    // nulls are how released clients say nothing
    let nothing = json!({ "snapshot_id": null, "source_volid": null, "imageRef": null, "consistencygroup_id": null, "backup_id": null, "multiattach": false });
    assert_eq!(refused(nothing).await.status, 202);
}

#[tokio::test]
async fn unknown_members_are_ignored_before_3_53_and_refused_from_then_on() {
    let site = Site::start().await;
    let member = site.member().await;
    let body = json!({ "volume": { "size": 1, "color": "red" } });
    member.at("3.52").post("/volumes", body.clone()).await.expect(202);
    assert!(member.at("3.53").post("/volumes", body).await.fault(400).contains("color"));
    assert_eq!(member.post("/volumes", json!({ "volume": { "size": 1 }, "color": "red" })).await.status, 400);
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_an_empty_one_is_refused_from_3_53() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume_with(json!({ "name": "a", "description": "d", "metadata": { "x": "1" } })).await;
    let path = format!("/volumes/{id}");
    let v = member.put(&path, json!({ "volume": { "display_name": " b " } })).await.expect(200)["volume"].clone();
    assert_eq!((&v["name"], &v["description"], &v["metadata"]), (&json!("b"), &json!("d"), &json!({ "x": "1" })));
    let v = member.put(&path, json!({ "volume": { "description": null, "metadata": { "y": "2" } } })).await.expect(200)["volume"].clone();
    assert_eq!((&v["description"], &v["metadata"]), (&json!(null), &json!({ "y": "2" })));
    assert!(v["updated_at"].is_string());
    member.at("3.52").put(&path, json!({ "volume": {} })).await.expect(200);
    assert_eq!(member.at("3.53").put(&path, json!({ "volume": {} })).await.status, 400);
    assert_eq!(member.put(&path, json!({ "volume": { "size": 2 } })).await.status, 400);
    assert_eq!(member.put(&path, json!({ "volume": { "name": "x".repeat(256) } })).await.status, 400);
}

#[tokio::test]
async fn an_unknown_zone_is_refused_and_a_known_one_is_kept() {
    let site = Site::start().await;
    let member = site.member().await;
    let refused = member.post("/volumes", json!({ "volume": { "size": 1, "availability_zone": "moon" } })).await.fault(400);
    assert!(refused.contains("Availability zone 'moon' is invalid."), "{refused}");
    site.volume_with(json!({ "availability_zone": "nova" })).await;
    let zones = member.get("/os-availability-zone").await.expect(200);
    assert_eq!(zones, json!({ "availabilityZoneInfo": [{ "zoneName": "nova", "zoneState": { "available": true } }] }));
}

#[tokio::test]
async fn an_attached_volume_cannot_be_deleted() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    assert!(member.delete(&format!("/volumes/{id}")).await.fault(400).contains("still attached"));
    assert!(site.operator().await.at("3.23").delete(&format!("/volumes/{id}?force=true")).await.fault(400).contains("still attached"));
}

#[tokio::test]
async fn another_project_sees_nothing_of_a_volume() {
    let site = Site::start().await;
    let stranger = site.block(Persona::Stranger).await;
    let id = site.volume().await;
    let path = format!("/volumes/{id}");
    assert_eq!(stranger.get(&path).await.fault(404), format!("Volume {id} could not be found."));
    assert_eq!(stranger.put(&path, json!({ "volume": { "name": "x" } })).await.status, 404);
    assert_eq!(stranger.delete(&path).await.status, 404);
    assert_eq!(stranger.get(&format!("{path}/metadata")).await.status, 404);
    assert_eq!(stranger.put(&format!("{path}/metadata"), json!({ "metadata": {} })).await.status, 404);
    assert_eq!(stranger.at("3.27").post("/attachments", json!({ "attachment": { "volume_uuid": id } })).await.status, 404);
    assert_eq!(stranger.get("/volumes/detail").await.expect(200)["volumes"], json!([]));
    assert_eq!(stranger.get(&format!("/volumes?marker={id}")).await.status, 404);
}

#[tokio::test]
async fn a_reader_reads_and_does_not_write() {
    let site = Site::start().await;
    let reader = site.block(Persona::Reader).await;
    let id = site.volume().await;
    reader.get(&format!("/volumes/{id}")).await.expect(200);
    assert_eq!(reader.get("/volumes").await.expect(200)["volumes"].as_array().unwrap().len(), 1);
    assert_eq!(reader.post("/volumes", json!({ "volume": { "size": 1 } })).await.status, 403);
    assert_eq!(reader.delete(&format!("/volumes/{id}")).await.status, 403);
    assert_eq!(reader.at("3.27").post("/attachments", json!({ "attachment": { "volume_uuid": id } })).await.status, 403);
}

#[tokio::test]
async fn metadata_is_merged_replaced_and_removed_with_a_tag_from_3_15() {
    let site = Site::start().await;
    let member = site.member().await.at("3.15");
    let id = site.volume_with(json!({ "metadata": { "a": "1" } })).await;
    let path = format!("/volumes/{id}/metadata");
    let merged = member.post(&path, json!({ "metadata": { "b": "2" } })).await.expect(200);
    assert_eq!(merged, json!({ "metadata": { "a": "1", "b": "2" } }));
    let read = member.get(&path).await;
    let tag = read.header("etag").unwrap().to_owned();
    let matching = member.with_header("if-match", &tag);
    assert_eq!(matching.put(&path, json!({ "metadata": { "c": "3" } })).await.expect(200), json!({ "metadata": { "c": "3" } }));
    assert_eq!(matching.put(&path, json!({ "metadata": { "d": "4" } })).await.status, 412);
    assert_eq!(member.get(&format!("{path}/c")).await.expect(200), json!({ "meta": { "c": "3" } }));
    assert_eq!(member.put(&format!("{path}/c"), json!({ "meta": { "c": "5" } })).await.expect(200), json!({ "meta": { "c": "5" } }));
    assert!(member.put(&format!("{path}/c"), json!({ "meta": { "x": "5" } })).await.fault(400).contains("mismatch"));
    assert!(member.put(&format!("{path}/c"), json!({ "meta": { "c": "5", "d": "6" } })).await.fault(400).contains("too many"));
    member.delete(&format!("{path}/c")).await.expect(200);
    assert_eq!(member.delete(&format!("{path}/c")).await.status, 404);
    assert_eq!(member.get(&format!("{path}/c")).await.status, 404);
    assert!(site.member().await.get(&path).await.header("etag").is_none());
    let many: serde_json::Map<String, Value> = (0..129).map(|n| (format!("k{n}"), json!("v"))).collect();
    assert!(member.post(&path, json!({ "metadata": many })).await.fault(413).contains("exceed"));
    for bad in
        [json!({ "": "v" }), json!({ "k".repeat(256): "v" }), json!({ "k": "v".repeat(256) }), json!({ "k": 1 }), json!([]), json!(null)]
    {
        assert_eq!(member.post(&path, json!({ "metadata": bad })).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_summary_counts_and_sums_and_from_3_36_collects_metadata() {
    let site = Site::start().await;
    let member = site.member().await;
    assert_eq!(member.at("3.11").get("/volumes/summary").await.status, 404);
    site.volume_with(json!({ "size": 2, "metadata": { "k": "a" } })).await;
    site.volume_with(json!({ "size": 3, "metadata": { "k": "b" } })).await;
    let early = member.at("3.12").get("/volumes/summary").await.expect(200);
    assert_eq!(early, json!({ "volume-summary": { "total_count": 2, "total_size": 5 } }));
    let late = member.at("3.36").get("/volumes/summary").await.expect(200);
    assert_eq!(late["volume-summary"]["metadata"], json!({ "k": ["a", "b"] }));
    assert_eq!(
        site.operator().await.at("3.12").get("/volumes/summary?all_tenants=1").await.expect(200)["volume-summary"]["total_count"],
        2
    );
}

#[tokio::test]
async fn work_that_a_dead_process_left_is_finished_by_the_next() {
    let site = Site::start().await;
    let member = site.member().await;
    let Site { app, array } = site;
    array.hold("create");
    let id = create(&member, json!({})).await;
    support::wait::until("the create to begin", || async { (array.count("create") == 1).then_some(()) }).await;
    app.app().jobs.abandon();
    let app = app.restart().await;
    array.release("create");
    let site = Site { app, array };
    site.serve("stowage@a", &site.array).await;
    let member = site.member().await;
    member.volume_until(&id, "available").await;
    assert_eq!(site.array.volumes(), [id]);
}

#[tokio::test]
async fn past_its_maximum_age_a_create_ends_in_error_with_a_message_and_is_cleaned_up() {
    let site = Site::start_with(|c| c.jobs.max_age = std::time::Duration::from_millis(700)).await;
    let member = site.member().await;
    site.array.fault("create", Fault::Pending(u32::MAX));
    let id = create(&member, json!({})).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    let messages = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    assert_eq!(messages["messages"][0]["event_id"], "VOLUME_VOLUME_008_103");
    site.until("the clean-up", || async { site.array.count("delete") == 1 }).await;
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    assert_eq!(member.get(&format!("/volumes/{id}")).await.status, 404);
}

#[tokio::test]
async fn usage_is_what_the_rows_add_up_to_after_successes_failures_and_deletes() {
    let site = Site::start().await;
    let member = site.member().await;
    site.multiattach_type().await;
    let mut made = Vec::new();
    for n in 0..6 {
        if n % 3 == 2 {
            site.array.fault("create", Fault::Refuse(ErrorKind::Invalid));
        }
        let id = create(&member, json!({ "size": n + 1, "volume_type": if n % 2 == 0 { "multi" } else { "__DEFAULT__" } })).await;
        member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] != "creating").await;
        made.push(id);
    }
    for id in made.iter().step_by(2) {
        member.delete(&format!("/volumes/{id}")).await.expect(202);
        member.until_gone(&format!("/volumes/{id}")).await;
    }
    assert_eq!(drift(&site, false).await, []);
    assert_eq!(site.used(&member, "gigabytes").await, 2 + 4 + 6);
    // and a figure that was tampered with is found and put right
    let mut tx = site.app.app().store.begin().await.unwrap();
    tx.set_quota_usage(&member.project_id, "", "", "gigabytes", 99).await.unwrap();
    tx.commit().await.unwrap();
    let found = drift(&site, true).await;
    assert_eq!((found.len(), found[0].recorded, found[0].counted), (1, 99, 12));
    assert_eq!(drift(&site, false).await, []);
}

/// What `stowage manage quota check` finds.
async fn drift(site: &Site, repair: bool) -> Vec<stowage::quota::Drift> {
    let mut tx = site.app.app().store.begin().await.unwrap();
    tx.lock_quota().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    let found = tx.quota_check(&counted, stowage::store::sql::quota_count::is_counted, repair).await.unwrap();
    tx.commit().await.unwrap();
    found
}

#[tokio::test]
async fn scheduler_hints_are_bounded() {
    let site = Site::start().await;
    let member = site.member().await;
    let ask = |hints: Value| {
        let (member, body) = (member.clone(), json!({ "volume": { "size": 1 }, "OS-SCH-HNT:scheduler_hints": hints }));
        async move { member.post("/volumes", body).await }
    };
    for key in ["same_host", "different_host"] {
        for bad in [json!(vec![uuid(); 129]), json!(vec![""; 30_000]), json!("x".repeat(256)), json!(["x".repeat(256)])] {
            assert!(ask(json!({ key: bad })).await.fault(400).contains(key), "{key}");
        }
    }
    ask(json!({ "different_host": vec![uuid(); 128], "query": "x".repeat(50_000) })).await.expect(202);
}
