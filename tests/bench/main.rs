//! Measures a release `stowage serve` with the memory driver: on SQLite, and on a PostgreSQL of its own.
//!
//! It prints figures and asserts nothing about them. Client and service share the machine, as in the measurement of the
//! peers that the last column compares with. Everything is bounded in count and time, and stays on loopback.

mod access;
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
mod shares;

use create::What;
use report::{Column, Report, Section};
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
    let part = if has("--shares-only") { Part::Shares } else { Part::All };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let report = runtime.block_on(run(&scale, part, !has("--sqlite-only"), with_disk));
    let text = report.markdown(&scale);
    println!("{text}");
    if has("--write") {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");
        std::fs::write(file, text).unwrap();
        eprintln!("written to docs/performance.md");
    }
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Shares,
}

async fn run(scale: &Scale, part: Part, with_postgres: bool, with_disk: bool) -> Report {
    let mut report = Report::new(machine::describe());
    measure(&mut report, Column::Sqlite, None, scale, part).await;
    measure_writes(&mut report, scale, part).await;
    report.section(Section::Volumes);
    if with_disk && part == Part::All {
        match disk::lacks() {
            None => disk::measure(&mut report, Column::Sqlite, scale, &|what| eprintln!("[disk] {what}")).await,
            Some(why) => eprintln!("left out: bytes on a disk ({why})"),
        }
    }
    if !with_postgres {
        return report;
    }
    match postgres::Server::start().await {
        Ok(server) => measure(&mut report, Column::Postgres, Some(server.url()), scale, part).await,
        Err(why) => eprintln!("left out: PostgreSQL ({why})"),
    }
    report
}

async fn measure(report: &mut Report, column: Column, database: Option<String>, scale: &Scale, part: Part) {
    let say = |what: &str| eprintln!("[{}] {what}", column.name());
    say("start on an empty database");
    let mut service = Service::start(database, Durability::Full).await;
    report.section(Section::Volumes);
    if part == Part::All {
        report.put(column, "start, empty database", report::millis(service.started_in));
        tokio::time::sleep(scale.settle).await;
        report.put(column, "memory at idle (RSS)", report::mib(service.rss_kib()));
    }
    service.log_in().await;
    if part == Part::All {
        volumes(report, column, &service, scale, &say).await;
    }
    report.section(Section::Shares);
    shares::measure(report, column, &service, scale, &say).await;
    if part == Part::All {
        report.section(Section::Volumes);
        say("start with many volumes and shares");
        service.restart().await;
        let with = format!("{} volumes and {} shares", report::thousands(scale.many), report::thousands(scale.shares));
        report.put(column, &format!("start, {with}"), report::millis(service.started_in));
        tokio::time::sleep(scale.settle).await;
        report.put(column, &format!("memory at idle with {with} (RSS)"), report::mib(service.rss_kib()));
    }
    service.stop().await;
}

async fn volumes(report: &mut Report, column: Column, service: &Service, scale: &Scale, say: &impl Fn(&str)) {
    let volumes = create::measure(report, column, service, What::Volume, scale, say).await;
    attach::measure(report, column, service, &volumes, scale, say).await;
    for rows in [1_000, scale.many] {
        say(&format!("seed up to {rows} volumes"));
        seed::up_to(service, rows).await;
        read::volumes(report, column, service, rows, scale, say).await;
    }
}

/// What the faster durability changes: reads are the same.
async fn measure_writes(report: &mut Report, scale: &Scale, part: Part) {
    let column = Column::SqliteProcess;
    let say = |what: &str| eprintln!("[{}] {what}", column.name());
    let mut service = Service::start(None, Durability::Process).await;
    service.log_in().await;
    if part == Part::All {
        report.section(Section::Volumes);
        let volumes = create::measure(report, column, &service, What::Volume, scale, &say).await;
        attach::measure(report, column, &service, &volumes, scale, &say).await;
    }
    report.section(Section::Shares);
    let shares = create::measure(report, column, &service, What::Share, scale, &say).await;
    access::measure(report, column, &service, &shares, scale, &say).await;
    service.stop().await;
}
