//! Share types.

use serde_json::{Value, json};
use support::{Client, Persona, TestApp};

use crate::site::{LATEST, Site, create, keys, text, uuid};

const DHSS: &str = "driver_handles_share_servers";

async fn both() -> (TestApp, Client, Client) {
    let app = TestApp::without_backends().await;
    let (operator, member) = (app.share(Persona::Admin).await.at(LATEST), app.share(Persona::Member).await.at(LATEST));
    (app, operator, member)
}

async fn make(operator: &Client, members: Value) -> Value {
    let mut t = json!({ "name": "t", "extra_specs": { DHSS: "False" } });
    t.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    operator.post("/types", json!({ "share_type": t })).await.expect(200)["share_type"].clone()
}

fn names(list: &Value) -> Vec<String> {
    let mut names: Vec<String> = list["share_types"].as_array().unwrap().iter().map(|t| text(&t["name"])).collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_first_start_makes_a_default_type_for_shares_without_servers() {
    let (_app, operator, member) = both().await;
    let found = member.get("/types/default").await.expect(200)["share_type"].clone();
    assert_eq!((&found["name"], &found["is_default"]), (&json!("default"), &json!(true)));
    assert_eq!(found["extra_specs"][DHSS], "False");
    assert_eq!(found["required_extra_specs"], json!({ DHSS: "False" }));
    operator.delete(&format!("/types/{}", text(&found["id"]))).await.expect(202);
    member.get("/types/default").await.expect(404);
}

#[tokio::test]
async fn a_type_stands_under_both_names_and_its_fields_follow_the_version() {
    let (_app, operator, _) = both().await;
    let id = text(&make(&operator, json!({ "description": "d" })).await["id"]);
    let shown = |version: &'static str| {
        let client = operator.at(version);
        let path = format!("/types/{id}");
        async move { client.get(&path).await.expect(200) }
    };
    let at_2_0 = shown("2.0").await;
    assert_eq!(at_2_0["share_type"], at_2_0["volume_type"]);
    let base = ["extra_specs", "id", "name"];
    assert_eq!(keys(&at_2_0["share_type"]), [&base[..], &["os-share-type-access:is_public", "required_extra_specs"]].concat());
    assert_eq!(
        keys(&shown("2.46").await["share_type"]),
        ["description", "extra_specs", "id", "is_default", "name", "required_extra_specs", "share_type_access:is_public"]
    );
    let list = operator.get("/types").await.expect(200);
    assert_eq!(list["share_types"], list["volume_types"]);
    assert_eq!(operator.get("/types/detail").await.expect(200), list);
}

#[tokio::test]
async fn a_body_may_say_volume_type_and_values_may_be_booleans() {
    let (_app, operator, _) = both().await;
    let body = json!({ "volume_type": { "name": "old", "extra_specs": { DHSS: false, "snapshot_support": true, "n": 3 }, "os-share-type-access:is_public": false } });
    let made = operator.post("/types", body).await.expect(200)["volume_type"].clone();
    assert_eq!(made["extra_specs"], json!({ DHSS: "False", "snapshot_support": "True", "n": "3" }));
    assert_eq!(made["share_type_access:is_public"], false);
}

#[tokio::test]
async fn bad_types_are_refused() {
    let (_app, operator, _) = both().await;
    let good = json!({ "name": "t", "extra_specs": { DHSS: "False" } });
    let with = |key: &str, value: Value| {
        let mut t = good.clone();
        t[key] = value;
        t
    };
    for bad in [
        json!({ "name": "t" }),
        with("name", json!("")),
        with("name", json!("x".repeat(256))),
        with("description", json!("x".repeat(256))),
        with("extra_specs", json!({})),
        with("extra_specs", json!({ DHSS: "maybe" })),
        with("extra_specs", json!({ DHSS: "<is> True" })),
        with("extra_specs", json!({ DHSS: "True", "snapshot_support": "perhaps" })),
        with("extra_specs", json!({ DHSS: "True", "replication_type": "sometimes" })),
        with("extra_specs", json!({ DHSS: "True", "provisioning:max_share_size": "0" })),
        with("extra_specs", json!({ DHSS: "True", "b$ad": "x" })),
        with("share_type_access:is_public", json!("perhaps")),
    ] {
        let answer = operator.post("/types", json!({ "share_type": bad })).await;
        assert_eq!(answer.status, 400, "{bad}: {answer:?}");
    }
    operator.post("/types", json!({ "share_typo": good })).await.expect(400);
    operator.post("/types", json!({ "share_type": good })).await.expect(200);
    operator.post("/types", json!({ "share_type": good })).await.expect(409);
}

