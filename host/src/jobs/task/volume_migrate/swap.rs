//! The volume is the new object from here on: one transaction for everything that says so.

use super::{
    super::{cleanup, snapshot_support::settled, volume_retype::give_back},
    Plan, give_up,
};
use crate::{
    clock,
    jobs::{JobContext, Outcome, TaskError},
    service::volume::{destroy::event_now, follow},
    store::sql::volume_migrations::Moved,
};

pub async fn swap(cx: &JobContext, plan: &Plan) -> Result<Outcome, TaskError> {
    let (Some(source), Some(target)) = (&plan.source, &plan.target) else {
        return Err(TaskError::Other("the plan names no source and no target".to_owned()));
    };
    let new = &target.object;
    let mut tx = cx.app.store.begin().await?;
    let Some(volume) = tx.volume_locked(&cx.job.resource_id).await? else {
        tx.rollback().await?;
        return give_up::abandon(cx, plan).await;
    };
    if plan.to_type.is_some() {
        // the old type's figures; the new type's count since the retype was accepted
        give_back(&mut tx, &volume, &volume.volume_type_id).await?;
    }
    // as it is when the volume gets it: a newer one finds the volume on this back end
    let Some(row) = tx.backend_kept(&new.backend).await? else { return Err(TaskError::Other(format!("{} has no row", new.backend))) };
    let moved = Moved {
        host: target.host.clone(),
        name_id: new.volume.id.clone(),
        provider_id: new.volume.provider_id.clone(),
        provider_data: new.volume.provider_data.clone(),
        identity: follow::identity(&row),
        retyped: plan.to_type.is_some().then_some(new.volume.multiattach),
    };
    if !tx.volume_moved(&volume.id, &cx.job.id, &moved, clock::now()).await? {
        tx.rollback().await?;
        return give_up::abandon(cx, plan).await;
    }
    tx.claim_of_stand_in(&volume.id, &new.volume.id).await?;
    if !plan.let_go {
        cleanup::leave(&mut tx, cx, &new.backend, &new.leftover(cx, true)).await?;
    }
    cleanup::leave(&mut tx, cx, &source.backend, &source.leftover(cx, false)).await?;
    for event in plan.ends().0 {
        event_now(&mut tx, event, &volume.id, &cx.job.request_id).await?;
    }
    settled(cx, tx).await
}
