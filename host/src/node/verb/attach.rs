//! Attach a volume to an initiator.

use std::{net::IpAddr, sync::Arc};

use serde::Deserialize;

use super::Node;
use crate::node::{
    Call,
    export::Key,
    name::{Initiator, Layout, Mode, ObjectId},
    refusal::{Kind, Refusal, Result},
    secret,
    state::{Attachment, Volume},
};

/// Of one target. Initiators scan this many without special configuration.
const LUNS: u32 = 255;
const ATTACHMENTS: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachBody {
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub host: Option<String>,
    #[serde(default)]
    pub ip: Option<IpAddr>,
}

impl Node {
    /// The attachment stands for all of the caller's by that initiator, so a call that is older than another PUT and asks for what is
    /// there is answered; only what is older than a DELETE, or would change a newer one's mode, is refused.
    ///
    /// # Errors
    /// `stale-generation`; `exhausted` when the target has no LUN left; `transient` while the iSCSI service is down: a repeat
    /// finishes it.
    pub async fn attach(&self, call: &Call, id: ObjectId, initiator: Initiator, body: AttachBody) -> Result<(Arc<Volume>, Attachment)> {
        if body.host.as_ref().is_some_and(|h| h.len() > 255 || !h.bytes().all(|b| b.is_ascii_graphic() || b == b' ')) {
            return Err(Refusal::invalid("host is at most 255 printable ASCII characters"));
        }
        let _lock = self.locks.volume(&id).await;
        let mut volume = Volume::clone(&*self.volume(&id)?);
        let what = format!("attachment of volume {id} to {initiator}");
        let fence = volume.fences.entry(initiator.clone()).or_default();
        let detached = fence.detach.max(volume.detached_all);
        if call.generation < detached {
            return Err(Refusal::stale(what, call.generation, detached));
        }
        let present = volume.attachments.get(&initiator).filter(|a| !a.leaving).cloned();
        if call.generation < fence.attach && present.as_ref().is_none_or(|a| a.mode != body.mode) {
            return Err(Refusal::stale(what, call.generation, fence.attach));
        }
        let newer = call.generation > fence.attach;
        fence.attach = fence.attach.max(call.generation);
        let key = Key::of(&volume, &initiator);
        // LUN numbers and the account of a shared target are decided by one at a time
        let held = self.exports.hold(key.clone()).await;
        let wanted = match present.clone() {
            Some(mut there) => {
                if newer {
                    (there.mode, there.host, there.ip) = (body.mode, body.host, body.ip);
                }
                there
            }
            None => self.new_attachment(&volume, &key, body)?,
        };
        if newer || present.as_ref() != Some(&wanted) {
            volume.attachments.insert(initiator.clone(), wanted.clone());
            self.records.volumes.put(volume).await?;
        }
        self.exports.apply_held(held, |number| number == wanted.lun).await?;
        Ok((self.volume(&id)?, wanted))
    }

    fn new_attachment(&self, volume: &Volume, key: &Key, body: AttachBody) -> Result<Attachment> {
        if volume.attachments.len() >= ATTACHMENTS {
            return Err(Refusal::new(Kind::Exhausted, format!("volume {} has {ATTACHMENTS} attachments", volume.id)));
        }
        let AttachBody { mode, host, ip } = body;
        let others = if volume.layout == Layout::TargetPerInitiator { key.shown(&self.records) } else { Vec::new() };
        let taken = |lun: &u32| others.iter().any(|(_, a)| a.lun == *lun);
        let Some(lun) = (1..=LUNS).find(|lun| !taken(lun)) else {
            return Err(Refusal::new(Kind::Exhausted, format!("{} has {LUNS} volumes", key.initiator())));
        };
        let (username, password) =
            others.first().map_or_else(|| (secret(12), secret(16)), |(_, a)| (a.username.clone(), a.password.clone()));
        Ok(Attachment { mode, host, ip, lun, username, password, leaving: false })
    }
}
