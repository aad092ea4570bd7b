//! Transfers: offered with a key that is shown once, taken with everything that belongs to the volume, or withdrawn.

use serde_json::{Value, json};
use support::{Client, Persona, both_databases};

use crate::{
    site::{Site, attach, reserve, uuid},
    snapshots::snapshot,
    volume_actions::{act, quota_is_true},
};

/// Both names of the API.
const NAMES: [&str; 2] = ["/volume-transfers", "/os-volume-transfer"];

async fn offer(client: &Client, volume: &str) -> Value {
    client.post(NAMES[0], json!({ "transfer": { "volume_id": volume, "name": "gift" } })).await.expect(202)["transfer"].clone()
}

async fn accept(client: &Client, transfer: &Value) -> support::Answer {
    let body = json!({ "accept": { "auth_key": transfer["auth_key"] } });
    client.post(&format!("{}/{}/accept", NAMES[0], transfer["id"].as_str().unwrap()), body).await
}

async fn owner(site: &Site, volume: &str) -> String {
    site.app().store.volume(volume).await.unwrap().unwrap().project_id
}

/// Volumes and snapshots that a project's quota counts, in all and of the default type, and their GiB.
async fn figures(site: &Site, client: &Client) -> [i64; 6] {
    let mut found = [0; 6];
    for (n, resource) in
        ["volumes", "snapshots", "gigabytes", "volumes___DEFAULT__", "snapshots___DEFAULT__", "gigabytes___DEFAULT__"].iter().enumerate()
    {
        found[n] = site.used(client, resource).await;
    }
    found
}

#[tokio::test]
async fn a_volume_is_offered_and_taken_under_both_names() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.block(Persona::Stranger).await);
    for (name, other) in [(NAMES[0], NAMES[1]), (NAMES[1], NAMES[0])] {
        let volume = site.volume().await;
        let made =
            member.post(name, json!({ "transfer": { "volume_id": volume, "name": " gift " } })).await.expect(202)["transfer"].clone();
        let id = made["id"].as_str().unwrap().to_owned();
        assert_eq!((&made["volume_id"], &made["name"]), (&json!(volume), &json!("gift")));
        assert!(made["links"][0]["href"].as_str().unwrap().ends_with(&format!("/os-volume-transfer/{id}")));
        assert_eq!(site.status(&volume).await.0, "awaiting-transfer");
        for path in [format!("{name}/{id}"), format!("{other}/{id}")] {
            assert_eq!(member.get(&path).await.expect(200)["transfer"]["id"], json!(id));
        }
        for list in [name.to_owned(), format!("{other}/detail")] {
            assert_eq!(member.get(&list).await.expect(200)["transfers"][0]["id"], json!(id));
        }
        let body = json!({ "accept": { "auth_key": made["auth_key"] } });
        let taken = stranger.post(&format!("{other}/{id}/accept"), body).await.expect(202)["transfer"].clone();
        let keys: Vec<&String> = taken.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "links", "name", "volume_id"]);
        let v = stranger.get(&format!("/volumes/{volume}")).await.expect(200)["volume"].clone();
        assert_eq!((&v["status"], &v["os-vol-tenant-attr:tenant_id"]), (&json!("available"), &json!(stranger.project_id)));
        assert_eq!(v["user_id"], json!(stranger.user_id));
        assert_eq!(member.get(&format!("/volumes/{volume}")).await.status, 404);
        assert_eq!(member.get(&format!("{name}/{id}")).await.status, 404, "it is over");
        assert_eq!(accept(&stranger, &made).await.status, 404, "and not taken twice");
        stranger.delete(&format!("/volumes/{volume}")).await.expect(202);
        stranger.until_gone(&format!("/volumes/{volume}")).await;
    }
    quota_is_true(&site).await;
}

