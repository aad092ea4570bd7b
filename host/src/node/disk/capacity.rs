//! How much room there really is.

use std::{fs::File, os::unix::fs::MetadataExt, path::Path};

use super::Disk;
use crate::node::refusal::{Kind, Refusal, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    pub total_bytes: u64,
    pub free_bytes: u64,
}

impl Disk {
    /// What the file system can still take. What was deleted just now counts as free: pending frees are carried out first.
    ///
    /// # Errors
    /// `internal`.
    pub fn capacity(&self) -> Result<Capacity> {
        let fail = |e: std::io::Error| Refusal::io(self.root.display(), e);
        // btrfs gives space back when it commits
        let root = File::open(&self.root).map_err(fail)?;
        rustix::fs::syncfs(&root).map_err(|e| fail(e.into()))?;
        self.capacity_now()
    }

    fn capacity_now(&self) -> Result<Capacity> {
        let (total_bytes, mut free_bytes) = room_of(&self.root)?;
        // an image file is sparse: the file system in it believes in room that the one below may not have
        if let Some(image) = &self.image
            && let Ok(meta) = std::fs::metadata(image)
        {
            let unwritten = meta.len().saturating_sub(meta.blocks() * 512);
            let (_, below) = room_of(image.parent().unwrap_or(Path::new("/")))?;
            if unwritten > below {
                free_bytes = free_bytes.min(below);
            }
        }
        Ok(Capacity { total_bytes, free_bytes })
    }

    /// Refuses to make anything when the file system is nearly full: what is left is needed to write what volumes hold already,
    /// and to delete.
    ///
    /// # Errors
    /// `exhausted`.
    pub fn room(&self) -> Result<()> {
        let Capacity { total_bytes, free_bytes } = self.capacity_now()?;
        let reserve = (total_bytes / 100).clamp(16 << 20, 1 << 30);
        if free_bytes < reserve {
            return Err(Refusal::new(
                Kind::Exhausted,
                format!("{free_bytes} bytes are free, less than the {reserve} that are kept for volumes that are there"),
            ));
        }
        Ok(())
    }
}

fn room_of(path: &Path) -> Result<(u64, u64)> {
    let s = rustix::fs::statvfs(path).map_err(|e| Refusal::io(path.display(), e.into()))?;
    Ok((s.f_blocks.saturating_mul(s.f_frsize), s.f_bavail.saturating_mul(s.f_frsize)))
}
