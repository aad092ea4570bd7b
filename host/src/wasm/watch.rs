//! The plugin folder, watched: which driver files are new or different, once they lie still.
//!
//! A file is reported when its size, times and inode have not changed for the settling time, so that a slow copy is read
//! once and whole; an atomic rename is just a new inode. The kernel's events only wake: the folder is also listed now and
//! then, for file systems without events and a folder that was replaced. A failure to watch costs speed, not function.
//! Looking wakes nobody: an idle folder costs one listing every [`RELIST`].

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

/// The wait between two listings without any event.
const RELIST: Duration = Duration::from_secs(10);

/// What tells two states of a file apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    inode: u64,
    len: u64,
    changed: (i64, i64),
}

type Looks = HashMap<PathBuf, Look>;

/// Watches until `stop`. What is in the folder at the beginning is not reported.
pub fn watch(folder: PathBuf, settle: Duration, stop: CancellationToken) -> mpsc::Receiver<PathBuf> {
    let (settled, receiver) = mpsc::channel(64);
    let (wake, woken) = mpsc::channel(1);
    let known = list(&folder);
    let watcher = watcher(&folder, wake);
    tokio::spawn(follow(folder, settle, stop, known, watcher, woken, settled));
    receiver
}

fn watcher(folder: &Path, wake: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let on_event = move |event: notify::Result<notify::Event>| {
        // reading is no news: above all our own, which would wake us for ever. A fault may have cost events
        if event.is_ok_and(|e| e.kind.is_access()) {
            return;
        }
        // a full channel means that somebody is already being woken
        let _woken_already = wake.try_send(());
    };
    let watching = notify::recommended_watcher(on_event).and_then(|mut w| w.watch(folder, RecursiveMode::NonRecursive).map(|()| w));
    watching
        .inspect_err(|error| {
            tracing::warn!(folder = %folder.display(), %error, "no events from the plugin folder; it is listed every {} s", RELIST.as_secs());
        })
        .ok()
}

async fn follow(
    folder: PathBuf,
    settle: Duration,
    stop: CancellationToken,
    mut known: Looks,
    watcher: Option<RecommendedWatcher>,
    mut woken: mpsc::Receiver<()>,
    settled: mpsc::Sender<PathBuf>,
) {
    let mut unsettled: HashMap<PathBuf, (Look, Instant)> = HashMap::new();
    loop {
        let wait = if unsettled.is_empty() { RELIST } else { settle / 2 };
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(wait) => {}
            event = woken.recv(), if watcher.is_some() => if event.is_none() { break },
        }
        let now = Instant::now();
        let folder_now = folder.clone();
        let Ok(looks) = tokio::task::spawn_blocking(move || list(&folder_now)).await else { continue };
        unsettled.retain(|path, _| looks.contains_key(path));
        known.retain(|path, _| looks.contains_key(path));
        for (path, look) in looks {
            if known.get(&path) == Some(&look) {
                unsettled.remove(&path);
                continue;
            }
            let since = unsettled.get(&path).filter(|(was, _)| *was == look).map_or(now, |(_, since)| *since);
            if now.duration_since(since) < settle {
                unsettled.insert(path, (look, since));
                continue;
            }
            unsettled.remove(&path);
            known.insert(path.clone(), look);
            if settled.send(path).await.is_err() {
                return;
            }
        }
    }
    drop(watcher);
}

/// What stands under a driver's name now: files, and also what is none, so that whoever reads it can say so. A folder that
/// cannot be read has none.
fn list(folder: &Path) -> Looks {
    let Ok(entries) = std::fs::read_dir(folder) else { return Looks::new() };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "wasm") && !is_hidden(path))
        .filter_map(|path| {
            let meta = std::fs::metadata(&path).or_else(|_| std::fs::symlink_metadata(&path)).ok()?;
            Some((path, Look { inode: meta.ino(), len: meta.len(), changed: (meta.ctime(), meta.ctime_nsec()) }))
        })
        .collect()
}

