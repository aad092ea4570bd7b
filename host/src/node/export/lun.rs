//! LUNs of a target that may be in use.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    Exports, Failure, PATIENCE, refusal,
    target::{Present, PresentLun, unless},
    wanted::{Wanted, WantedLun},
};
use crate::node::tgt::{Code, shown_size};

/// How long commands of a LUN may take to end before its initiator's session is cut.
const GENTLE: Duration = Duration::from_secs(1);

impl Exports {
    /// Adds what is missing. A LUN that `tgtd` refuses (its file is gone, or cannot be read) keeps no other away.
    pub(super) async fn add_luns(&self, present: &mut Present, wanted: &Wanted) -> Result<(), Failure> {
        present.broken.clear();
        for (number, lun) in wanted.luns.iter().filter(|(n, _)| !present.luns.contains_key(n)).collect::<Vec<_>>() {
            match self.add_lun(present, *number, lun).await {
                Err(Failure::Tgt(e)) if e.code().is_some_and(|c| !matches!(c, Code::NoTarget | Code::LunExists)) => {
                    unless(self.client.delete_lun(present.tid, *number).await, Code::NoLun)?;
                    let file = lun.params.path.display();
                    tracing::error!(tid = present.tid, number, %file, error = %e, source = ?e.code(), "a LUN cannot be shown");
                    present.broken.push((*number, refusal(e)));
                }
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// Without a medium first, so that a read-only volume is at no moment writable.
    async fn add_lun(&self, present: &mut Present, number: u32, wanted: &WantedLun) -> Result<(), Failure> {
        self.client.new_lun(present.tid, number).await?;
        self.client.fill_lun(present.tid, number, &wanted.params).await?;
        present.luns.insert(number, PresentLun { params: wanted.params.clone(), size: shown_size(wanted.bytes), online: true });
        Ok(())
    }

    /// Takes the medium away, so that new commands fail, and removes the LUN when the last command has ended; other LUNs of the
    /// session go on. An initiator that prevents it has its session cut.
    pub(super) async fn remove_lun(&self, present: &mut Present, number: u32) -> Result<(), Failure> {
        let tid = present.tid;
        match self.client.empty_lun(tid, number).await {
            Err(e) if matches!(e.code(), Some(Code::NoLun | Code::PreventRemoval)) => {}
            outcome => outcome?,
        }
        if !self.delete_lun(tid, number, GENTLE).await? {
            tracing::warn!(tid, number, "a LUN stays in use; its initiator's session is cut");
            self.client.set_ready(tid, false).await?;
            self.end_sessions(tid).await?;
            let removed = self.delete_lun(tid, number, PATIENCE).await;
            self.client.set_ready(tid, true).await?;
            if !removed? {
                return Err(Failure::Refusal(crate::node::refusal::Refusal::transient("a LUN stays in use; try again")));
            }
        }
        present.luns.remove(&number);
        Ok(())
    }

    async fn delete_lun(&self, tid: i32, number: u32, patience: Duration) -> Result<bool, Failure> {
        let until = Instant::now() + patience;
        loop {
            match self.client.delete_lun(tid, number).await {
                Err(e) if e.code() == Some(Code::LunActive) => {
                    if Instant::now() > until {
                        return Ok(false);
                    }
                    sleep(Duration::from_millis(5)).await;
                }
                outcome => {
                    unless(outcome, Code::NoLun)?;
                    return Ok(true);
                }
            }
        }
    }

    /// Lets LUNs be written to, or no longer, without taking them from whoever has them open.
    pub(super) async fn protect_luns(&self, present: &mut Present, wanted: &Wanted) -> Result<(), Failure> {
        for (number, lun) in &wanted.luns {
            let Some(there) = present.luns.get_mut(number).filter(|l| l.params.read_only != lun.params.read_only) else { continue };
            self.client.protect_lun(present.tid, *number, lun.params.read_only).await?;
            there.params.read_only = lun.params.read_only;
        }
        Ok(())
    }

    /// Shows the size that files have grown to.
    ///
    /// `tgtd` looks at a file's size when it opens it, and must not open it while a command runs: a write could go nowhere. So
    /// the target takes no log-in, its sessions are ended, which lets commands on their way end; the file is opened again; the
    /// initiator logs in again by itself and repeats what was not answered. It takes a few milliseconds and no command fails.
    pub(super) async fn resize_luns(&self, present: &mut Present, wanted: &Wanted) -> Result<(), Failure> {
        let grown: Vec<(u32, &WantedLun)> = wanted
            .luns
            .iter()
            .filter(|(n, w)| present.luns.get(n).is_some_and(|l| l.size != shown_size(w.bytes)))
            .map(|(n, w)| (*n, w))
            .collect();
        if grown.is_empty() {
            return Ok(());
        }
        self.client.set_ready(present.tid, false).await?;
        self.end_sessions(present.tid).await?;
        for (number, lun) in grown {
            self.client.reopen_lun(present.tid, number, &lun.params.path).await?;
            if let Some(l) = present.luns.get_mut(&number) {
                l.size = shown_size(lun.bytes);
            }
        }
        self.client.set_ready(present.tid, true).await?;
        Ok(())
    }
}
