//! `os-migrate_volume_completion`: a compute service says that it has swapped one volume for another.
//!
//! Our own moves need nobody's word: they copy what nobody uses, and the new object is never a volume of its own. So this
//! answers, as upstream does for two volumes that do not migrate, which of them stays; its attachments are made and deleted
//! through the attachments API.

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    service::{refusal, volume::load_row},
};

/// The id of the volume that stays.
///
/// # Errors
/// 400 when either is migrating or has migrated, 403, 404.
pub async fn complete(app: &App, ctx: &RequestContext, id: &str, new_id: &str) -> Result<String> {
    let volume = super::load_row_for(app, ctx, id, "volume_extension:volume_admin_actions:migrate_volume_completion").await?;
    let new = load_row(app, ctx, new_id).await?;
    match (&volume.migration_status, &new.migration_status) {
        (None, None) => Ok(new.id),
        (None, Some(_)) => Err(refusal::invalid_volume("Source volume not mid-migration.")),
        (Some(_), None) => Err(refusal::invalid_volume("Destination volume not mid-migration.")),
        (Some(_), Some(status)) => {
            Err(refusal::invalid_volume(format!("Destination has migration_status {status}, expected target:{}.", volume.id)))
        }
    }
}
