//! Attachments. `connection_info` is flat here: what the driver said and what stands beside it are one object.

use serde_json::{Map, Value, json};

use crate::{clock::api_text, store::sql::attachments::AttachmentRow};

/// Four members.
pub fn summary(a: &AttachmentRow) -> Value {
    json!({ "id": a.id, "status": a.status, "instance": a.instance_id, "volume_id": a.volume_id })
}

/// All members. A time that is not there is an empty text.
pub fn detail(a: &AttachmentRow) -> Value {
    let time = |at: Option<i64>| at.map(api_text).unwrap_or_default();
    json!({
        "id": a.id,
        "status": a.status,
        "instance": a.instance_id,
        "volume_id": a.volume_id,
        "attached_at": time(a.attached_at),
        "detached_at": time(a.detached_at),
        "attach_mode": a.mode,
        "connection_info": flat(a.connection_info.as_deref()),
    })
}

fn flat(stored: Option<&str>) -> Value {
    let Some(Value::Object(mut outer)) = stored.and_then(|text| serde_json::from_str(text).ok()) else { return Value::Object(Map::new()) };
    if let Some(Value::Object(data)) = outer.remove("data") {
        for (key, value) in data {
            outer.entry(key).or_insert(value);
        }
    }
    Value::Object(outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_info_is_one_object() {
        let stored = r#"{"driver_volume_type": "iscsi", "attachment_id": "a", "data": {"target_iqn": "i", "attachment_id": "forged"}}"#;
        assert_eq!(flat(Some(stored)), json!({"driver_volume_type": "iscsi", "attachment_id": "a", "target_iqn": "i"}));
        assert_eq!(flat(None), json!({}));
    }
}
