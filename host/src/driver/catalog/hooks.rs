//! Who else must know that a back end's incarnation changes.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::driver::backend::Backend;

/// Told around every swap of a back end's incarnation, first start included.
pub trait Hooks: Send + Sync {
    /// Before `new` serves its first call: commit here what must be true by then (the safer value of `shared_targets`).
    /// Has read capabilities. `old` is none when nothing served before.
    ///
    /// # Errors
    /// The reason why the swap must not happen now; it is refused.
    fn before_swap<'a>(&'a self, old: Option<&'a Arc<Backend>>, new: &'a Arc<Backend>) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let _unused = (old, new);
            Ok(())
        })
    }

    /// `new` serves and may report other capabilities than `old` did. Must return soon: long work is a job.
    fn on_capabilities_changed<'a>(&'a self, old: Option<&'a Arc<Backend>>, new: &'a Arc<Backend>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _unused = (old, new);
        })
    }

    /// The back end is gone from the configuration.
    fn on_removed<'a>(&'a self, old: &'a Arc<Backend>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _unused = old;
        })
    }
}
