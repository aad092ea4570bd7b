//! `stowage serve`, `node`, `migrate`, `manage`, `driver`, `doctor`. Exit status: 0 done, 1 refused or failed, 2 wrong usage.

mod doctor;
mod driver;
mod manage;
mod migrate;
mod node;
mod print;
mod serve;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use stowage::{
    config::{Config, load::Source},
    error::chain,
};

use print::{error, line};

/// Block volumes and shared file systems behind the OpenStack APIs, driven by sandboxed WebAssembly drivers.
#[derive(Parser)]
#[command(name = "stowage", version, about)]
pub struct Cli {
    #[command(flatten)]
    source: SourceArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args, Clone)]
struct SourceArgs {
    /// Configuration file. Without it: /etc/stowage/stowage.toml if there is one, else built-in defaults.
    #[arg(long, short, global = true, env = "STOWAGE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where the state lives. Without it: as configured, else $XDG_STATE_HOME/stowage or ~/.local/state/stowage.
    #[arg(long, global = true, env = "STOWAGE_STATE_DIR", value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl SourceArgs {
    fn source(&self) -> Source {
        // a state folder on the command line is relative to where the command was typed
        let state_dir = self.state_dir.as_ref().map(|d| std::path::absolute(d).unwrap_or_else(|_| d.clone()));
        Source::find(self.config.clone(), state_dir)
    }
    fn load(&self) -> Result<(Config, Source)> {
        let source = self.source();
        Ok((source.load()?, source))
    }
}

#[derive(Subcommand)]
enum Command {
    /// Run the services. Needs no configuration: SQLite, a built-in identity and an in-memory back end.
    Serve,
    /// Turn this machine into a storage array: btrfs and iSCSI behind an HTTP API. Has nothing to do with --config.
    Node(Box<node::Node>),
    /// Bring the database's schema up to this binary's version.
    Migrate,
    /// Operator's tools: some work on the database, some ask the running service.
    #[command(subcommand)]
    Manage(manage::Manage),
    /// Look at driver files.
    #[command(subcommand)]
    Driver(driver::Driver),
    /// Say what is wrong with the configuration, the database and the drivers, and what to do.
    Doctor,
    /// What the service starts to compile a driver beside itself.
    #[command(name = stowage::wasm::compile::SUBCOMMAND, hide = true)]
    CompileComponent { input: PathBuf, output: PathBuf },
    /// What the service starts to copy a volume beside itself.
    #[command(name = stowage::copy::qemu::guard::SUBCOMMAND, hide = true)]
    Copy {
        program: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
}

/// Runs the command to its end.
pub fn run(cli: Cli) -> ExitCode {
    if let Command::CompileComponent { input, output } = &cli.command {
        return stowage::wasm::compile::child(input, output);
    }
    if let Command::Copy { program, arguments } = &cli.command {
        return stowage::copy::qemu::guard::child(program, arguments);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            error(format_args!("stowage: cannot start: {e}"));
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Serve => serve::serve(&cli.source).await.map(|()| true),
            Command::Node(args) => node::node(*args).await,
            Command::Migrate => migrate::migrate(&cli.source).await.map(|()| true),
            Command::Manage(command) => manage::manage(&cli.source, command).await,
            Command::Driver(command) => driver::driver(&cli.source, command).await,
            Command::Doctor => doctor::doctor(&cli.source).await,
            // they need no runtime and were done above
            Command::CompileComponent { .. } | Command::Copy { .. } => Ok(true),
        }
    });
    // what still runs on the blocking pool (a compiler, a password check) must not hold the process
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            error(format_args!("stowage: {}", chain(&*e)));
            ExitCode::FAILURE
        }
    }
}
