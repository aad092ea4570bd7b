//! `stowage doctor`: one line a check, and for each that fails what to do. Changes nothing, except that a driver it had to
//! compile is kept where the service keeps compiled drivers.

mod addresses;
mod drivers;
mod webhook;

use std::{fmt::Display, os::unix::fs::PermissionsExt};

use anyhow::Result;
use stowage::{
    config::{Config, IdentityMode, database_shown},
    copy::CopyError,
    error::chain,
    service::volume_type::seed::no_such_default,
    store::{Store, StoreError, sql::types::TypeOf},
};

use super::{SourceArgs, line};
use drivers::Database;

#[derive(Default)]
struct Report {
    failed: usize,
}

impl Report {
    fn ok(&self, what: &str, detail: impl Display) {
        line(format_args!("ok    {what}: {detail}"));
    }
    fn note(&self, what: &str, detail: impl Display) {
        line(format_args!("note  {what}: {detail}"));
    }
    fn wrong(&mut self, what: &str, detail: impl Display, remedy: impl Display) {
        self.failed += 1;
        line(format_args!("WRONG {what}: {detail}\n      remedy: {remedy}"));
    }
}

pub async fn doctor(args: &SourceArgs) -> Result<bool> {
    let mut report = Report::default();
    let source = args.source();
    let from = source.file.as_ref().map_or_else(|| "built-in defaults (no file)".to_owned(), |f| f.display().to_string());
    match source.load() {
        Err(e) => report.wrong("configuration", e, "correct it; nothing else was checked"),
        Ok(config) => {
            report.ok("configuration", from);
            state(&mut report, &config);
            ports(&mut report, &config).await;
            let database = database(&mut report, &config).await;
            drivers::check(&mut report, &config, &database).await;
            addresses::check(&mut report, &config, &database).await;
            webhook::check(&mut report, &config).await;
            database.close().await;
            copying(&mut report, &config).await;
        }
    }
    line(format_args!("{}", if report.failed == 0 { "all is well".to_owned() } else { format!("{} wrong", report.failed) }));
    Ok(report.failed == 0)
}

fn state(report: &mut Report, config: &Config) {
    let folder = &config.state_dir;
    let shown = folder.display();
    match std::fs::metadata(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            report.note("state folder", format_args!("{shown} will be made by `stowage serve`"))
        }
        Err(e) => report.wrong("state folder", format_args!("{shown}: {e}"), "set state_dir to a folder this user may use"),
        Ok(m) if !m.is_dir() => report.wrong("state folder", format_args!("{shown} is no folder"), "set state_dir to a folder"),
        Ok(m) if m.permissions().mode() & 0o077 != 0 => {
            report.note("state folder", format_args!("{shown} can be read by others; `chmod 700 {shown}` closes it"))
        }
        Ok(_) => report.ok("state folder", shown),
    }
    if config.identity.mode == IdentityMode::Builtin {
        let clouds = config.clouds_yaml();
        match std::fs::metadata(&clouds) {
            Ok(m) if m.permissions().mode() & 0o077 != 0 => {
                report.wrong(
                    "credentials",
                    format_args!("{} can be read by others", clouds.display()),
                    format_args!("chmod 600 {}", clouds.display()),
                );
            }
            Ok(_) => report.ok("credentials", clouds.display()),
            Err(_) => report.note("credentials", format_args!("{} will be written at the first start", clouds.display())),
        }
    }
}

async fn ports(report: &mut Report, config: &Config) {
    let listen = &config.listen;
    for (name, bind) in [("identity", listen.identity), ("block", listen.block), ("share", listen.share), ("admin", listen.admin)] {
        let Some(address) = bind.0 else {
            report.note(name, "off in this process");
            continue;
        };
        match tokio::net::TcpListener::bind(address).await {
            Ok(_) => report.ok(name, format_args!("{address} is free")),
            Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => {
                report.note(name, format_args!("{address} is in use: by a running stowage, or set listen.{name}"))
            }
            Err(e) => report.wrong(name, format_args!("{address}: {e}"), format_args!("set listen.{name} to an address of this machine")),
        }
    }
}

async fn database(report: &mut Report, config: &Config) -> Database {
    let url = config.database_url();
    let shown = database_shown(&url);
    if let Some(path) = url.strip_prefix("sqlite:")
        && !std::path::Path::new(path.trim_start_matches("//")).exists()
    {
        report.note("database", format_args!("{shown} will be made by `stowage serve`"));
        return Database::Empty;
    }
    let store = match Store::open(&config.database.store_options(url)).await {
        Ok(store) => store,
        Err(e @ StoreError::Locked { .. }) => {
            report.note("database", format_args!("{e}; ask its /healthz"));
            return Database::Unreadable;
        }
        Err(e) => {
            report.wrong("database", format_args!("{shown}: {}", chain(&e)), "correct database.url, or start the database");
            return Database::Unreadable;
        }
    };
    match store.check_schema().await {
        Ok(()) => {
            report.ok("database", format_args!("{shown}, schema version {}", store.schema_needed()));
            default_type(report, config, &store).await;
            return Database::Open(store);
        }
        Err(StoreError::SchemaOld { found, needed }) if store.is_sqlite() => {
            report.note("database", format_args!("{shown}: schema {found}, `stowage serve` will bring it to {needed}"));
        }
        Err(e @ StoreError::SchemaOld { .. }) => report.wrong("database", format_args!("{shown}: {e}"), "run `stowage migrate`"),
        Err(e @ StoreError::SchemaNew { .. }) => report.wrong("database", format_args!("{shown}: {e}"), "start the newer stowage"),
        Err(e) => report.wrong("database", format_args!("{shown}: {}", chain(&e)), "look at the database's own log"),
    }
    store.close().await;
    Database::Unreadable
}

async fn default_type(report: &mut Report, config: &Config, store: &Store) {
    let name = &config.block.default_volume_type;
    match store.type_by_name(TypeOf::Volume, name).await {
        Ok(Some(_)) => report.ok("default volume type", name),
        Ok(None) => report.note("default volume type", no_such_default(name)),
        Err(e) => report.wrong("default volume type", chain(&e), "look at the database's own log"),
    }
}

async fn copying(report: &mut Report, config: &Config) {
    match stowage::copy::qemu::probe(&config.copy).await {
        Ok(version) => report.ok("copying volumes", version),
        Err(CopyError::Missing { program, reason }) => report.note(
            "copying volumes",
            format_args!(
                "{program}: {reason}; install qemu-utils with its iSCSI module, or set copy.program and copy.module_dir. Without it volumes \
                 stay in their pools"
            ),
        ),
        Err(e) => report.note("copying volumes", format_args!("{e}; without it volumes stay in their pools")),
    }
}
