//! A driver found a share in another pool of its back end, when it was asked for something else.

use crate::store::{StoreResult, Tx, sql::shares::ShareRow};

/// The share counts in `pool` from now on, in the caller's transaction, which holds the share. Its snapshots are where it is.
/// The answer is `host@backend#pool` as the share shall show it. None: it stays where it was, also when its back end reports
/// no such pool.
pub async fn follow(tx: &mut Tx, share: &ShareRow, pool: Option<&str>) -> StoreResult<Option<String>> {
    let (Some(pool), Some(backend)) = (pool.filter(|p| *p != share.pool()), share.backend()) else { return Ok(None) };
    let found = format!("{backend}#{pool}");
    if !tx.move_allocation(&share.id, &found).await? {
        tracing::warn!(share_id = %share.id, pool = found, "the driver found the share in a pool that it does not report; the share stays where it was");
        return Ok(None);
    }
    Ok(Some(found))
}
