//! What happens to types and to QoS specs is told under upstream's names. Such a thing is no project's: the event names the project
//! and the user of the request.

use serde_json::{Map, Value, json};

use crate::{
    context::RequestContext,
    notify::NewEvent,
    store::{StoreResult, Tx, sql::types::TypeOf},
};

/// What became of a type.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    Create(&'a str),
    Update,
    Delete,
    /// These specs were written.
    SpecsPut(&'a [(String, String)]),
    /// The spec of this key was removed.
    SpecRemove(&'a str),
    /// This project may use it, or no longer.
    AccessAdd(&'a str),
    AccessRemove(&'a str),
}

/// An event about the type `id`, for the outbox.
///
/// # Errors
/// Of the database.
pub async fn tell(tx: &mut Tx, ctx: &RequestContext, of: TypeOf, id: &str, change: Change<'_>) -> StoreResult<()> {
    let (kind, specs) = match of {
        TypeOf::Volume => ("volume_type", "volume_type_extra_specs"),
        TypeOf::Share => ("share_type", "share_type_extra_specs"),
        TypeOf::ShareGroup => ("share_group_type", "share_group_type_specs"),
    };
    let (name, more) = match change {
        Change::Create(name) => (format!("{kind}.create"), json!({ "name": name })),
        Change::Update => (format!("{kind}.update"), json!({})),
        Change::Delete => (format!("{kind}.delete"), json!({})),
        Change::SpecsPut(pairs) => {
            (format!("{specs}.create"), json!({ "specs": pairs.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<Map<_, _>>() }))
        }
        Change::SpecRemove(key) => (format!("{specs}.delete"), json!({ "id": key })),
        Change::AccessAdd(project) => (format!("{kind}_project.access.add"), json!({ "project_id": project })),
        Change::AccessRemove(project) => (format!("{kind}_project.access.remove"), json!({ "project_id": project })),
    };
    publish(tx, ctx, kind, name, id, &[("type_id", json!(id))], more).await
}

/// An event about the QoS specs `id`; `what` is `create`, `update`, `delete`, `associate`, `disassociate` or `disassociate_all`.
///
/// # Errors
/// Of the database.
pub async fn tell_qos(tx: &mut Tx, ctx: &RequestContext, id: &str, what: &str, more: Value) -> StoreResult<()> {
    publish(tx, ctx, "qos_specs", format!("qos_specs.{what}"), id, &[("qos_specs_id", json!(id))], more).await
}

async fn publish(
    tx: &mut Tx,
    ctx: &RequestContext,
    resource_kind: &'static str,
    event_type: String,
    id: &str,
    named: &[(&str, Value)],
    more: Value,
) -> StoreResult<()> {
    let mut payload: Map<String, Value> = named.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    if let Value::Object(more) = more {
        payload.extend(more);
    }
    tx.publish(&NewEvent {
        event_type,
        resource_kind,
        resource_id: id.to_owned(),
        project_id: ctx.project_id().to_owned(),
        user_id: ctx.principal.user_id.clone(),
        request_id: ctx.request_id.clone(),
        payload: Value::Object(payload),
    })
    .await
}
