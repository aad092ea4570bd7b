//! Compiling beside the service: the binary as its own compiler.

use std::path::PathBuf;

use rustix::process::{Pid, getpgid};
use stowage::wasm::compile::{CompileError, Compiler, SUBCOMMAND};
use support::{Process, drivers, process, wait};

#[tokio::test]
async fn a_child_of_the_binary_compiles() {
    let bytes = std::fs::read(drivers::file("memory")).unwrap();
    let code = Compiler::Child(process::binary()).compile(&bytes).await.unwrap();
    assert_eq!(code, Compiler::InProcess.compile(&bytes).await.unwrap());
}

#[tokio::test]
async fn what_does_not_compile_is_told_apart_from_a_compiler_that_does_not_run() {
    let refused = Compiler::Child(process::binary()).compile(b"\0asm\x0d\0\x01\0garbage").await.unwrap_err();
    assert!(matches!(refused, CompileError::Refused(_)), "{refused}");
    let failed = Compiler::Child("/nonexistent/stowage".into()).compile(b"\0asm\x0d\0\x01\0").await.unwrap_err();
    assert!(matches!(failed, CompileError::Failed(_)), "{failed}");
}

/// The compiler that runs as a child of `parent`, and the folder it works in.
fn compiler_of(parent: Pid) -> Option<(Pid, PathBuf)> {
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        let ours = fields.split_whitespace().nth(1)? == parent.as_raw_nonzero().to_string();
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let mut words = line.split('\0').skip_while(|w| *w != SUBCOMMAND).skip(1);
        let folder = PathBuf::from(words.next()?).parent()?.to_owned();
        ours.then_some((pid, folder))
    })
}

/// A service that compiles its driver now: its cache is empty.
async fn compiling() -> (Process, Pid, PathBuf) {
    let mut service = Process::prepare(|c| c.drivers.cache = c.state_dir.join("cache"));
    service.spawn();
    let (child, folder) = wait::until("the compiler", || std::future::ready(compiler_of(service.pid()))).await;
    (service, child, folder)
}

#[tokio::test]
async fn the_compiler_ends_with_the_service_and_leaves_nothing_behind() {
    let (mut service, child, folder) = compiling().await;
    service.kill();
    let gone = || std::future::ready((rustix::process::test_kill_process(child).is_err() && !folder.exists()).then_some(()));
    wait::until("the end of the compiler, and of its files", gone).await;
}

#[tokio::test]
async fn a_signal_to_the_services_group_does_not_end_the_compiler() {
    let (mut service, child, _) = compiling().await;
    assert_ne!(getpgid(Some(child)).unwrap(), getpgid(Some(service.pid())).unwrap());
    service.ready().await;
}
