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

use super::plan::{FAULTS, HOSTS, Kind};
use crate::{
    database::Database,
    figures::POOL_GIB,
    half::{LEASE, MAX_AGE, On},
    recount::recount,
};

/// The back ends, in the order of the arrays.
pub const BACKENDS: [&str; 2] = ["stowage@a", "stowage@b"];

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
    c.copy.program = concat!(env!("CARGO_MANIFEST_DIR"), "/interleave/block/copy.sh").into();
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

    /// The operator's check of the quota.
    pub async fn recount(&mut self) -> Vec<String> {
        let broken = recount(&mut self.services).await;
        self.reported().await;
        self.recounted = true;
        broken
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
