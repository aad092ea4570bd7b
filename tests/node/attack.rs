//! What a caller with a token, or an initiator, cannot make the node do.

use std::{collections::BTreeSet, fs, path::Path};

use http::{Method, StatusCode};
use serde_json::{Value, json};
use support::node::Node;

/// Everything in a folder but what runs there, by path.
fn tree(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

/// As they stand in a path, escaped.
const NAMES: [&str; 22] = [
    "..%2F..%2Fescape",
    "%2Fetc%2Fpasswd",
    "..",
    "%2e%2e",
    ".",
    "a%2Fb",
    "a%0Ab",
    "a%00b",
    "a%20b",
    "%24%28touch%20escape%29",
    "%60touch%20escape%60",
    "a%3Btouch%20escape",
    "a%7Ctouch%20escape",
    "a%2Cpath%3D%2Fetc%2Fpasswd",
    "-rf",
    ".hidden",
    "%C3%A4",
    "%FF",
    "a%5Cb",
    "~root",
    "a%22b",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

#[tokio::test]
async fn a_name_that_is_more_than_a_name_is_refused_everywhere_and_touches_nothing() {
    let node = Node::start().await;
    node.volume("v1").await;
    let before = tree(node.around());
    for name in NAMES {
        let attempts = [
            (Method::PUT, format!("/v1/volumes/{name}"), json!({"size_gib": 1})),
            (Method::GET, format!("/v1/volumes/{name}"), Value::Null),
            (Method::DELETE, format!("/v1/volumes/{name}"), Value::Null),
            (Method::PUT, format!("/v1/snapshots/{name}"), json!({"volume": "v1"})),
            (Method::POST, format!("/v1/volumes/{name}/release"), json!({})),
            (Method::PUT, format!("/v1/volumes/{name}/attachments/iqn.x:a"), json!({})),
            (Method::PUT, format!("/v1/volumes/v1/attachments/iqn.x{name}"), json!({})),
            (Method::DELETE, format!("/v1/volumes/v1/attachments/{name}"), Value::Null),
            (Method::GET, format!("/v1/import/{name}"), Value::Null),
        ];
        for (method, path, body) in attempts {
            // `iqn.x-rf` and the like are names, and an import file's name may be longer than an id
            let fits = path.contains("iqn.x") && (name.starts_with(['-', '.', 'x']) || name == "%2e%2e");
            if fits || (path.contains("import") && name.starts_with('x')) {
                continue;
            }
            let answer = node.send(method.clone(), &path, Some(body).filter(|b| !b.is_null())).await;
            assert!([400, 404, 405].contains(&answer.status.as_u16()), "{method} {path}: {} {}", answer.status, answer.body);
            assert!(["invalid", "unsupported"].contains(&answer.kind()), "{method} {path}: {}", answer.body);
        }
    }
    for (key, value) in
        [("volume", "../v1"), ("snapshot", "/etc/passwd"), ("import", "../../../etc/passwd"), ("volume", "a\nb"), ("import", "..")]
    {
        node.put("/v1/volumes/v2", json!({"size_gib": 1, "source": {key: value}})).await.refused("invalid");
    }
    assert_eq!(tree(node.around()), before);
    node.agrees().await;
}

#[tokio::test]
async fn a_body_that_is_not_as_described_is_refused() {
    let node = Node::start().await;
    node.volume("v1").await;
    for body in [
        json!({}),
        json!([]),
        json!(null),
        json!({"size_gib": 0}),
        json!({"size_gib": -1}),
        json!({"size_gib": 1.5}),
        json!({"size_gib": "1"}),
        json!({"size_gib": 65537}),
        json!({"size_gib": u64::MAX}),
        json!({"size_gib": 1, "unknown": 1}),
        json!({"size_gib": 1, "layout": "other"}),
        json!({"size_gib": 1, "source": {}}),
        json!({"size_gib": 1, "source": {"volume": "v1", "snapshot": "s1"}}),
        json!({"size_gib": 1, "source": "v1"}),
    ] {
        let answer = node.put("/v1/volumes/v2", body.clone()).await;
        assert_eq!(answer.kind(), "invalid", "{body}: {}", answer.body);
    }
    for body in [
        json!({"mode": "rwx"}),
        json!({"ip": "10.0.0.1; reboot"}),
        json!({"host": "a\nb"}),
        json!({"host": "x".repeat(256)}),
        json!({"initiator": "iqn.y"}),
    ] {
        node.put("/v1/volumes/v1/attachments/iqn.x:a", body).await.refused("invalid");
    }
    for raw in
        ["{", "{\"size_gib\": 1", "{\"size_gib\": 1, \"size_gib\": 2}", "{\"size_gib\": 99999999999999999999999999}", "\u{0}", "[[[[[["]
    {
        let response = node.request(Method::PUT, "/v1/volumes/v2").header("Stowage-Generation", "9").body(raw).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{raw:?}");
    }
    let long = format!("{{\"size_gib\": 1, \"x\": \"{}\"}}", "y".repeat(70_000));
    let response = node.request(Method::PUT, "/v1/volumes/v2").header("Stowage-Generation", "9").body(long).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    node.agrees().await;
}

#[tokio::test]
async fn another_objects_id_gives_nothing_of_it() {
    let node = Node::start().await;
    for id in ["v1", "v2"] {
        node.volume(id).await;
    }
    node.put("/v1/snapshots/s2", json!({"volume": "v2"})).await.ok();
    node.attach("v2", "iqn.x:a").await;
    node.post("/v1/volumes/v1/revert", json!({"snapshot": "s2"})).await.refused("invalid");
    node.put("/v1/snapshots/s2", json!({"volume": "v1"})).await.refused("conflict");
    node.get("/v1/volumes/s2").await.refused("not-found");
    node.get("/v1/snapshots/v2").await.refused("not-found");
    node.get("/v1/volumes/v1/attachments/iqn.x:a").await.refused("not-found");
    node.put("/v1/volumes/v3", json!({"size_gib": 1, "source": {"snapshot": "v2"}})).await.refused("not-found");
    node.put("/v1/volumes/v3", json!({"size_gib": 1, "source": {"volume": "v3"}})).await.refused("not-found");
    // a delete of the wrong kind of object deletes nothing
    assert_eq!(node.delete("/v1/snapshots/v1").await.status, StatusCode::NO_CONTENT);
    assert_eq!(node.delete("/v1/volumes/v1/attachments/iqn.x:a").await.status, StatusCode::NO_CONTENT);
    node.get("/v1/volumes/v1").await.ok();
    node.agrees().await;
}

#[tokio::test]
async fn an_import_file_that_is_a_link_or_a_device_is_not_followed() {
    let node = Node::start().await;
    let import = node.dir().join("data/import");
    let secret = node.around().join("secret");
    fs::write(&secret, vec![7; 4096]).unwrap();
    std::os::unix::fs::symlink(&secret, import.join("link")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", import.join("device")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(import.join("pipe")).status().unwrap().success());
    fs::create_dir(import.join("folder")).unwrap();
    fs::write(import.join("empty"), "").unwrap();
    for name in ["link", "device", "pipe", "folder", "empty"] {
        assert!(node.get(&format!("/v1/import/{name}")).await.ok()["unsafe_because"].is_string(), "{name}");
        node.put("/v1/volumes/v1", json!({"source": {"import": name}})).await.refused("invalid");
    }
    assert_eq!(fs::read(&secret).unwrap(), vec![7; 4096]);
    node.agrees().await;
}

#[tokio::test]
async fn a_volume_file_that_was_made_a_link_is_not_followed() {
    let node = Node::start().await;
    node.volume("v1").await;
    let file = node.dir().join("data/volumes/v1.img");
    let secret = node.around().join("secret");
    fs::write(&secret, "secret").unwrap();
    fs::rename(&file, node.dir().join("data/kept")).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    for path in ["/v1/volumes/v2", "/v1/volumes/v3"] {
        node.put(path, json!({"size_gib": 1, "source": {"volume": "v1"}})).await.refused("invalid");
    }
    assert_ne!(node.put("/v1/volumes/v1/size", json!({"size_gib": 2})).await.status, StatusCode::OK);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    fs::remove_file(&file).unwrap();
    fs::rename(node.dir().join("data/kept"), &file).unwrap();
    node.agrees().await;
}
