//! `stowage node --check`: what this machine lacks, and how to get it.

use std::{
    fs,
    io::ErrorKind,
    net::{SocketAddr, TcpListener},
    os::unix::net::UnixStream,
    path::Path,
};

use super::{command, lock::FolderLock};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub what: &'static str,
    pub detail: String,
    /// What to do, when it is not as it should be.
    pub remedy: Option<String>,
    /// The node cannot run without it; else only without a part.
    pub needed: bool,
}

const PACKAGES: [(&str, &str, &str, bool); 4] = [
    ("tgtd", "tgt", "the iSCSI service", true),
    ("mkfs.btrfs", "btrfs-progs", "makes a file system with --loop-size", false),
    ("mount", "mount", "mounts a file system made with --loop-size", false),
    ("umount", "mount", "unmounts it", false),
];

/// Looks at the machine. Changes nothing. `tgtadm`, which is in the same package as `tgtd`, is for operators; the node does not
/// use it.
pub fn check(dir: &Path, listen: SocketAddr, portals: &[SocketAddr]) -> Vec<Finding> {
    let mut findings = vec![root()];
    for (program, package, what, needed) in PACKAGES {
        let found = command::find(program);
        findings.push(Finding {
            what: program,
            detail: found.as_ref().map_or_else(
                || format!("not installed; it {}", if needed { "is ".to_owned() + what } else { what.to_owned() }),
                |p| p.display().to_string(),
            ),
            remedy: found.is_none().then(|| format!("apt-get install {package}")),
            needed,
        });
    }
    findings.push(btrfs());
    findings.push(loop_devices());
    findings.push(folder(dir));
    // also the iSCSI service that a killed node left: the next start takes it over
    let ours = FolderLock::is_held(dir) || UnixStream::connect(dir.join("run/tgtd.0")).is_ok();
    findings.push(address("API address", listen, ours, "choose another with --listen"));
    for portal in portals {
        let remedy = "choose another with --portal, or end what has it; the distribution's own service: systemctl disable --now tgt";
        findings.push(address("portal", *portal, ours, remedy));
    }
    findings
}

/// The one command that installs all packages that are missing.
pub fn install_command(findings: &[Finding]) -> Option<String> {
    let mut packages: Vec<&str> = PACKAGES
        .iter()
        .filter(|(program, ..)| findings.iter().any(|f| f.what == *program && f.remedy.is_some()))
        .map(|(_, p, ..)| *p)
        .collect();
    packages.dedup();
    (!packages.is_empty()).then(|| format!("apt-get install {}", packages.join(" ")))
}

fn root() -> Finding {
    let is = rustix::process::geteuid().is_root();
    Finding {
        what: "root",
        detail: if is { "yes".to_owned() } else { "no: tgtd and mounting need it".to_owned() },
        remedy: (!is).then(|| "run it as root (CAP_SYS_ADMIN)".to_owned()),
        needed: true,
    }
}

fn btrfs() -> Finding {
    let listed = fs::read_to_string("/proc/filesystems").is_ok_and(|t| t.lines().any(|l| l.trim_start_matches("nodev").trim() == "btrfs"));
    let module = fs::read_to_string("/proc/sys/kernel/osrelease").ok().is_some_and(|release| {
        let folder = Path::new("/lib/modules").join(release.trim()).join("kernel/fs/btrfs");
        folder.is_dir()
    });
    let there = listed || module;
    Finding {
        what: "btrfs",
        detail: if listed {
            "in the kernel"
        } else if module {
            "a module"
        } else {
            "not in this kernel"
        }
        .to_owned(),
        remedy: (!there).then(|| "use a kernel with btrfs; the data has to be on it".to_owned()),
        needed: true,
    }
}

fn loop_devices() -> Finding {
    let there = Path::new("/dev/loop-control").exists();
    Finding {
        what: "loop devices",
        detail: if there { "/dev/loop-control".to_owned() } else { "none: --loop-size cannot be used".to_owned() },
        remedy: (!there).then(|| "modprobe loop, or give the container /dev/loop-control and /dev/loop*".to_owned()),
        needed: false,
    }
}

fn address(what: &'static str, address: SocketAddr, ours: bool, choose: &str) -> Finding {
    let (detail, remedy) = match TcpListener::bind(address) {
        Ok(_) => (format!("{address} is free"), None),
        Err(e) if e.kind() == ErrorKind::AddrInUse && ours => (format!("{address} is in use by this folder's own node"), None),
        Err(e) if e.kind() == ErrorKind::AddrInUse => (format!("{address} is in use"), Some(choose.to_owned())),
        Err(e) => (format!("{address}: {e}"), Some("use an address of this machine".to_owned())),
    };
    Finding { what, detail, remedy, needed: true }
}

fn folder(dir: &Path) -> Finding {
    const BTRFS: rustix::fs::FsWord = 0x9123_683E;
    let at = dir.ancestors().find(|p| p.exists() && !p.as_os_str().is_empty()).unwrap_or(Path::new("/"));
    let own_image = dir.join("disk.img").exists();
    let on_btrfs = rustix::fs::statfs(at).is_ok_and(|s| s.f_type == BTRFS);
    Finding {
        what: "folder",
        detail: match (own_image, on_btrfs) {
            (true, _) => format!("{} has a file system of its own", dir.display()),
            (_, true) => format!("{} is on btrfs", dir.display()),
            _ => format!("{} is not on btrfs", dir.display()),
        },
        remedy: (!own_image && !on_btrfs).then(|| "start it with --loop-size 10G, or choose a folder on btrfs".to_owned()),
        needed: false,
    }
}
