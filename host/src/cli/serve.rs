//! `stowage serve`

use anyhow::{Context, Result};
use stowage::{
    app::App,
    config::{IdentityMode, Live},
    serve::{self, signals::Signals},
    telemetry,
};

use super::{SourceArgs, line};

pub async fn serve(args: &SourceArgs) -> Result<()> {
    let (config, source) = args.load()?;
    let log = telemetry::log::start(&config.log);
    let mut signals = Signals::install().context("cannot handle signals")?;
    let live = Live::new(config, source);
    let running = tokio::select! {
        started = serve::start(live, Some(log)) => started?,
        // a first start compiles drivers for a while; whoever takes over finds what was committed
        () = signals.before_ready() => return Ok(()),
    };
    welcome(&running.app);
    signals.until_stop(&running.app).await;
    running.stop().await;
    Ok(())
}

/// What a person who has just started it needs to know next.
fn welcome(app: &App) {
    let config = app.config.get();
    let urls = &app.public_urls;
    line(format_args!("Stowage {} is ready.", env!("CARGO_PKG_VERSION")));
    for (what, url, path) in [
        ("identity", &urls.identity, "/v3"),
        ("block storage", &urls.block, "/v3"),
        ("shared file systems", &urls.share, "/v2"),
        ("admin", &urls.admin, "/stowage/v1"),
    ] {
        if !url.is_empty() {
            line(format_args!("  {what:<20} {url}{path}"));
        }
    }
    if config.identity.mode == IdentityMode::Builtin {
        let clouds = config.clouds_yaml();
        line(format_args!("  {:<20} {} (cloud \"stowage\")", "credentials", clouds.display()));
        line(format_args!("Try:\n  OS_CLIENT_CONFIG_FILE={} openstack --os-cloud stowage volume create --size 1 first", clouds.display()));
    }
}