#[tokio::test]
async fn the_key_is_shown_once_and_only_it_fits() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.block(Persona::Stranger).await);
    let volume = site.volume().await;
    let made = offer(&member, &volume).await;
    let (id, key) = (made["id"].as_str().unwrap(), made["auth_key"].as_str().unwrap());
    for path in [format!("{}/{id}", NAMES[0]), format!("{}/detail", NAMES[0]), NAMES[1].to_owned()] {
        let text = member.get(&path).await.text;
        assert!(!text.contains(key) && !text.contains("auth_key") && !text.contains("hash") && !text.contains("salt"), "{text}");
    }
    let row = site.app().store.transfer(id).await.unwrap().unwrap();
    assert!(!row.key_hash.contains(key) && !row.salt.contains(key));
    let with = |key: Value| {
        let (stranger, path) = (stranger.clone(), format!("{}/{id}/accept", NAMES[0]));
        async move { stranger.post(&path, json!({ "accept": { "auth_key": key } })).await }
    };
    for wrong in ["x", &row.key_hash, &row.salt, &key[1..], &format!("{key} "), &key.to_uppercase()] {
        if wrong == key {
            continue; // without a letter
        }
        let text = with(json!(wrong)).await.fault(400);
        assert_eq!(text, format!("Invalid auth key: Attempt to transfer {id} with invalid auth key."));
    }
    for bad in [json!(""), json!(null), json!(7), json!("x".repeat(256))] {
        let text = with(bad).await.fault(400);
        assert!(text.contains("auth_key") && !text.contains("xxx"), "{text}");
    }
    assert_eq!((site.status(&volume).await.0, owner(&site, &volume).await), ("awaiting-transfer".into(), member.project_id.clone()));
    with(json!(key)).await.expect(202);
}

both_databases! {
    async fn the_quota_moves_with_the_volume_its_snapshots_and_its_type(db) {
        let site = Site::on(&db).await;
        let (member, stranger) = (site.member().await.at("3.55"), site.block(Persona::Stranger).await.at("3.55"));
        let volume = site.volume_with(json!({ "size": 3 })).await;
        let one = snapshot(&member, &volume).await;
        let two = snapshot(&member, &volume).await;
        assert_eq!((figures(&site, &member).await, figures(&site, &stranger).await), ([1, 2, 9, 1, 2, 9], [0; 6]));
        let made = offer(&member, &volume).await;
        assert_eq!(made["no_snapshots"], false);
        assert_eq!(figures(&site, &member).await, [1, 2, 9, 1, 2, 9], "an offer is nothing yet");
        accept(&stranger, &made).await.expect(202);
        assert_eq!((figures(&site, &member).await, figures(&site, &stranger).await), ([0; 6], [1, 2, 9, 1, 2, 9]));
        for s in [&one, &two] {
            assert_eq!(member.get(&format!("/snapshots/{s}")).await.status, 404);
            stranger.get(&format!("/snapshots/{s}")).await.expect(200);
        }
        quota_is_true(&site).await;
    }
}

both_databases! {
    async fn without_its_snapshots_they_stay_and_stand_in_the_way_of_its_end(db) {
        let site = Site::on(&db).await;
        let (member, stranger) = (site.member().await, site.block(Persona::Stranger).await);
        for (client, body) in [
            (member.at("3.55"), json!({ "no_snapshots": true })),
            // before 3.55 they always stay
            (member.at("3.54"), json!({})),
        ] {
            let volume = site.volume_with(json!({ "size": 2 })).await;
            let kept = snapshot(&member, &volume).await;
            let mut transfer = json!({ "volume_id": volume });
            transfer.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            let made = client.post(NAMES[0], json!({ "transfer": transfer })).await.expect(202)["transfer"].clone();
            accept(&stranger, &made).await.expect(202);
            assert_eq!((figures(&site, &member).await, figures(&site, &stranger).await), ([0, 1, 2, 0, 1, 2], [1, 0, 2, 1, 0, 2]));
            member.get(&format!("/snapshots/{kept}")).await.expect(200);
            assert_eq!(stranger.get(&format!("/snapshots/{kept}")).await.status, 404);
            // what is another's is not deleted along with it
            let path = format!("/volumes/{volume}?cascade=true");
            assert!(stranger.delete(&path).await.fault(400).contains("snapshots of the project that transferred it"));
            // nor does what is another's count for the type that the volume shall get
            site.operator().await.post("/types", json!({ "volume_type": { "name": format!("gold{volume}") } })).await.expect(200);
            let retype = || act(&stranger, &volume, "os-retype", json!({ "new_type": format!("gold{volume}") }));
            assert!(retype().await.fault(400).contains("snapshots of the project that transferred it"));
            quota_is_true(&site).await;
            member.delete(&format!("/snapshots/{kept}")).await.expect(202);
            member.until_gone(&format!("/snapshots/{kept}")).await;
            retype().await.expect(202);
            stranger.until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["volume_type"] == format!("gold{volume}")).await;
            quota_is_true(&site).await;
            stranger.delete(&format!("/volumes/{volume}")).await.expect(202);
            stranger.until_gone(&format!("/volumes/{volume}")).await;
            quota_is_true(&site).await;
        }
    }
}

