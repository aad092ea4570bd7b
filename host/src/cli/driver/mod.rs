//! `stowage driver`: drivers as files, without a running service.

mod check;
mod list;
mod test;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use stowage::{
    store::sql::driver_kv::DriverDb,
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
        v0_1::Loaded,
    },
};

pub use list::wasm_files;

use super::SourceArgs;

#[derive(Subcommand)]
pub enum Driver {
    /// The files in the plugin folder.
    List,
    /// Load a file as the service would, and say what it is, what it exports and what options it takes.
    Check { file: PathBuf },
    /// Try every promise of the contract on the array of a back end: makes volumes and shares of its own, and deletes them.
    ///
    /// The section comes from the configuration (--config); without one the driver gets no options.
    Test {
        file: PathBuf,
        /// Which back end's section, where several use this driver.
        #[arg(long, value_name = "NAME")]
        backend: Option<String>,
    },
}

pub async fn driver(args: &SourceArgs, command: Driver) -> Result<bool> {
    match command {
        Driver::List => list::run(args),
        Driver::Check { file } => check::run(&file).await,
        Driver::Test { file, backend } => test::run(args, &file, backend.as_deref()).await,
    }
}

/// A driver's name is its file's, without the ending.
fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

async fn load(file: &Path, db: Option<DriverDb>) -> Result<Loaded> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let max_instances = if db.is_some() { 16 } else { 1 };
    let options = LoaderOptions { max_instances, cache: None, compiler: Compiler::current(), db, progress: ProgressBoard::default() };
    let (loaded, _) = WasmLoader::new(options)?.load_component(&name_of(file), &bytes.into()).await?;
    Ok(loaded)
}
