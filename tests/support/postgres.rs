//! A private PostgreSQL cluster for the tests.
//!
//! One cluster serves all test processes of a run: it lies in a temporary folder named after the process that runs the
//! tests (cargo, nextest), listens on a unix socket there, and is run as user `postgres` when we are root. Every test gets
//! a database of its own, copied from a migrated template, and drops it. A guard process ends the cluster and removes the
//! folder when the runner has ended, however it ended, or when no test used the cluster for a while.
//!
//! `STOWAGE_TEST_POSTGRES` (a URL with the right to create databases) takes the place of the private cluster.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use rustix::fs::{FlockOperation, flock};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use stowage::store::{Store, StoreOptions};

const TEMPLATE: &str = "stowage_template";

/// A server that this process may use until it ends.
struct Server {
    /// `postgres://...` of a database, by its name.
    url: Box<dyn Fn(&str) -> String + Send + Sync>,
    admin: String,
    /// Holds a shared lock: the guard sees that the cluster is in use.
    _in_use: Option<File>,
}

/// A database of one test.
pub struct Database {
    pub url: String,
    name: String,
    admin: String,
}

/// Whether there is a server to be had: a URL in the environment or the programs on this machine.
pub fn is_available() -> bool {
    std::env::var_os("STOWAGE_TEST_POSTGRES").is_some() || programs().is_some()
}

/// A fresh, migrated database.
pub async fn database() -> Database {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let server = match SERVER.get() {
        Some(s) => s,
        None => {
            // blocking: two test threads may come here at once, and the lock file lets one of them through
            let server = tokio::task::spawn_blocking(find_or_start).await.unwrap();
            SERVER.get_or_init(|| server)
        }
    };
    let name = format!("t_{}", uuid::Uuid::new_v4().simple());
    let url = (server.url)(&name);
    let mut admin = PgConnection::connect(&server.admin).await.expect("the test server answers");
    if server._in_use.is_some() {
        admin.execute(AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}"))).await.expect("a database from the template");
    } else {
        admin.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.expect("a database");
        migrate(&url).await;
    }
    admin.close().await.ok();
    Database { url, name, admin: server.admin.clone() }
}

/// A fresh database without any table.
pub async fn empty_database() -> Database {
    let mut database = database().await;
    let mut admin = PgConnection::connect(&database.admin).await.unwrap();
    let name = format!("e_{}", uuid::Uuid::new_v4().simple());
    admin.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    admin.execute(AssertSqlSafe(format!("DROP DATABASE {}", database.name))).await.unwrap();
    database.url = database.url.replace(&database.name, &name);
    database.name = name;
    database
}

impl Drop for Database {
    fn drop(&mut self) {
        let (admin, name) = (self.admin.clone(), self.name.clone());
        let drop = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                let mut admin = PgConnection::connect(&admin).await.ok()?;
                admin.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await.ok()?;
                admin.close().await.ok()
            })
        };
        // a thread of its own: we may be inside a runtime
        let _ = std::thread::spawn(drop).join();
    }
}

async fn migrate(url: &str) {
    let store = Store::open(&StoreOptions { max_connections: 2, ..StoreOptions::new(url) }).await.expect("the new database opens");
    store.migrate().await.expect("the migrations run");
    store.close().await;
}

fn find_or_start() -> Server {
    if let Ok(given) = std::env::var("STOWAGE_TEST_POSTGRES") {
        let base = url::Url::parse(&given).expect("STOWAGE_TEST_POSTGRES is a URL");
        let of = move |name: &str| {
            let mut url = base.clone();
            url.set_path(name);
            url.to_string()
        };
        return Server { url: Box::new(of), admin: given, _in_use: None };
    }
    let runner = rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get());
    let home = PathBuf::from(format!("/tmp/stowage-pg-{}-{runner}", rustix::process::getuid().as_raw()));
    let door = lock_door(&home.with_extension("lock"));
    if !home.join("ready").exists() {
        start(&home, runner);
    }
    let in_use = lock(&home.join("users"), FlockOperation::LockShared);
    drop(door);
    let socket = home.clone();
    let of = move |name: &str| format!("postgres://stowage@localhost/{name}?host={}", socket.display());
    let admin = of("postgres");
    Server { url: Box::new(of), admin, _in_use: Some(in_use) }
}

fn lock(path: &Path, how: FlockOperation) -> File {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    flock(&file, how).unwrap();
    file
}

