//! `stowage driver check`: whether the service would take a file, and what it says of itself.

use std::path::Path;

use anyhow::Result;
use stowage::driver::Driver as _;

use super::load;
use crate::cli::print::line;

pub async fn run(file: &Path) -> Result<bool> {
    let loaded = load(file, None).await?;
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
