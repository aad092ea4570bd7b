//! Whether an object fits into a pool of limited size, without counting all objects for each create.
//!
//! The count is kept in `session`, per pool and process: what was there at the last full count with what was made since, and
//! what was admitted but is not there yet. It is counted anew after a few seconds, so that what other processes did, and
//! what was admitted and then never made, is seen. The objects remain the truth: reports are always counted in full.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::prelude::*;

use super::{Array, Object, SIZED, full};

/// After this long the objects are counted anew.
const COUNT_HOLDS_MS: u64 = 5_000;
/// After this long an admission whose object never appeared is forgotten; longer than any call may take.
const ADMISSION_HOLDS_MS: u64 = 60_000;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Count {
    gib: u64,
    counted_at_ms: u64,
    /// On its way: id to size and time.
    admitted: BTreeMap<String, (u64, u64)>,
    /// Deleted since the count.
    released: u64,
}

impl Count {
    fn total(&self) -> u64 {
        (self.gib + self.admitted.values().map(|(gib, _)| gib).sum::<u64>()).saturating_sub(self.released)
    }
}

fn key(pool: &str) -> String {
    format!("used/{pool}")
}

/// The name under which the growth of an object is admitted.
pub fn growth(id: &str, new_gib: u64) -> String {
    format!("{id}+{new_gib}")
}

/// Reserves room for an object that is about to be made; `exhausted` when there is none.
pub fn admit(cx: &Context, array: &dyn Array, id: &str, pool: &str, gib: u64, limit: Option<u64>) -> Result<()> {
    let Some(limit) = limit.filter(|_| gib > 0) else { return Ok(()) };
    loop {
        let (mut count, version) = current(cx, array, pool)?;
        if !count.admitted.contains_key(id) {
            let used = count.total();
            if used + gib > limit {
                return Err(full(pool, used, limit, gib));
            }
            count.admitted.insert(id.to_owned(), (gib, cx.monotonic_ms()));
        }
        if cx.session().swap(&key(pool), version, &count, None)?.is_some() {
            return Ok(());
        }
    }
}

/// The object that was admitted is there.
pub fn settle(cx: &Context, id: &str, pool: &str) -> Result<()> {
    change(cx, pool, |count| match count.admitted.remove(id) {
        Some((gib, _)) => {
            count.gib += gib;
            true
        }
        None => false,
    })
}

/// Before an object goes away, or gets smaller by so much.
pub fn release(cx: &Context, id: &str, pool: &str, gib: u64) -> Result<()> {
    change(cx, pool, |count| {
        if count.admitted.remove(id).is_none() {
            count.released += gib;
        }
        true
    })
}

/// Changes the count if there is one; `change` answers false to leave it.
fn change(cx: &Context, pool: &str, mut change: impl FnMut(&mut Count) -> bool) -> Result<()> {
    loop {
        let Some(found) = cx.session().get::<Count>(&key(pool))? else { return Ok(()) };
        let mut count = found.value;
        if !change(&mut count) || cx.session().swap(&key(pool), Some(found.version), &count, None)?.is_some() {
            return Ok(());
        }
    }
}

/// The count in use, or a new one, and the version to swap it against.
fn current(cx: &Context, array: &dyn Array, pool: &str) -> Result<(Count, Option<u64>)> {
    let now = cx.monotonic_ms();
    let Some(found) = cx.session().get::<Count>(&key(pool))? else {
        return Ok((recount(array, pool, now, BTreeMap::new())?, None));
    };
    if now.saturating_sub(found.value.counted_at_ms) < COUNT_HOLDS_MS {
        return Ok((found.value, Some(found.version)));
    }
    Ok((recount(array, pool, now, found.value.admitted)?, Some(found.version)))
}

/// Counts the objects. Admissions stay until their object is among the counted, or until they are too old to become one.
fn recount(array: &dyn Array, pool: &str, now: u64, mut admitted: BTreeMap<String, (u64, u64)>) -> Result<Count> {
    let mut gib = 0;
    for kind in SIZED {
        for (id, object) in array.list(kind, "")?.into_iter().filter(|(_, o): &(String, Object)| o.pool == pool) {
            gib += object.gib;
            admitted.remove(&growth(&id, object.gib));
            admitted.remove(&id);
        }
    }
    admitted.retain(|_, (_, at)| now.saturating_sub(*at) < ADMISSION_HOLDS_MS);
    Ok(Count { gib, counted_at_ms: now, admitted, released: 0 })
}
