//! Numbers for Prometheus. Names start with `stowage_`, units stand in the name, labels have few values (never an id).

use std::sync::OnceLock;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds for everything that ends in `_seconds`: from a cache hit to a slow array.
const SECONDS: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();

/// The recorder of this process, installed at the first call.
pub fn handle() -> PrometheusHandle {
    HANDLE
        .get_or_init(|| {
            let builder = PrometheusBuilder::new();
            let builder = builder
                .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)
                .unwrap_or_else(|_| PrometheusBuilder::new());
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another metrics recorder is installed; /metrics stays empty");
            }
            describe();
            handle
        })
        .clone()
}

fn describe() {
    metrics::describe_gauge!("stowage_build_info", "Always 1; the labels name the version.");
    metrics::gauge!("stowage_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    metrics::describe_counter!("stowage_http_requests_total", "Requests by API, method, route and status.");
    metrics::describe_histogram!("stowage_http_request_seconds", metrics::Unit::Seconds, "Time from the request's headers to its answer.");
    metrics::describe_gauge!("stowage_connections", "Open connections by service.");
    metrics::describe_counter!("stowage_config_reloads_total", "Configuration reloads by outcome.");
}
