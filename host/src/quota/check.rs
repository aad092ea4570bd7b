//! Comparing the figures with what they count. The answer is always "no drift"; this is how it is known.

use std::collections::BTreeMap;

pub use crate::store::sql::quota_count::Counted;
use crate::store::{StoreResult, Tx};

/// A figure that differs from what it counts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Drift {
    pub project_id: String,
    pub user_id: String,
    pub type_id: String,
    pub resource: String,
    /// The usage row.
    pub recorded: i64,
    /// What its rows add up to.
    pub counted: i64,
}

/// Differences between usage rows and counted rows, in order; only resources that `covers` accepts are compared.
pub fn drift(recorded: &[Counted], counted: &[Counted], covers: impl Fn(&str) -> bool) -> Vec<Drift> {
    let key = |c: &Counted| (c.project_id.clone(), c.user_id.clone(), c.type_id.clone(), c.resource.clone());
    let mut both: BTreeMap<_, (i64, i64)> = BTreeMap::new();
    for c in recorded.iter().filter(|c| covers(&c.resource)) {
        both.entry(key(c)).or_default().0 += c.amount;
    }
    for c in counted.iter().filter(|c| covers(&c.resource)) {
        both.entry(key(c)).or_default().1 += c.amount;
    }
    both.into_iter()
        .filter(|(_, (recorded, counted))| recorded != counted)
        .map(|((project_id, user_id, type_id, resource), (recorded, counted))| Drift {
            project_id,
            user_id,
            type_id,
            resource,
            recorded,
            counted,
        })
        .collect()
}

impl Tx {
    /// Compares usage rows with `counted`, which the caller has read in this same transaction after
    /// [`lock_quota`](Tx::lock_quota). With `repair` the figures are corrected by this transaction.
    pub async fn quota_check(&mut self, counted: &[Counted], covers: impl Fn(&str) -> bool, repair: bool) -> StoreResult<Vec<Drift>> {
        let recorded = self.all_quota_usage().await?;
        let found = drift(&recorded, counted, covers);
        if repair {
            for d in &found {
                self.set_quota_usage(&d.project_id, &d.user_id, &d.type_id, &d.resource, d.counted).await?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resource: &str, amount: i64) -> Counted {
        Counted { project_id: "p".into(), resource: resource.into(), amount, ..Counted::default() }
    }

    #[test]
    fn equal_figures_are_no_drift_and_a_row_of_zero_needs_no_counterpart() {
        assert!(drift(&[row("volumes", 2), row("groups", 0)], &[row("volumes", 2)], |_| true).is_empty());
    }

    #[test]
    fn a_missing_row_on_either_side_is_drift() {
        let found = drift(&[row("volumes", 2)], &[row("gigabytes", 5)], |_| true);
        let figures: Vec<_> = found.iter().map(|d| (d.resource.as_str(), d.recorded, d.counted)).collect();
        assert_eq!(figures, [("gigabytes", 0, 5), ("volumes", 2, 0)]);
    }

    #[test]
    fn resources_the_caller_cannot_count_are_left_out() {
        assert!(drift(&[row("shares", 2)], &[], |r| r == "volumes").is_empty());
    }
}
