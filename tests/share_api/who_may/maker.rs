//! How each operation is called so that it succeeds, with all that it is about.

use serde_json::{Value, json};
use stowage::notify::share_message::{NewShareMessage, ShareAction, ShareDetail, ShareResource};
use support::Client;

use crate::{
    net::{self, network, service},
    served, server_moves,
    site::{Site, allow, snapshot, snapshot_action, text, uuid},
};

/// A call that succeeds if the caller may make it: the path's parameters (one that goes on says the rest of the URL), and a
/// body.
pub struct Call {
    pub ids: Vec<String>,
    pub body: Option<Value>,
}

/// Makes what calls are about, in project one.
pub struct Maker<'s> {
    pub site: &'s Site,
    pub member: Client,
    pub operator: Client,
}

const ADDRESS: &str = "10.0.0.1";
/// A back end that no share of these tests comes to.
const IDLE: &str = "stowage@idle";
/// A back end that builds servers, which shares come to only with a server.
const TO: &str = "stowage@to";

impl Maker<'_> {
    async fn share(&self) -> String {
        self.site.available_with(json!({ "metadata": { "k": "v" } })).await
    }
    /// One whose snapshots can be everything.
    async fn snapshotted(&self) -> (String, String) {
        let share = self.site.available_with(json!({ "share_type": "whole" })).await;
        let id = snapshot(&self.member, &share).await;
        self.member.post(&format!("/snapshots/{id}/metadata"), json!({ "metadata": { "k": "v" } })).await.expect(200);
        (share, id)
    }
    async fn snapshot(&self) -> String {
        self.snapshotted().await.1
    }
    async fn snapshot_instance(&self) -> String {
        let of = self.snapshot().await;
        let found = self.operator.get(&format!("/snapshot-instances?snapshot_id={of}")).await.expect(200);
        text(&found["snapshot_instances"][0]["id"])
    }
    async fn first_location(&self, path: &str, key: &str) -> String {
        text(&self.operator.get(path).await.expect(200)[key][0]["id"])
    }
    async fn located(&self) -> (String, String) {
        let share = self.share().await;
        let location = self.first_location(&format!("/shares/{share}/export_locations"), "export_locations").await;
        self.operator
            .post(&format!("/shares/{share}/export_locations/{location}/metadata"), json!({ "metadata": { "k": "v" } }))
            .await
            .expect(200);
        (share, location)
    }
    async fn instance(&self) -> String {
        let share = self.share().await;
        text(&self.operator.get(&format!("/shares/{share}/instances")).await.expect(200)["share_instances"][0]["id"])
    }
    async fn ruled(&self) -> (String, String) {
        let share = self.share().await;
        let rule = allow(&self.member, &share, ADDRESS).await;
        let path = format!("/share-access-rules/{rule}");
        self.member.until(&path, |a| a.body()["access"]["state"] == "active").await;
        self.member.put(&format!("{path}/metadata"), json!({ "metadata": { "k": "v" } })).await.expect(200);
        (share, rule)
    }
    async fn a_type(&self, public: bool) -> String {
        let body = json!({ "share_type": {
            "name": uuid(), "share_type_access:is_public": public,
            "extra_specs": { "driver_handles_share_servers": "False", "a": "b" },
        }});
        text(&self.operator.post("/types", body).await.expect(200)["share_type"]["id"])
    }
    async fn message(&self) -> String {
        let mut tx = self.site.app().store.begin().await.unwrap();
        let id = tx
            .add_share_message(&NewShareMessage {
                resource: ShareResource::Share,
                resource_id: uuid(),
                project_id: self.member.project_id.clone(),
                request_id: "req-1".into(),
                action: ShareAction::AllocateHost,
                detail: ShareDetail::NoValidHost,
                extra: String::new(),
            })
            .await
            .unwrap();
        tx.commit().await.unwrap();
        id
    }

    /// None: nobody has said yet how the operation is called.
    pub async fn call(&self, operation: &str, action: &str) -> Option<Call> {
        let (ids, body) = match operation.strip_suffix("/action").map_or((operation, "-"), |o| (o, action)) {
            ("POST /v2/shares/{}", action) => self.share_action(action).await?,
            ("POST /v2/snapshots/{}", action) if action != "-" => self.snapshot_action(action).await?,
            ("POST /v2/share_instances/{}", action) if action != "-" => {
                let inner = if action.ends_with("reset_status") { json!({ "status": "error" }) } else { Value::Null };
                (vec![self.instance().await], json!({ action: inner }))
            }
            (operation, action) => match self.plain(operation).await {
                Some(found) => found,
                None => match (self.of_shares(operation).await, self.of_networks(operation, action).await) {
                    (Some(found), _) | (None, Some(found)) => found,
                    (None, None) => match self.of_group_types(operation, action).await {
                        Some(found) => found,
                        None => self.of_operators(operation, action).await?,
                    },
                },
            },
        };
        Some(Call { ids, body: Some(body).filter(|b| !b.is_null()) })
    }

    async fn share_action(&self, action: &str) -> Option<(Vec<String>, Value)> {
        let bare = action.strip_prefix("os-").unwrap_or(action);
        let (share, inner) = match bare {
            "extend" => (self.share().await, json!({ "new_size": 2 })),
            "shrink" => (self.site.available_with(json!({ "size": 2 })).await, json!({ "new_size": 1 })),
            "reset_status" => (self.share().await, json!({ "status": "error" })),
            "reset_task_state" => (self.share().await, json!({ "task_state": "migration_error" })),
            "force_delete" | "soft_delete" | "unmanage" => (self.share().await, Value::Null),
            "restore" => {
                let share = self.share().await;
                self.member.post(&crate::site::action(&share), json!({ "soft_delete": null })).await.expect(202);
                (share, Value::Null)
            }
            "revert" => {
                let (share, snapshot) = self.snapshotted().await;
                (share, json!({ "snapshot_id": snapshot }))
            }
            "allow_access" => (self.share().await, json!({ "access_type": "ip", "access_to": ADDRESS })),
            "deny_access" => {
                let (share, rule) = self.ruled().await;
                (share, json!({ "access_id": rule }))
            }
            "access_list" => (self.share().await, Value::Null),
            _ => return None,
        };
        Some((vec![share], json!({ action: inner })))
    }

    async fn snapshot_action(&self, action: &str) -> Option<(Vec<String>, Value)> {
        let id = self.snapshot().await;
        let inner = match action.strip_prefix("os-").unwrap_or(action) {
            "reset_status" => json!({ "status": "error" }),
            "force_delete" | "unmanage" => Value::Null,
            "allow_access" => json!({ "access_type": "ip", "access_to": ADDRESS }),
            "deny_access" => {
                let body = json!({ "allow_access": { "access_type": "ip", "access_to": ADDRESS } });
                let rule = self.member.post(&snapshot_action(&id), body).await.expect(202);
                let list = format!("/snapshots/{id}/access-list");
                self.member.until(&list, |a| a.body()["snapshot_access_list"][0]["state"] == "active").await;
                json!({ "access_id": rule["snapshot_access"]["id"] })
            }
            _ => return None,
        };
        Some((vec![id], json!({ action: inner })))
    }

    /// Lists and what else needs nothing.
    async fn plain(&self, operation: &str) -> Option<(Vec<String>, Value)> {
        Some(match operation {
            "GET /"
            | "GET /v2/"
            | "GET /healthcheck"
            | "GET /v2/extensions"
            | "GET /v2/os-availability-zone"
            | "GET /v2/availability-zones"
            | "GET /v2/limits"
            | "GET /v2/types"
            | "GET /v2/types/detail"
            | "GET /v2/shares"
            | "GET /v2/shares/detail"
            | "GET /v2/share_instances"
            | "GET /v2/snapshots"
            | "GET /v2/snapshots/detail"
            | "GET /v2/snapshot-instances"
            | "GET /v2/snapshot-instances/detail"
            | "GET /v2/os-services"
            | "GET /v2/services"
            | "GET /v2/scheduler-stats/pools"
            | "GET /v2/scheduler-stats/pools/detail"
            | "GET /v2/share-networks"
            | "GET /v2/share-networks/detail"
            | "GET /v2/security-services"
            | "GET /v2/security-services/detail"
            | "GET /v2/share-servers"
            | "GET /v2/share-replicas"
            | "GET /v2/share-replicas/detail"
            | "GET /v2/share-group-types"
            | "GET /v2/share-group-types/detail"
            | "GET /v2/messages" => (vec![], Value::Null),
            "POST /v2/shares" => (vec![], json!({ "share": { "share_proto": "NFS", "size": 1 } })),
            "POST /v2/os-share-manage" | "POST /v2/shares/manage" => {
                let share = json!({ "service_host": "stowage@m#p1", "export_path": uuid(), "protocol": "NFS" });
                (vec![], json!({ "share": share }))
            }
            "POST /v2/types" => {
                let specs = json!({ "driver_handles_share_servers": "False" });
                (vec![], json!({ "share_type": { "name": uuid(), "extra_specs": specs } }))
            }
            "POST /v2/snapshots/manage" => {
                let share = self.site.available_with(json!({ "share_type": "whole" })).await;
                (vec![], json!({ "snapshot": { "share_id": share, "provider_location": uuid() } }))
            }
            "POST /v2/snapshots" => {
                let share = self.site.available_with(json!({ "share_type": "whole" })).await;
                (vec![], json!({ "snapshot": { "share_id": share } }))
            }
            "GET /v2/share-access-rules" => (vec![format!("?share_id={}", self.share().await)], Value::Null),
            _ => return None,
        })
    }

    async fn of_shares(&self, operation: &str) -> Option<(Vec<String>, Value)> {
        let pair = || json!({ "metadata": { "k": "w" } });
        let key = || "k".to_owned();
        let (method, path) = operation.split_once(" /v2")?;
        let writes = method == "POST" || method == "PUT";
        let pair_if_written = || if writes { pair() } else { Value::Null };
        Some(match path {
            "/shares/{}" if method == "PUT" => (vec![self.share().await], json!({ "share": { "display_name": "n" } })),
            "/shares/{}" | "/shares/{}/export_locations" | "/shares/{}/instances" if !writes => (vec![self.share().await], Value::Null),
            "/os-share-unmanage/{}/unmanage" => (vec![self.share().await], Value::Null),
            "/shares/{}/metadata" => (vec![self.share().await], pair_if_written()),
            "/shares/{}/metadata/{}" => (vec![self.share().await, key()], pair_if_written()),
            "/shares/{}/export_locations/{}" | "/shares/{}/export_locations/{}/metadata" => {
                let (share, location) = self.located().await;
                (vec![share, location], pair_if_written())
            }
            "/shares/{}/export_locations/{}/metadata/{}" => {
                let (share, location) = self.located().await;
                (vec![share, location, key()], pair_if_written())
            }
            "/share-access-rules/{}" if method == "PUT" => {
                (vec![self.ruled().await.1], json!({ "update_access": { "access_level": "ro" } }))
            }
            "/share-access-rules/{}" => (vec![self.ruled().await.1], Value::Null),
            "/share-access-rules/{}/metadata" => (vec![self.ruled().await.1], pair()),
            "/share-access-rules/{}/metadata/{}" => (vec![self.ruled().await.1, key()], Value::Null),
            "/snapshots/{}" if method == "PUT" => (vec![self.snapshot().await], json!({ "snapshot": { "display_name": "n" } })),
            "/snapshots/{}" | "/snapshots/{}/access-list" | "/snapshots/{}/export-locations" => (vec![self.snapshot().await], Value::Null),
            "/snapshots/{}/metadata" => (vec![self.snapshot().await], pair_if_written()),
            "/snapshots/{}/metadata/{}" => (vec![self.snapshot().await, key()], pair_if_written()),
            "/snapshots/{}/export-locations/{}" => {
                let id = self.snapshot().await;
                let list = format!("/snapshots/{id}/export-locations");
                let location = self.first_location(&list, "share_snapshot_export_locations").await;
                (vec![id, location], Value::Null)
            }
            "/messages/{}" => (vec![self.message().await], Value::Null),
            _ => return None,
        })
    }

    /// A share network and its subnet.
    async fn network(&self) -> (String, String) {
        let id = network(&self.member, json!({})).await;
        let subnet = net::subnet_ids(&self.member, &id).await.remove(0);
        (id, subnet)
    }
    /// A share network and the security service that it uses.
    async fn secured(&self) -> (String, String) {
        let (id, used) = (self.network().await.0, self.service().await);
        net::use_service(&self.member, &id, &used).await.expect(200);
        (id, used)
    }
    async fn service(&self) -> String {
        service(&self.member, "ldap", json!({})).await
    }
    async fn server(&self) -> String {
        let (id, _) = self.network().await;
        self.site.server_on(&self.member, &id).await
    }

    /// A server with a share, which the back end `to` may take.
    async fn movable(&self) -> String {
        let (id, _) = self.network().await;
        served::available(&self.member, &id).await;
        self.site.only_server(&id).await
    }
    /// One that is copied.
    async fn copied(&self) -> String {
        let server = self.movable().await;
        server_moves::ask(self.site, &server, "migration_start", server_moves::to(TO)).await.expect(202);
        server_moves::until_task(&self.operator, &server, "migration_driver_phase1_done").await;
        server
    }

    async fn of_networks(&self, operation: &str, action: &str) -> Option<(Vec<String>, Value)> {
        let (method, path) = operation.split_once(" /v2")?;
        let writes = method == "POST" || method == "PUT";
        let pair_if_written = || if writes { json!({ "metadata": { "k": "w" } }) } else { Value::Null };
        Some(match path {
            "/share-networks" if writes => (vec![], json!({ "share_network": {} })),
            "/share-networks/{}" if action != "-" => {
                let (id, inner) = self.network_action(action).await?;
                (vec![id], json!({ action: inner }))
            }
            "/share-networks/{}" if writes => (vec![self.network().await.0], json!({ "share_network": { "name": "n" } })),
            "/share-networks/{}" => (vec![self.network().await.0], Value::Null),
            "/share-networks/{}/subnets" if writes => (vec![self.network().await.0], json!({ "share-network-subnet": {} })),
            "/share-networks/{}/subnets" => (vec![self.network().await.0], Value::Null),
            "/share-networks/{}/subnets/{}" => {
                let (id, subnet) = self.network().await;
                (vec![id, subnet], Value::Null)
            }
            "/share-networks/{}/subnets/{}/metadata" => {
                let (id, subnet) = self.network().await;
                (vec![id, subnet], pair_if_written())
            }
            "/share-networks/{}/subnets/{}/metadata/{}" => {
                let (id, subnet) = self.network().await;
                let pairs = format!("{}/{subnet}/metadata", net::subnets(&id));
                self.member.post(&pairs, json!({ "metadata": { "k": "v" } })).await.expect(200);
                (vec![id, subnet, "k".into()], pair_if_written())
            }
            "/security-services" if writes => (vec![], net::service_body("ldap", json!({}))),
            "/security-services/{}" if writes => (vec![self.service().await], json!({ "security_service": { "name": "n" } })),
            "/security-services/{}" => (vec![self.service().await], Value::Null),
            "/share-servers/manage" => {
                let server = json!({ "host": "stowage@idle", "share_network_id": self.network().await.0, "identifier": uuid() });
                (vec![], json!({ "share_server": server }))
            }
            "/share-servers/{}" if action == "unmanage" => (vec![self.server().await], json!({ "unmanage": null })),
            "/share-servers/{}" if action == "reset_status" => {
                (vec![self.server().await], json!({ "reset_status": { "status": "error" } }))
            }
            "/share-servers/{}" if action == "reset_task_state" => {
                (vec![self.server().await], json!({ "reset_task_state": { "task_state": null } }))
            }
            "/share-servers/{}" if action == "migration_check" || action == "migration_start" => {
                (vec![self.movable().await], json!({ action: server_moves::to(TO) }))
            }
            "/share-servers/{}" if action.starts_with("migration_") => (vec![self.copied().await], json!({ action: null })),
            "/share-servers/{}" | "/share-servers/{}/details" if !writes => (vec![self.server().await], Value::Null),
            _ => return None,
        })
    }

    async fn network_action(&self, action: &str) -> Option<(String, Value)> {
        Some(match action {
            "add_security_service" | "add_security_service_check" => {
                (self.network().await.0, json!({ "security_service_id": self.service().await }))
            }
            "remove_security_service" => {
                let (id, used) = self.secured().await;
                (id, json!({ "security_service_id": used }))
            }
            "update_security_service" | "update_security_service_check" => {
                let (id, used) = self.secured().await;
                (id, json!({ "current_service_id": used, "new_service_id": self.service().await }))
            }
            "reset_status" => (self.network().await.0, json!({ "status": "error" })),
            "share_network_subnet_create_check" => (self.network().await.0, json!({})),
            _ => return None,
        })
    }

    async fn a_group_type(&self, public: bool) -> String {
        let body = json!({ "share_group_type": {
            "name": uuid(), "is_public": public, "share_types": ["default"], "group_specs": { "a": "b" },
        }});
        text(&self.operator.post("/share-group-types", body).await.expect(200)["share_group_type"]["id"])
    }

    async fn of_group_types(&self, operation: &str, action: &str) -> Option<(Vec<String>, Value)> {
        let (method, path) = operation.split_once(" /v2/share-group-types")?;
        let project = self.member.project_id.clone();
        Some(match (path, action) {
            ("", _) => (vec![], json!({ "share_group_type": { "name": uuid(), "share_types": ["default"] } })),
            ("/{}", "addProjectAccess") => (vec![self.a_group_type(false).await], json!({ "addProjectAccess": { "project": project } })),
            ("/{}", "removeProjectAccess") => {
                let id = self.a_group_type(false).await;
                let body = json!({ "addProjectAccess": { "project": project } });
                self.operator.post(&format!("/share-group-types/{id}/action"), body).await.expect(202);
                (vec![id], json!({ "removeProjectAccess": { "project": project } }))
            }
            ("/{}/access", _) => (vec![self.a_group_type(false).await], Value::Null),
            ("/{}/group-specs", _) if method == "POST" => (vec![self.a_group_type(true).await], json!({ "group_specs": { "c": "d" } })),
            ("/{}" | "/{}/group-specs", _) => (vec![self.a_group_type(true).await], Value::Null),
            ("/{}/group-specs/{}", _) if method == "PUT" => (vec![self.a_group_type(true).await, "a".into()], json!({ "a": "c" })),
            ("/{}/group-specs/{}", _) => (vec![self.a_group_type(true).await, "a".into()], Value::Null),
            _ => return None,
        })
    }

    /// Its shares are not being ensured.
    async fn idle(&self) {
        self.operator.until(&format!("/services?host={IDLE}"), |a| a.body()["services"][0]["ensuring"] == false).await;
    }

    async fn of_operators(&self, operation: &str, action: &str) -> Option<(Vec<String>, Value)> {
        let project = self.member.project_id.clone();
        Some(match (operation, action) {
            ("GET /v2/types/{}" | "DELETE /v2/types/{}" | "GET /v2/types/{}/extra_specs", _) => {
                (vec![self.a_type(true).await], Value::Null)
            }
            ("PUT /v2/types/{}", _) => (vec![self.a_type(true).await], json!({ "share_type": { "name": uuid() } })),
            ("POST /v2/types/{}", "addProjectAccess") => {
                (vec![self.a_type(false).await], json!({ "addProjectAccess": { "project": project } }))
            }
            ("POST /v2/types/{}", "removeProjectAccess") => {
                let id = self.a_type(false).await;
                let body = json!({ "addProjectAccess": { "project": project } });
                self.operator.post(&format!("/types/{id}/action"), body).await.expect(202);
                (vec![id], json!({ "removeProjectAccess": { "project": project } }))
            }
            ("GET /v2/types/{}/os-share-type-access" | "GET /v2/types/{}/share_type_access", _) => {
                (vec![self.a_type(false).await], Value::Null)
            }
            ("POST /v2/types/{}/extra_specs", _) => (vec![self.a_type(true).await], json!({ "extra_specs": { "c": "d" } })),
            ("PUT /v2/types/{}/extra_specs/{}", _) => (vec![self.a_type(true).await, "a".into()], json!({ "a": "c" })),
            ("GET /v2/types/{}/extra_specs/{}" | "DELETE /v2/types/{}/extra_specs/{}", _) => {
                (vec![self.a_type(true).await, "a".into()], Value::Null)
            }
            ("GET /v2/share_instances/{}" | "GET /v2/share_instances/{}/export_locations", _) => (vec![self.instance().await], Value::Null),
            ("GET /v2/share_instances/{}/export_locations/{}", _) => {
                let id = self.instance().await;
                let location = self.first_location(&format!("/share_instances/{id}/export_locations"), "export_locations").await;
                (vec![id, location], Value::Null)
            }
            ("GET /v2/snapshot-instances/{}" | "GET /v2/snapshot-instances/{}/export-locations", _) => {
                (vec![self.snapshot_instance().await], Value::Null)
            }
            ("GET /v2/snapshot-instances/{}/export-locations/{}", _) => {
                let id = self.snapshot_instance().await;
                let list = format!("/snapshot-instances/{id}/export-locations");
                let location = self.first_location(&list, "share_snapshot_export_locations").await;
                (vec![id, location], Value::Null)
            }
            ("POST /v2/snapshot-instances/{}", "reset_status") => {
                (vec![self.snapshot_instance().await], json!({ "reset_status": { "status": "error" } }))
            }
            ("PUT /v2/os-services/enable" | "PUT /v2/os-services/disable" | "PUT /v2/services/enable" | "PUT /v2/services/disable", _) => {
                (vec![], json!({ "host": "stowage@spare", "binary": "manila-share" }))
            }
            ("POST /v2/services/ensure", _) => {
                self.idle().await;
                (vec![], json!({ "host": IDLE }))
            }
            ("POST /v2/services/ensure-shares", _) => {
                self.idle().await;
                (vec![], json!({ "host": IDLE }))
            }
            (quota, _) if quota.contains("quota-sets/{}") && quota.starts_with("PUT") => {
                (vec![project], json!({ "quota_set": { "gigabytes": -1 } }))
            }
            (quota, _) if quota.contains("quota-sets/{}") => (vec![project], Value::Null),
            (class, _) if class.contains("quota-class-sets/{}") && class.starts_with("PUT") => {
                (vec!["default".into()], json!({ "quota_class_set": { "gigabytes": -1 } }))
            }
            (class, _) if class.contains("quota-class-sets/{}") => (vec!["default".into()], Value::Null),
            _ => return None,
        })
    }
}
