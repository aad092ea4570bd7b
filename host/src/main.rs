//! The binary: a command line in front of the library.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    stowage::program::is_ours();
    cli::run(cli::Cli::parse())
}
