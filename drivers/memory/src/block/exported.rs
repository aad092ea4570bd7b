//! What an HTTP array was told to export, kept in `kv`: it may lose that, and the driver is not told again to whom it was.
//!
//! A connection is kept once it stands, and forgotten before it is taken down: whatever a call that is cut short leaves behind is
//! put right by its repeat. Objects in `kv` are not lost, and are not kept twice.

use stowage_driver_sdk::prelude::*;

use crate::{Memory, array::Object};

fn key(id: &str) -> String {
    format!("exported/{id}")
}

impl Memory {
    fn may_lose(&self) -> bool {
        self.config.array_url.is_some()
    }

    pub(super) fn keep(&self, cx: &Context, id: &str, connection: &Object) -> Result<()> {
        if self.may_lose() {
            cx.kv().put(&key(id), connection)?;
        }
        Ok(())
    }

    pub(super) fn forget(&self, cx: &Context, id: &str) -> Result<()> {
        if self.may_lose() {
            cx.kv().delete(&key(id))?;
        }
        Ok(())
    }

    /// How it stood when it was connected last.
    pub(super) fn kept_as(&self, cx: &Context, id: &str) -> Result<Option<Object>> {
        if self.may_lose() { Ok(cx.kv().get(&key(id))?.map(|kept| kept.value)) } else { Ok(None) }
    }

    /// Connections that should be there, whose id begins with `prefix`.
    pub(super) fn kept(&self, cx: &Context, prefix: &str) -> Result<Vec<(String, Object)>> {
        let mut found = Vec::new();
        if self.may_lose() {
            let start = key("").len();
            cx.kv().each(&key(prefix), |key, connection| {
                found.push((key[start..].to_owned(), connection));
                Ok(())
            })?;
        }
        Ok(found)
    }
}
