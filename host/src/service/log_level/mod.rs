//! The log levels of running processes.
//!
//! A level is a row of one process. The process that is asked applies its own before it answers, the others look every
//! [`follow::EVERY`]. A process that ends takes its levels with it; so does a changed `log.level`.

pub mod follow;
pub mod get;
pub mod set;

use tracing_subscriber::filter::LevelFilter;

use crate::{
    app::App,
    config::Config,
    error::{Error, Result},
    service::block_service::{SCHEDULER, VOLUME},
    store::sql::processes::ProcessRow,
};

/// The part that answers requests.
pub const API: &str = "cinder-api";
/// The part that makes backups. No process does yet.
const BACKUP: &str = "cinder-backup";

/// Which processes are meant.
#[derive(Debug, Default)]
pub struct Which {
    /// None: whatever work they do.
    pub binary: Option<String>,
    /// None: wherever they run.
    pub server: Option<String>,
}

/// The services whose work a process does, space separated.
fn binaries(config: &Config) -> String {
    let api = config.listen.block.0.is_some().then_some(API);
    let work = config.jobs.work.then_some([SCHEDULER, VOLUME]);
    api.into_iter().chain(work.into_iter().flatten()).collect::<Vec<_>>().join(" ")
}

impl Which {
    /// # Errors
    /// 400: a service that does not exist.
    pub fn new(binary: Option<&str>, server: Option<&str>) -> Result<Self> {
        let said = |text: &&str| !text.is_empty();
        let binary = binary.filter(said).filter(|b| *b != "*").map(str::to_owned);
        if let Some(b) = &binary
            && ![SCHEDULER, VOLUME, BACKUP, API].contains(&b.as_str())
        {
            return Err(Error::invalid(format!(
                "Invalid input for field/attribute binary. Value: {b:.255}. {b:.255} is not one of ['{SCHEDULER}', '{VOLUME}', '{BACKUP}', '{API}', '', '*']"
            )));
        }
        Ok(Self { binary, server: server.filter(said).map(str::to_owned) })
    }

    /// The living processes that are meant, and each one's services that are.
    async fn processes(&self, app: &App) -> Result<Vec<(ProcessRow, Vec<String>)>> {
        let cluster = app.config.get().host.clone();
        let mut found = Vec::new();
        for process in app.store.processes().await? {
            let meant: Vec<String> =
                process.binaries.split_whitespace().filter(|b| self.binary.as_deref().is_none_or(|w| w == *b)).map(str::to_owned).collect();
            if !meant.is_empty() && self.is_on(&process.label, &cluster) {
                found.push((process, meant));
            }
        }
        Ok(found)
    }

    /// The process, its machine, or the whole cluster, also by one of its back ends, which every process serves.
    fn is_on(&self, label: &str, cluster: &str) -> bool {
        let Some(server) = self.server.as_deref() else { return true };
        let machine = label.rsplit_once(':').map_or(label, |(machine, _)| machine);
        [label, machine, cluster].contains(&server) || server.split_once('@').is_some_and(|(host, _)| host == cluster)
    }
}

/// The level of this name, in any case of letters.
///
/// # Errors
/// 400: none of the four.
pub fn level(name: &str) -> Result<LevelFilter> {
    match name.to_ascii_uppercase().as_str() {
        "ERROR" => Ok(LevelFilter::ERROR),
        "WARNING" => Ok(LevelFilter::WARN),
        "INFO" => Ok(LevelFilter::INFO),
        "DEBUG" => Ok(LevelFilter::DEBUG),
        _ => Err(Error::invalid(format!("Invalid input received: {name:.255} is not a valid log level."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_process_its_machine_or_the_cluster() {
        let on = |server: &str| Which::new(None, Some(server)).unwrap().is_on("rack1:17", "stowage");
        for meant in ["", "rack1:17", "rack1", "stowage", "stowage@memory"] {
            assert!(on(meant), "{meant}");
        }
        for other in ["rack2", "rack1:18", "rack1:1", "elsewhere@memory"] {
            assert!(!on(other), "{other}");
        }
    }
}
