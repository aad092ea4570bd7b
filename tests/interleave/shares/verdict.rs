//! What an answer may be, whatever the others do meanwhile.

use support::Answer;

use super::plan::Step;
use crate::fault::fault;

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
    let expected = match status {
        400 | 403 | 404 | 409 | 413 => true,
        // drivers are asked whether a subnet can be added, and the machine may be a slow one
        504 => matches!(step, Step::AddSubnet { .. } | Step::CheckSubnet { .. }),
        // before the first reports; and a subnet is not added while a back end that failed too often is left alone
        503 => {
            (restarted && told.contains("has not reported yet"))
                || (matches!(step, Step::AddSubnet { .. } | Step::CheckSubnet { .. })
                    && told.contains("a storage back end of its share servers is down"))
        }
        _ => false,
    };
    (!expected).then(|| format!("[unexpected-status] {step}: {answer:?}"))
}
