//! Scheduler hints of a share: near to, or away from, other shares; and, for operators, one host alone.
//!
//! What was asked is remembered in the metadata of both sides, under keys that only administrators write.

use serde::{Deserialize, Serialize};

use crate::{
    app::App,
    context::RequestContext,
    error::Result,
    scheduler,
    service::share_refusal as refusal,
    store::{StoreResult, Tx, sql::metadata::MetadataOf},
};

const SAME_HOST: &str = "__affinity_same_host";
const DIFFERENT_HOST: &str = "__affinity_different_host";
/// Longest value of a pair.
const MAX_VALUE: usize = 1023;

/// The hints that count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// On the back end of one of these shares.
    pub same_host: Vec<String>,
    /// On the back end of none of these shares.
    pub different_host: Vec<String>,
    /// Only this `host@backend` or `host@backend#pool`: counts for administrators.
    pub only_host: Option<String>,
}

impl Hints {
    /// As they are, if every share named is one that the caller knows.
    ///
    /// # Errors
    /// 404.
    pub async fn checked(self, app: &App, ctx: &RequestContext) -> Result<Self> {
        for id in self.same_host.iter().chain(&self.different_host) {
            super::load_row(app, ctx, id).await?;
        }
        let only_host = self.only_host.filter(|_| ctx.is_admin());
        Ok(Self { only_host, ..self })
    }

    /// What the scheduler reads.
    pub fn for_scheduler(&self) -> scheduler::Hints {
        scheduler::Hints { same_host: self.same_host.clone(), different_host: self.different_host.clone() }
    }

    /// Writes them into the metadata of the new share and of those it names.
    pub(super) async fn remember(&self, tx: &mut Tx, share_id: &str) -> Result<()> {
        for (key, others) in [(SAME_HOST, &self.same_host), (DIFFERENT_HOST, &self.different_host)] {
            if others.is_empty() {
                continue;
            }
            tx.metadata_put(MetadataOf::Share, share_id, &[(key.to_owned(), others.join(","))]).await?;
            for other in others {
                add(tx, key, other, share_id).await?;
            }
        }
        Ok(())
    }
}

/// Adds `share_id` to the list that `other` has under `key`; a list that is full stays as it is.
async fn add(tx: &mut Tx, key: &str, other: &str, share_id: &str) -> StoreResult<()> {
    // held, so that two that are made at once both stand in it
    if tx.share_locked(other).await?.is_none() {
        return Ok(());
    }
    let known = tx.metadata(MetadataOf::Share, other).await?.into_iter().find(|(k, _)| k == key).map(|(_, v)| v);
    let list = known.filter(|v| !v.is_empty()).map_or_else(|| share_id.to_owned(), |v| format!("{v},{share_id}"));
    if list.len() <= MAX_VALUE {
        tx.metadata_put(MetadataOf::Share, other, &[(key.to_owned(), list)]).await?;
    }
    Ok(())
}

/// The ids of a hint: shares, comma separated.
///
/// # Errors
/// 400.
pub fn ids(key: &str, text: &str) -> Result<Vec<String>> {
    let ids: Vec<String> = text.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
    if ids.len() > MAX_VALUE / 37 {
        return Err(refusal::invalid_input(format!("The scheduler hint {key} names more than {} shares.", MAX_VALUE / 37)));
    }
    match ids.iter().find(|id| uuid::Uuid::try_parse(id).is_err()) {
        Some(bad) => Err(refusal::invalid_input(format!("The scheduler hint {key} names {bad:.64}, which is not an id of a share."))),
        None => Ok(ids),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_a_list_of_ids() {
        let id = "11111111-1111-4111-8111-111111111111";
        assert_eq!(ids("same_host", &format!("{id}, {id}")).unwrap(), [id, id]);
        assert!(ids("same_host", "fake").is_err());
        assert!(ids("same_host", &vec![id; 28].join(",")).is_err());
    }
}
