//! The data: sparse files on btrfs.
//!
//! `volumes/`, `snapshots/`: what the records name. `work/`: what is being made; a file is complete and synced before its
//! record is written, and only then moved to its place, so that after a kill everything in `work/` either has a record (and is
//! moved) or is garbage (and is removed). `import/`: files that belong to nobody here.
//! Every path is made in this folder from checked names. A file in `volumes/` without any record is left alone and reported.

mod capacity;
mod copy;
mod import;
mod mount;
mod repair;

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

pub use capacity::Capacity;
pub use copy::From;
pub use mount::{Loop, SMALLEST, is_mount_point, mounted, unmount};

use super::{
    name::{ImportName, ObjectId},
    refusal::{Kind, Refusal, Result},
    state::private_folder,
};

pub const GIB: u64 = 1 << 30;

/// The folders. All functions block.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
    /// The file the file system lies in, when the node made one.
    image: Option<PathBuf>,
}

/// What kind of object a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Volume,
    Snapshot,
}

impl Of {
    const fn folder(self) -> &'static str {
        match self {
            Self::Volume => "volumes",
            Self::Snapshot => "snapshots",
        }
    }
    const fn short(self) -> &'static str {
        match self {
            Self::Volume => "v",
            Self::Snapshot => "s",
        }
    }
}

impl Disk {
    /// Makes the folders and tries whether the file system can share blocks.
    ///
    /// # Errors
    /// `unsupported` when it cannot.
    pub fn open(root: &Path, image: Option<PathBuf>) -> Result<Self> {
        let disk = Self { root: root.to_owned(), image };
        for folder in ["volumes", "snapshots", "work", "import"] {
            private_folder(&root.join(folder))?;
        }
        disk.probe()?;
        Ok(disk)
    }

    fn probe(&self) -> Result<()> {
        let (a, b) = (self.root.join("work/.probe-a"), self.root.join("work/.probe-b"));
        let outcome = (|| {
            let from = OpenOptions::new().write(true).read(true).create(true).truncate(true).mode(0o600).open(&a)?;
            from.set_len(4096)?;
            let to = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&b)?;
            rustix::fs::ioctl_ficlone(&to, &from).map_err(io::Error::from)
        })();
        let _ = (fs::remove_file(&a), fs::remove_file(&b));
        outcome.map_err(|e| match rustix::io::Errno::from_io_error(&e) {
            Some(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOTTY | rustix::io::Errno::INVAL) => Refusal::new(
                Kind::Unsupported,
                format!(
                    "{} is not on a file system that can share blocks between files; use btrfs, or let the node make one with --loop-size",
                    self.root.display()
                ),
            ),
            _ => Refusal::io(self.root.display(), e),
        })
    }

    pub fn file(&self, of: Of, id: &ObjectId) -> PathBuf {
        self.root.join(of.folder()).join(format!("{id}.img"))
    }
    fn work(&self, of: Of, id: &ObjectId) -> PathBuf {
        self.root.join("work").join(format!("{}.{id}.img", of.short()))
    }
    fn import_file(&self, name: &ImportName) -> PathBuf {
        self.root.join("import").join(name.as_str())
    }

    /// Moves what was made to its place. Nothing to do when it is there already.
    ///
    /// # Errors
    /// `internal`.
    pub fn publish(&self, of: Of, id: &ObjectId) -> Result<()> {
        let (from, to) = (self.work(of, id), self.file(of, id));
        match fs::rename(&from, &to) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound && to.exists() => Ok(()),
            Err(e) => Err(Refusal::io(format_args!("cannot move {} to its place", from.display()), e)),
        }
    }

    /// Syncs a folder, where a move must outlive a power cut.
    ///
    /// # Errors
    /// `internal`.
    pub fn sync_folder(&self, of: Of) -> Result<()> {
        let path = self.root.join(of.folder());
        File::open(&path).and_then(|f| f.sync_all()).map_err(|e| Refusal::io(path.display(), e))
    }

    /// Throws away what was being made.
    pub fn discard_work(&self, of: Of, id: &ObjectId) {
        let _ = fs::remove_file(self.work(of, id));
    }

    /// Removes the file; success when there is none.
    ///
    /// # Errors
    /// `internal`.
    pub fn remove(&self, of: Of, id: &ObjectId) -> Result<()> {
        let path = self.file(of, id);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Refusal::io(format_args!("cannot remove {}", path.display()), e)),
            _ => Ok(()),
        }
    }

    /// Blocks the file refers to; 0 when it cannot be asked.
    pub fn allocated_bytes(&self, of: Of, id: &ObjectId) -> u64 {
        fs::symlink_metadata(self.file(of, id)).map_or(0, |m| m.blocks() * 512)
    }

    /// Makes the file at least `size_gib` long. Never shorter.
    ///
    /// # Errors
    /// `exhausted`, `internal`.
    pub fn grow(&self, of: Of, id: &ObjectId, size_gib: u64) -> Result<()> {
        let path = self.file(of, id);
        let fail = |e| Refusal::io(format_args!("cannot grow {}", path.display()), e);
        let file = open_file(&path, true).map_err(fail)?;
        if file.metadata().map_err(fail)?.len() < size_gib * GIB {
            file.set_len(size_gib * GIB).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        Ok(())
    }
}

/// Opens a regular file and nothing else: no symbolic link, no device, no pipe that would make us wait.
pub(super) fn open_file(path: &Path, write: bool) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let file = OpenOptions::new().read(true).write(write).custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")) }
}