#[tokio::test]
async fn a_quota_that_is_used_up_refuses_and_nothing_has_moved() {
    let site = Site::start().await;
    let (member, stranger, operator) =
        (site.member().await.at("3.55"), site.block(Persona::Stranger).await.at("3.55"), site.operator().await);
    let volume = site.volume_with(json!({ "size": 3 })).await;
    snapshot(&member, &volume).await;
    let made = offer(&member, &volume).await;
    let (before, limits) = (figures(&site, &member).await, format!("/os-quota-sets/{}", stranger.project_id));
    for (resource, limit, class) in [
        ("volumes", 0, "VolumeLimitExceeded"),
        ("snapshots", 0, "SnapshotLimitExceeded"),
        ("gigabytes", 5, "VolumeSizeExceedsAvailableQuota"),
        ("volumes___DEFAULT__", 0, "VolumeLimitExceeded"),
        ("per_volume_gigabytes", 2, "VolumeSizeExceedsLimit"),
    ] {
        operator.put(&limits, json!({ "quota_set": { resource: limit } })).await.expect(200);
        let answer = accept(&stranger, &made).await;
        assert_eq!(answer.header("retry-after"), Some("0"));
        assert!(answer.fault(413).starts_with(class), "{answer:?}");
        operator.put(&limits, json!({ "quota_set": { resource: -1 } })).await.expect(200);
        assert_eq!((figures(&site, &member).await, figures(&site, &stranger).await), (before, [0; 6]), "{resource}");
        assert_eq!((site.status(&volume).await.0, owner(&site, &volume).await), ("awaiting-transfer".into(), member.project_id.clone()));
    }
    accept(&stranger, &made).await.expect(202);
    quota_is_true(&site).await;
}

#[tokio::test]
async fn only_what_is_at_rest_is_offered_and_only_once() {
    let site = Site::start().await;
    let member = site.member().await.at("3.55");
    let post = |volume: &str| {
        let (member, body) = (member.clone(), json!({ "transfer": { "volume_id": volume } }));
        async move { member.post(NAMES[0], body).await }
    };
    let attached = site.volume().await;
    attach(&member, &attached, "c1").await;
    let reserved = site.volume().await;
    reserve(&member, &reserved, None).await;
    let offered = site.volume().await;
    offer(&member, &offered).await;
    for volume in [&attached, &reserved, &offered] {
        assert!(post(volume).await.fault(400).starts_with("Invalid volume: status must be available to offer"));
    }
    // a snapshot that is still being taken goes along or stays: it cannot do both
    let volume = site.volume().await;
    site.array.hold("snapshot");
    let taking = member.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.expect(202);
    let id = taking["snapshot"]["id"].as_str().unwrap().to_owned();
    assert_eq!(post(&volume).await.fault(400), format!("Invalid snapshot: snapshot: {id} status must be available"));
    site.array.release("snapshot");
    for bad in [
        json!({}),
        json!({ "volume_id": null }),
        json!({ "volume_id": "seven" }),
        json!({ "volume_id": volume, "name": "x".repeat(256) }),
        json!({ "volume_id": volume, "no_snapshots": "perhaps" }),
        json!({ "volume_id": volume, "color": "red" }),
    ] {
        assert_eq!(member.post(NAMES[0], json!({ "transfer": bad })).await.status, 400, "{bad}");
    }
    let early = json!({ "transfer": { "volume_id": volume, "no_snapshots": true } });
    assert_eq!(member.at("3.54").post(NAMES[0], early).await.status, 400, "from 3.55");
    assert_eq!(post(&uuid()).await.status, 404);
}

#[tokio::test]
async fn nothing_else_begins_on_an_offered_volume() {
    let site = Site::start().await;
    let member = site.member().await.at("3.44");
    let volume = site.volume().await;
    offer(&member, &volume).await;
    assert_eq!(member.post("/attachments", json!({ "attachment": { "volume_uuid": volume } })).await.status, 400);
    assert_eq!(member.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.status, 400);
    assert_eq!(member.delete(&format!("/volumes/{volume}")).await.status, 400);
    for (action, members) in
        [("os-reserve", json!({})), ("os-extend", json!({ "new_size": 2 })), ("os-retype", json!({ "new_type": "__DEFAULT__" }))]
    {
        assert_eq!(act(&member, &volume, action, members).await.status, 400, "{action}");
    }
    assert_eq!(site.status(&volume).await.0, "awaiting-transfer");
}

