//! The import folder: raw images that somebody put there to be adopted, and what was released.

use std::{fs, io};

use super::{Disk, GIB, Of};
use crate::node::{
    name::{ImportName, ObjectId},
    refusal::{Refusal, Result},
};

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ImportFile {
    pub name: String,
    pub size_bytes: u64,
    pub size_gib: u64,
    pub unsafe_because: Option<String>,
}

impl Disk {
    /// Entries after `after` by name, at most `limit`.
    ///
    /// # Errors
    /// `internal`.
    pub fn imports(&self, after: Option<&str>, limit: usize) -> Result<Vec<ImportFile>> {
        let folder = self.root.join("import");
        let entries = fs::read_dir(&folder).map_err(|e| Refusal::io(folder.display(), e))?;
        let mut names: Vec<String> = entries
            .filter_map(|e| e.ok().map(|e| e.file_name().to_string_lossy().into_owned()))
            .filter(|n| after.is_none_or(|a| n.as_str() > a))
            .collect();
        names.sort_unstable();
        names.truncate(limit);
        Ok(names.into_iter().map(|name| self.look(name)).collect())
    }

    /// # Errors
    /// `not-found`.
    pub fn import(&self, name: &ImportName) -> Result<ImportFile> {
        match fs::symlink_metadata(self.import_file(name)) {
            Ok(_) => Ok(self.look(name.to_string())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(Refusal::not_found(format!("there is no import file {name}"))),
            Err(e) => Err(Refusal::io(self.import_file(name).display(), e)),
        }
    }

    fn look(&self, name: String) -> ImportFile {
        let meta = fs::symlink_metadata(self.root.join("import").join(&name));
        let size_bytes = meta.as_ref().map_or(0, fs::Metadata::len);
        let unsafe_because = match &meta {
            Err(e) => Some(e.to_string()),
            Ok(_) if ImportName::parse(&name).is_err() => {
                Some("its name has characters that are not in [A-Za-z0-9_.-], or is too long".to_owned())
            }
            Ok(m) if !m.is_file() => Some("it is not a regular file".to_owned()),
            Ok(m) if m.len() == 0 => Some("it is empty".to_owned()),
            Ok(_) => None,
        };
        ImportFile { name, size_bytes, size_gib: size_bytes.div_ceil(GIB), unsafe_because }
    }

    /// Removes an adopted file from the import folder; its content was taken over.
    ///
    /// # Errors
    /// `internal`.
    pub fn remove_import(&self, name: &ImportName) -> Result<()> {
        match fs::remove_file(self.import_file(name)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Refusal::io(self.import_file(name).display(), e)),
            _ => Ok(()),
        }
    }

    /// Whether a release of `id` would overwrite something.
    pub fn release_is_taken(&self, id: &ObjectId) -> bool {
        fs::symlink_metadata(self.import_file(&ImportName::of_released(id))).is_ok()
    }

    /// Moves a volume's file to the import folder; nothing to do when it is gone from here.
    ///
    /// # Errors
    /// `internal`.
    pub fn release(&self, id: &ObjectId) -> Result<()> {
        let (from, to) = (self.file(Of::Volume, id), self.import_file(&ImportName::of_released(id)));
        match fs::rename(&from, &to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Refusal::io(format_args!("cannot release {}", from.display()), e)),
            _ => Ok(()),
        }
    }
}
