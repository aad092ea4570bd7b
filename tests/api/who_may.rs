//! Who may call what: every route of the block API, with every persona, on things of the own project and of another one,
//! against upstream's table of operations and roles (`tests/upstream/block-operations.txt`).

use http::Method;
use serde_json::{Value, json};
use stowage::{
    api::{
        self,
        route::{Api, Route},
    },
    notify::message::{Action, Detail, NewMessage, Resource},
};
use support::{Client, Persona, callers::callers, coverage, record};

use crate::array::Array;
use crate::site::{Site, complete, connect, connector, reserve, uuid};

/// Whether the operation is about something that belongs to a project other than by being the caller's.
fn about_a_project(operation: &str) -> bool {
    // whoever has the key takes the volume into his own project
    if operation.ends_with("/accept") {
        return false;
    }
    ["/volumes/{}", "/snapshots/{}", "/attachments/{}", "/messages/{}", "/os-quota-sets/{}", "-transfer/{}", "-transfers/{}"]
        .iter()
        .any(|path| operation.contains(path))
        || ["POST /v3/snapshots", "POST /v3/attachments", "POST /v3/os-volume-transfer", "POST /v3/volume-transfers"].contains(&operation)
}

/// A call that succeeds if the caller may make it: ids for the path's parameters, and a body.
struct Call {
    ids: Vec<String>,
    body: Option<Value>,
}

/// Makes what calls are about, in project one.
struct Maker<'s> {
    site: &'s Site,
    member: Client,
    operator: Client,
}

