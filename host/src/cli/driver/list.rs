//! `stowage driver list`: the files in the plugin folder, and which back ends use them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::{SourceArgs, print::line};

pub fn run(args: &SourceArgs) -> Result<bool> {
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
pub fn wasm_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|e| e.map(|e| e.path())).filter(|p| p.as_ref().is_ok_and(|p| p.extension().is_some_and(|x| x == "wasm"))).collect()
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}
