//! Writing to the terminal. A reader that has gone away (`stowage driver list | head`) is no reason to panic.

use std::{
    fmt::Arguments,
    io::{self, Write},
};

/// A line on standard output.
pub fn line(text: Arguments<'_>) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// A line on standard error.
pub fn error(text: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
