//! `log`: a driver's lines for the operator.
//!
//! A flood costs a driver its lines, not the service its disk: beyond the limits lines are dropped and counted, and one
//! note says how many when the call ends. Secrets that the host knows are blotted out; control characters are escaped, so
//! that a line stays a line.

use std::sync::Arc;

use super::secrets::Secrets;

/// How much one call may write.
#[derive(Debug, Clone, Copy)]
pub struct LogLimits {
    pub line_bytes: usize,
    pub lines: usize,
    pub bytes: usize,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { line_bytes: 4096, lines: 1000, bytes: 256 << 10 }
    }
}

/// How loud a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// Who writes.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    pub driver: String,
    pub backend: String,
    pub request_id: String,
    pub operation_id: String,
}

/// The log of one call. Dropping it writes the note about what was dropped.
pub struct CallLog {
    origin: Origin,
    secrets: Arc<Secrets>,
    limits: LogLimits,
    lines: usize,
    bytes: usize,
    dropped: u64,
}

impl CallLog {
    pub fn new(origin: Origin, secrets: Arc<Secrets>, limits: LogLimits) -> Self {
        Self { origin, secrets, limits, lines: 0, bytes: 0, dropped: 0 }
    }

    /// Lines dropped so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes a line; false when it was dropped. A line that is too long is cut.
    pub fn write<'a>(&mut self, level: Level, message: &str, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
        if self.lines >= self.limits.lines || self.bytes >= self.limits.bytes {
            self.dropped += 1;
            return false;
        }
        let mut line = cut(message, self.limits.line_bytes).to_owned();
        for (key, value) in fields {
            if line.len() >= self.limits.line_bytes {
                break;
            }
            let room = self.limits.line_bytes - line.len();
            line.push_str(cut(&format!(" {}={}", cut(key, room), cut(value, room)), room));
        }
        let line = one_line(&self.secrets.redact(&line));
        self.lines += 1;
        self.bytes += line.len();
        let Origin { driver, backend, request_id, operation_id } = &self.origin;
        match level {
            Level::Debug => tracing::debug!(target: "driver", %driver, %backend, %request_id, %operation_id, "{line}"),
            Level::Info => tracing::info!(target: "driver", %driver, %backend, %request_id, %operation_id, "{line}"),
            Level::Warn => tracing::warn!(target: "driver", %driver, %backend, %request_id, %operation_id, "{line}"),
            Level::Error => tracing::error!(target: "driver", %driver, %backend, %request_id, %operation_id, "{line}"),
        }
        true
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        if self.dropped > 0 {
            let Origin { driver, backend, request_id, .. } = &self.origin;
            tracing::warn!(target: "driver", %driver, %backend, %request_id, dropped = self.dropped, "the driver wrote more lines than a call may; the rest was dropped");
        }
    }
}

/// The longest beginning of at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(limits: LogLimits) -> CallLog {
        let secrets = Secrets::from_iter([("password".to_owned(), "hunter22".to_owned())]);
        CallLog::new(Origin::default(), Arc::new(secrets), limits)
    }

    #[test]
    fn a_flood_is_dropped_and_counted() {
        let mut log = log(LogLimits { lines: 3, ..LogLimits::default() });
        let written = (0..10).filter(|_| log.write(Level::Info, "again", [])).count();
        assert_eq!((written, log.dropped()), (3, 7));
    }

    #[test]
    fn bytes_are_limited_too() {
        let mut log = log(LogLimits { line_bytes: 100, bytes: 150, lines: 1000 });
        let long = "x".repeat(5000);
        assert!(log.write(Level::Info, &long, []));
        assert!(log.write(Level::Info, "", [("k", long.as_str())]));
        assert!(!log.write(Level::Info, "more", []));
        assert_eq!(log.bytes, 200);
    }

    #[test]
    fn a_line_is_cut_between_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
    }

    #[test]
    fn a_line_stays_one_line_and_holds_no_secret() {
        let log = log(LogLimits::default());
        assert_eq!(one_line(&log.secrets.redact("a\nfake=line\u{1b}[2J pw=hunter22")), "a\\nfake=line\\u{1b}[2J pw=***");
    }
}
