//! `stowage manage reset-admin-password`: the way back for whoever lost clouds.yaml.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use http::StatusCode;
use serde_json::json;
use stowage::api::route::Api;
use support::{Process, db, postgres, wait};

fn password(clouds: &Path) -> String {
    let text = fs::read_to_string(clouds).unwrap();
    text.lines().find_map(|l| l.trim().strip_prefix("password: ")).unwrap().trim_matches('"').to_owned()
}

/// The status of a log-in as the administrator.
async fn log_in(process: &Process, password: &str) -> StatusCode {
    let body = json!({ "auth": {
        "identity": { "methods": ["password"], "password": { "user": { "name": "admin", "domain": { "id": "default" }, "password": password } } },
        "scope": { "project": { "name": "admin", "domain": { "id": "default" } } },
    }});
    process.anonymous(Api::Identity).post("/auth/tokens", body).await.status
}

fn reset(process: &Process, more: &[&str]) -> (Option<i32>, String, String) {
    let out = process.command().args(["manage", "reset-admin-password"]).args(more).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[tokio::test]
async fn on_sqlite_it_wants_the_service_stopped_and_then_writes_a_file_that_logs_in() {
    let mut process = Process::start(|c| c.backends.clear()).await;
    let clouds = process.config().clouds_yaml();
    let old = password(&clouds);
    let (status, _, said) = reset(&process, &[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("one process at a time") && said.contains("Stop the service"), "{said}");
    assert_eq!(log_in(&process, &old).await, 201, "the old password stays");
    assert!(process.terminate().await.success());
    fs::remove_file(&clouds).unwrap();
    let (status, said, errors) = reset(&process, &[]);
    assert_eq!(status, Some(0), "{errors}");
    assert_eq!(fs::metadata(&clouds).unwrap().permissions().mode() & 0o777, 0o600);
    let new = password(&clouds);
    assert!(said.contains(&clouds.display().to_string()) && !said.contains(&new) && !errors.contains(&new), "{said}{errors}");
    process.restart().await;
    assert_eq!((log_in(&process, &old).await.as_u16(), log_in(&process, &new).await.as_u16()), (401, 201));
    assert!(fs::read_to_string(&clouds).unwrap().contains(&format!("auth_url: {}/v3", process.url(Api::Identity))));
}

#[tokio::test]
async fn on_postgresql_it_works_beside_the_running_service() {
    if !db::is_wanted("postgres") {
        return;
    }
    let database = postgres::database().await;
    let process = Process::start(|c| {
        c.backends.clear();
        c.database.url = database.url.clone();
    })
    .await;
    let old = password(&process.config().clouds_yaml());
    let personas = process.personas().await;
    let admin = process.client(&personas, Api::Identity, support::Persona::Admin);
    admin.get("/users").await.expect(200);
    let elsewhere = process.state_dir().join("new-clouds.yaml");
    let (status, said, errors) = reset(&process, &["--file", elsewhere.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(said.contains("new-clouds.yaml"), "{said}");
    assert_eq!((log_in(&process, &old).await.as_u16(), log_in(&process, &password(&elsewhere)).await.as_u16()), (401, 201));
    wait::until("the old token to be refused", || async { (admin.get("/users").await.status == 401).then_some(()) }).await;
}

#[tokio::test]
async fn a_state_folder_without_a_database_is_named_and_none_is_made() {
    let process = Process::prepare(|c| c.backends.clear());
    let (status, _, said) = reset(&process, &[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("there is no database"), "{said}");
    assert!(!process.state_dir().join("stowage.db").exists());
}
