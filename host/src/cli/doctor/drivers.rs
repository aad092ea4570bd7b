//! Whether each back end's driver is there, is a driver, and takes the back end's section. Looked for as the service does: in
//! the plugin folder, else among what the database has accepted, else the one that comes with the binary. No array is asked.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use stowage::{
    config::{BackendConfig, Config},
    driver::catalog::embedded,
    error::chain,
    store::{Store, StoreResult, sql::driver_blobs::ActiveDriver},
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
        v0_1::Loaded,
    },
};

use super::{super::driver::wasm_files, Report};

/// What can be read of the database now.
pub enum Database {
    Open(Store),
    /// There is none yet.
    Empty,
    /// A running service holds it, or it is out of order.
    Unreadable,
}

impl Database {
    pub async fn close(self) {
        if let Self::Open(store) = self {
            store.close().await;
        }
    }

    async fn active(&self) -> StoreResult<Vec<ActiveDriver>> {
        match self {
            Self::Open(store) => store.active_drivers().await,
            Self::Empty | Self::Unreadable => Ok(Vec::new()),
        }
    }

    async fn blob(&self, hash: &str) -> StoreResult<Option<Vec<u8>>> {
        match self {
            Self::Open(store) => store.driver_blob(hash).await,
            Self::Empty | Self::Unreadable => Ok(None),
        }
    }
}

/// One driver name, looked for.
enum Found {
    Loaded(Box<Loaded>),
    /// Nothing has its bytes.
    Nowhere,
    /// It was told already what is wrong with it.
    Bad,
}

pub async fn check(report: &mut Report, config: &Config, database: &Database) {
    if config.backends.is_empty() {
        report.note("back ends", "none is configured: every create ends with \"no valid back end\"; add a [[backend]] section");
    }
    let folder = config.driver_folder();
    let files = match wasm_files(&folder) {
        Ok(files) => files,
        Err(e) => return report.wrong("drivers", format_args!("{}: {e}", folder.display()), "set drivers.folder"),
    };
    let active = match database.active().await {
        Ok(active) => active,
        Err(e) => return report.wrong("drivers", format_args!("the database's: {}", chain(&e)), "look at the database's own log"),
    };
    let loader = match loader(config) {
        Ok(loader) => loader,
        Err(e) => return report.wrong("drivers", e, "run it on a machine that can run WebAssembly"),
    };
    let mut names: BTreeMap<String, Option<PathBuf>> = config.backends.iter().map(|b| (b.driver.clone(), None)).collect();
    names.extend(files.into_iter().filter_map(|f| Some((f.file_stem()?.to_str()?.to_owned(), Some(f)))));
    let mut found = BTreeMap::new();
    for (name, file) in names {
        let look = look(report, &loader, database, &active, &name, file.as_deref()).await;
        found.insert(name, look);
    }
    for backend in &config.backends {
        let driver = found.get(&backend.driver).unwrap_or(&Found::Nowhere);
        section(report, backend, driver, &folder, database).await;
    }
}

fn loader(config: &Config) -> Result<WasmLoader, String> {
    // what is compiled here need not be compiled again at the start; a folder that is not there is not made
    let cache = Some(config.driver_cache()).filter(|folder| folder.is_dir());
    let options = LoaderOptions { max_instances: 1, cache, compiler: Compiler::current(), db: None, progress: ProgressBoard::default() };
    WasmLoader::new(options).map_err(|e| chain(&e))
}

/// Loads the bytes that would serve under a name, and says what they are.
async fn look(
    report: &mut Report,
    loader: &WasmLoader,
    database: &Database,
    active: &[ActiveDriver],
    name: &str,
    file: Option<&Path>,
) -> Found {
    let what = format!("driver {name}");
    let (bytes, from) = if let Some(file) = file {
        // a pipe would be waited for
        let read = if file.is_file() { std::fs::read(file).map_err(|e| e.to_string()) } else { Err("it is no file".to_owned()) };
        match read {
            Ok(bytes) => (Bytes::from(bytes), file.display().to_string()),
            Err(e) => {
                report.wrong(&what, format_args!("{}: {e}", file.display()), "put the driver's file there, readable for the service");
                return Found::Bad;
            }
        }
    } else if let Some(row) = active.iter().find(|a| a.name == name) {
        match database.blob(&row.hash).await {
            Ok(Some(bytes)) => (Bytes::from(bytes), "the database, which keeps what was accepted".to_owned()),
            Ok(None) => return Found::Nowhere,
            Err(e) => {
                report.wrong(&what, format_args!("the database's bytes: {}", chain(&e)), "look at the database's own log");
                return Found::Bad;
            }
        }
    } else if let Some(bytes) = embedded(name).filter(|_| !matches!(database, Database::Unreadable)) {
        (Bytes::from_static(bytes), "this binary; the first start writes it into the plugin folder".to_owned())
    } else {
        return Found::Nowhere;
    };
    match loader.load_component(name, &bytes).await {
        Ok((loaded, _)) => {
            use stowage::driver::Driver as _;
            let id = loaded.identity();
            report.ok(&what, format_args!("{} {} by {}, from {from}", id.name, id.version, id.vendor));
            Found::Loaded(Box::new(loaded))
        }
        Err(e) => {
            report.wrong(
                &what,
                format_args!("from {from}: {}", chain(&e)),
                "get a build of it for this version of Stowage from its vendor",
            );
            Found::Bad
        }
    }
}

/// One back end's section against its driver.
async fn section(report: &mut Report, backend: &BackendConfig, driver: &Found, folder: &Path, database: &Database) {
    let what = format!("back end {}", backend.name);
    match driver {
        Found::Loaded(loaded) => match loaded.fits(backend).await {
            Ok(()) => report.ok(&what, format_args!("its section fits the driver {}", backend.driver)),
            Err(e) => report.wrong(
                &what,
                &e.message,
                format_args!("correct its [[backend]] section; `stowage driver check {}.wasm` lists the options", backend.driver),
            ),
        },
        Found::Bad => report.wrong(&what, format_args!("its driver {} cannot be used", backend.driver), "see above"),
        Found::Nowhere if matches!(database, Database::Unreadable) => report.note(
            &what,
            format_args!(
                "{}.wasm is not in {}; whether the database has it cannot be seen: GET /stowage/v1/drivers of the running service says so",
                backend.driver,
                folder.display()
            ),
        ),
        Found::Nowhere => report.wrong(
            &what,
            format_args!("{} is not there", folder.join(format!("{}.wasm", backend.driver)).display()),
            "put the driver's file into the plugin folder",
        ),
    }
}
