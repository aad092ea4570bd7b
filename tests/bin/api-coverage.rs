//! `api-coverage check|write DOCUMENT FOLDER`: holds docs/api-coverage.md to what the suites recorded in FOLDER, or writes it.

use std::{fs, path::Path};

use support::coverage;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, document, folder] = &arguments[..] else { anyhow::bail!("usage: api-coverage check|write DOCUMENT FOLDER") };
    let proofs = coverage::proofs(Path::new(folder))?;
    let mut text = fs::read_to_string(document).unwrap_or_default();
    if mode == "write" {
        text = coverage::document(&text, &proofs);
        fs::write(document, &text)?;
    }
    let faults = coverage::faults(&text, &proofs);
    for fault in &faults {
        println!("{fault}");
    }
    if !faults.is_empty() {
        println!("`make api-coverage` writes the page anew; a route without a test needs one");
    }
    println!("{} passed, {} failed", coverage::operations().len(), faults.len());
    anyhow::ensure!(faults.is_empty(), "{document} and the tests do not agree");
    Ok(())
}
