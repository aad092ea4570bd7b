//! Who else must know that a back end's incarnation changes.

use std::sync::Arc;

use async_trait::async_trait;

use crate::driver::backend::Backend;

/// Told around every swap of a back end's incarnation, first start included.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Before `new` serves its first call: commit here what must be true by then (the safer value of `shared_targets`).
    /// Has read capabilities. `old` is none when nothing served before.
    ///
    /// # Errors
    /// The reason why the swap must not happen now; it is refused.
    async fn before_swap(&self, old: Option<&Arc<Backend>>, new: &Arc<Backend>) -> Result<(), String> {
        let _unused = (old, new);
        Ok(())
    }

    /// `new` serves and may report other capabilities than `old` did. Must return soon: long work is a job.
    async fn on_capabilities_changed(&self, old: Option<&Arc<Backend>>, new: &Arc<Backend>) {
        let _unused = (old, new);
    }

    /// The back end is gone from the configuration.
    async fn on_removed(&self, old: &Arc<Backend>) {
        let _unused = old;
    }
}
