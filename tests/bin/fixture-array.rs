//! `fixture-array [--listen ADDRESS] [--state FILE]`: the fixture array as a process, for tests that kill the service.

use std::path::PathBuf;

use support::array::server::{Shared, serve};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut listen = "127.0.0.1:0".to_owned();
    let mut state = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next();
        match (argument.as_str(), value) {
            ("--listen", Some(address)) => listen = address,
            ("--state", Some(file)) => state = Some(PathBuf::from(file)),
            _ => anyhow::bail!("usage: fixture-array [--listen ADDRESS] [--state FILE]"),
        }
    }
    let listener = tokio::net::TcpListener::bind(&listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    serve(listener, Shared::new(state)?).await;
    Ok(())
}
