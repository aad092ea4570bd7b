//! The keys of every answer, at every microversion and for every role, against the table in `key-sets.txt`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::{Answer, Client, Persona};

use crate::{
    array::Fault,
    site::{Site, attach, connector, create, detach, reserve},
};

const TABLE: &str = include_str!("key-sets.txt");
const MAX: u16 = 71;

/// Who asks; the name in the table.
const ROLES: [(&str, Persona); 3] = [("admin", Persona::Admin), ("member", Persona::Member), ("reader", Persona::Reader)];

/// The lines of one answer: who, since, keys.
#[derive(Default)]
struct Expected(Vec<(BTreeSet<&'static str>, u16, Vec<&'static str>)>);

impl Expected {
    /// The keys this role sees at this microversion; none when there is no answer for it.
    fn keys(&self, role: &str, minor: u16) -> Option<BTreeSet<&'static str>> {
        let lines: Vec<_> = self.0.iter().filter(|(who, since, _)| who.contains(role) && *since <= minor).collect();
        (!lines.is_empty()).then(|| lines.into_iter().flat_map(|(_, _, keys)| keys.iter().copied()).collect())
    }
}

fn table() -> BTreeMap<&'static str, Expected> {
    let mut table: BTreeMap<&str, Expected> = BTreeMap::new();
    for line in TABLE.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        let [answer, who, since, keys] = line.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"));
        let who = who
            .split(',')
            .flat_map(|name| match name.trim() {
                "all" => vec!["admin", "member", "reader"],
                "writers" => vec!["admin", "member"],
                other => vec![other],
            })
            .collect();
        let since = since.strip_prefix("3.").and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        table.entry(answer).or_default().0.push((who, since, keys.split(' ').collect()));
    }
    table
}

/// Everybody's clients, and things for them to look at.
struct Scene {
    site: Site,
    clients: Vec<(&'static str, Client)>,
    table: BTreeMap<&'static str, Expected>,
    compared: std::cell::RefCell<BTreeSet<&'static str>>,
}

impl Scene {
    async fn set() -> Self {
        let site = Site::start_with(|c| (c.quota.volumes, c.quota.gigabytes, c.quota.snapshots) = (-1, -1, -1)).await;
        let mut clients = Vec::new();
        for (role, persona) in ROLES {
            clients.push((role, site.block(persona).await));
        }
        Self { site, clients, table: table(), compared: std::cell::RefCell::default() }
    }

    /// The object at `pointer` of the answer has the keys that the table says; or there is no answer.
    fn compare(&self, name: &'static str, role: &str, minor: u16, pointer: &str, answer: &Answer) {
        self.compared.borrow_mut().insert(name);
        let expected = self.table.get(name).unwrap_or_else(|| panic!("{name} is not in the table")).keys(role, minor);
        let Some(expected) = expected else {
            assert!([403, 404].contains(&answer.status.as_u16()), "{name} 3.{minor} {role} should not be there: {answer:?}");
            return;
        };
        assert!(answer.status.is_success(), "{name} 3.{minor} {role}: {answer:?}");
        let body = answer.body();
        let object =
            body.pointer(pointer).and_then(Value::as_object).unwrap_or_else(|| panic!("{name} 3.{minor} {role}: no {pointer} in {body}"));
        let found: BTreeSet<&str> = object.keys().map(String::as_str).collect();
        assert_eq!(found, expected, "{name} 3.{minor} {role}");
    }

