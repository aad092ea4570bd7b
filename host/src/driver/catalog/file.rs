//! Reading a driver's file: only what is a file, only so much of it, and never waiting for anybody.
//!
//! Whoever may write to the plugin folder can put anything there under a driver's name. A pipe that nobody writes to, a
//! device without an end, or a link to nowhere must cost that driver a refusal with a reason, and nobody else a moment.

use std::{
    fs::{self, FileType, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use rustix::fs::OFlags;

/// Larger than any driver, Python interpreter included; the loader has the same limit.
pub(super) const MAX_FILE: u64 = 128 << 20;

/// Why a file gives no bytes.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    /// No reason to say anything: a removed file changes nothing.
    #[error("it is gone")]
    Gone,
    #[error("it is {0}, not a file: put the driver's bytes there, or a link to a file that holds them")]
    NotAFile(&'static str),
    #[error("it is a link to {}, which is not there", .0.display())]
    DanglingLink(PathBuf),
    #[error("it has more than {MAX_FILE} bytes")]
    TooLarge,
    #[error("the file cannot be read: {0}")]
    Unreadable(#[source] io::Error),
}

/// The whole content of a regular file.
pub(super) async fn read(path: &Path) -> Result<Bytes, FileError> {
    let path = path.to_owned();
    match tokio::task::spawn_blocking(move || read_here(&path)).await {
        Ok(read) => read,
        Err(e) => Err(FileError::Unreadable(io::Error::other(e))),
    }
}

fn read_here(path: &Path) -> Result<Bytes, FileError> {
    // before it is opened: opening a device may already do something
    let before = fs::metadata(path).map_err(|e| absent(path, e))?;
    is_file(before.file_type())?;
    // it may have become a pipe since: opening one waits for a writer unless told not to
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|e| absent(path, e))?;
    let meta = file.metadata().map_err(FileError::Unreadable)?;
    is_file(meta.file_type())?;
    if meta.len() > MAX_FILE {
        return Err(FileError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
    // it may grow while it is read, and some files say nothing of their length
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(FileError::Unreadable)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(FileError::TooLarge);
    }
    Ok(bytes.into())
}

fn is_file(kind: FileType) -> Result<(), FileError> {
    let what = match kind {
        k if k.is_file() => return Ok(()),
        k if k.is_dir() => "a folder",
        k if k.is_fifo() => "a pipe",
        k if k.is_socket() => "a socket",
        k if k.is_char_device() || k.is_block_device() => "a device",
        _ => "something else",
    };
    Err(FileError::NotAFile(what))
}

fn absent(path: &Path, e: io::Error) -> FileError {
    match (e.kind(), fs::read_link(path)) {
        (io::ErrorKind::NotFound, Ok(target)) => FileError::DanglingLink(target),
        (io::ErrorKind::NotFound, Err(_)) => FileError::Gone,
        _ => FileError::Unreadable(e),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[tokio::test]
    async fn a_file_and_a_link_to_one_give_their_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, b"driver").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read(&file).await.unwrap(), "driver");
        assert_eq!(read(&link).await.unwrap(), "driver");
        fs::write(&file, b"").unwrap();
        assert_eq!(read(&file).await.unwrap(), "", "the loader has words of its own for an empty file");
    }

    #[tokio::test]
    async fn what_is_no_file_is_told_apart_and_never_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        symlink(at("pipe"), at("link")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("/proc/self/mem", at("unreadable")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::File::create(at("large")).unwrap().set_len(MAX_FILE + 1).unwrap();
        for (name, why) in [
            ("pipe", "a pipe"),
            ("link", "a pipe"),
            ("socket", "a socket"),
            ("folder", "a folder"),
            ("device", "a device"),
            ("loop", "cannot be read"),
            ("unreadable", "cannot be read"),
            ("dangling", "a link to nowhere, which is not there"),
            ("large", "more than"),
            ("absent", "gone"),
        ] {
            let refused = tokio::time::timeout(std::time::Duration::from_secs(20), read(&at(name)))
                .await
                .unwrap_or_else(|_| panic!("{name}: waited"));
            let said = refused.unwrap_err().to_string();
            assert!(said.contains(why), "{name}: {said}");
        }
    }
}
