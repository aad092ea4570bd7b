//! Services have no pages: every combination of the two filters.

use stowage::{
    api::route::Api,
    scheduler::{BackendConfig, BackendKind},
};
use support::Persona;

use super::on_databases;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_are_listed_as_the_model_lists_them() {
    on_databases(|app, _raw| async move {
        let mut tx = app.app().store.begin().await.unwrap();
        let hosts = ["stowage@a", "stowage@b", "stowage@b2"];
        for host in hosts {
            tx.configure_backend(&BackendConfig {
                host: host.into(),
                kind: BackendKind::Block,
                driver: "array".into(),
                backend_id: None,
                availability_zone: "nova".into(),
                capacity_group: None,
                disabled: false,
            })
            .await
            .unwrap();
        }
        tx.commit().await.unwrap();
        let all: Vec<(&str, &str)> = std::iter::once(("cinder-scheduler", "stowage")).chain(hosts.map(|h| ("cinder-volume", h))).collect();
        let operator = app.client(Api::Block, Persona::Admin).await;
        for binary in [None, Some("cinder-volume"), Some("cinder-scheduler"), Some("cinder-backup"), Some("cinder")] {
            for host in [None, Some("stowage"), Some("stowage@a"), Some("stowage@b"), Some("stowage@b2"), Some("elsewhere")] {
                let on = |of: &str| host.is_none_or(|h| h == of || of.split_once('@').is_some_and(|(cluster, _)| cluster == h));
                let expected: Vec<(&str, &str)> =
                    all.iter().filter(|(b, h)| binary.is_none_or(|wanted| wanted == *b) && on(h)).copied().collect();
                let words = [binary.map(|b| format!("binary={b}")), host.map(|h| format!("host={h}"))];
                let query = words.into_iter().flatten().collect::<Vec<_>>().join("&");
                let page = operator.get(&format!("/os-services?{query}")).await.expect(200);
                let found: Vec<(&str, &str)> = page["services"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|s| (s["binary"].as_str().unwrap(), s["host"].as_str().unwrap()))
                    .collect();
                assert_eq!(found, expected, "{query}");
            }
        }
    })
    .await;
}
