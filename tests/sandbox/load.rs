//! What does not fit is refused before it serves anything, and the refusal says what to change.

use bytes::Bytes;
use serde_json::json;
use stowage::driver::{Driver as _, ErrorKind, LoadError};
use support::drivers;

use crate::rig::Rig;

async fn refusal(bytes: Vec<u8>) -> LoadError {
    Rig::new().await.loader.load_component("x", &Bytes::from(bytes)).await.err().expect("it was loaded")
}

/// Of a component made from the contract's own text with one thing changed.
async fn refused(defect: &str) -> LoadError {
    refusal(std::fs::read(drivers::file(&format!("broken/{defect}"))).unwrap()).await
}

/// All of `words` stand in the message.
fn says(error: &LoadError, words: &[&str]) {
    let text = error.to_string();
    assert!(words.iter().all(|w| text.contains(w)), "{words:?} in {text:?}");
}

#[tokio::test]
async fn bytes_that_are_no_component() {
    for (bytes, word) in [(&b""[..], "empty"), (b"MZ\x90", "no wasm"), (b"\0asm\x01\0\0\0", "core wasm module")] {
        let e = refusal(bytes.to_vec()).await;
        assert!(matches!(e, LoadError::NotAComponent(_)), "{e}");
        says(&e, &[word]);
    }
    let mut half = std::fs::read(drivers::file("memory")).unwrap();
    half.truncate(half.len() / 2);
    assert!(matches!(refusal(half).await, LoadError::NotAComponent(_)));
}

#[tokio::test]
async fn an_exported_interface_without_one_of_its_functions() {
    let e = refused("missing-function").await;
    assert!(matches!(e, LoadError::Exports(_)), "{e}");
    says(&e, &["volumes", "extend"]);
}

#[tokio::test]
async fn a_record_of_another_shape() {
    let e = refused("wrong-record").await;
    assert!(matches!(e, LoadError::Exports(_)), "{e}");
    says(&e, &["parameter", "volume", "surprise: u32"]);
}

#[tokio::test]
async fn an_import_the_host_is_too_old_for() {
    let e = refused("newer-function").await;
    assert!(matches!(e, LoadError::Imports(_)), "{e}");
    says(&e, &["clock.leap", "newer"]);
}

#[tokio::test]
async fn an_interface_the_host_does_not_offer() {
    let e = refused("unknown-interface").await;
    assert!(matches!(e, LoadError::Imports(_)), "{e}");
    says(&e, &["teleport"]);
}

#[tokio::test]
async fn another_version_of_the_contract() {
    let e = refused("next-version").await;
    assert!(matches!(e, LoadError::Version(_)), "{e}");
    says(&e, &["0.2.0", "0.1"]);
}

#[tokio::test]
async fn a_component_that_cannot_say_what_it_can() {
    let e = refused("no-capabilities").await;
    assert!(matches!(e, LoadError::Exports(_)), "{e}");
    says(&e, &["capabilities"]);
}

#[tokio::test]
async fn what_fits_is_tried_before_it_serves() {
    // these pass every comparison; their functions trap when called
    for defect in ["only-traps", "later-patch", "extra-interface", "with-wasi"] {
        let e = refused(defect).await;
        assert!(matches!(&e, LoadError::Trial(d) if d.kind == ErrorKind::Trap), "{defect}: {e}");
    }
}

#[tokio::test]
async fn a_loaded_driver_says_who_it_is_and_what_it_has() {
    let bytes = Bytes::from(std::fs::read(drivers::file("memory")).unwrap());
    let (loaded, _) = Rig::new().await.loader.load_component("memory", &bytes).await.unwrap();
    let id = loaded.identity();
    assert_eq!((id.name.as_str(), id.file.as_str(), id.interface_version.as_str()), ("memory", "memory", "0.1.0"));
    assert_eq!(id.exports.len(), 26, "{:?}", id.exports);
    assert!(loaded.options().iter().any(|o| o.name == "pools"));
}

#[tokio::test]
async fn the_second_load_of_the_same_bytes_is_not_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = Bytes::from(std::fs::read(drivers::file("memory")).unwrap());
    let cache = folder.path().join("cache");
    for expected in [false, true] {
        let rig = Rig::with_cache(Some(cache.clone())).await;
        let (_, cached) = rig.loader.load_component("memory", &bytes).await.unwrap();
        assert_eq!(cached, expected);
    }
}

#[tokio::test]
async fn a_configuration_is_checked_before_the_driver_sees_it() {
    let rig = Rig::new().await;
    let open = |options| rig.try_open("m", "memory", options, Default::default());
    let failure = open(json!({ "multiattach": "perhaps", "colour": "red" })).await.err().unwrap();
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert!(
        failure.message.contains("`multiattach` must be true or false") && failure.message.contains("unknown option `colour`"),
        "{failure}"
    );
    let failure = open(json!({ "pools": ["pool0:much"] })).await.err().unwrap();
    assert_eq!(failure.kind, ErrorKind::Invalid, "what only the driver can judge, its init refuses: {failure}");
}

#[tokio::test]
async fn a_grant_that_is_no_authority_is_named() {
    let rig = Rig::new().await;
    let grants = stowage::config::Grants { http: vec!["http://array/".into()], ..Default::default() };
    let failure = rig.try_open("m", "memory", json!({}), grants).await.err().unwrap();
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert!(failure.message.contains("grants.http"), "{failure}");
}
