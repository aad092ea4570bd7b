//! Work that answered `pending`: the array counts down how often it is asked.

use stowage_driver_sdk::prelude::*;

use super::{VolumeData, gone, volumes::made};
use crate::{Memory, array::VOLUMES};

/// What polling finds.
pub enum Progress {
    Working,
    Done,
}

impl Poll for Memory {
    fn poll(&self, cx: &Context, token: &str) -> ServerResult<PollOutcome> {
        let Some((what, id)) = token.split_once('/') else {
            return Err(DriverError::not_found(format!("unknown token `{token}`")).into());
        };
        let again = || Ok(PollOutcome::Pending(Pending::new(token, 100)));
        self.verb(cx, id, "", |plan| match what {
            "volume" => match self.poll_volume(cx, id)? {
                Progress::Working => again(),
                Progress::Done => match made(plan, id) {
                    VolumeOutcome::Done(update) => Ok(PollOutcome::Volume(update)),
                    VolumeOutcome::Pending(pending) => Ok(PollOutcome::Pending(pending)),
                },
            },
            _ => self.poll_share_side(cx, plan, what, id, token),
        })
    }
}

impl Memory {
    fn poll_volume(&self, cx: &Context, id: &str) -> Result<Progress> {
        let mut left = 0;
        let object = self.array(cx).change(VOLUMES, id, None, &mut |object| {
            let mut data: VolumeData = object.read()?;
            let working = data.polls_left > 0;
            data.polls_left = data.polls_left.saturating_sub(1);
            left = data.polls_left;
            object.write(&data)?;
            Ok(working)
        })?;
        object.ok_or_else(|| gone(id))?;
        Ok(if left > 0 { Progress::Working } else { Progress::Done })
    }
}
