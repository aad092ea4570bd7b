//! Whether this machine can copy: for `stowage doctor`.

use std::{process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use super::{super::CopyError, child::environment};
use crate::config::CopyConfig;

const PATIENCE: Duration = Duration::from_secs(10);
/// Nobody listens there: with its iSCSI part the program says so, without it that it does not know what iSCSI is.
const NOBODY: &str = "driver=iscsi,transport=tcp,portal=127.0.0.1:1,target=iqn.2026-11.io.stowage:nobody,lun=1";

/// The program's version.
///
/// # Errors
/// [`CopyError::Missing`].
pub async fn probe(config: &CopyConfig) -> Result<String, CopyError> {
    let (version, _) = run(config, &["--version"]).await?;
    let (_, said) = run(config, &["info", "--image-opts", NOBODY]).await?;
    if said.contains("Unknown driver") {
        return Err(missing(config, "it has no iSCSI module (Debian: the package qemu-block-extra)"));
    }
    Ok(version.lines().next().unwrap_or_default().to_owned())
}

async fn run(config: &CopyConfig, arguments: &[&str]) -> Result<(String, String), CopyError> {
    let mut command = Command::new(&config.program);
    command.args(arguments).env_clear().envs(environment(config)).stdin(Stdio::null()).kill_on_drop(true);
    match timeout(PATIENCE, command.output()).await {
        Err(_) => Err(missing(config, "it does not answer")),
        Ok(Err(e)) => Err(missing(config, &e.to_string())),
        Ok(Ok(output)) => Ok((String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

fn missing(config: &CopyConfig, reason: &str) -> CopyError {
    CopyError::Missing { program: config.program.display().to_string(), reason: reason.to_owned() }
}