/// Editors and copy tools write beside the file first.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SETTLE: Duration = Duration::from_millis(60);

    struct Folder {
        dir: tempfile::TempDir,
        seen: mpsc::Receiver<PathBuf>,
        _stop: tokio_util::sync::DropGuard,
    }

    fn folder(with: &[&str]) -> Folder {
        let dir = tempfile::tempdir().unwrap();
        for name in with {
            std::fs::write(dir.path().join(name), b"old").unwrap();
        }
        let stop = CancellationToken::new();
        let seen = watch(dir.path().to_owned(), SETTLE, stop.clone());
        Folder { dir, seen, _stop: stop.drop_guard() }
    }

    async fn next(folder: &mut Folder) -> String {
        let path = tokio::time::timeout(Duration::from_secs(20), folder.seen.recv()).await.unwrap().unwrap();
        path.file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_new_file_is_reported_and_what_was_there_is_not() {
        let mut f = folder(&["old.wasm"]);
        std::fs::write(f.dir.path().join("new.wasm"), b"x").unwrap();
        assert_eq!(next(&mut f).await, "new.wasm");
        assert!(f.seen.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_rename_over_a_file_is_reported() {
        let mut f = folder(&["a.wasm"]);
        std::fs::write(f.dir.path().join(".a.tmp"), b"old").unwrap();
        std::fs::rename(f.dir.path().join(".a.tmp"), f.dir.path().join("a.wasm")).unwrap();
        assert_eq!(next(&mut f).await, "a.wasm");
    }

    #[tokio::test]
    async fn a_file_that_grows_is_reported_once_when_it_is_whole() {
        let mut f = folder(&[]);
        let path = f.dir.path().join("slow.wasm");
        let mut file = std::fs::File::create(&path).unwrap();
        for _ in 0..10 {
            file.write_all(&[0; 100]).unwrap();
            tokio::time::sleep(SETTLE / 3).await;
            assert!(f.seen.try_recv().is_err(), "it is still being written");
        }
        assert_eq!(next(&mut f).await, "slow.wasm");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 1000);
        assert!(f.seen.try_recv().is_err());
    }

    #[tokio::test]
    async fn other_files_and_removals_are_not_reported() {
        let mut f = folder(&["gone.wasm"]);
        std::fs::write(f.dir.path().join("README.txt"), b"x").unwrap();
        std::fs::write(f.dir.path().join(".hidden.wasm"), b"x").unwrap();
        std::fs::remove_file(f.dir.path().join("gone.wasm")).unwrap();
        std::fs::write(f.dir.path().join("real.wasm"), b"x").unwrap();
        assert_eq!(next(&mut f).await, "real.wasm");
        assert!(f.seen.try_recv().is_err());
    }

    /// A folder with one driver, and how often its watcher wakes.
    fn wakes() -> (tempfile::TempDir, PathBuf, RecommendedWatcher, mpsc::Receiver<()>) {
        let dir = tempfile::tempdir().unwrap();
        let driver = dir.path().join("a.wasm");
        std::fs::write(&driver, b"old").unwrap();
        let (wake, woken) = mpsc::channel(1000);
        let watcher = watcher(dir.path(), wake).unwrap();
        (dir, driver, watcher, woken)
    }

    #[tokio::test]
    async fn looking_at_the_folder_and_reading_a_driver_wake_nobody() {
        let (dir, driver, _watcher, mut woken) = wakes();
        for _ in 0..100 {
            list(dir.path());
            std::fs::read(&driver).unwrap();
        }
        // events come in order: this one's wake would stand behind theirs
        std::fs::remove_file(&driver).unwrap();
        let mut count = 0;
        while tokio::time::timeout(Duration::from_millis(if count == 0 { 20_000 } else { 200 }), woken.recv()).await.is_ok() {
            count += 1;
        }
        assert_eq!(count, 1);
    }

    #[tokio::test]
    async fn a_write_in_place_a_rename_and_a_removal_each_wake() {
        let (dir, driver, _watcher, mut woken) = wakes();
        let write = || std::fs::OpenOptions::new().append(true).open(&driver).and_then(|mut f| f.write_all(b"x")).unwrap();
        let rename = || std::fs::rename(&driver, dir.path().join("b.wasm")).unwrap();
        let remove = || std::fs::remove_file(dir.path().join("b.wasm")).unwrap();
        let changes: [(&str, &dyn Fn()); 3] = [("a write in place", &write), ("a rename", &rename), ("a removal", &remove)];
        for (what, change) in changes {
            change();
            assert!(tokio::time::timeout(Duration::from_secs(20), woken.recv()).await.is_ok(), "{what}");
            while tokio::time::timeout(Duration::from_millis(50), woken.recv()).await.is_ok() {}
        }
    }

    #[tokio::test]
    async fn a_write_in_place_is_reported() {
        let mut f = folder(&["a.wasm"]);
        std::fs::OpenOptions::new().append(true).open(f.dir.path().join("a.wasm")).unwrap().write_all(b"more").unwrap();
        assert_eq!(next(&mut f).await, "a.wasm");
    }
}
