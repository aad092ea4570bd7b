//! Compiling beside the service: the binary as its own compiler.

use stowage::wasm::compile::{CompileError, Compiler};
use support::{drivers, process};

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