#[tokio::test]
async fn a_description_needs_2_41() {
    let (_app, operator, _) = both().await;
    let body = json!({ "share_type": { "name": "t", "description": "d", "extra_specs": { DHSS: "False" } } });
    operator.at("2.40").post("/types", body.clone()).await.expect(400);
    operator.at("2.41").post("/types", body).await.expect(200);
}

#[tokio::test]
async fn before_2_24_a_type_has_snapshots_unless_it_says_otherwise() {
    let (_app, operator, _) = both().await;
    let old = make(&operator.at("2.23"), json!({ "name": "old" })).await;
    assert_eq!(old["extra_specs"]["snapshot_support"], "True");
    let said = json!({ "name": "said", "extra_specs": { DHSS: "False", "snapshot_support": "False" } });
    assert_eq!(make(&operator.at("2.23"), said).await["extra_specs"]["snapshot_support"], "False");
    assert_eq!(make(&operator.at("2.24"), json!({ "name": "new" })).await["extra_specs"], json!({ DHSS: "False" }));
}

#[tokio::test]
async fn users_read_the_specs_made_for_them_and_what_they_do_not_say() {
    let (_app, operator, member) = both().await;
    let specs = json!({ DHSS: "False", "snapshot_support": "True", "vendor:disk": "ssd" });
    let id = text(&make(&operator, json!({ "extra_specs": specs })).await["id"]);
    let read = |version: &'static str| {
        let (client, path) = (member.at(version), format!("/types/{id}"));
        async move { client.get(&path).await.expect(200)["share_type"]["extra_specs"].clone() }
    };
    assert_eq!(read("2.23").await, json!({ DHSS: "False", "snapshot_support": "True" }));
    assert_eq!(
        read("2.24").await,
        json!({
            DHSS: "False",
            "snapshot_support": "True",
            "create_share_from_snapshot_support": false,
            "revert_to_snapshot_support": false,
            "mount_snapshot_support": false,
        })
    );
    assert_eq!(read("2.99").await["snapshot_inherit_share_access_support"], false);
    assert_eq!(operator.get(&format!("/types/{id}")).await.expect(200)["share_type"]["extra_specs"], specs);
}

#[tokio::test]
async fn private_types_are_for_the_projects_they_were_given_to() {
    let (app, operator, member) = both().await;
    let stranger = app.share(Persona::Stranger).await.at(LATEST);
    let id = text(&make(&operator, json!({ "share_type_access:is_public": false })).await["id"]);
    let path = format!("/types/{id}");
    let action = format!("{path}/action");
    member.get(&path).await.expect(404);
    let project = json!({ "project": member.project_id });
    operator.post(&action, json!({ "addProjectAccess": project })).await.expect(202);
    operator.post(&action, json!({ "addProjectAccess": project })).await.expect(409);
    member.get(&path).await.expect(200);
    stranger.get(&path).await.expect(404);
    let listed = operator.get(&format!("{path}/share_type_access")).await.expect(200);
    assert_eq!(listed["share_type_access"], json!([{ "share_type_id": id, "project_id": member.project_id }]));
    operator.at("2.6").get(&format!("{path}/os-share-type-access")).await.expect(200);
    assert_eq!(names(&member.get("/types").await.expect(200)), ["default", "t"]);
    assert_eq!(names(&stranger.get("/types").await.expect(200)), ["default"]);
    operator.post(&action, json!({ "removeProjectAccess": project })).await.expect(202);
    operator.post(&action, json!({ "removeProjectAccess": project })).await.expect(404);
    operator.post(&action, json!({ "addProjectAccess": { "project": "not a uuid" } })).await.expect(400);
    member.get(&path).await.expect(404);
}

