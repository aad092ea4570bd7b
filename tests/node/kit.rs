//! The driver `linux` keeps every promise of the contract on a real node.

use std::time::Duration;

use serde_json::json;
use stowage::{
    config::Secret,
    driver::kit::{self, Outcome},
};
use support::{lab::Lab, node::Node};

#[tokio::test]
async fn the_kit_finds_every_promise_kept_in_both_layouts() {
    for layout in ["target-per-volume", "target-per-initiator"] {
        let node = Node::start().await;
        let lab = Lab::new().await;
        let options = json!({ "nodes": [format!("here={}", node.url)], "layout": layout });
        let backend = lab
            .open_with("linux", &options, |config| {
                config.grants.http = vec![node.url.trim_start_matches("http://").to_owned()];
                config.secrets.insert("token".to_owned(), Secret::literal(node.token()));
            })
            .await
            .unwrap();
        let report = kit::run(&backend, Duration::from_secs(60)).await;
        let broken: Vec<_> = report.broken().collect();
        assert!(broken.is_empty(), "{layout}: {broken:#?}");
        assert!(report.checks.iter().any(|c| c.outcome == Outcome::Kept), "{layout}: nothing was tried: {report:#?}");
        for kind in ["volumes", "snapshots"] {
            assert!(node.all(kind).await.is_empty(), "the kit left {kind} behind");
        }
        node.agrees().await;
    }
}
