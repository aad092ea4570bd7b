//! `stowage-componentize IN.wasm OUT.wasm`: makes a component of a core module that carries wit-bindgen's metadata.
//!
//! The output is validated and put in place atomically, and only when its bytes differ: whoever watches the file (a
//! running service, cargo's rebuild trigger) sees one change per real change. On failure the old file stays.

use std::{env, error::Error, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: stowage-componentize IN.wasm OUT.wasm");
        return ExitCode::from(2);
    };
    match convert(Path::new(input), Path::new(output)) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("stowage-componentize: {}: {e}", Path::new(input).display());
            ExitCode::FAILURE
        }
    }
}

fn convert(input: &Path, output: &Path) -> Result<String, Box<dyn Error>> {
    let component = stowage_componentize::componentize(&fs::read(input)?)?;
    let unchanged = fs::read(output).is_ok_and(|old| old == component);
    if !unchanged {
        let partial = output.with_extension("wasm.partial");
        fs::write(&partial, &component)?;
        fs::rename(&partial, output)?;
    }
    Ok(format!("{} ({} KiB{})", output.display(), component.len().div_ceil(1024), if unchanged { ", unchanged" } else { "" }))
}
