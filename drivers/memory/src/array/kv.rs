//! Objects in the back end's `kv`: one key an object, `o/KIND/ID`.

use std::{cmp::Ordering, collections::BTreeMap};

use stowage_driver_sdk::prelude::*;

use super::{Array, Change, Created, Object, SIZED, admission};

pub struct KvArray<'c> {
    cx: &'c Context,
}

impl<'c> KvArray<'c> {
    pub fn new(cx: &'c Context) -> Self {
        Self { cx }
    }
}

fn key(kind: &str, id: &str) -> String {
    format!("o/{kind}/{id}")
}

/// How often a change is tried again when another call changed the object meanwhile.
const ATTEMPTS: u32 = 100;

impl Array for KvArray<'_> {
    fn get(&self, kind: &str, id: &str) -> Result<Option<Object>> {
        Ok(self.cx.kv().get(&key(kind, id))?.map(|v| v.value))
    }

    fn create(&self, kind: &str, id: &str, object: &Object, limit: Option<u64>) -> Result<Created> {
        let key = key(kind, id);
        if limit.is_some()
            && let Some(there) = self.cx.kv().get(&key)?
        {
            // Room is only asked for what is really new: a repeat must not fail because the pool filled up meanwhile.
            return Ok(Created::There(there.value));
        }
        admission::admit(self.cx, self, id, &object.pool, object.gib, limit)?;
        if self.cx.kv().insert(&key, object)? {
            if limit.is_some() {
                admission::settle(self.cx, id, &object.pool)?;
            }
            return Ok(Created::New);
        }
        let there = self.cx.kv().get(&key)?.ok_or_else(|| DriverError::busy(format!("{kind} {id} is being deleted")))?;
        Ok(Created::There(there.value))
    }

    fn change(&self, kind: &str, id: &str, limit: Option<u64>, change: &mut Change<'_>) -> Result<Option<Object>> {
        let key = key(kind, id);
        for _ in 0..ATTEMPTS {
            let Some(found) = self.cx.kv().get::<Object>(&key)? else { return Ok(None) };
            let mut object = found.value;
            let before = object.gib;
            if !change(&mut object)? {
                return Ok(Some(object));
            }
            let growth = admission::growth(id, object.gib);
            if object.gib > before {
                admission::admit(self.cx, self, &growth, &object.pool, object.gib - before, limit)?;
            }
            if self.cx.kv().swap(&key, Some(found.version), &object)?.is_some() {
                match object.gib.cmp(&before) {
                    Ordering::Greater => admission::settle(self.cx, &growth, &object.pool)?,
                    Ordering::Less => admission::release(self.cx, "", &object.pool, before - object.gib)?,
                    Ordering::Equal => {}
                }
                return Ok(Some(object));
            }
        }
        Err(DriverError::busy(format!("{kind} {id} is being changed by too many calls")))
    }

    fn remove(&self, kind: &str, id: &str) -> Result<bool> {
        let key = key(kind, id);
        let Some(found) = self.cx.kv().get::<Object>(&key)? else { return Ok(false) };
        if found.value.gib > 0 {
            admission::release(self.cx, id, &found.value.pool, found.value.gib)?;
        }
        self.cx.kv().delete(&key)
    }

    fn list(&self, kind: &str, prefix: &str) -> Result<Vec<(String, Object)>> {
        let start = key(kind, "");
        let mut found = Vec::new();
        self.cx.kv().each(&key(kind, prefix), |key, object| {
            found.push((key[start.len()..].to_owned(), object));
            Ok(())
        })?;
        Ok(found)
    }

    fn used(&self) -> Result<BTreeMap<String, u64>> {
        let mut used = BTreeMap::new();
        for kind in SIZED {
            self.cx.kv().each(&key(kind, ""), |_, object: Object| {
                *used.entry(object.pool).or_default() += object.gib;
                Ok(())
            })?;
        }
        Ok(used)
    }
}