#[tokio::test]
async fn an_offer_is_withdrawn_by_whose_it_is() {
    let site = Site::start().await;
    let (member, stranger, reader) = (site.member().await, site.block(Persona::Stranger).await, site.block(Persona::Reader).await);
    let volume = site.volume().await;
    let made = offer(&member, &volume).await;
    let path = format!("{}/{}", NAMES[1], made["id"].as_str().unwrap());
    assert_eq!((stranger.get(&path).await.status.as_u16(), stranger.delete(&path).await.status.as_u16()), (404, 404));
    assert_eq!(stranger.get(NAMES[0]).await.expect(200)["transfers"], json!([]));
    reader.get(&path).await.expect(200);
    assert_eq!(reader.delete(&path).await.status, 403);
    assert_eq!(reader.post(NAMES[0], json!({ "transfer": { "volume_id": volume } })).await.status, 403);
    assert_eq!(accept(&reader, &made).await.status, 403);
    member.delete(&path).await.expect(202);
    assert_eq!(member.delete(&path).await.status, 404);
    assert_eq!(site.status(&volume).await.0, "available");
    assert_eq!(accept(&stranger, &made).await.fault(404), format!("Transfer {} could not be found.", made["id"].as_str().unwrap()));
    assert_eq!(stranger.post(&format!("{}/{}/accept", NAMES[0], uuid()), json!({ "accept": { "auth_key": "x" } })).await.status, 404);
    // an operator's
    let made = offer(&member, &volume).await;
    site.operator().await.delete(&format!("{}/{}", NAMES[0], made["id"].as_str().unwrap())).await.expect(202);
    assert_eq!(site.status(&volume).await.0, "available");
}

both_databases! {
    async fn an_offer_dies_with_the_volume_and_with_its_status(db) {
        let site = Site::on(&db).await;
        let (member, stranger, operator) = (site.member().await, site.block(Persona::Stranger).await, site.operator().await);
        let (told, deleted) = (site.volume().await, site.volume().await);
        let offers = [offer(&member, &told).await, offer(&member, &deleted).await];
        act(&operator, &told, "os-reset_status", json!({ "status": "available" })).await.expect(202);
        site.array.hold("delete");
        act(&operator, &deleted, "os-force_delete", json!({})).await.expect(202);
        // on its way out it is no longer for anybody
        assert!([400, 404].contains(&accept(&stranger, &offers[1]).await.status.as_u16()));
        site.array.release("delete");
        member.until_gone(&format!("/volumes/{deleted}")).await;
        for made in &offers {
            assert_eq!(member.get(&format!("{}/{}", NAMES[0], made["id"].as_str().unwrap())).await.status, 404);
            assert_eq!(accept(&stranger, made).await.status, 404);
        }
        assert_eq!((site.status(&told).await.0, owner(&site, &told).await), ("available".into(), member.project_id.clone()));
        offer(&member, &told).await;
        quota_is_true(&site).await;
    }
}

both_databases! {
    async fn of_many_who_take_at_once_one_does(db) {
        let site = Site::on(&db).await;
        let (member, stranger, operator) = (site.member().await, site.block(Persona::Stranger).await, site.operator().await);
        let volume = site.volume().await;
        let made = offer(&member, &volume).await;
        let asks: Vec<_> = (0..8)
            .map(|n| {
                let (client, made) = (if n % 2 == 0 { stranger.clone() } else { operator.clone() }, made.clone());
                tokio::spawn(async move { accept(&client, &made).await.status.as_u16() })
            })
            .collect();
        let mut statuses = Vec::new();
        for ask in asks {
            statuses.push(ask.await.unwrap());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [202, 404, 404, 404, 404, 404, 404, 404]);
        quota_is_true(&site).await;
    }
}

