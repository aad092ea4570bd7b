//! Measures a release `stowage serve` with the memory driver: on SQLite, and on a PostgreSQL of its own.
//!
//! It prints figures and asserts nothing about them. Client and service share the machine, as in the measurement of the
//! peers that the last column compares with. Everything is bounded in count and time, and stays on loopback.

mod attach;
mod create;
mod disk;
mod ensure;
mod http;
mod machine;
mod peers;
mod postgres;
mod read;
mod report;
mod scale;
mod seed;
mod service;

use report::{Column, Report};
use scale::Scale;
use service::Service;
use stowage::store::Durability;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    if has("--list") {
        return; // a test runner that looks for tests
    }
    let scale = if has("--quick") { Scale::quick() } else { Scale::full() };
    let with_disk = !has("--no-disk");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let report = runtime.block_on(run(&scale, !has("--sqlite-only"), with_disk));
    let text = report.markdown(&scale);
    println!("{text}");
    if has("--write") {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");
        std::fs::write(file, text).unwrap();
        eprintln!("written to docs/performance.md");
    }
}

async fn run(scale: &Scale, with_postgres: bool, with_disk: bool) -> Report {
    let mut report = Report::new(machine::describe());
    measure(&mut report, Column::Sqlite, None, scale).await;
    measure_writes(&mut report, scale).await;
    if with_disk {
        match disk::lacks() {
            None => disk::measure(&mut report, Column::Sqlite, scale, &|what| eprintln!("[disk] {what}")).await,
            Some(why) => eprintln!("left out: bytes on a disk ({why})"),
        }
    }
    if !with_postgres {
        return report;
    }
    match postgres::Server::start().await {
        Ok(server) => measure(&mut report, Column::Postgres, Some(server.url()), scale).await,
        Err(why) => eprintln!("left out: PostgreSQL ({why})"),
    }
    report
}

async fn measure(report: &mut Report, column: Column, database: Option<String>, scale: &Scale) {
    let say = |what: &str| eprintln!("[{}] {what}", column.name());
    say("start on an empty database");
    let mut service = Service::start(database, Durability::Full).await;
    report.put(column, "start, empty database", report::millis(service.started_in));
    tokio::time::sleep(scale.settle).await;
    report.put(column, "memory at idle (RSS)", report::mib(service.rss_kib()));
    service.log_in().await;
    let volumes = create::measure(report, column, &service, scale, &say).await;
    attach::measure(report, column, &service, &volumes, scale, &say).await;
    for rows in [1_000, scale.many] {
        say(&format!("seed up to {rows} volumes"));
        seed::up_to(&service, rows).await;
        read::measure(report, column, &service, rows, scale, &say).await;
    }
    ensure::measure(report, column, &service, scale, &say).await;
    say("start with many volumes");
    service.restart().await;
    report.put(column, &format!("start, {} volumes", report::thousands(scale.many)), report::millis(service.started_in));
    tokio::time::sleep(scale.settle).await;
    report.put(column, &format!("memory at idle with {} volumes (RSS)", report::thousands(scale.many)), report::mib(service.rss_kib()));
    service.stop().await;
}

/// What the faster durability changes: reads are the same.
async fn measure_writes(report: &mut Report, scale: &Scale) {
    let column = Column::SqliteProcess;
    let say = |what: &str| eprintln!("[{}] {what}", column.name());
    let mut service = Service::start(None, Durability::Process).await;
    service.log_in().await;
    let volumes = create::measure(report, column, &service, scale, &say).await;
    attach::measure(report, column, &service, &volumes, scale, &say).await;
    service.stop().await;
}