#[tokio::test]
async fn a_public_type_has_no_list_of_projects() {
    let (_app, operator, member) = both().await;
    let id = text(&make(&operator, json!({})).await["id"]);
    operator.get(&format!("/types/{id}/share_type_access")).await.expect(404);
    let body = json!({ "addProjectAccess": { "project": member.project_id } });
    operator.post(&format!("/types/{id}/action"), body).await.expect(409);
}

#[tokio::test]
async fn lists_follow_publicity_and_specs() {
    let (_app, operator, member) = both().await;
    make(&operator, json!({ "name": "hidden", "share_type_access:is_public": false })).await;
    make(&operator, json!({ "name": "snap", "extra_specs": { DHSS: "True", "snapshot_support": "True", "secret": "x" } })).await;
    let list = |client: &Client, query: &str| {
        let (client, path) = (client.clone(), format!("/types{query}"));
        async move { names(&client.get(&path).await.expect(200)) }
    };
    assert_eq!(list(&operator, "").await, ["default", "snap"]);
    assert_eq!(list(&operator, "?is_public=false").await, ["hidden"]);
    assert_eq!(list(&operator, "?is_public=all").await, ["default", "hidden", "snap"]);
    assert_eq!(list(&member, "?is_public=all").await, ["default", "snap"]);
    assert_eq!(list(&member, "?extra_specs={'driver_handles_share_servers': 'True'}").await, ["snap"]);
    assert_eq!(list(&operator, "?extra_specs={'secret': 'x'}").await, ["snap"]);
    assert_eq!(list(&member, "?extra_specs={'secret': 'x'}").await, Vec::<String>::new(), "a spec for operators");
    operator.at("2.42").get("/types?extra_specs={'a': 'b'}").await.expect(400);
    operator.get("/types?is_public=perhaps").await.expect(400);
}

#[tokio::test]
async fn extra_specs_are_added_set_and_removed() {
    let (_app, operator, member) = both().await;
    let id = text(&make(&operator, json!({})).await["id"]);
    let specs = format!("/types/{id}/extra_specs");
    let added = operator.post(&specs, json!({ "extra_specs": { "a": "1", "snapshot_support": true } })).await.expect(200);
    assert_eq!(added, json!({ "extra_specs": { "a": "1", "snapshot_support": "True" } }));
    assert_eq!(operator.put(&format!("{specs}/a"), json!({ "a": "2" })).await.expect(200), json!({ "a": "2" }));
    assert_eq!(operator.get(&format!("{specs}/a")).await.expect(200), json!({ "a": "2" }));
    assert_eq!(operator.get(&specs).await.expect(200)["extra_specs"], json!({ DHSS: "False", "a": "2", "snapshot_support": "True" }));
    operator.delete(&format!("{specs}/a")).await.expect(202);
    operator.get(&format!("{specs}/a")).await.expect(404);
    operator.delete(&format!("{specs}/a")).await.expect(404);
    for bad in [
        json!({}),
        json!({ "extra_specs": {} }),
        json!({ "extra_specs": "" }),
        json!({ "extra_specs": { "a": "" } }),
        json!({ "extra_specs": { "": "x" } }),
    ] {
        assert_eq!(operator.post(&specs, bad.clone()).await.status, 400, "{bad}");
    }
    operator.put(&format!("{specs}/a"), json!({ "b": "2" })).await.expect(400);
    operator.put(&format!("{specs}/a"), json!({ "a": "2", "b": "2" })).await.expect(400);
    member.get(&specs).await.expect(403);
    member.post(&specs, json!({ "extra_specs": { "a": "1" } })).await.expect(403);
    member.delete(&format!("{specs}/snapshot_support")).await.expect(403);
}

