//! An event as CloudEvents 1.0, structured JSON.

use serde_json::json;

use crate::{clock, notify::Event};

/// The media type of the body.
pub const MEDIA_TYPE: &str = "application/cloudevents+json; charset=utf-8";

/// `source` names the cluster; it and the id are what makes an event unique. Extension attributes have no letters but small ones.
pub fn render(event: &Event, source: &str) -> String {
    let mut shown = json!({
        "specversion": "1.0",
        "id": event.id,
        "source": source,
        "type": event.event_type,
        "subject": format!("{}/{}", event.resource_kind, event.resource_id),
        "time": clock::utc_text(event.created_at),
        "datacontenttype": "application/json",
        "data": event.payload,
    });
    // an attribute without a value is left out, by the format
    for (name, value) in [("projectid", &event.project_id), ("userid", &event.user_id), ("requestid", &event.request_id)] {
        if !value.is_empty() {
            shown[name] = json!(value);
        }
    }
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_format_demands_is_there_and_nothing_is_empty() {
        let event = Event {
            seq: 7,
            id: "e1".to_owned(),
            event_type: "volume.create.end".to_owned(),
            resource_kind: "volume".to_owned(),
            resource_id: "v1".to_owned(),
            project_id: "p1".to_owned(),
            user_id: String::new(),
            request_id: "req-1".to_owned(),
            payload: json!({ "size": 1 }),
            created_at: 1_000_000,
            attempts: 3,
        };
        let shown: serde_json::Value = serde_json::from_str(&render(&event, "/stowage/here")).unwrap();
        assert_eq!(
            shown,
            json!({
                "specversion": "1.0", "id": "e1", "source": "/stowage/here", "type": "volume.create.end", "subject": "volume/v1",
                "time": "1970-01-01T00:00:01.000000Z", "datacontenttype": "application/json", "data": { "size": 1 },
                "projectid": "p1", "requestid": "req-1",
            })
        );
    }
}
