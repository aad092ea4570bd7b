//! A btrfs of the node's own, in a file: for machines whose folder is on something else.
//!
//! The file is made once; it is mounted at every start unless it still is (after a kill), and unmounted at the end. The loop
//! device goes with the mount.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::node::{
    command::run,
    refusal::{Refusal, Result},
    state::private_folder,
};

/// Below this mkfs.btrfs refuses.
pub const SMALLEST: u64 = 128 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// A mounted image.
#[derive(Debug, Clone)]
pub struct Loop {
    pub image: PathBuf,
    pub at: PathBuf,
}

/// Makes the image when there is none (`size` bytes, sparse), mounts it when it is not mounted.
///
/// # Errors
/// `internal` with what the program said; `invalid` when there is no image and no size.
pub async fn mounted(image: PathBuf, at: PathBuf, size: Option<u64>) -> Result<Loop> {
    private_folder(&at)?;
    if !image.exists() {
        make(&image, size).await?;
    }
    if !is_mount_point(&at)? {
        run(
            "mount",
            [
                "-t".as_ref(),
                "btrfs".as_ref(),
                "-o".as_ref(),
                "loop,noatime,nodev,nosuid,noexec,discard=async".as_ref(),
                image.as_os_str(),
                at.as_os_str(),
            ],
            PATIENCE,
        )
        .await?;
    }
    Ok(Loop { image, at })
}

/// A process that was killed closes its files a moment after it seems to be gone.
///
/// # Errors
/// `internal` when something still uses it.
pub async fn unmount(mounted: &Loop) -> Result<()> {
    let mut outcome = run("umount", [mounted.at.as_os_str()], PATIENCE).await;
    for _ in 0..20 {
        if outcome.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        outcome = run("umount", [mounted.at.as_os_str()], PATIENCE).await;
    }
    outcome
}

async fn make(image: &Path, size: Option<u64>) -> Result<()> {
    let size = size.unwrap_or_default();
    if size < SMALLEST {
        return Err(Refusal::invalid(format!("an image has at least {} MiB", SMALLEST >> 20)));
    }
    // under another name until it is a file system: a half-made image must not be taken for one
    let unfinished = image.with_extension("unfinished");
    let fail = |e| Refusal::io(unfinished.display(), e);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished).map_err(fail)?;
    file.set_len(size).map_err(fail)?;
    drop(file);
    run("mkfs.btrfs", ["--quiet".as_ref(), unfinished.as_os_str()], PATIENCE).await?;
    fs::rename(&unfinished, image).map_err(fail)
}

/// A mount point has another device than the folder it is in.
///
/// # Errors
/// When it cannot be looked at.
pub fn is_mount_point(path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let device = |p: &Path| fs::metadata(p).map(|m| m.dev()).map_err(|e| Refusal::io(p.display(), e));
    Ok(device(path)? != device(path.parent().unwrap_or(path))?)
}