#[tokio::test]
async fn required_specs_stay() {
    let (_app, operator, _) = both().await;
    let id = text(&make(&operator, json!({ "extra_specs": { DHSS: "False", "snapshot_support": "True" } })).await["id"]);
    operator.delete(&format!("/types/{id}/extra_specs/{DHSS}")).await.expect(403);
    operator.at("2.23").delete(&format!("/types/{id}/extra_specs/snapshot_support")).await.expect(403);
    operator.at("2.24").delete(&format!("/types/{id}/extra_specs/snapshot_support")).await.expect(202);
}

#[tokio::test]
async fn a_type_changes_its_name_description_and_publicity_from_2_50() {
    let (_app, operator, member) = both().await;
    let id = text(&make(&operator, json!({ "description": "d" })).await["id"]);
    let path = format!("/types/{id}");
    let body = json!({ "share_type": { "name": "new", "description": "", "share_type_access:is_public": false } });
    operator.at("2.49").put(&path, body.clone()).await.expect(404);
    let changed = operator.put(&path, body).await.expect(200)["share_type"].clone();
    assert_eq!(
        (&changed["name"], &changed["description"], &changed["share_type_access:is_public"]),
        (&json!("new"), &json!(null), &json!(false))
    );
    for bad in [json!({}), json!({ "name": " " }), json!({ "name": "x".repeat(256) }), json!({ "share_type_access:is_public": "perhaps" })]
    {
        operator.put(&path, json!({ "share_type": bad })).await.expect(400);
    }
    operator.put(&path, json!({ "share_type": { "name": "default" } })).await.expect(409);
    operator.put(&format!("/types/{}", uuid()), json!({ "share_type": { "name": "x" } })).await.expect(404);
    member.put(&path, json!({ "share_type": { "name": "x" } })).await.expect(403);
}

#[tokio::test]
async fn a_type_in_use_stays() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    let id = site.share_type("gold", json!({})).await;
    let share = create(&member, json!({ "share_type": "gold" })).await;
    operator.delete(&format!("/types/{id}")).await.expect(400);
    member.share_until(&share, "available").await;
    member.delete(&format!("/shares/{share}")).await.expect(202);
    member.until_gone(&format!("/shares/{share}")).await;
    operator.delete(&format!("/types/{id}")).await.expect(202);
    operator.delete(&format!("/types/{id}")).await.expect(404);
}

#[tokio::test]
async fn only_operators_write_types_and_learn_of_a_bad_body_after_that() {
    let (_app, operator, member) = both().await;
    let id = text(&make(&operator, json!({})).await["id"]);
    member.post("/types", json!({ "nonsense": 1 })).await.expect(403);
    member.delete(&format!("/types/{id}")).await.expect(403);
    member.get(&format!("/types/{id}/share_type_access")).await.expect(403);
    member.post(&format!("/types/{id}/action"), json!({ "addProjectAccess": { "project": uuid() } })).await.expect(403);
}

#[tokio::test]
async fn a_page_of_types_by_zone_is_as_long_as_it_was_asked_for() {
    let (_app, operator, member) = both().await;
    let zoned = |name: &str, zone: &str| json!({ "name": name, "extra_specs": { DHSS: "False", "availability_zones": zone } });
    for (name, zone) in [("elsewhere", "a"), ("first", "b"), ("away", "a"), ("second", "b,a")] {
        make(&operator, zoned(name, zone)).await;
    }
    let names = async |query: &str| {
        let listed = member.get(&format!("/types?extra_specs={{'availability_zones':'b'}}{query}")).await.expect(200);
        listed["share_types"].as_array().unwrap().iter().map(|t| text(&t["name"])).collect::<Vec<_>>()
    };
    let all = names("").await;
    assert!(all.contains(&"first".to_owned()) && all.contains(&"second".to_owned()) && !all.contains(&"elsewhere".to_owned()), "{all:?}");
    for (n, name) in all.iter().enumerate() {
        assert_eq!(names(&format!("&limit=1&offset={n}")).await, [name.clone()]);
    }
    assert_eq!(names(&format!("&limit=2&offset={}", all.len())).await, [""; 0]);
}
