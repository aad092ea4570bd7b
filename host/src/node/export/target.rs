//! Making, changing and removing one target.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::{Instant, sleep};

use super::{Exports, Failure, PATIENCE, wanted::Wanted, wanted::WantedLun};
use crate::node::{
    refusal::Refusal,
    tgt::{Code, LunParams, ShownTarget, TgtError, shown_size},
};

/// A target as it is.
#[derive(Debug)]
pub(super) struct Present {
    pub tid: i32,
    ready: bool,
    accounts: Vec<String>,
    acl: Vec<String>,
    pub luns: BTreeMap<u32, PresentLun>,
    /// Wanted LUNs that cannot be shown, and why.
    pub broken: Vec<(u32, Refusal)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PresentLun {
    pub params: LunParams,
    /// As `tgtd` prints it.
    pub size: String,
    pub online: bool,
}

impl From<ShownTarget> for Present {
    fn from(shown: ShownTarget) -> Self {
        let luns = shown.luns.into_iter().map(|(number, l)| {
            let params = LunParams { path: l.path.into(), serial: l.serial, read_only: l.read_only };
            (number, PresentLun { params, size: l.size, online: l.online })
        });
        Self { tid: shown.tid, ready: shown.ready, accounts: shown.accounts, acl: shown.acl, luns: luns.collect(), broken: Vec::new() }
    }
}

impl Present {
    /// Whether only its LUNs can differ. Users' names are never given out twice, so the same name has the same password.
    pub(super) fn is_for(&self, wanted: &Wanted) -> bool {
        self.ready && self.accounts == [wanted.user.clone()] && self.acl == [wanted.initiator.to_string()]
    }

    pub(super) fn is(&self, wanted: &Wanted) -> bool {
        self.is_for(wanted)
            && self.luns.len() == wanted.luns.len()
            && wanted.luns.iter().all(|(n, w)| self.luns.get(n).is_some_and(|l| l.is(w)))
    }
}

impl PresentLun {
    fn is(&self, wanted: &WantedLun) -> bool {
        self.shows(wanted) && self.params.read_only == wanted.params.read_only && self.size == shown_size(wanted.bytes)
    }
    /// It is the volume's, whatever its size and whether it may be written to.
    fn shows(&self, wanted: &WantedLun) -> bool {
        self.online && self.params.path == wanted.params.path && self.params.serial == wanted.params.serial
    }
}

impl Exports {
    /// The initiator is admitted last, when everything it may see is as it should be, or cannot be shown.
    pub(super) async fn create(&self, wanted: &Wanted) -> Result<Present, Failure> {
        let tid = self.new_target(wanted).await?;
        unless(self.client.new_account(&wanted.user, &wanted.password).await, Code::UserExists)?;
        self.client.bind_account(tid, &wanted.user).await?;
        let mut present = Present {
            tid,
            ready: true,
            accounts: vec![wanted.user.clone()],
            acl: vec![wanted.initiator.to_string()],
            luns: BTreeMap::new(),
            broken: Vec::new(),
        };
        self.add_luns(&mut present, wanted).await?;
        self.client.bind_initiator(tid, &wanted.initiator).await?;
        tracing::info!(target_name = wanted.name, initiator = %wanted.initiator, luns = wanted.luns.len(), "a target was made");
        Ok(present)
    }

    async fn new_target(&self, wanted: &Wanted) -> Result<i32, Failure> {
        // two names may have one number
        let mut last = None;
        for tid in wanted.tid..wanted.tid.saturating_add(16) {
            match self.client.new_target(tid, &wanted.name).await {
                Ok(()) => return Ok(tid),
                Err(e) if e.code() == Some(Code::TargetExists) => last = Some(e),
                Err(e) => return Err(e.into()),
            }
        }
        Err(last.map_or_else(|| Failure::Refusal(Refusal::internal("no number is free for a target")), Failure::Tgt))
    }

    /// Makes the LUNs of a target that is there what they should be.
    pub(super) async fn adjust(&self, mut present: Present, wanted: &Wanted) -> Result<Present, Failure> {
        let gone = |(n, l): (&u32, &PresentLun)| wanted.luns.get(n).is_none_or(|w| !l.shows(w)).then_some(*n);
        let gone: Vec<u32> = present.luns.iter().filter_map(gone).collect();
        for number in gone {
            self.remove_lun(&mut present, number).await?;
        }
        self.protect_luns(&mut present, wanted).await?;
        self.resize_luns(&mut present, wanted).await?;
        self.add_luns(&mut present, wanted).await?;
        Ok(present)
    }

    /// When this returns, no initiator has the target, and nothing that was on its way through it is still to be written.
    ///
    /// Sessions are ended before the target is deleted, never by deleting it: with commands on their way `tgtd` would exit.
    pub(super) async fn remove(&self, present: &Present) -> Result<(), Failure> {
        let tid = present.tid;
        unless(self.client.set_ready(tid, false).await, Code::NoTarget)?;
        let until = Instant::now() + PATIENCE;
        loop {
            self.end_sessions(tid).await?;
            match self.client.delete_target(tid).await {
                Ok(()) => break,
                Err(e) => match e.code() {
                    Some(Code::NoTarget) => break,
                    Some(Code::TargetActive | Code::LunActive) if Instant::now() < until => sleep(Duration::from_millis(5)).await,
                    _ => return Err(e.into()),
                },
            }
        }
        for account in &present.accounts {
            unless(self.client.delete_account(account).await, Code::NoUser)?;
        }
        tracing::info!(tid, "a target was removed");
        Ok(())
    }

    /// Cuts every connection and waits until its last command has ended.
    pub(super) async fn end_sessions(&self, tid: i32) -> Result<(), Failure> {
        let until = Instant::now() + PATIENCE;
        let mut cut = Vec::new();
        let mut pause = Duration::from_millis(1);
        loop {
            let sessions = match self.client.sessions(tid).await {
                Err(e) if e.code() == Some(Code::NoTarget) => return Ok(()),
                sessions => sessions?,
            };
            if sessions.is_empty() {
                return Ok(());
            }
            for session in sessions {
                if !cut.contains(&session) {
                    unless(self.client.cut(tid, session).await, Code::NoSession)?;
                    cut.push(session);
                }
            }
            if Instant::now() > until {
                return Err(Failure::Refusal(Refusal::transient("an initiator's commands do not end; try again")));
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

/// An answer that says that it is so already is no failure.
pub(super) fn unless(outcome: Result<(), TgtError>, so_already: Code) -> Result<(), TgtError> {
    match outcome {
        Err(e) if e.code() == Some(so_already) => Ok(()),
        outcome => outcome,
    }
}
