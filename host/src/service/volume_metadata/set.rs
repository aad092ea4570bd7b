//! Writing pairs: merged into what is there, or in its place.

use super::show::etag;
use crate::{
    app::App,
    context::RequestContext,
    domain::volume::{METADATA_LOCKED, VolumeStatus},
    error::{Error, Kind, Result},
    service::{
        metadata::Manner,
        refusal,
        volume::{create::check_metadata_count, hold::hold},
    },
    store::sql::metadata::MetadataOf,
};

/// All pairs afterwards. `if_match` is the tag the pairs must have now.
///
/// # Errors
/// 400 in a state that does not allow it, 404, 412, 413.
pub async fn set(
    app: &App,
    ctx: &RequestContext,
    volume_id: &str,
    action: &str,
    pairs: &[(String, String)],
    manner: Manner,
    if_match: Option<&str>,
) -> Result<Vec<(String, String)>> {
    check_metadata_count(pairs.len())?;
    let (mut tx, row) = hold(app, ctx, volume_id, action).await?;
    if VolumeStatus::parse(&row.status).is_some_and(|s| METADATA_LOCKED.contains(&s)) {
        return Err(refusal::invalid_volume(format!("The volume metadata cannot be updated while the volume is in {}.", row.status)));
    }
    if let Some(wanted) = if_match
        && wanted != etag(&tx.metadata(MetadataOf::Volume, volume_id).await?)
    {
        return Err(Error::new(Kind::PreconditionFailed, "The metadata has changed: its ETag does not match If-Match."));
    }
    if manner == Manner::Replace {
        tx.metadata_clear(MetadataOf::Volume, volume_id).await?;
    }
    tx.metadata_put(MetadataOf::Volume, volume_id, pairs).await?;
    let now = tx.metadata(MetadataOf::Volume, volume_id).await?;
    check_metadata_count(now.len())?;
    tx.commit().await?;
    Ok(now)
}