    /// Every answer named in the table that `these` says was looked at.
    fn all_compared(&self, these: impl Fn(&str) -> bool) {
        let expected: BTreeSet<&str> = self.table.keys().copied().filter(|name| these(name)).collect();
        assert_eq!(*self.compared.borrow(), expected);
    }
}

fn is_of_writing(name: &str) -> bool {
    ["create", "update", "delete", "accept"].iter().any(|verb| name.ends_with(verb))
}

/// A volume that could not be made leaves a message in the project of `client`; the message's id.
async fn message(site: &Site, client: &Client) -> String {
    site.array.fault("create", Fault::Refuse(ErrorKind::Invalid));
    let id = create(client, json!({})).await;
    client.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    let list = client.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
    list["messages"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn reading_shows_the_keys_of_the_table_at_every_microversion_to_every_role() {
    let scene = Scene::set().await;
    let (site, member) = (&scene.site, scene.site.member().await);
    let volume = site.volume().await;
    let attachment = attach(&member, &volume, "c1").await;
    let other = site.volume().await;
    let snapshot = json!({ "snapshot": { "volume_id": other, "name": "s" } });
    let snapshot = member.post("/snapshots", snapshot).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned();
    member.until(&format!("/snapshots/{snapshot}"), |a| a.body()["snapshot"]["status"] == "available").await;
    let offered = json!({ "transfer": { "volume_id": site.volume().await } });
    let transfer = member.post("/volume-transfers", offered).await.expect(202)["transfer"]["id"].as_str().unwrap().to_owned();
    let types = member.get("/types").await.expect(200);
    let volume_type = types["volume_types"][0]["id"].as_str().unwrap().to_owned();
    let message_of_admin = message(site, &site.operator().await).await;
    let message_of_member = message(site, &member).await;

    for minor in 0..=MAX {
        for (role, client) in &scene.clients {
            let client = client.at(&format!("3.{minor}"));
            let message = if *role == "admin" { &message_of_admin } else { &message_of_member };
            let project = &client.project_id;
            for (name, path, pointer) in [
                ("volume summary", "/volumes?all_tenants=1".to_owned(), "/volumes/0"),
                ("volume detail", "/volumes/detail?all_tenants=1".to_owned(), "/volumes/0"),
                ("volume show", format!("/volumes/{volume}"), "/volume"),
                ("volume attachments", format!("/volumes/{volume}"), "/volume/attachments/0"),
                ("snapshot summary", "/snapshots?all_tenants=1".to_owned(), "/snapshots/0"),
                ("snapshot detail", "/snapshots/detail?all_tenants=1".to_owned(), "/snapshots/0"),
                ("snapshot show", format!("/snapshots/{snapshot}"), "/snapshot"),
                ("attachment summary", "/attachments?all_tenants=1".to_owned(), "/attachments/0"),
                ("attachment detail", "/attachments/detail?all_tenants=1".to_owned(), "/attachments/0"),
                ("attachment show", format!("/attachments/{attachment}"), "/attachment"),
                ("type list", "/types".to_owned(), "/volume_types/0"),
                ("type show", format!("/types/{volume_type}"), "/volume_type"),
                ("service volume", "/os-services?binary=cinder-volume".to_owned(), "/services/0"),
                ("pool summary", "/scheduler-stats/get_pools".to_owned(), "/pools/0"),
                ("pool detail", "/scheduler-stats/get_pools?detail=true".to_owned(), "/pools/0"),
                ("message list", "/messages".to_owned(), "/messages/0"),
                ("message show", format!("/messages/{message}"), "/message"),
                ("quota show", format!("/os-quota-sets/{project}"), "/quota_set"),
                ("quota usage", format!("/os-quota-sets/{project}?usage=true"), "/quota_set/volumes"),
                ("limits", "/limits".to_owned(), "/limits"),
                ("limits absolute", "/limits".to_owned(), "/limits/absolute"),
                ("transfer summary", "/os-volume-transfer?all_tenants=1".to_owned(), "/transfers/0"),
                ("transfer detail", "/volume-transfers/detail?all_tenants=1".to_owned(), "/transfers/0"),
                ("transfer show", format!("/volume-transfers/{transfer}"), "/transfer"),
            ] {
                scene.compare(name, role, minor, pointer, &client.get(&path).await);
            }
        }
    }
    scene.all_compared(|name| !is_of_writing(name));
}

#[tokio::test]
async fn writing_answers_with_the_keys_of_the_table_at_every_microversion_to_every_role() {
    let scene = Scene::set().await;
    let (site, member) = (&scene.site, scene.site.member().await);
    let volume = site.volume().await;
    let multi = site.multiattach_volume().await;
    let kept = reserve(&member, &multi, None).await;
    let offered = site.volume().await;
    for minor in 0..=MAX {
        for (role, client) in &scene.clients {
            let client = client.at(&format!("3.{minor}"));
            let writes = *role != "reader";
            let body = json!({ "volume": { "size": 1, "name": "v" } });
            scene.compare("volume create", role, minor, "/volume", &client.post("/volumes", body).await);
            let body = json!({ "volume": { "name": format!("v{minor}") } });
            scene.compare("volume update", role, minor, "/volume", &client.put(&format!("/volumes/{volume}"), body).await);

            let body = json!({ "snapshot": { "volume_id": volume } });
            let made = client.post("/snapshots", body).await;
            scene.compare("snapshot create", role, minor, "/snapshot", &made);
            let snapshot = if writes { made.body()["snapshot"]["id"].as_str().unwrap().to_owned() } else { volume.clone() };
            let body = json!({ "snapshot": { "name": "s" } });
            scene.compare("snapshot update", role, minor, "/snapshot", &client.put(&format!("/snapshots/{snapshot}"), body).await);

            let body = json!({ "attachment": { "volume_uuid": multi, "instance_uuid": crate::site::uuid() } });
            let made = client.post("/attachments", body).await;
            scene.compare("attachment create", role, minor, "/attachment", &made);
            let attachment = made.body()["attachment"]["id"].as_str().unwrap_or(&kept).to_owned();
            let body = json!({ "attachment": { "connector": connector("c1") } });
            let path = format!("/attachments/{attachment}");
            scene.compare("attachment update", role, minor, "/attachment", &client.put(&path, body).await);
            let nova = client.with_header("x-service-token", site.block(Persona::Service).await.token());
            let deleted = if writes || minor < 27 { nova.delete(&path).await } else { detach(&client, &attachment).await };
            scene.compare("attachment delete", role, minor, "/attachments/0", &deleted);

            let body = json!({ "transfer": { "volume_id": offered } });
            let made = client.post("/volume-transfers", body).await;
            scene.compare("transfer create", role, minor, "/transfer", &made);
            let made = made.body()["transfer"].clone();
            let id = made["id"].as_str().unwrap_or(&volume);
            let body = json!({ "accept": { "auth_key": made["auth_key"].as_str().unwrap_or("x") } });
            // its owner takes it back, so that it is there for the next
            let taker = if *role == "admin" { member.at(&format!("3.{minor}")) } else { client.clone() };
            scene.compare(
                "transfer accept",
                role,
                minor,
                "/transfer",
                &taker.post(&format!("/os-volume-transfer/{id}/accept"), body).await,
            );
        }
    }
    scene.all_compared(is_of_writing);
}
