//! From a file's text to a [`Config`] whose every value is usable.
//!
//! Syntax and type errors stop at the first one (what follows could not be trusted); rules between values are all reported.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::{BackendConfig, Config, ConfigError, Finding, validate};

/// Where the configuration comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The file; none when `stowage serve` runs without any.
    pub file: Option<PathBuf>,
    /// `--state-dir`, which wins over the file.
    pub state_dir: Option<PathBuf>,
}

/// Looked at when neither `--config` nor `STOWAGE_CONFIG` is given.
pub const SYSTEM_FILE: &str = "/etc/stowage/stowage.toml";

impl Source {
    /// `explicit` is `--config` or `STOWAGE_CONFIG`.
    pub fn find(explicit: Option<PathBuf>, state_dir: Option<PathBuf>) -> Self {
        let file = explicit.or_else(|| Some(PathBuf::from(SYSTEM_FILE)).filter(|p| p.exists()));
        Self { file, state_dir }
    }

    /// Reads, checks and completes the configuration.
    ///
    /// # Errors
    /// [`ConfigError`] with every finding.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let mut config = match &self.file {
            Some(path) => {
                let text = fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.clone(), source })?;
                let mut config = parse(&text).map_err(|findings| ConfigError::Refused { path: path.clone(), findings })?;
                anchor(&mut config, path.parent().unwrap_or(Path::new(".")));
                config
            }
            None => without_a_file(),
        };
        if let Some(dir) = &self.state_dir {
            config.state_dir.clone_from(dir);
        }
        if config.state_dir.as_os_str().is_empty() {
            config.state_dir = default_state_dir()?;
        }
        Ok(config)
    }
}

/// `stowage serve` without any configuration: a back end of volumes and one of shares, both on the embedded memory driver.
pub fn without_a_file() -> Config {
    let mut shares = BackendConfig::of_shares("memory-shares", "memory");
    shares.options.insert("share_protocols".to_owned(), serde_json::json!(["nfs", "cifs"]));
    Config { backends: vec![BackendConfig::new("memory", "memory"), shares], ..Config::default() }
}

/// Parses and checks one file's text.
///
/// # Errors
/// What is wrong, at least one finding.
pub fn parse(text: &str) -> Result<Config, Vec<Finding>> {
    let config: Config = toml::from_str(text).map_err(|e| vec![explain(text, &e)])?;
    let findings = validate::check(text, &config);
    if findings.is_empty() { Ok(config) } else { Err(findings) }
}

fn explain(text: &str, e: &toml::de::Error) -> Finding {
    let message = e.message().trim();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (message, remedy) = match (message.starts_with("unknown field"), quoted.split_first()) {
        (true, Some((unknown, known))) => (format!("unknown key {unknown:?}"), near(unknown, known)),
        _ => (message.to_owned(), "examples/stowage.toml shows every key with its default".to_owned()),
    };
    Finding::at(text, e.span(), message, remedy)
}

/// "did you mean": the known key with the smallest edit distance, when it is small.
fn near(unknown: &str, known: &[&str]) -> String {
    let best = known.iter().map(|k| (distance(unknown, k), *k)).min();
    match best {
        Some((d, key)) if d <= 2 || d * 3 <= unknown.len() => format!("did you mean \"{key}\"? otherwise remove it"),
        _ if known.is_empty() => "remove it".to_owned(),
        _ => format!("remove it; known here: {}", known.join(", ")),
    }
}

fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// Relative paths in a file are relative to its folder.
fn anchor(config: &mut Config, folder: &Path) {
    for path in [
        &mut config.state_dir,
        &mut config.drivers.folder,
        &mut config.drivers.cache,
        &mut config.policy.file,
        &mut config.identity.keystone.ca_file,
        &mut config.notify.webhook.ca_file,
    ] {
        if !path.as_os_str().is_empty() && path.is_relative() {
            *path = folder.join(&*path);
        }
    }
}

fn default_state_dir() -> Result<PathBuf, ConfigError> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("XDG_STATE_HOME")
        .map(|p| p.join("stowage"))
        .or_else(|| absolute("HOME").map(|p| p.join(".local/state/stowage")))
        .ok_or(ConfigError::NoStateFolder)
}
