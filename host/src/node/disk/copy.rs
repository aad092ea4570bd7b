//! Making files: empty, or as a copy that shares its source's blocks.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
};

use super::{Disk, GIB, Of, open_file};
use crate::node::{
    name::{ImportName, ObjectId},
    refusal::{Refusal, Result},
};

/// Where content comes from.
#[derive(Debug, Clone, Copy)]
pub enum From<'a> {
    Nothing,
    File(Of, &'a ObjectId),
    Import(&'a ImportName),
}

impl Disk {
    /// Makes a complete, synced file in `work/` and says how many GiB it has. `size_gib` none: the source's, rounded up.
    ///
    /// A copy is what the source is at one moment, also when it is written to meanwhile.
    ///
    /// # Errors
    /// `exhausted`; `not-found` when the source is gone; `invalid` when it is larger than `size_gib`. Nothing is left behind.
    pub fn make(&self, of: Of, id: &ObjectId, from: From<'_>, size_gib: Option<u64>) -> Result<u64> {
        self.room()?;
        let work = self.work(of, id);
        let made = self.fill(&work, from, size_gib);
        if made.is_err() {
            self.discard_work(of, id);
        }
        made
    }

    fn fill(&self, work: &PathBuf, from: From<'_>, size_gib: Option<u64>) -> Result<u64> {
        let fail = |e| Refusal::io(format_args!("cannot make {}", work.display()), e);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(work).map_err(fail)?;
        let length = match self.source(from)? {
            None => 0,
            Some(source) => {
                rustix::fs::ioctl_ficlone(&file, &source).map_err(|e| fail(e.into()))?;
                file.metadata().map_err(fail)?.len()
            }
        };
        let needed = length.div_ceil(GIB).max(1);
        let size = size_gib.unwrap_or(needed);
        if needed > size {
            return Err(Refusal::invalid(format!("the source has {needed} GiB, more than the {size} GiB asked for")));
        }
        file.set_len(size * GIB).map_err(fail)?;
        file.sync_all().map_err(fail)?;
        let folder = self.root.join("work");
        File::open(&folder).and_then(|f| f.sync_all()).map_err(fail)?;
        Ok(size)
    }

    fn source(&self, from: From<'_>) -> Result<Option<File>> {
        let (path, what) = match from {
            From::Nothing => return Ok(None),
            From::File(of, id) => (self.file(of, id), format!("{} {id}", if of == Of::Volume { "volume" } else { "snapshot" })),
            From::Import(name) => (self.import_file(name), format!("import file {name}")),
        };
        match open_file(&path, false) {
            Ok(file) => Ok(Some(file)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(Refusal::not_found(format!("there is no {what}"))),
            Err(e) if rustix::io::Errno::from_io_error(&e) == Some(rustix::io::Errno::LOOP) || e.kind() == io::ErrorKind::InvalidInput => {
                Err(Refusal::invalid(format!("{what} is not a regular file")))
            }
            Err(e) => Err(Refusal::io(path.display(), e)),
        }
    }
}
