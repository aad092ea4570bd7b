//! Logs go to standard error, one line an event, each with the request id of the span it belongs to.

use std::io;

use tracing_subscriber::{EnvFilter, Registry, fmt, layer::SubscriberExt, reload, util::SubscriberInitExt};

use crate::config::{LogConfig, LogFormat};

/// Changes the level of a running process.
#[derive(Debug, Clone)]
pub struct LogControl(reload::Handle<EnvFilter, Registry>);

/// Starts logging. Does nothing when a subscriber is installed already (tests).
pub fn start(config: &LogConfig) -> LogControl {
    let (filter, handle) = reload::Layer::new(filter(&config.level));
    let registry = tracing_subscriber::registry().with(filter);
    let started = match config.format {
        LogFormat::Json => {
            let layer = fmt::layer().json().flatten_event(true).with_current_span(true).with_span_list(false).with_writer(io::stderr);
            registry.with(layer).try_init()
        }
        LogFormat::Human => registry
            .with(fmt::layer().compact().with_target(false).with_ansi(io::IsTerminal::is_terminal(&io::stderr())).with_writer(io::stderr))
            .try_init(),
    };
    if started.is_err() {
        tracing::debug!("a log subscriber is installed already");
    }
    LogControl(handle)
}

/// The level from the configuration; libraries below `warn` unless directives name them.
fn filter(level: &str) -> EnvFilter {
    let plain = level.parse::<tracing::Level>().is_ok();
    let directives = if plain { format!("warn,stowage={level}") } else { level.to_owned() };
    EnvFilter::try_new(&directives).unwrap_or_else(|_| EnvFilter::new("info"))
}

impl LogControl {
    pub fn set_level(&self, level: &str) {
        if let Err(e) = self.0.reload(filter(level)) {
            tracing::warn!(error = %e, "the log level was not changed");
        }
    }
}
