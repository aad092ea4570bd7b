//! The shape of a refusal, which both APIs share.

use support::Answer;

/// The sentence of a fault: one key that names it, with code and message inside.
pub fn fault(answer: &Answer) -> Result<String, String> {
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
