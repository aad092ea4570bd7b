//! `stowage driver`: drivers as files, without a running service.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Subcommand;

use super::{SourceArgs, line};

#[derive(Subcommand)]
pub enum Driver {
    /// The files in the plugin folder.
    List,
}

pub async fn driver(args: &SourceArgs, command: Driver) -> Result<bool> {
    match command {
        Driver::List => list(args),
    }
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
