//! `api-coverage check|write block|share DOCUMENT FOLDER`: holds an API's coverage page to what the suites recorded in FOLDER, or
//! writes it.

use std::{fs, path::Path};

use stowage::api::route::Api;
use support::coverage;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, api, document, folder] = &arguments[..] else {
        anyhow::bail!("usage: api-coverage check|write block|share DOCUMENT FOLDER")
    };
    let of = if api == "share" { Api::Share } else { Api::Block };
    let proofs = coverage::proofs(of, Path::new(folder))?;
    let mut text = fs::read_to_string(document).unwrap_or_default();
    if mode == "write" {
        text = coverage::document(of, &text, &proofs);
        fs::write(document, &text)?;
    }
    let faults = coverage::faults(of, &text, &proofs);
    for fault in &faults {
        println!("{fault}");
    }
    if !faults.is_empty() {
        println!("`make api-coverage` writes the page anew; a route without a test needs one");
    }
    println!("{} passed, {} failed", coverage::operations(of).len(), faults.len());
    anyhow::ensure!(faults.is_empty(), "{document} and the tests do not agree");
    Ok(())
}
