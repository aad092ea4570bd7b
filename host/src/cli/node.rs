//! `stowage node`

use std::{net::SocketAddr, path::PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use stowage::{
    config::LogConfig,
    node::{self, Options, SMALLEST, name::Layout},
    telemetry,
};
use tokio::signal::unix::{SignalKind, signal};

use super::line;

#[derive(Args)]
pub struct Node {
    // those of the other commands, which mean nothing here: its help does not show them
    #[arg(long, hide = true)]
    config: Option<PathBuf>,
    #[arg(long, hide = true)]
    state_dir: Option<PathBuf>,
    /// Everything the node has: data, records, secrets, the iSCSI service's socket. On btrfs, or see --loop-size.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/stowage-node")]
    dir: PathBuf,
    /// Where drivers reach it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8788")]
    listen: SocketAddr,
    /// Where initiators reach it; may be repeated, the first is the preferred one.
    #[arg(long = "portal", value_name = "ADDRESS", default_value = "127.0.0.1:3260")]
    portals: Vec<SocketAddr>,
    /// The token drivers show; made when there is none. Without: DIR/token.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Make a btrfs of this size in a sparse file, DIR/disk.img, unless it is there: 10G, 2T.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    loop_size: Option<u64>,
    /// For volumes whose creation does not say.
    #[arg(long, value_name = "LAYOUT", default_value = "target-per-volume")]
    default_layout: Layout,
    /// Certificate chain in PEM: serve HTTPS.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: String,
    /// Say what this machine lacks and how to install it; start nothing.
    #[arg(long)]
    check: bool,
}

pub async fn node(args: Node) -> Result<bool> {
    if args.check {
        return Ok(check(&args));
    }
    if !args.listen.ip().is_loopback() && args.tls_certificate.is_none() {
        line(format_args!("note: {} is reached without TLS: tokens and CHAP secrets can be read on the way", args.listen));
    }
    let _log = telemetry::log::start(&LogConfig { level: args.log_level.clone(), ..LogConfig::default() });
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let token_file = args.token_file.clone().unwrap_or_else(|| args.dir.join("token"));
    let options = Options {
        dir: args.dir,
        listen: args.listen,
        portals: args.portals,
        token_file: args.token_file,
        loop_size: args.loop_size,
        default_layout: args.default_layout,
        tls: args.tls_certificate.zip(args.tls_key),
    };
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let running = node::start(options).await.context("the node does not start")?;
    let work = async {
        running.serving().await;
        line(format_args!("Stowage node {} is ready.", env!("CARGO_PKG_VERSION")));
        line(format_args!("  {:<10} {scheme}://{}/v1", "API", running.address));
        line(format_args!("  {:<10} {}", "token", token_file.display()));
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = work => {}
        _ = term.recv() => tracing::info!("SIGTERM: stopping"),
        _ = int.recv() => tracing::info!("SIGINT: stopping"),
    }
    running.stop().await;
    Ok(true)
}

fn check(args: &Node) -> bool {
    let findings = node::check::check(&args.dir, args.listen, &args.portals);
    for finding in &findings {
        let word = match (&finding.remedy, finding.needed) {
            (None, _) => "ok   ",
            (Some(_), true) => "WRONG",
            (Some(_), false) => "note ",
        };
        line(format_args!("{word} {}: {}", finding.what, finding.detail));
        if let Some(remedy) = &finding.remedy {
            line(format_args!("      remedy: {remedy}"));
        }
    }
    if let Some(command) = node::check::install_command(&findings) {
        line(format_args!("To install what is missing: {command}"));
    }
    findings.iter().all(|f| f.remedy.is_none() || !f.needed)
}

/// `10G`, `512M`, `2T`. A bare number is refused: who means GiB must not get bytes.
fn bytes(text: &str) -> Result<u64> {
    const SHAPE: &str = "a size is a whole number and its unit, M, G or T: 500G";
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => bail!(SHAPE),
    };
    let size = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift)).context(SHAPE)?;
    if size < SMALLEST {
        bail!("{text} is too small: the file system needs at least {}M, and volumes are whole GiB", SMALLEST >> 20);
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn a_size_has_a_unit_and_room_for_a_file_system() {
        for (text, size) in [("128M", 128 << 20), ("5G", 5 << 30), ("5GiB", 5 << 30), ("2T", 2 << 40)] {
            assert_eq!(bytes(text).unwrap(), size, "{text}");
        }
        for (text, why) in [
            ("5", "its unit"),
            ("5368709120", "its unit"),
            ("G", "its unit"),
            ("", "its unit"),
            ("1.5G", "its unit"),
            ("-1G", "its unit"),
            ("99999999999999999T", "its unit"),
            ("5M", "too small"),
            ("0G", "too small"),
        ] {
            let said = bytes(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