both_databases! {
    async fn lists_are_paged_sorted_and_filtered(db) {
        let site = Site::on(&db).await;
        let member = site.member().await.at("3.59");
        let mut ids = Vec::new();
        for name in ["b", "c", "a"] {
            let body = json!({ "transfer": { "volume_id": site.volume().await, "name": name } });
            ids.push(member.post(NAMES[0], body).await.expect(202)["transfer"]["id"].as_str().unwrap().to_owned());
        }
        let listed = |query: &str| {
            let (member, path) = (member.clone(), format!("{}{query}", NAMES[0]));
            async move {
                let body = member.get(&path).await.expect(200);
                let ids = body["transfers"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
                (ids, body["transfers_links"][0]["href"].as_str().map(str::to_owned))
            }
        };
        let of = |n: &[usize]| n.iter().map(|n| ids[*n].clone()).collect::<Vec<_>>();
        assert_eq!(listed("").await.0, of(&[2, 1, 0]), "the newest first");
        assert_eq!(listed("?sort=name:asc").await.0, of(&[2, 0, 1]));
        assert_eq!(listed("?sort_key=display_name&sort_dir=desc").await.0, of(&[1, 0, 2]));
        assert_eq!(listed("?name=c").await.0, of(&[1]));
        let (page, next) = listed("?sort=created_at:asc&limit=2").await;
        assert_eq!(page, of(&[0, 1]));
        let next = next.unwrap();
        assert!(next.contains("/os-volume-transfer?") && next.contains(&format!("marker={}", ids[1])), "{next}");
        // the marker may be over
        member.delete(&format!("{}/{}", NAMES[0], ids[1])).await.expect(202);
        assert_eq!(listed(&format!("?sort=created_at:asc&marker={}", ids[1])).await.0, of(&[2]));
        assert_eq!(member.get(&format!("{}?sort=key_hash", NAMES[0])).await.status, 400);
        assert_eq!(member.get(&format!("{}?marker={}", NAMES[0], uuid())).await.status, 404);
        assert_eq!(
            site.operator().await.get(&format!("{}?all_tenants=1", NAMES[0])).await.expect(200)["transfers"].as_array().unwrap().len(),
            2
        );
        assert_eq!(site.operator().await.get(NAMES[0]).await.expect(200)["transfers"], json!([]));
    }
}

both_databases! {
    async fn what_the_old_owner_asks_while_it_is_taken_happens_before_or_not_at_all(db) {
        let site = Site::on(&db).await;
        let (member, stranger) = (site.member().await, site.block(Persona::Stranger).await);
        for round in 0..4 {
            for verb in ["delete", "os-extend", "os-reserve", "snapshot", "withdraw"] {
                let volume = site.volume().await;
                let made = offer(&member, &volume).await;
                let take = tokio::spawn({
                    let (stranger, made) = (stranger.clone(), made.clone());
                    async move { accept(&stranger, &made).await.status.as_u16() }
                });
                let asked = match verb {
                    "delete" => member.delete(&format!("/volumes/{volume}")).await,
                    "os-extend" => act(&member, &volume, verb, json!({ "new_size": 2 })).await,
                    "os-reserve" => act(&member, &volume, verb, json!({})).await,
                    "snapshot" => member.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await,
                    _ => member.delete(&format!("{}/{}", NAMES[0], made["id"].as_str().unwrap())).await,
                };
                let (taken, asked) = (take.await.unwrap() == 202, asked.status.as_u16());
                let what = format!("{verb}, round {round}: taken {taken}, {asked}");
                // an offered volume is nobody's to change, and one that was taken is not found
                assert!(if verb == "withdraw" { [202, 404].contains(&asked) } else { [400, 404].contains(&asked) }, "{what}");
                assert_eq!(taken, verb != "withdraw" || asked == 404, "{what}");
                assert_eq!(owner(&site, &volume).await == stranger.project_id, taken, "{what}");
                assert_eq!(site.status(&volume).await.0, "available", "{what}");
                site.operator().await.delete(&format!("/volumes/{volume}")).await.expect(202);
                site.operator().await.until_gone(&format!("/volumes/{volume}")).await;
            }
        }
        quota_is_true(&site).await;
    }

    async fn a_snapshot_that_stayed_behind_is_not_what_the_new_owner_reverts_to(db) {
        let site = Site::on(&db).await;
        let (member, stranger) = (site.member().await, site.block(Persona::Stranger).await.at("3.40"));
        let volume = site.volume().await;
        site.array.write(&volume, "secret");
        let kept = snapshot(&member, &volume).await;
        site.array.write(&volume, "empty");
        let body = json!({ "transfer": { "volume_id": volume, "no_snapshots": true } });
        let made = member.at("3.55").post(NAMES[0], body).await.expect(202)["transfer"].clone();
        accept(&stranger, &made).await.expect(202);
        assert_eq!(act(&stranger, &volume, "revert", json!({ "snapshot_id": kept })).await.status, 404);
        assert_eq!((site.array.count("revert"), site.array.content(&volume)), (0, "empty".to_owned()));
        assert_eq!(site.status(&volume).await.0, "available");
    }
}
