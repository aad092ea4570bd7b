//! `migration_start`: a share server begins to move. Its shares and snapshots serve on meanwhile, and nothing else begins on them.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use uuid::Uuid;

use super::{
    KIND, MigrateServer, Work,
    ask::{self, Asked},
    compatible,
    rest::{self, AtRest},
    room, say,
};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::{share::ShareStatus, share_server::ServerStatus, share_snapshot::ShareSnapshotStatus},
    driver::types::StringMap,
    error::{Error, Result},
    jobs::NewJob,
    store::{
        Tx,
        sql::{share_servers::NewShareServer, types::TypeOf},
    },
};

/// How long a migration may take, the time that an operator takes to complete it included. After that it is cancelled.
const AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// # Errors
/// As [`check`](super::check::check), and 409 when it is not compatible.
pub async fn start(app: &Arc<App>, ctx: &RequestContext, id: &str, ask: &MigrateServer) -> Result<()> {
    // validate and authorise
    let asked = ask::of(app, ctx, id, ask, "share_server:share_server_migration_start").await?;
    let verdict = compatible::find(app, ctx, &asked, ask).await?;
    if let Some(why) = verdict.because {
        return Err(not_compatible(id, ask, &why));
    }
    // decide: what is held now is looked at again
    let rooms = room::requests(app, ctx, &asked).await?;
    let specs = specs(app, id).await?;
    let mut tx = app.store.begin().await?;
    let at_rest = rest::hold(&mut tx, &asked, ask).await?;
    let same_subnets = at_rest.subnets.iter().map(|s| &s.id).eq(&verdict.subnets);
    if !same_subnets || (!at_rest.snapshots.is_empty() && !verdict.abilities.preserve_snapshots) {
        return Err(room::changed(id));
    }
    // commit
    let now = clock::now();
    let destination = destination(app, &asked, &at_rest);
    tx.share_server_insert(&destination).await?;
    if !tx.share_server_begin_migration(id, verdict.abilities.cancel, now).await? {
        return Err(room::changed(id));
    }
    let shares = (ShareStatus::Available, ShareStatus::ServerMigrating);
    let snapshots = (ShareSnapshotStatus::Available, ShareSnapshotStatus::ServerMigrating);
    let moving = tx.server_content_status(id, shares, snapshots, now).await?;
    if usize::try_from(moving).ok() != Some(at_rest.shares.len()) {
        return Err(room::changed(id));
    }
    if let Some(why) = room::take(app, &mut tx, &asked, &at_rest, rooms).await? {
        return Err(not_compatible(id, ask, &why));
    }
    let work = Work { destination_id: destination.id, request: ask::request(ask, !at_rest.snapshots.is_empty()), specs };
    enqueue(app, ctx, &mut tx, &asked, &at_rest, &work).await?;
    tx.commit().await?;
    say(ctx, "begins", id, &work.destination_id);
    Ok(())
}

fn not_compatible(id: &str, ask: &MigrateServer, why: &str) -> Error {
    Error::conflict(format!("Share server {id} cannot be migrated to {:.255}. {why}", ask.host))
}

/// What the destination is built with: the specs of the type that the first share has.
async fn specs(app: &App, id: &str) -> Result<StringMap> {
    let Some(first) = app.store.shares_on_server(id).await?.into_iter().next() else { return Ok(StringMap::new()) };
    let share_type = app.store.resource_type(TypeOf::Share, &first.share_type_id).await?;
    Ok(share_type.map(|t| t.specs.into_iter().collect()).unwrap_or_default())
}

/// As it is written; its addresses come when it is built.
fn destination(app: &App, asked: &Asked, at_rest: &AtRest) -> NewShareServer {
    let backend = app.drivers.backend(&asked.backend.host).ok();
    let features = backend.and_then(|b| b.capabilities()).map(|timed| timed.report.features.clone()).unwrap_or_default();
    let mut subnet_ids: Vec<String> = at_rest.subnets.iter().map(|s| s.id.clone()).collect();
    subnet_ids.sort_unstable();
    NewShareServer {
        id: Uuid::new_v4().to_string(),
        share_network_id: asked.network.id.clone(),
        project_id: asked.network.project_id.clone(),
        backend: asked.backend.host.clone(),
        status: ServerStatus::ServerMigratingTo,
        // what nobody knows of may have come with it
        is_auto_deletable: at_rest.source.is_auto_deletable,
        network_allocation_update_support: features.network_allocation_update_support,
        security_service_update_support: false,
        subnet_ids,
        source_share_server_id: Some(at_rest.source.id.clone()),
        created_at: clock::now(),
    }
}

/// In the lane of the destination, whose driver does the work; jobs of the source run one at a time.
async fn enqueue(app: &Arc<App>, ctx: &RequestContext, tx: &mut Tx, asked: &Asked, at_rest: &AtRest, work: &Work) -> Result<()> {
    let by_source = super::super::job(app, ctx, KIND, &at_rest.source, json!({ "work": work }));
    let job = NewJob { backend: Some(asked.backend.host.clone()), max_age: AGE, ..by_source };
    tx.enqueue(&app.jobs, job).await?;
    Ok(())
}
