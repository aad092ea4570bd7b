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
            Ok(meta) if meta.permissions().mode() & 0o077 != 0 => {
                return Err(Refusal::invalid(format!("{0} can be read by others; `chmod 600 {0}`", path.display())));
            }
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let fail = |e| Refusal::io(format_args!("cannot write {}", path.display()), e);
                let token = secret(43);
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(fail)?;
                writeln!(file, "{token}").and_then(|()| file.sync_all()).map_err(fail)?;
                return Ok(Self(token));
            }
            Err(e) => return Err(Refusal::io(path.display(), e)),
        }
        let text = fs::read_to_string(path).map_err(|e| Refusal::io(path.display(), e))?;
        let token = text.trim();
        if token.len() < 16 || !token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Refusal::invalid(format!("{} must hold one token of at least 16 printable characters", path.display())));
        }
        Ok(Self(token.to_owned()))
    }

    /// In a time that says nothing about how much of it is right.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}
