//! What an answer may be, whatever the others do meanwhile.

use support::Answer;

use crate::plan::Step;

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

/// The sentence of a fault: one key that names it, with code and message inside.
fn fault(answer: &Answer) -> Result<String, String> {
    let body: serde_json::Value = serde_json::from_str(&answer.text).map_err(|e| e.to_string())?;
    let members = body.as_object().ok_or("no object")?;
    let status = answer.status.as_u16();
    let key = stowage::api::fault::key(answer.status);
    let inside = members.get(key).filter(|_| members.len() == 1).ok_or_else(|| format!("its one member is not {key}"))?;
    if inside["code"] != status {
        return Err(format!("its code is not {status}"));
    }
    inside["message"].as_str().filter(|m| !m.is_empty()).map(str::to_owned).ok_or_else(|| "it says nothing".to_owned())
}
