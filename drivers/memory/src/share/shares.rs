//! Create, delete, extend, shrink, from snapshot; and polling of what answered `pending`.

use stowage_driver_sdk::prelude::*;

use super::{ServerData, ShareData, gone, protocol_name};
use crate::{
    Memory,
    array::{Created, Object, RULES, SERVERS, SHARE_SNAPSHOTS, SHARES},
    faults::Plan,
};

impl Memory {
    fn make_share(&self, cx: &Context, plan: &Plan, share: &Share, content: &str) -> Result<ShareOutcome> {
        let array = self.array(cx);
        let data = ShareData {
            content: content.to_owned(),
            polls_left: plan.polls,
            protocol: protocol_name(&share.protocol),
            server: share.server.as_ref().map(|s| s.id.clone()),
            adopted: None,
            used_gib: KeyValue::find(&share.metadata, "memory_used_gib").and_then(|n| n.parse().ok()).unwrap_or_default(),
            origin: None,
        };
        let object = Object::new(&share.pool, share.size_gib, &data)?;
        let data = match array.create(SHARES, &share.id, &object, self.config.pool(&share.pool)?.limit_gib())? {
            Created::New => data,
            Created::There(there) => there.read()?,
        };
        if data.polls_left > 0 {
            return Ok(ShareOutcome::Pending(Pending::new(format!("share/{}", share.id), 100)));
        }
        let update = self.share_update(&*array, &share.id, &data)?;
        // Without any location a new share is of no use, and the host has to notice.
        Ok(ShareOutcome::Done(if plan.lie { ShareUpdate::at(Vec::new()) } else { update }))
    }

    /// Polls everything but volumes. Each poll counts down; at nought the work is done.
    pub fn poll_share_side(&self, cx: &Context, plan: &Plan, what: &str, id: &str, token: &str) -> ServerResult<PollOutcome> {
        let array = self.array(cx);
        let again = || Ok(PollOutcome::Pending(Pending::new(token, 100)));
        match what {
            "share" | "resize" => {
                let mut left = 0;
                let share = array.change(SHARES, id, None, &mut |object| {
                    let mut data: ShareData = object.read()?;
                    let working = data.polls_left > 0;
                    data.polls_left = data.polls_left.saturating_sub(1);
                    left = data.polls_left;
                    object.write(&data)?;
                    Ok(working)
                })?;
                let data: ShareData = share.ok_or_else(|| gone(id))?.read()?;
                match what {
                    _ if left > 0 => again(),
                    "resize" => Ok(PollOutcome::Resized),
                    _ => Ok(PollOutcome::Share(self.share_update(&*array, id, &data)?)),
                }
            }
            "server" | "network" => {
                let mut left = 0;
                let server = array.change(SERVERS, id, None, &mut |object| {
                    let mut data: ServerData = object.read()?;
                    let working = data.polls_left > 0;
                    data.polls_left = data.polls_left.saturating_sub(1);
                    left = data.polls_left;
                    object.write(&data)?;
                    Ok(working)
                })?;
                let server = server.ok_or_else(|| DriverError::not_found(format!("the array has no share server {id}")))?;
                match what {
                    _ if left > 0 => again(),
                    "server" => Ok(PollOutcome::Server(server.read::<ServerData>()?.details(id))),
                    _ => Ok(PollOutcome::Network(self.network_update(&*array, id)?)),
                }
            }
            "copy" | "moved" => Ok(self.poll_migration(cx, plan, what, id, token)?),
            _ => Err(DriverError::not_found(format!("unknown token `{token}`")).into()),
        }
    }
}

impl Shares for Memory {
    fn create_share(&self, cx: &Context, share: &Share) -> Result<ShareOutcome> {
        self.verb(cx, &share.id, &share.name, |plan| self.make_share(cx, plan, share, &format!("empty {}", share.id)))
    }

    fn delete_share(&self, cx: &Context, share: &Share) -> Result<()> {
        self.verb(cx, &share.id, &share.name, |_| {
            let array = self.array(cx);
            if !array.list(SHARE_SNAPSHOTS, &format!("{}.", share.id))?.is_empty() {
                return Err(DriverError::busy("the share has snapshots").for_user("The share has snapshots."));
            }
            array.remove(RULES, &share.id)?;
            array.remove(SHARES, &share.id).map(drop)
        })
    }

    fn extend_share(&self, cx: &Context, share: &Share, new_size_gib: u64) -> Result<ResizeOutcome> {
        self.verb(cx, &share.id, &share.name, |plan| {
            let limit = self.config.pool(&share.pool)?.limit_gib();
            let grown = self.array(cx).change(SHARES, &share.id, limit, &mut |object| {
                let mut data: ShareData = object.read()?;
                let grow = object.gib < new_size_gib;
                if grow {
                    object.gib = new_size_gib;
                    data.polls_left = plan.polls;
                    object.write(&data)?;
                }
                Ok(grow)
            })?;
            let data: ShareData = grown.ok_or_else(|| gone(&share.id))?.read()?;
            if data.polls_left > 0 {
                return Ok(ResizeOutcome::Pending(Pending::new(format!("resize/{}", share.id), 100)));
            }
            Ok(ResizeOutcome::Done)
        })
    }
}

impl ShareShrink for Memory {
    fn shrink_share(&self, cx: &Context, share: &Share, new_size_gib: u64) -> Result<()> {
        self.verb(cx, &share.id, &share.name, |_| {
            let shrunk = self.array(cx).change(SHARES, &share.id, None, &mut |object| {
                let used = object.read::<ShareData>()?.used_gib;
                if new_size_gib < used {
                    return Err(DriverError::data_loss_risk(format!("{used} GiB are in use")).for_user("More than the new size is in use."));
                }
                let shrink = object.gib > new_size_gib;
                object.gib = object.gib.min(new_size_gib);
                Ok(shrink)
            })?;
            shrunk.map(drop).ok_or_else(|| gone(&share.id))
        })
    }
}

impl ShareFromSnapshot for Memory {
    fn create_share_from_snapshot(&self, cx: &Context, share: &Share, snapshot: &ShareSnapshot, _: &Share) -> Result<ShareOutcome> {
        self.verb(cx, &share.id, &share.name, |plan| {
            let content = self.share_snapshot_content(&*self.array(cx), snapshot)?;
            self.make_share(cx, plan, share, &content)
        })
    }
}
