//! Which level counts for which target: the configuration's directives, and the levels set over them while the process runs.
//!
//! A prefix matches as the subscriber matches: every target that begins with its letters; the longest prefix counts. A level
//! that was set takes the place of all directives that it covers, so that none of them outlives it.

use std::collections::BTreeMap;

use tracing_subscriber::filter::LevelFilter;

/// The parts of the service that log, as prefixes of their targets.
pub const PARTS: &[&str] = &[
    "stowage",
    "stowage::api",
    "stowage::app",
    "stowage::config",
    "stowage::copy",
    "stowage::driver",
    "stowage::event",
    "stowage::jobs",
    "stowage::keystone",
    "stowage::network",
    "stowage::notify",
    "stowage::policy",
    "stowage::quota",
    "stowage::reconcile",
    "stowage::scheduler",
    "stowage::serve",
    "stowage::service",
    "stowage::store",
    "stowage::telemetry",
    "stowage::wasm",
];

/// What `log.level` means: libraries below `warn` unless directives name them.
pub fn configured(level: &str) -> String {
    let plain = level.parse::<tracing::Level>().is_ok();
    if plain { format!("warn,stowage={level}") } else { level.to_owned() }
}

/// The configuration's directives with the levels set over them.
pub fn with(configured: &str, set: &[(String, LevelFilter)]) -> String {
    let covered = |part: &str| plain(part).is_some_and(|(target, _)| set.iter().any(|(prefix, _)| target.starts_with(prefix.as_str())));
    let kept = configured.split(',').map(str::trim).filter(|part| !part.is_empty() && !covered(part)).map(str::to_owned);
    let over = set.iter().flat_map(|(prefix, level)| match prefix.as_str() {
        // as `log.level` with one word: libraries do not say more than they must
        "" => vec![(*level).min(LevelFilter::WARN).to_string(), format!("stowage={level}")],
        _ => vec![format!("{prefix}={level}")],
    });
    let mut all: Vec<String> = Vec::new();
    for directive in kept.chain(over) {
        // a longer prefix that was set, too, stands for itself
        if let Some((target, _)) = plain(&directive) {
            all.retain(|d| plain(d).is_none_or(|(t, _)| t != target));
        }
        all.push(directive);
    }
    all.join(",")
}

/// The levels in force below a prefix, by the names that OpenStack has for them: of the service's parts, of whatever else the
/// directives name, and of the prefix itself.
pub fn levels(directives: &str, prefix: &str) -> BTreeMap<String, &'static str> {
    let named = directives.split(',').filter_map(plain).map(|(target, _)| target);
    PARTS
        .iter()
        .copied()
        .chain(named)
        .chain([prefix])
        .filter(|target| !target.is_empty() && target.starts_with(prefix))
        .map(|target| (target.to_owned(), word(level_of(directives, target))))
        .collect()
}

fn level_of(directives: &str, target: &str) -> LevelFilter {
    let matching = directives.split(',').filter_map(plain).filter(|(prefix, _)| target.starts_with(prefix));
    matching.max_by_key(|(prefix, _)| prefix.len()).map_or(LevelFilter::OFF, |(_, level)| level)
}

/// The target and the level of a directive that names neither span nor field.
fn plain(directive: &str) -> Option<(&str, LevelFilter)> {
    let directive = directive.trim();
    if directive.is_empty() || directive.contains('[') {
        return None;
    }
    match directive.split_once('=') {
        Some((target, "")) => Some((target, LevelFilter::TRACE)),
        Some((target, level)) => Some((target, level.parse().ok()?)),
        None => Some(directive.parse().map_or((directive, LevelFilter::TRACE), |level| ("", level))),
    }
}

fn word(level: LevelFilter) -> &'static str {
    match level {
        LevelFilter::ERROR => "ERROR",
        LevelFilter::WARN => "WARNING",
        LevelFilter::INFO => "INFO",
        LevelFilter::DEBUG => "DEBUG",
        LevelFilter::TRACE => "TRACE",
        _ => "OFF",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(levels: &[(&str, LevelFilter)]) -> Vec<(String, LevelFilter)> {
        levels.iter().map(|(prefix, level)| ((*prefix).to_owned(), *level)).collect()
    }

    #[test]
    fn every_part_of_the_crate_is_named() {
        let quiet = ["clock", "context", "domain", "error", "node", "program"];
        let modules = include_str!("../../lib.rs").lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';'));
        for module in modules.filter(|m| !quiet.contains(m)) {
            assert!(PARTS.contains(&format!("stowage::{module}").as_str()), "{module}");
        }
    }

    #[test]
    fn a_level_that_is_set_covers_the_longer_directives_of_the_configuration() {
        let base = configured("info,stowage::jobs=debug,stowage=warn,h2=error");
        assert_eq!(with(&base, &set(&[("stowage", LevelFilter::ERROR)])), "info,h2=error,stowage=error");
        assert_eq!(with(&base, &set(&[("stowage::jobs::task", LevelFilter::DEBUG)])), format!("{base},stowage::jobs::task=debug"));
    }

    #[test]
    fn without_a_prefix_everything_is_covered_and_libraries_say_no_more_than_warnings() {
        let base = configured("info");
        assert_eq!(with(&base, &set(&[("", LevelFilter::DEBUG)])), "warn,stowage=debug");
        assert_eq!(with(&base, &set(&[("", LevelFilter::ERROR)])), "error,stowage=error");
        assert_eq!(with(&base, &set(&[("", LevelFilter::ERROR), ("stowage", LevelFilter::INFO)])), "error,stowage=info");
    }

    #[test]
    fn levels_are_told_of_the_longest_prefix() {
        let told = levels("warn,stowage=info,stowage::jobs=debug", "stowage::j");
        assert_eq!(told, BTreeMap::from([("stowage::j".to_owned(), "INFO"), ("stowage::jobs".to_owned(), "DEBUG")]));
        assert_eq!(levels("warn,stowage=info", "sqlx"), BTreeMap::from([("sqlx".to_owned(), "WARNING")]));
        assert_eq!(levels("warn", "").len(), PARTS.len());
    }

    #[test]
    fn a_directive_for_a_span_stays_as_it_is() {
        let base = "info,stowage[request]=debug";
        assert_eq!(with(base, &set(&[("", LevelFilter::WARN)])), "stowage[request]=debug,warn,stowage=warn");
    }
}
