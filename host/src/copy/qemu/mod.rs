//! Copying by `qemu-img`, which speaks iSCSI itself: no kernel module, no root, no device to be left behind.
//!
//! It reads what is allocated and not zero, writes the rest as zeros (which thin targets keep as holes), and compares both
//! when it is done. It runs niced in a process group of its own, which ends with this process, however that ends ([`guard`]).

mod arguments;
mod child;
pub mod guard;
mod probe;
mod secret;

use futures::future::BoxFuture;

use self::{arguments::Arguments, child::Child};
use super::{Copier, CopyError, Order, Progress, silence};
use crate::config::CopyConfig;

pub use probe::probe;
pub use secret::forget_left_over;

/// Exit status of a comparison that found a difference.
const DIFFERS: i32 = 1;

/// Copies by `qemu-img`.
#[derive(Debug, Default)]
pub struct Qemu(());

impl Copier for Qemu {
    fn copy<'a>(
        &'a self,
        order: &'a Order,
        config: &'a CopyConfig,
        progress: &'a (dyn Fn(Progress) + Send + Sync),
    ) -> BoxFuture<'a, Result<(), CopyError>> {
        Box::pin(async move {
            forget_left_over(&order.folder);
            // dropped, and with them the files, when both programs have ended
            let ends = Arguments::new(order)?;
            let patience = silence(config, order.size_gib, 1.0);
            Child::start(config, &ends.convert(config.bandwidth_mib))?
                .finish(patience, |percent| progress(Progress { verifying: false, percent }))
                .await?;
            if config.verify {
                // two sides to read for each two per cent that it tells of
                let patience = silence(config, order.size_gib, 4.0);
                let compared = Child::start(config, &ends.compare(config.bandwidth_mib))?
                    .finish(patience, |percent| progress(Progress { verifying: true, percent }))
                    .await;
                match compared {
                    Err(child::Ended { status: Some(DIFFERS), .. }) => return Err(CopyError::Differs),
                    other => other?,
                }
            }
            Ok(())
        })
    }
}
