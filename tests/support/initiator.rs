//! Userspace iSCSI initiators: real sessions, real bytes, no kernel module.

use std::{
    path::PathBuf,
    process::{Output, Stdio},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::wait::PATIENCE;

/// `qemu-io` with the iscsi module, as `tests/datapath/install.sh` unpacks it.
///
/// # Panics
/// When it was not installed.
pub fn qemu_io() -> PathBuf {
    let path = qemu_io_path();
    assert!(path.exists(), "{} is not there: run tests/datapath/install.sh", path.display());
    path
}

/// `qemu-img` beside it.
///
/// # Panics
/// When it was not installed.
pub fn qemu_img() -> PathBuf {
    qemu_io().with_file_name("qemu-img")
}

/// Whether it was installed.
pub fn is_installed() -> bool {
    qemu_io_path().exists()
}

fn qemu_io_path() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    target.join("datapath/qemu/bin/qemu-io")
}

/// An initiator with a name.
#[derive(Debug, Clone)]
pub struct Initiator {
    pub name: String,
}

/// A session that stays open, with one command at a time.
pub struct Session {
    child: Child,
    out: ChildStdout,
}

impl Initiator {
    pub fn new(name: &str) -> Self {
        Self { name: format!("iqn.2004-10.com.example:{name}") }
    }

    fn options(&self, connection: &Value) -> String {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        format!(
            "driver=raw,file.driver=iscsi,file.transport=tcp,file.portal={},file.target={},file.lun={},file.initiator-name={},file.user={},file.password={}",
            text(&connection["portals"][0]),
            text(&connection["iqn"]),
            connection["lun"],
            self.name,
            text(&connection["auth"]["username"]),
            text(&connection["auth"]["password"])
        )
    }

    async fn run(&self, connection: &Value, read_only: bool, commands: &[String]) -> Output {
        let mut command = Command::new(qemu_io());
        if read_only {
            command.arg("-r");
        }
        command.arg("--image-opts").arg(self.options(connection)).stdin(Stdio::null()).kill_on_drop(true);
        for c in commands {
            command.args(["-c", c]);
        }
        timeout(PATIENCE, command.output()).await.expect("qemu-io ends").unwrap()
    }

    /// Writes `pattern` over `length` (`1M`) at `offset`, and flushes. False when it is refused.
    pub async fn write(&self, connection: &Value, pattern: u8, offset: &str, length: &str) -> bool {
        let out = self.run(connection, false, &[format!("write -P {pattern} {offset} {length}"), "flush".to_owned()]).await;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        out.status.success() && text.contains("wrote") && !text.contains("failed")
    }

    /// Whether `length` at `offset` is `pattern`. False also when it cannot be read.
    pub async fn reads(&self, connection: &Value, pattern: u8, offset: &str, length: &str) -> bool {
        let out = self.run(connection, true, &[format!("read -P {pattern} {offset} {length}")]).await;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        out.status.success() && text.contains("read ") && !text.contains("failed")
    }

    /// Whether anything at all can be read.
    pub async fn can_read(&self, connection: &Value) -> bool {
        let out = self.run(connection, true, &["read 0 512".to_owned()]).await;
        out.status.success() && String::from_utf8_lossy(&out.stdout).contains("read 512/512")
    }

    /// The size the initiator sees, as `qemu-io` prints it: `2 GiB`.
    pub async fn length(&self, connection: &Value) -> String {
        let out = self.run(connection, true, &["length".to_owned()]).await;
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// Logs in and stays.
    pub fn session(&self, connection: &Value) -> Session {
        let mut child = Command::new(qemu_io())
            .arg("--image-opts")
            .arg(self.options(connection))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        Session { child, out }
    }

    /// `TARGET` lines that discovery shows.
    pub async fn discovers(&self, portal: &str) -> Vec<String> {
        let out = timeout(PATIENCE, Command::new("iscsi-ls").args(["-i", &self.name, &format!("iscsi://{portal}")]).output())
            .await
            .unwrap()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        text.lines().filter_map(|l| l.strip_prefix("Target:")).map(|l| l.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    }

    /// LUN numbers of a target that can be logged in to.
    pub async fn luns(&self, connection: &Value) -> Vec<u64> {
        let mut found = Vec::new();
        for lun in 0..8 {
            let mut other = connection.clone();
            other["lun"] = lun.into();
            if self.can_read(&other).await {
                found.push(lun);
            }
        }
        found
    }
}

impl Session {
    /// One command; its answer up to the line that says how it went. None: the initiator has ended.
    pub async fn command(&mut self, command: &str) -> Option<String> {
        let input = self.child.stdin.as_mut()?;
        input.write_all(format!("{command}\n").as_bytes()).await.ok()?;
        input.flush().await.ok()?;
        let mut text = String::new();
        let mut bytes = [0; 4096];
        let done =
            |t: &str| ["wrote ", "failed", "read ", "rror"].iter().any(|w| t.lines().any(|l| l.contains(w) && !l.ends_with(command)));
        timeout(PATIENCE, async {
            while !done(&text) {
                match self.out.read(&mut bytes).await {
                    Ok(n) if n > 0 => text.push_str(&String::from_utf8_lossy(&bytes[..n])),
                    _ => return None,
                }
            }
            Some(text)
        })
        .await
        .expect("an answer")
    }
    pub async fn write(&mut self, pattern: u8, offset: &str, length: &str) -> bool {
        self.command(&format!("write -P {pattern} {offset} {length}")).await.is_some_and(|t| t.contains("wrote") && !t.contains("failed"))
    }
    pub async fn reads(&mut self, pattern: u8, offset: &str, length: &str) -> bool {
        self.command(&format!("read -P {pattern} {offset} {length}")).await.is_some_and(|t| !t.contains("failed") && !t.contains("rror"))
    }
    /// Whether a command succeeds or fails soon. A session that was cut tries to log in again for ever: that is no access.
    pub async fn has_access(&mut self) -> bool {
        let ask = self.command("read 0 512");
        match timeout(std::time::Duration::from_secs(2), ask).await {
            Ok(Some(text)) => text.contains("read 512/512"),
            Ok(None) | Err(_) => false,
        }
    }
}