impl Maker<'_> {
    async fn volume(&self) -> String {
        self.site.volume_with(json!({ "metadata": { "k": "v" } })).await
    }
    async fn snapshot_of(&self, volume: &str) -> String {
        let body = json!({ "snapshot": { "volume_id": volume, "metadata": { "k": "v" } } });
        let id = self.member.post("/snapshots", body).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned();
        self.member.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == "available").await;
        id
    }
    async fn snapshot(&self) -> String {
        self.snapshot_of(&self.volume().await).await
    }
    async fn attachment(&self) -> String {
        reserve(&self.member, &self.volume().await, None).await
    }
    async fn attached(&self) -> (String, String) {
        let volume = self.volume().await;
        let id = reserve(&self.member, &volume, None).await;
        connect(&self.member, &id, "h").await.expect(200);
        (volume, id)
    }
    async fn a_type(&self, public: bool) -> String {
        let body = json!({ "volume_type": {
            "name": uuid(), "os-volume-type-access:is_public": public, "extra_specs": { "multiattach": "<is> False" },
        }});
        self.operator.post("/types", body).await.expect(200)["volume_type"]["id"].as_str().unwrap().to_owned()
    }
    /// Its id and key.
    async fn transfer(&self) -> (String, Value) {
        let body = json!({ "transfer": { "volume_id": self.volume().await } });
        let made = self.member.post("/volume-transfers", body).await.expect(202)["transfer"].clone();
        (made["id"].as_str().unwrap().to_owned(), made["auth_key"].clone())
    }
    async fn qos_specs(&self) -> String {
        let body = json!({ "qos_specs": { "name": uuid(), "k": "v" } });
        self.operator.post("/qos-specs", body).await.expect(200)["qos_specs"]["id"].as_str().unwrap().to_owned()
    }
    async fn message(&self) -> String {
        let mut tx = self.site.app.app().store.begin().await.unwrap();
        let id = tx
            .add_message(&NewMessage {
                resource: Resource::Volume,
                resource_id: uuid(),
                project_id: self.member.project_id.clone(),
                request_id: "req-1".into(),
                action: Action::ScheduleAllocateVolume,
                detail: Detail::NotEnoughSpace,
                extra: String::new(),
            })
            .await
            .unwrap();
        tx.commit().await.unwrap();
        id
    }

    /// None: nobody has said yet how the operation is called.
    async fn call(&self, operation: &str, action: &str) -> Option<Call> {
        let project = self.member.project_id.clone();
        let (ids, body): (Vec<String>, Value) = match operation.strip_suffix("/action").map_or((operation, "-"), |o| (o, action)) {
            (
                "GET /"
                | "GET /v3/"
                | "GET /healthcheck"
                | "GET /v3/extensions"
                | "GET /v3/volumes"
                | "GET /v3/volumes/detail"
                | "GET /v3/volumes/summary"
                | "GET /v3/types"
                | "GET /v3/snapshots"
                | "GET /v3/snapshots/detail"
                | "GET /v3/attachments"
                | "GET /v3/attachments/detail"
                | "GET /v3/limits"
                | "GET /v3/os-services"
                | "GET /v3/os-hosts"
                | "GET /v3/messages"
                | "GET /v3/os-availability-zone"
                | "GET /v3/scheduler-stats/get_pools"
                | "GET /v3/resource_filters"
                | "GET /v3/os-volume-transfer"
                | "GET /v3/os-volume-transfer/detail"
                | "GET /v3/volume-transfers"
                | "GET /v3/volume-transfers/detail",
                _,
            ) => (vec![], Value::Null),
            ("GET /v3/extensions/{}", _) => (vec!["os-services".into()], Value::Null),

            ("POST /v3/volumes", "-") => (vec![], json!({ "volume": { "size": 1 } })),
            ("GET /v3/volumes/{}" | "DELETE /v3/volumes/{}" | "GET /v3/volumes/{}/metadata", _) => (vec![self.volume().await], Value::Null),
            ("PUT /v3/volumes/{}", _) => (vec![self.volume().await], json!({ "volume": { "name": "n" } })),
            ("POST /v3/volumes/{}/metadata" | "PUT /v3/volumes/{}/metadata", _) => {
                (vec![self.volume().await], json!({ "metadata": { "k": "w" } }))
            }
            ("GET /v3/volumes/{}/metadata/{}" | "DELETE /v3/volumes/{}/metadata/{}", _) => {
                (vec![self.volume().await, "k".into()], Value::Null)
            }
            ("PUT /v3/volumes/{}/metadata/{}", _) => (vec![self.volume().await, "k".into()], json!({ "meta": { "k": "w" } })),
            ("POST /v3/volumes/{}", "revert") => {
                let volume = self.volume().await;
                let snapshot = self.snapshot_of(&volume).await;
                (vec![volume], json!({ "revert": { "snapshot_id": snapshot } }))
            }
            ("POST /v3/volumes/{}", action) => {
                let (volume, inner) = self.volume_action(action).await?;
                (vec![volume], json!({ action: inner }))
            }

            ("POST /v3/types", "-") => (vec![], json!({ "volume_type": { "name": uuid() } })),
            ("PUT /v3/types/{}", _) => (vec![self.a_type(true).await], json!({ "volume_type": { "name": uuid() } })),
            ("GET /v3/types/{}" | "DELETE /v3/types/{}" | "GET /v3/types/{}/extra_specs", _) => {
                (vec![self.a_type(true).await], Value::Null)
            }
            ("POST /v3/types/{}/extra_specs", _) => (vec![self.a_type(true).await], json!({ "extra_specs": { "a": "b" } })),
            ("GET /v3/types/{}/extra_specs/{}" | "DELETE /v3/types/{}/extra_specs/{}", _) => {
                (vec![self.a_type(true).await, "multiattach".into()], Value::Null)
            }
            ("PUT /v3/types/{}/extra_specs/{}", _) => (vec![self.a_type(true).await, "a".into()], json!({ "a": "c" })),
            ("POST /v3/types/{}", "addProjectAccess") => {
                (vec![self.a_type(false).await], json!({ "addProjectAccess": { "project": project } }))
            }
            ("POST /v3/types/{}", "removeProjectAccess") => {
                let id = self.a_type(false).await;
                let body = json!({ "addProjectAccess": { "project": project } });
                self.operator.post(&format!("/types/{id}/action"), body).await.expect(202);
                (vec![id], json!({ "removeProjectAccess": { "project": project } }))
            }
            ("GET /v3/types/{}/os-volume-type-access", _) => (vec![self.a_type(false).await], Value::Null),

            ("POST /v3/snapshots", "-") => (vec![], json!({ "snapshot": { "volume_id": self.volume().await } })),
            ("GET /v3/snapshots/{}" | "DELETE /v3/snapshots/{}" | "GET /v3/snapshots/{}/metadata", _) => {
                (vec![self.snapshot().await], Value::Null)
            }
            ("PUT /v3/snapshots/{}", _) => (vec![self.snapshot().await], json!({ "snapshot": { "name": "n" } })),
            ("POST /v3/snapshots/{}/metadata" | "PUT /v3/snapshots/{}/metadata", _) => {
                (vec![self.snapshot().await], json!({ "metadata": { "k": "w" } }))
            }
            ("GET /v3/snapshots/{}/metadata/{}" | "DELETE /v3/snapshots/{}/metadata/{}", _) => {
                (vec![self.snapshot().await, "k".into()], Value::Null)
            }
            ("PUT /v3/snapshots/{}/metadata/{}", _) => (vec![self.snapshot().await, "k".into()], json!({ "meta": { "k": "w" } })),
            ("POST /v3/snapshots/{}", "os-reset_status") => {
                (vec![self.snapshot().await], json!({ "os-reset_status": { "status": "error" } }))
            }
            ("POST /v3/snapshots/{}", "os-force_delete") => (vec![self.snapshot().await], json!({ "os-force_delete": null })),
            ("POST /v3/snapshots/{}", "os-update_snapshot_status") => {
                let id = self.snapshot().await;
                let body = json!({ "os-reset_status": { "status": "creating" } });
                self.operator.post(&format!("/snapshots/{id}/action"), body).await.expect(202);
                (vec![id], json!({ "os-update_snapshot_status": { "status": "creating", "progress": "50%" } }))
            }

            ("POST /v3/attachments", "-") => {
                (vec![], json!({ "attachment": { "volume_uuid": self.volume().await, "instance_uuid": uuid() } }))
            }
            ("GET /v3/attachments/{}" | "DELETE /v3/attachments/{}", _) => (vec![self.attachment().await], Value::Null),
            ("PUT /v3/attachments/{}", _) => (vec![self.attachment().await], json!({ "attachment": { "connector": connector("h") } })),
            ("POST /v3/attachments/{}", "os-complete") => (vec![self.attached().await.1], json!({ "os-complete": null })),

            ("GET /v3/os-quota-sets/{}" | "GET /v3/os-quota-sets/{}/defaults" | "DELETE /v3/os-quota-sets/{}", _) => {
                (vec![project], Value::Null)
            }
            ("PUT /v3/os-quota-sets/{}", _) => (vec![project], json!({ "quota_set": { "groups": 7 } })),
            ("GET /v3/os-quota-class-sets/{}", _) => (vec!["default".into()], Value::Null),
            ("PUT /v3/os-quota-class-sets/{}", _) => (vec!["default".into()], json!({ "quota_class_set": { "groups": 7 } })),

            ("PUT /v3/os-services/freeze" | "PUT /v3/os-services/thaw", _) => (vec![], json!({ "host": "stowage@b" })),
            ("PUT /v3/os-services/enable" | "PUT /v3/os-services/disable" | "PUT /v3/os-services/disable-log-reason", _) => {
                (vec![], json!({ "host": "stowage@b", "binary": "cinder-volume", "disabled_reason": "r" }))
            }
            ("PUT /v3/os-services/failover_host" | "PUT /v3/os-services/failover", _) => {
                // whoever was before has it failing over
                let path = "/os-services?host=stowage@c&binary=cinder-volume";
                self.operator.until(path, |a| a.body()["services"][0]["replication_status"] != "failing-over").await;
                (vec![], json!({ "host": "stowage@c" }))
            }
            ("PUT /v3/os-services/set-log", _) => (vec![], json!({ "level": "INFO" })),
            ("PUT /v3/os-services/get-log", _) => (vec![], json!({})),
            ("GET /v3/os-hosts/{}", _) => (vec!["stowage@a".into()], Value::Null),
            ("PUT /v3/os-hosts/{}", _) => (vec!["stowage@b".into()], json!({ "status": "enable" })),
            ("GET /v3/capabilities/{}", _) => (vec!["stowage@b".into()], Value::Null),

            ("POST /v3/os-volume-transfer" | "POST /v3/volume-transfers", "-") => {
                (vec![], json!({ "transfer": { "volume_id": self.volume().await } }))
            }
            (
                "GET /v3/os-volume-transfer/{}"
                | "DELETE /v3/os-volume-transfer/{}"
                | "GET /v3/volume-transfers/{}"
                | "DELETE /v3/volume-transfers/{}",
                _,
            ) => (vec![self.transfer().await.0], Value::Null),
            ("POST /v3/os-volume-transfer/{}/accept" | "POST /v3/volume-transfers/{}/accept", _) => {
                let (id, key) = self.transfer().await;
                (vec![id], json!({ "accept": { "auth_key": key } }))
            }

            ("GET /v3/qos-specs", _) => (vec![], Value::Null),
            ("POST /v3/qos-specs", "-") => (vec![], json!({ "qos_specs": { "name": uuid(), "k": "v" } })),
            (
                "GET /v3/qos-specs/{}"
                | "DELETE /v3/qos-specs/{}"
                | "GET /v3/qos-specs/{}/associations"
                | "GET /v3/qos-specs/{}/disassociate_all",
                _,
            ) => (vec![self.qos_specs().await], Value::Null),
            ("PUT /v3/qos-specs/{}", _) => (vec![self.qos_specs().await], json!({ "qos_specs": { "k": "w" } })),
            ("PUT /v3/qos-specs/{}/delete_keys", _) => (vec![self.qos_specs().await], json!({ "keys": ["k"] })),
            ("GET /v3/qos-specs/{}/associate", _) => {
                (vec![format!("{}/associate?vol_type_id={}", self.qos_specs().await, self.a_type(true).await)], Value::Null)
            }
            ("GET /v3/qos-specs/{}/disassociate", _) => {
                let (qos, of) = (self.qos_specs().await, self.a_type(true).await);
                self.operator.get(&format!("/qos-specs/{qos}/associate?vol_type_id={of}")).await.expect(202);
                (vec![format!("{qos}/disassociate?vol_type_id={of}")], Value::Null)
            }

            ("GET /v3/messages/{}" | "DELETE /v3/messages/{}", _) => (vec![self.message().await], Value::Null),
            _ => return None,
        };
        Some(Call { ids, body: (!body.is_null()).then_some(body) })
    }

    /// A volume in the right state, and what stands under the action's key.
    async fn volume_action(&self, action: &str) -> Option<(String, Value)> {
        let own = |body: Value| async { Some((self.volume().await, body)) };
        match action {
            "os-extend" => own(json!({ "new_size": 2 })).await,
            "os-update_readonly_flag" => own(json!({ "readonly": true })).await,
            "os-set_bootable" => own(json!({ "bootable": true })).await,
            "os-reset_status" => own(json!({ "status": "error" })).await,
            "os-force_delete" | "os-reserve" => own(Value::Null).await,
            "os-retype" => {
                let body = json!({ "volume_type": { "name": uuid() } });
                let to = self.operator.post("/types", body).await.expect(200)["volume_type"]["id"].clone();
                own(json!({ "new_type": to, "migration_policy": "never" })).await
            }
            "os-migrate_volume" => {
                let volume = self.volume().await;
                let host = self.operator.get(&format!("/volumes/{volume}")).await.expect(200)["volume"]["os-vol-host-attr:host"].clone();
                let other = if host.as_str().unwrap().starts_with("stowage@a#") { "stowage@b" } else { "stowage@a" };
                Some((volume, json!({ "host": other })))
            }
            "os-migrate_volume_completion" => own(json!({ "new_volume": self.volume().await })).await,
            "os-attach" => own(json!({ "instance_uuid": uuid(), "mountpoint": "/dev/vdb", "mode": "rw" })).await,
            "os-initialize_connection" => own(json!({ "connector": connector("h") })).await,
            "os-unreserve" => {
                let volume = self.volume().await;
                self.member.post(&format!("/volumes/{volume}/action"), json!({ "os-reserve": null })).await.expect(202);
                Some((volume, Value::Null))
            }
            "os-terminate_connection" => {
                let volume = self.volume().await;
                let body = json!({ "os-initialize_connection": { "connector": connector("h") } });
                self.member.post(&format!("/volumes/{volume}/action"), body).await.expect(200);
                Some((volume, json!({ "connector": connector("h") })))
            }
            "os-detach" | "os-begin_detaching" | "os-roll_detaching" | "os-force_detach" => {
                let (volume, id) = self.attached().await;
                complete(&self.member, &id).await.expect(204);
                if action == "os-roll_detaching" {
                    self.member.post(&format!("/volumes/{volume}/action"), json!({ "os-begin_detaching": null })).await.expect(202);
                }
                let body = match action {
                    "os-detach" => json!({ "attachment_id": id }),
                    "os-force_detach" => json!({ "attachment_id": id, "connector": connector("h") }),
                    _ => Value::Null,
                };
                Some((volume, body))
            }
            _ => None,
        }
    }
}