/// The door's lock, held on the file that bears the name now: a guard that ends deletes the one it held, and whoever waited for that
/// one would start a second cluster beside the one behind the new file.
fn lock_door(path: &Path) -> File {
    loop {
        let door = lock(path, FlockOperation::LockExclusive);
        let (held, named) = (door.metadata().unwrap(), fs::metadata(path));
        if named.is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino())) {
            return door;
        }
    }
}

/// initdb, start, template, guard. Called behind the door lock.
fn start(home: &Path, runner: i32) {
    let programs = programs().expect("PostgreSQL is installed (initdb below /usr/lib/postgresql/*/bin), or STOWAGE_TEST_POSTGRES is set");
    let _ = fs::remove_dir_all(home);
    fs::create_dir_all(home).unwrap();
    let account = rustix::process::getuid()
        .is_root()
        .then(|| account("postgres").expect("root runs the test cluster as user postgres, which exists"));
    if let Some((uid, gid)) = account {
        std::os::unix::fs::chown(home, Some(uid), Some(gid)).unwrap();
    }
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(programs.join(program));
        command.args(args).current_dir(home).stdin(Stdio::null());
        if let Some((uid, gid)) = account {
            command.uid(uid).gid(gid);
        }
        // files, not pipes: the server would keep a pipe open
        let log = home.join(format!("{program}.log"));
        command.stdout(File::create(&log).unwrap()).stderr(OpenOptions::new().append(true).open(&log).unwrap());
        let status = command.status().unwrap();
        assert!(status.success(), "{program} {args:?}: {status}\n{}", fs::read_to_string(&log).unwrap_or_default());
    };
    let data = home.join("data");
    let data = data.to_str().unwrap();
    run("initdb", &["-D", data, "-U", "stowage", "--auth=trust", "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"]);
    let options = format!(
        "-c listen_addresses='' -c unix_socket_directories='{}' -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
         -c max_connections=400 -c shared_buffers=64MB -c autovacuum_naptime=5s",
        home.display()
    );
    let log = home.join("server.log");
    run("pg_ctl", &["-D", data, "-w", "-t", "60", "-l", log.to_str().unwrap(), "-o", &options, "start"]);
    guard(home, &programs, runner, account);
    let url = |name: &str| format!("postgres://stowage@localhost/{name}?host={}", home.display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = PgConnection::connect(&url("postgres")).await.expect("the new server answers");
        admin.execute(AssertSqlSafe(format!("CREATE DATABASE {TEMPLATE}"))).await.unwrap();
        admin.close().await.ok();
        migrate(&url(TEMPLATE)).await;
    });
    File::create(home.join("ready")).unwrap();
}

/// Leaves a process behind that ends the cluster: when the runner is gone, or after ten seconds without a user.
fn guard(home: &Path, programs: &Path, runner: i32, account: Option<(u32, u32)>) {
    const SCRIPT: &str = r#"
        home=$1 programs=$2 runner=$3
        while :; do
            idle=0
            while [ -d "/proc/$runner" ] && [ "$idle" -lt 50 ]; do
                if flock -n -x "$home/users" true; then idle=$((idle + 1)); else idle=0; fi
                sleep 0.2
            done
            exec 9>>"$home.lock"
            flock -x 9
            if [ ! -d "/proc/$runner" ] || flock -n -x "$home/users" true; then break; fi
            exec 9>&-
        done
        "$programs/pg_ctl" -D "$home/data" -m immediate -w stop
        rm -rf "$home" "$home.lock"
    "#;
    // pg_ctl refuses to run as root; the folder and its lock belong to the account
    if let Some((uid, gid)) = account {
        for path in [home.join("users"), home.with_extension("lock")] {
            drop(OpenOptions::new().create(true).append(true).open(&path).unwrap());
            std::os::unix::fs::chown(&path, Some(uid), Some(gid)).unwrap();
        }
    }
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", SCRIPT, "stowage-pg-guard"]).arg(home).arg(programs).arg(runner.to_string());
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some((uid, gid)) = account {
        command.uid(uid).gid(gid);
    }
    // ends after us, or while we live; then the thread takes its last word
    let mut guard = command.spawn().expect("setsid and sh start");
    std::thread::spawn(move || guard.wait());
}

/// The folder with initdb and pg_ctl, the newest version if there are several.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|e| {
            let path = e.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            let bin = path.join("bin");
            (bin.join("initdb").exists() && bin.join("pg_ctl").exists()).then_some((version, bin))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin)
}

fn account(name: &str) -> Option<(u32, u32)> {
    let passwd = fs::read_to_string("/etc/passwd").ok()?;
    let line = passwd.lines().find(|l| l.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
