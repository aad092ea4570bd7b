//! Logs go to standard error, one line an event, each with the request id of the span it belongs to.

pub mod directives;

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing_subscriber::{EnvFilter, Registry, filter::LevelFilter, fmt, layer::SubscriberExt, reload, util::SubscriberInitExt};

use crate::config::{LogConfig, LogFormat};

/// Changes the level of a running process. The last who spoke counts: a level that is set counts over the configuration's, until
/// the configuration changes `log.level`.
#[derive(Debug, Clone)]
pub struct LogControl {
    /// None where somebody else made the subscriber (tests): levels are kept and told, and nothing follows them.
    handle: Option<reload::Handle<EnvFilter, Registry>>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    configured: String,
    set: Vec<(String, LevelFilter)>,
}

/// Starts logging. Does nothing when a subscriber is installed already (tests).
pub fn start(config: &LogConfig) -> LogControl {
    let (filter, handle) = reload::Layer::new(filter(&directives::configured(&config.level)));
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
    LogControl { handle: Some(handle), ..LogControl::detached(config) }
}

fn filter(directives: &str) -> EnvFilter {
    EnvFilter::try_new(directives).unwrap_or_else(|_| EnvFilter::new("info"))
}

impl LogControl {
    /// Keeps levels for a subscriber that does not follow them.
    pub fn detached(config: &LogConfig) -> Self {
        Self { handle: None, state: Arc::new(Mutex::new(State { configured: config.level.clone(), set: Vec::new() })) }
    }

    /// The directives in force.
    pub fn directives(&self) -> String {
        self.lock().directives()
    }

    /// The levels that are set, by prefix.
    pub fn set_levels(&self) -> Vec<(String, LevelFilter)> {
        self.lock().set.clone()
    }

    /// The configuration's level of now. True: it is another than before, and whatever was set is forgotten.
    pub fn configure(&self, level: &str) -> bool {
        let mut state = self.lock();
        if state.configured == level {
            return false;
        }
        level.clone_into(&mut state.configured);
        state.set.clear();
        self.follow(&state);
        true
    }

    /// Exactly these levels are set. True: that is another log than before.
    pub fn set(&self, levels: Vec<(String, LevelFilter)>) -> bool {
        let mut state = self.lock();
        if state.set == levels {
            return false;
        }
        state.set = levels;
        self.follow(&state);
        true
    }

    fn follow(&self, state: &State) {
        let directives = state.directives();
        if let Some(handle) = &self.handle
            && let Err(e) = handle.reload(filter(&directives))
        {
            tracing::warn!(error = %e, "the log level was not changed");
        }
        tracing::info!(%directives, "the log follows other levels");
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn directives(&self) -> String {
        directives::with(&directives::configured(&self.configured), &self.set)
    }
}
