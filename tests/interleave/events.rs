//! Events, as the log sink told them.

use std::collections::BTreeSet;

use serde_json::Value;

/// The last word about something.
const ENDS: [&str; 4] = ["volume.delete.end", "snapshot.delete.end", "share.delete.end", "share_snapshot.delete.end"];

/// Events that were told, for the first time, after their resource had gone. From one service's log.
pub fn events_out_of_order(log: &str) -> Vec<String> {
    let (mut seen, mut gone, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for line in log.lines().filter(|l| l.contains("stowage::event")) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let of = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let (resource, kind) = (of("resource_id"), of("event_type"));
        if !seen.insert(of("event_id")) {
            continue;
        }
        if gone.contains(&resource) {
            wrong.push(format!("{kind} of {resource} after its end"));
        }
        if ENDS.contains(&kind.as_str()) {
            gone.insert(resource);
        }
    }
    assert!(!seen.is_empty(), "no event is in the log");
    wrong
}
