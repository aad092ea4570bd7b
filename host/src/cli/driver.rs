//! `stowage driver`: drivers as files, without a running service.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use stowage::{
    driver::Driver as _,
    wasm::{
        compile::Compiler,
        host_fn::progress::ProgressBoard,
        load::{LoaderOptions, WasmLoader},
    },
};

use super::{SourceArgs, line};

#[derive(Subcommand)]
pub enum Driver {
    /// The files in the plugin folder.
    List,
    /// Load a file as the service would, and say what it is, what it exports and what options it takes.
    Check { file: PathBuf },
}

pub async fn driver(args: &SourceArgs, command: Driver) -> Result<bool> {
    match command {
        Driver::List => list(args),
        Driver::Check { file } => check(&file).await,
    }
}

async fn check(file: &Path) -> Result<bool> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let options =
        LoaderOptions { max_instances: 1, cache: None, compiler: Compiler::current(), db: None, progress: ProgressBoard::default() };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let (loaded, _) = WasmLoader::new(options)?.load_component(&stem, &bytes.into()).await?;
    let id = loaded.identity();
    line(format_args!("{} {} by {} (contract {}, sha256 {})", id.name, id.version, id.vendor, id.interface_version, id.sha256));
    line(format_args!("exports: {}", id.exports.join(", ")));
    for o in loaded.options() {
        let need = if o.required { ", required" } else { "" };
        let default = o.default.as_ref().map(|d| format!(", default {d}")).unwrap_or_default();
        line(format_args!("option {}: {}{need}{default}. {}", o.name, o.kind, o.help));
    }
    Ok(true)
}

fn list(args: &SourceArgs) -> Result<bool> {
    let (config, _) = args.load()?;
    let folder = config.driver_folder();
    let mut files = wasm_files(&folder).with_context(|| format!("cannot read the plugin folder {}", folder.display()))?;
    files.sort();
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let users: Vec<&str> = config.backends.iter().filter(|b| b.driver == name).map(|b| b.name.as_str()).collect();
        line(format_args!("{name:<24} {} {}", std::fs::metadata(file)?.len(), users.join(",")));
    }
    Ok(true)
}

/// The driver files of a folder; none when the folder is not there yet.
pub fn wasm_files(folder: &std::path::Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|e| e.map(|e| e.path())).filter(|p| p.as_ref().is_ok_and(|p| p.extension().is_some_and(|x| x == "wasm"))).collect()
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}
