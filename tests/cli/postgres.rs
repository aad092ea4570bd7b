//! On PostgreSQL the schema changes only when an operator says so: other processes may run the older binary.

use support::{Process, db, postgres, wait};

#[tokio::test]
async fn serve_refuses_an_old_schema_and_names_migrate() {
    if !db::is_wanted("postgres") {
        return;
    }
    let database = postgres::empty_database().await;
    let mut process = Process::prepare(|c| {
        c.backends.clear();
        c.database.url = database.url.clone();
    });
    process.spawn();
    let status = wait::until("the process to end", || std::future::ready(process.exited())).await;
    assert_eq!(status.code(), Some(1));
    assert!(process.log().contains("run `stowage migrate`"), "{}", process.log());
    let migrated = process.command().arg("migrate").output().unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    process.restart().await;
}

#[tokio::test]
async fn two_processes_serve_one_database() {
    if !db::is_wanted("postgres") {
        return;
    }
    let database = postgres::database().await;
    let start = || {
        Process::start(|c| {
            c.backends.clear();
            c.database.url = database.url.clone();
        })
    };
    let (mut first, mut second) = (start().await, start().await);
    assert!(first.exited().is_none() && second.exited().is_none());
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named_without_its_password() {
    let mut process = Process::prepare(|c| {
        c.backends.clear();
        c.database.acquire_timeout = std::time::Duration::from_secs(1);
    });
    let text = std::fs::read_to_string(process.config_file()).unwrap();
    let url = "url = \"postgres://u:hunter2@127.0.0.1:1/none\"";
    std::fs::write(process.config_file(), text.replace("url = \"\"\ndurability", &format!("{url}\ndurability"))).unwrap();
    process.spawn();
    let status = wait::until("the process to end", || std::future::ready(process.exited())).await;
    assert_eq!(status.code(), Some(1));
    let log = process.log();
    assert!(log.contains("PostgreSQL at 127.0.0.1:1 gives no connection") && log.contains("Connection refused"), "{log}");
    assert!(log.contains("check that it runs there") && !log.contains("busy"), "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}
