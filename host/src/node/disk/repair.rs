//! At the start: files and records are made to agree. Records win.

use std::{collections::HashSet, fs, path::Path};

use super::{Disk, Of};
use crate::node::{
    refusal::{Refusal, Result},
    state::{Phase, Record, Records, Source},
};

impl Disk {
    /// Finishes or undoes what a kill left half done. May run any number of times.
    ///
    /// # Errors
    /// When the file system refuses; the node must not start on it then.
    pub fn repair(&self, records: &Records) -> Result<()> {
        let (mut volumes, mut snapshots) = (HashSet::new(), HashSet::new());
        for volume in records.volumes.all() {
            let id = &volume.id;
            match volume.phase {
                Phase::Live => {
                    volumes.insert(format!("{id}.img"));
                    self.settle(Of::Volume, id, volume.size_gib)?;
                    if volume.import_pending
                        && let Some(Source::Import(name)) = &volume.asked.source
                    {
                        self.remove_import(name)?;
                    }
                }
                Phase::Deleted => self.remove(Of::Volume, id)?,
                Phase::Released => self.release(id)?,
            }
        }
        for snapshot in records.snapshots.all() {
            if snapshot.is_live() {
                snapshots.insert(format!("{}.img", snapshot.id));
                self.settle(Of::Snapshot, snapshot.id(), snapshot.size_gib)?;
            } else {
                self.remove(Of::Snapshot, &snapshot.id)?;
            }
        }
        self.clear_work()?;
        self.report_strangers(Of::Volume, &volumes);
        self.report_strangers(Of::Snapshot, &snapshots);
        Ok(())
    }

    /// A live object's file is in its place and long enough.
    fn settle(&self, of: Of, id: &crate::node::name::ObjectId, size_gib: u64) -> Result<()> {
        let (file, work) = (self.file(of, id), self.work(of, id));
        if !is_there(&file)? {
            if !is_there(&work)? {
                // the record stays: it says what is missing, and an operator may put the file back
                tracing::error!(file = %file.display(), "the data of an object is missing");
                return Ok(());
            }
            // the only copy, which `clear_work` would remove: without it in its place there is no start
            self.publish(of, id)?;
            tracing::info!(file = %file.display(), "a file was moved to its place, which a kill had prevented");
        }
        self.grow(of, id, size_gib)
    }

    /// What was being made when the node was killed and has no record was never promised to anybody.
    fn clear_work(&self) -> Result<()> {
        let folder = self.root.join("work");
        for entry in fs::read_dir(&folder).map_err(|e| Refusal::io(folder.display(), e))? {
            let path = entry.map_err(|e| Refusal::io(folder.display(), e))?.path();
            tracing::info!(file = %path.display(), "a half-made file is removed");
            fs::remove_file(&path).map_err(|e| Refusal::io(path.display(), e))?;
        }
        Ok(())
    }

    fn report_strangers(&self, of: Of, known: &HashSet<String>) {
        let Ok(entries) = fs::read_dir(self.root.join(of.folder())) else { return };
        for entry in entries.flatten() {
            if !known.contains(&*entry.file_name().to_string_lossy()) {
                tracing::warn!(file = %entry.path().display(), "a file without a record; it is left alone (move it to import/ to adopt it)");
            }
        }
    }
}

/// Not knowing is no "no".
fn is_there(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|e| Refusal::io(path.display(), e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{name::ObjectId, state::Volume};

    #[tokio::test]
    async fn the_only_copy_of_a_live_volume_stays_in_work_when_it_cannot_be_moved() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("data");
        for folder in ["work", "snapshots", "import"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let disk = Disk { root: root.clone(), image: None };
        let records = Records::open(&dir.path().join("state")).unwrap();
        let id = ObjectId::parse("v1").unwrap();
        let mut volume = Volume::tombstone(id.clone(), 1, Phase::Live, None);
        volume.size_gib = 1;
        records.volumes.put(volume).await.unwrap();
        fs::write(disk.work(Of::Volume, &id), "data").unwrap();
        // a rename that fails: there is no folder to move it to
        disk.repair(&records).unwrap_err();
        assert_eq!(fs::read(disk.work(Of::Volume, &id)).unwrap(), b"data");
        fs::create_dir(root.join("volumes")).unwrap();
        disk.repair(&records).unwrap();
        assert!(fs::read(disk.file(Of::Volume, &id)).unwrap().starts_with(b"data"));
        assert!(!disk.work(Of::Volume, &id).exists());
    }
}