fn path(route: &Route, ids: &[String]) -> String {
    // an id that goes on says the rest of the URL, query and all
    if let Some(rest) = ids.first().filter(|id| id.contains('?')) {
        return format!("{}{rest}", route.path.split('{').next().unwrap());
    }
    let mut ids = ids.iter();
    route.path.split('/').map(|s| if s.starts_with('{') { ids.next().unwrap().as_str() } else { s }).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_lets_in_whom_upstreams_table_lets_in_and_nobody_else() {
    let site = Site::start_with(|c| (c.quota.volumes, c.quota.snapshots, c.quota.gigabytes) = (-1, -1, -1)).await;
    // what is switched off and on
    site.serve("stowage@b", &site.array).await;
    // what fails over, and is given nothing
    let copied = Array::new(&["p1"]);
    copied.replicates_to(&["east"]);
    site.serve("stowage@c", &copied).await;
    site.operator().await.put("/os-services/disable", json!({ "host": "stowage@c", "binary": "cinder-volume" })).await.expect(200);
    let callers = callers(site.personas().await, Api::Block, &site.url(Api::Block), &site.url(Api::Identity)).await;
    let maker = Maker { site: &site, member: site.member().await.at("3.71"), operator: site.operator().await.at("3.71") };
    let table = coverage::upstream(Api::Block);
    let mut wrong = Vec::new();
    for route in api::routes(Api::Block) {
        let operation = coverage::bare(&record::operation(&route));
        let action = route.action.unwrap_or("-");
        let Some(row) = table.iter().find(|u| u.operation() == operation && u.action == action) else {
            wrong.push(format!("{operation} {action}: tests/upstream/block-operations.txt does not have it"));
            continue;
        };
        let Some(mut call) = maker.call(&operation, action).await else {
            wrong.push(format!("{operation} {action}: who_may.rs does not say how it is called"));
            continue;
        };
        // some are GETs and write
        let changes = route.method.http() != Method::GET || operation.contains("associate");
        let mut used = false;
        for caller in &callers {
            let allowed = caller.may(row.role, about_a_project(&operation));
            if allowed && changes && used {
                call = maker.call(&operation, action).await.unwrap();
            }
            used |= allowed;
            let root = if route.rooted { String::new() } else { "/v3".to_owned() };
            let answer =
                caller.client.at("3.71").rooted_at(&root).send(route.method.http(), &path(&route, &call.ids), call.body.clone()).await;
            let status = answer.status.as_u16();
            let right = match (allowed, caller.own) {
                (true, _) => status == route.success,
                // it is there, and not for him
                (false, true) => status == 403,
                (false, false) => status == 403 || status == 404,
            };
            if !right {
                wrong.push(format!(
                    "{operation} {action}: {} should {}be let in: {answer:?}",
                    caller.name,
                    if allowed { "" } else { "not " }
                ));
            }
        }
        if row.role != "public" {
            let nobody = site.anonymous(Api::Block).send(route.method.http(), &path(&route, &call.ids), call.body.clone()).await;
            if nobody.status != 401 {
                wrong.push(format!("{operation} {action}: without a token: {nobody:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_coverage_page_shows_the_route_table_as_it_is() {
    let page = include_str!("../../docs/api-coverage.md");
    assert_eq!(coverage::stale(Api::Block, page), Vec::<String>::new(), "`make api-coverage` writes it anew");
}

#[tokio::test]
async fn what_belongs_to_another_project_is_not_there_for_its_users() {
    let site = Site::start().await;
    let maker = Maker { site: &site, member: site.member().await.at("3.71"), operator: site.operator().await.at("3.71") };
    let stranger = site.block(Persona::Stranger).await.at("3.71");
    for (operation, action) in [
        ("GET /v3/volumes/{}", "-"),
        ("DELETE /v3/volumes/{}", "-"),
        ("POST /v3/volumes/{}/action", "os-reset_status"),
        ("POST /v3/volumes/{}/action", "os-extend"),
        ("GET /v3/snapshots/{}", "-"),
        ("DELETE /v3/snapshots/{}", "-"),
        ("POST /v3/snapshots/{}/action", "os-force_delete"),
        ("GET /v3/attachments/{}", "-"),
        ("DELETE /v3/attachments/{}", "-"),
        ("GET /v3/messages/{}", "-"),
        ("DELETE /v3/messages/{}", "-"),
    ] {
        let call = maker.call(operation, action).await.unwrap();
        let (method, template) = operation.split_once(' ').unwrap();
        let path = template.strip_prefix("/v3").unwrap().replace("{}", &call.ids[0]);
        let answer = stranger.send(method.parse().unwrap(), &path, call.body).await;
        assert_eq!(answer.status, 404, "{operation} {action}: {answer:?}");
    }
}

/// The shipped roles are a choice of the operator's: a file turns them round.
#[tokio::test]
async fn a_policy_file_decides_instead() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    std::fs::write(&file, "volume:create: [['role:reader', 'project_id:%(project_id)s']]\nvolume:get_all: '!'\n").unwrap();
    let path = file.clone();
    let site = Site::start_with(move |c| c.policy.file = path).await;
    let (member, reader) = (site.member().await, site.block(Persona::Reader).await);
    let body = json!({ "volume": { "size": 1 } });
    assert_eq!(member.get("/volumes").await.status, 403);
    reader.post("/volumes", body.clone()).await.expect(202);
    // a file that is not right changes nothing, and says which line
    std::fs::write(&file, "volume:get_all: '@'\nvolume:create: 'role:a role:b'\n").unwrap();
    let app = site.app.app();
    app.reload_policy(&app.config.get()).await;
    assert_eq!(member.get("/volumes").await.status, 403);
    let error = app.policy.reload(Some(&file)).unwrap_err().to_string();
    assert!(error.starts_with("line 2: the rule of 'volume:create'"), "{error}");
    // one that is right is in force at once, and a name of another release is no mistake
    std::fs::write(&file, "volume:get_all: '@'\nbackup:of_tomorrow: 'rule:unheard_of'\n").unwrap();
    app.reload_policy(&app.config.get()).await;
    member.get("/volumes").await.expect(200);
    assert_eq!(reader.post("/volumes", body).await.status, 403);
    assert_eq!(app.policy.warnings().len(), 1);
}
