//! The bearer token: one, in a file that only its owner may read.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use subtle::ConstantTimeEq;

use crate::node::{
    refusal::{Refusal, Result},
    secret,
};

pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

impl Token {
    /// Reads the file; makes it with a random token when there is none.
    ///
    /// # Errors
    /// `invalid` when others may read it or it holds no usable token.
    pub fn open(path: &Path) -> Result<Self> {
        match fs::metadata(path) {
            // a kill of an older version may have left it
            Ok(meta) if meta.is_file() && meta.len() == 0 => return Self::make(path),
            Ok(meta) if meta.permissions().mode() & 0o077 != 0 => {
                return Err(Refusal::invalid(format!("{0} can be read by others; `chmod 600 {0}`", path.display())));
            }
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => return Self::make(path),
            Err(e) => return Err(Refusal::io(path.display(), e)),
        }
        let text = fs::read_to_string(path).map_err(|e| Refusal::io(path.display(), e))?;
        let token = text.trim();
        if token.len() < 16 || !token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Refusal::invalid(format!("{} must hold one token of at least 16 printable characters", path.display())));
        }
        Ok(Self(token.to_owned()))
    }

    /// Beside, then renamed: a kill leaves no file, or a whole one.
    fn make(path: &Path) -> Result<Self> {
        let fail = |e| Refusal::io(format_args!("cannot write {}", path.display()), e);
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let beside = Path::new(&beside);
        match fs::remove_file(beside) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(fail(e)),
            _ => {}
        }
        let token = secret(43);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(beside).map_err(fail)?;
        writeln!(file, "{token}").and_then(|()| file.sync_all()).and_then(|()| fs::rename(beside, path)).map_err(fail)?;
        Ok(Self(token))
    }

    /// In a time that says nothing about how much of it is right.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_an_empty_file_is_no_token() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, "").unwrap();
        // what a kill in the middle leaves
        fs::write(dir.path().join("token.new"), "ab").unwrap();
        let made = Token::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(made.is(fs::read_to_string(&path).unwrap().trim()));
        assert_eq!(Token::open(&path).unwrap().0, made.0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
