//! A driver in Python is a driver like any other: `examples/python-driver`, where it has been built.

use std::{env, path::PathBuf, sync::Arc, time::Duration};

use serde_json::json;
use stowage::{
    config::BackendConfig,
    driver::{
        ErrorKind,
        kit::{self, Outcome},
        types::Connector,
    },
};
use support::lab::{Lab, call};

#[tokio::test]
async fn a_driver_in_python_keeps_its_promises_and_fails_in_the_contracts_words() {
    let Some(file) = env::var_os("STOWAGE_PYTHON_DRIVER").map(PathBuf::from) else {
        eprintln!("left out: the driver in Python (`make python-driver` builds it; `make test` does, and sets STOWAGE_PYTHON_DRIVER)");
        return;
    };
    assert!(file.exists(), "{} is not there: run `make python-driver`", file.display());
    let lab = Lab::new().await;
    let driver = lab.load(&file).await.unwrap();
    assert_eq!((driver.identity().name.as_str(), driver.identity().interface_version.as_str()), ("python-example", "0.1.0"));
    let open = |portal: &str| {
        let mut config = BackendConfig::new("lab", "python");
        config.options = json!({ "portal": portal, "capacity_gib": 50 }).as_object().unwrap().clone();
        config.grants.memory_mib = 256;
        let driver = Arc::clone(&driver);
        async move { driver.open("stowage@lab", Arc::new(config)).await }
    };
    let refused = open("nowhere").await.err().expect("it opened");
    assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
    let backend = open("192.0.2.10:3260").await.unwrap();
    let report = kit::run(&backend, Duration::from_secs(60)).await;
    assert!(report.broken().next().is_none(), "{report:#?}");
    assert!(report.checks.iter().filter(|c| c.outcome == Outcome::Kept).count() > 5, "{report:#?}");
    let nobody = backend.need_connection_info().unwrap().validate_connector(&call("validate"), &Connector::default()).await;
    assert_eq!(nobody.unwrap_err().kind, ErrorKind::Invalid);
}
