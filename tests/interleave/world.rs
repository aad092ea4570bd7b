//! Two arrays, each a process; one or two services over one database.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, Bind, Config},
};
use support::{
    Client, Persona, Process,
    array::Array,
    persona::Personas,
    postgres::{self, Database as Given},
};

use crate::{
    book::Book,
    database::Database,
    plan::{FAULTS, HOSTS, Kind},
};

/// Room on each array.
pub const POOL_GIB: u64 = 20;
/// After this long a job gives its resource an end state.
pub const MAX_AGE: Duration = Duration::from_secs(20);
/// How long a silent process keeps its jobs.
pub const LEASE: Duration = Duration::from_secs(2);
/// The back ends, in the order of the arrays.
pub const BACKENDS: [&str; 2] = ["stowage@a", "stowage@b"];

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Sqlite,
    Postgres,
}

impl On {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

pub struct World {
    pub services: Vec<Process>,
    pub arrays: [Array; 2],
    pub database: Database,
    /// The operator's check of the quota has been made.
    pub recounted: bool,
    personas: Personas,
    _given: Option<Given>,
}

fn configure(c: &mut Config, arrays: &[Array; 2], database: Option<&Given>) {
    c.backends = arrays
        .iter()
        .zip(BACKENDS)
        .map(|(array, host)| {
            let name = host.trim_start_matches("stowage@");
            let mut backend = BackendConfig::new(name, "memory");
            backend.grants.http = vec![array.url().trim_start_matches("http://").to_owned()];
            backend.grants.concurrency = 8;
            backend.grants.portals = vec!["192.0.2.10".to_owned()];
            let options = [
                ("array_url", json!(array.url())),
                ("pools", json!([format!("p:{POOL_GIB}")])),
                // one of either kind: connections of one host take turns, or do not
                ("shared_targets", json!(if name == "a" { "yes" } else { "no" })),
                ("faults", json!(FAULTS)),
            ];
            backend.options.extend(options.map(|(key, value)| (key.to_owned(), value)));
            backend
        })
        .collect();
    if let Some(database) = database {
        c.database.url.clone_from(&database.url);
    }
    // sometimes reached
    (c.quota.volumes, c.quota.snapshots, c.quota.gigabytes) = (16, 10, 40);
    c.jobs.lease = LEASE;
    c.jobs.wait = Duration::from_secs(4);
    c.jobs.max_age = MAX_AGE;
    // the arrays hold no bytes
    c.copy.program = concat!(env!("CARGO_MANIFEST_DIR"), "/interleave/copy.sh").into();
    // the least that may be configured; what is tried is tried for less long
    (c.copy.max_age, c.copy.concurrency) = (Duration::from_secs(60), 4);
}

impl World {
    pub async fn start(on: On, services: usize) -> Self {
        let program = env!("CARGO_BIN_EXE_fixture-array");
        let arrays = [Array::spawn(program, None).await.unwrap(), Array::spawn(program, None).await.unwrap()];
        let given = if on == On::Postgres { Some(postgres::database().await) } else { None };
        let first = Process::start(|c| configure(c, &arrays, given.as_ref())).await;
        let personas = first.personas().await;
        let database = Database::new(first.config().database_url());
        let mut world = Self { services: vec![first], arrays, database, recounted: false, personas, _given: given };
        while world.services.len() < services {
            let another = Process::start(|c| {
                configure(c, &world.arrays, world._given.as_ref());
                c.listen.identity = Bind::OFF;
            })
            .await;
            world.services.push(another);
        }
        world.reported().await;
        world.make_types().await;
        world
    }

    /// Both pools are known.
    async fn reported(&self) {
        let admin = self.admin();
        let path = format!("/{}/scheduler-stats/get_pools", admin.project_id);
        admin.until(&path, |a| a.status == 200 && a.body()["pools"].as_array().is_some_and(|p| p.len() == BACKENDS.len())).await;
    }

    async fn make_types(&self) {
        for (kind, specs) in [(Kind::Gold, json!({ "vendor:tier": "gold" })), (Kind::Multi, json!({ "multiattach": "<is> True" }))] {
            let body = json!({ "volume_type": { "name": kind.type_name(), "extra_specs": specs } });
            self.admin().post("/types", body).await.expect(200);
        }
    }

    /// A persona's client of the service that is asked first.
    pub fn client(&self, persona: Persona) -> Client {
        self.clients(persona).swap_remove(0)
    }
    /// One for each service.
    pub fn clients(&self, persona: Persona) -> Vec<Client> {
        let token = &self.personas.login(Persona::Service).token;
        let one = |s: &Process| {
            let client = s.client(&self.personas, Api::Block, persona).at("3.54");
            if persona == Persona::Service {
                // as Nova asks: in the name of the user, and with a token of its own
                return s.client(&self.personas, Api::Block, Persona::Member).at("3.54").with_header("x-service-token", token);
            }
            client
        };
        self.services.iter().map(one).collect()
    }
    pub fn admin(&self) -> Client {
        self.client(Persona::Admin)
    }
    pub fn project_of(&self, persona: Persona) -> String {
        self.personas.login(persona).project_id.clone()
    }

    /// Everything of a list, of every project.
    pub async fn all(&self, what: &str) -> Vec<Value> {
        let answer = self.admin().get(&format!("/{what}/detail?all_tenants=1")).await.expect(200);
        answer[what].as_array().unwrap().clone()
    }

    /// Ends every service in good order, has the operator's command recompute the quota from the rows, and starts them again.
    pub async fn recount(&mut self) -> Vec<String> {
        for service in &mut self.services {
            assert!(service.terminate().await.success());
        }
        let out = self.services[0].command().args(["manage", "quota", "check"]).output().unwrap();
        for service in &mut self.services {
            service.restart().await;
        }
        self.reported().await;
        self.recounted = true;
        if out.status.success() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&out.stdout);
        text.lines().chain(["the check ended badly"]).map(|line| format!("[wrong-usage] {line}")).collect()
    }

    /// What every service logged.
    pub fn log(&self) -> String {
        self.services.iter().map(Process::log).collect()
    }

    /// Ends the test if anything is broken.
    #[track_caller]
    pub fn demand(&self, book: &Book, mut broken: Vec<String>) {
        broken.splice(0..0, book.broken());
        if broken.is_empty() {
            return;
        }
        let log = self.log();
        let file = std::env::temp_dir().join(format!("stowage-interleave-{}.log", book.plan.seed));
        std::fs::write(&file, &log).unwrap();
        panic!("{}\nthe whole log: {}", book.report(&broken, &log), file.display());
    }
}

/// The name of a host. The last has two initiators.
pub fn host(n: usize) -> String {
    format!("compute-{}", n.min(HOSTS - 2))
}

pub fn initiator(n: usize) -> String {
    format!("iqn.2026-01.org.example:{n}")
}

pub fn connector(n: usize) -> Value {
    json!({
        "host": host(n), "initiator": initiator(n), "ip": format!("192.0.2.{}", n + 1),
        "platform": "x86_64", "os_type": "linux", "multipath": false,
    })
}

/// The array's key of a volume's connection to an initiator.
pub fn connection(volume: &str, initiator: &str) -> String {
    format!("{volume}.{}", initiator.replace(':', "%3a"))
}
