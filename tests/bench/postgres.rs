//! A PostgreSQL of its own, with the durability that a production one has: a temporary folder, a unix socket, no TCP.

use std::{
    fs::{self, File},
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// Stopped and removed when dropped.
pub struct Server {
    home: TempDir,
    programs: PathBuf,
    account: Option<(u32, u32)>,
}

impl Server {
    /// # Errors
    /// Why there is none on this machine.
    pub async fn start() -> Result<Self, String> {
        let programs = programs().ok_or("no initdb below /usr/lib/postgresql")?;
        let account = if rustix::process::getuid().is_root() { Some((id("-u")?, id("-g")?)) } else { None };
        let home = tempfile::Builder::new().prefix("stowage-bench-pg-").tempdir().map_err(|e| e.to_string())?;
        if let Some((uid, gid)) = account {
            chown(home.path(), Some(uid), Some(gid)).map_err(|e| e.to_string())?;
        }
        let server = Self { home, programs, account };
        let data = server.data();
        server.run("initdb", &["-D", &data, "-U", "stowage", "--auth=trust", "--no-instructions", "-E", "UTF8", "--locale=C"])?;
        let options =
            format!("-c listen_addresses='' -c unix_socket_directories='{}' -c max_connections=100", server.home.path().display());
        let log = server.home.path().join("server.log");
        server.run("pg_ctl", &["-D", &data, "-w", "-t", "60", "-l", &log.to_string_lossy(), "-o", &options, "start"])?;
        server.run("createdb", &["-h", &server.home.path().to_string_lossy(), "-U", "stowage", "stowage"])?;
        Ok(server)
    }

    pub fn url(&self) -> String {
        format!("postgres://stowage@localhost/stowage?host={}", self.home.path().display())
    }

    fn data(&self) -> String {
        self.home.path().join("data").to_string_lossy().into_owned()
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let log = self.home.path().join(format!("{program}.log"));
        let file = File::create(&log).map_err(|e| e.to_string())?;
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.home.path()).stdin(Stdio::null());
        command.stdout(file.try_clone().map_err(|e| e.to_string())?).stderr(file);
        if let Some((uid, gid)) = self.account {
            command.uid(uid).gid(gid);
        }
        let status = command.status().map_err(|e| format!("{program}: {e}"))?;
        if status.success() { Ok(()) } else { Err(format!("{program}: {status}: {}", fs::read_to_string(&log).unwrap_or_default())) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(why) = self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]) {
            eprintln!("the PostgreSQL in {} was not stopped: {why}", self.home.path().display());
        }
    }
}

/// The newest version's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(|e| Some(e.ok()?.path().join("bin")));
    let mut found: Vec<PathBuf> = versions.filter(|bin: &PathBuf| Path::new(bin).join("initdb").exists()).collect();
    found.sort();
    found.pop()
}

fn id(what: &str) -> Result<u32, String> {
    let out = Command::new("id").args([what, "postgres"]).output().map_err(|e| e.to_string())?;
    String::from_utf8_lossy(&out.stdout).trim().parse().map_err(|_| "there is no user postgres".to_owned())
}
