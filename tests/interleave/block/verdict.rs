//! What an answer may be, whatever the others do meanwhile.

use support::Answer;

use super::plan::Step;
use crate::fault::fault;

/// How the refusals of a driver begin.
const CONNECTS: [&str; 3] =
    ["Unable to create attachment for volume.", "Unable to update the attachment.", "Unable to fetch connection information from backend."];
const DETACHES: [&str; 2] = ["Unable to delete the attachment.", "Unable to terminate volume connection from backend."];

/// What is wrong with an answer. `restarted`: the service may just have started.
pub fn objection(step: &Step, answer: &Answer, restarted: bool) -> Option<String> {
    let status = answer.status.as_u16();
    let told = match status {
        200..=299 => return None,
        _ => match fault(answer) {
            Ok(message) => message,
            Err(why) => return Some(format!("[fault-shape] {step}: {why}: {answer:?}")),
        },
    };
    let connects = matches!(step, Step::Attach { .. } | Step::Connect { .. } | Step::Older { .. } | Step::OlderWay { .. });
    let detaches = matches!(step, Step::Detach { .. } | Step::ForceDetach { .. } | Step::Older { .. } | Step::OlderWay { .. });
    let expected = match status {
        400 | 404 | 409 | 413 => true,
        // the driver did not do it, and the caller waited for that
        500 => {
            (connects && CONNECTS.iter().any(|text| told.starts_with(text)))
                || (detaches && DETACHES.iter().any(|text| told.starts_with(text)))
        }
        // the driver has not done it yet
        504 => connects || detaches,
        // before the first reports
        503 => restarted && told.contains("has not reported yet"),
        _ => false,
    };
    (!expected).then(|| format!("[unexpected-status] {step}: {answer:?}"))
}
