//! Scheduler hints of a share: near to, or away from, other shares; and, for operators, one host alone.
//!
//! What was asked is remembered in the metadata of the new share, and in that of those it names which are its own project's, under
//! keys that only administrators write. Nobody writes into another project's share.

use std::collections::BTreeSet;

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
    pub async fn checked(self, app: &App, ctx: &RequestContext) -> Result<Checked> {
        let mut own = BTreeSet::new();
        for id in self.same_host.iter().chain(&self.different_host) {
            // a public share of another project may be named, too
            if super::load_row(app, ctx, id).await?.project_id == ctx.project_id() {
                own.insert(id.clone());
            }
        }
        let only_host = self.only_host.filter(|_| ctx.is_admin());
        Ok(Checked { hints: Self { only_host, ..self }, own })
    }

    /// What the scheduler reads.
    pub fn for_scheduler(&self) -> scheduler::Hints {
        scheduler::Hints { same_host: self.same_host.clone(), different_host: self.different_host.clone() }
    }
}

/// Hints whose shares the caller knows.
#[derive(Debug, Clone)]
pub struct Checked {
    pub hints: Hints,
    /// Those of them that are of the caller's project, in the order in which they are held.
    own: BTreeSet<String>,
}

impl Checked {
    /// Holds those that will be written to until the transaction ends, as everybody holds shares: before any snapshot and quota,
    /// several of them in the order of their ids. So two that are made at once both stand in a list. Those that are gone are
    /// not written to.
    pub(super) async fn hold(&mut self, tx: &mut Tx) -> StoreResult<()> {
        for id in std::mem::take(&mut self.own) {
            if tx.share_locked(&id).await?.is_some() {
                self.own.insert(id);
            }
        }
        Ok(())
    }

    /// Writes them down, where they are held.
    pub(super) async fn remember(&self, tx: &mut Tx, share_id: &str) -> StoreResult<()> {
        for (key, others) in [(SAME_HOST, &self.hints.same_host), (DIFFERENT_HOST, &self.hints.different_host)] {
            if others.is_empty() {
                continue;
            }
            tx.metadata_put(MetadataOf::Share, share_id, &[(key.to_owned(), others.join(","))]).await?;
            for other in self.own.iter().filter(|own| others.contains(own)) {
                add(tx, key, other, share_id).await?;
            }
        }
        Ok(())
    }
}

/// Adds `share_id` to the list that `other` has under `key`; a list that is full stays as it is.
async fn add(tx: &mut Tx, key: &str, other: &str, share_id: &str) -> StoreResult<()> {
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
