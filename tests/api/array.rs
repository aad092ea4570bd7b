//! An array in this process, behind the driver traits: what it holds is never what the database says, and it fails on demand.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

mod copies;
mod replication;

use futures::future::BoxFuture;
use stowage::driver::{
    Backend, BackendConfig, Call, CapabilityReport, DriverError, DriverIdentity, DriverResult, ErrorKind, Interfaces,
    backend::Capabilities,
    block::{ConnectionInfo, Volumes},
    capability::{BlockProtocol, Capacity, Features, Pool, SharedTargets},
    share::Poll,
    types::{
        AccessMode, Answer, Connection, ConnectionTarget, Connector, DisconnectTarget, IscsiConnection, IscsiTarget, Pending, PollOutcome,
        Volume, VolumeUpdate,
    },
};
use tokio::sync::Notify;

/// What happens to one call.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Refused; nothing was done.
    Refuse(ErrorKind),
    /// Done, and the answer was lost.
    LoseAnswer(ErrorKind),
    /// Not answered, and done later, when the array has answered another call: unless that was a newer one.
    Late(ErrorKind),
    /// The work goes on; this many polls say so.
    Pending(u32),
    /// The work goes on, and is to be asked for in this long.
    Takes(Duration),
}

#[derive(Default)]
struct State {
    /// Volume id to pool.
    volumes: BTreeMap<String, String>,
    /// Volume id to what is connected, by the initiator: its host, and the mode.
    exports: BTreeMap<String, BTreeMap<String, (String, AccessMode)>>,
    /// Verb to faults of its next calls.
    faults: HashMap<&'static str, VecDeque<Fault>>,
    /// Verbs that wait.
    held: HashMap<&'static str, Arc<Notify>>,
    /// Every call, as `verb volume [host]`.
    calls: Vec<String>,
    pending: HashMap<String, (u32, Volume)>,
    /// Volume id to what it holds, once that is not its own first content.
    contents: BTreeMap<String, String>,
    /// Volume id to its size, once it was extended.
    sizes: BTreeMap<String, u64>,
    /// Volume id to the QoS specs it was made with.
    qos: BTreeMap<String, BTreeMap<String, String>>,
    /// Volume id to the specs it was retyped to.
    specs: BTreeMap<String, BTreeMap<String, String>>,
    /// Retypes still on their way: generation, volume, specs.
    late: Vec<(u64, String, BTreeMap<String, String>)>,
    /// Snapshot id to its volume and what it holds.
    snapshots: BTreeMap<String, (String, String)>,
    /// Volume id to what is connected and was lost.
    lost: BTreeMap<String, BTreeMap<String, (String, AccessMode)>>,
    targets: Vec<String>,
    without_copy: BTreeSet<String>,
    failed_over: Vec<Vec<String>>,
    /// Interfaces that the driver does not export.
    lacks: BTreeSet<&'static str>,
}

/// The array.
pub struct Array {
    state: Mutex<State>,
    report: Mutex<CapabilityReport>,
}

impl Array {
    pub fn new(pools: &[&str]) -> Arc<Self> {
        let report = CapabilityReport {
            features: Features {
                block_protocols: vec![BlockProtocol::Iscsi],
                multiattach: true,
                shared_targets: SharedTargets::Yes,
                ..Features::default()
            },
            pools: pools.iter().map(|name| pool(name)).collect(),
            extra: BTreeMap::new(),
        };
        Arc::new(Self { state: Mutex::default(), report: Mutex::new(report) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes what the array reports from now on.
    pub fn report(&self, change: impl FnOnce(&mut CapabilityReport)) {
        change(&mut self.report.lock().unwrap());
    }
    /// The next call of `verb` fails like this; called again, the one after it.
    pub fn fault(&self, verb: &'static str, fault: Fault) {
        self.state().faults.entry(verb).or_default().push_back(fault);
    }
    /// Calls of `verb` wait from now on.
    pub fn hold(&self, verb: &'static str) {
        self.state().held.insert(verb, Arc::new(Notify::new()));
    }
    /// Calls of `verb` go on.
    pub fn release(&self, verb: &'static str) {
        if let Some(gate) = self.state().held.remove(verb) {
            gate.notify_waiters();
        }
    }
    /// Nothing is exported any more, until that is asked for again.
    pub fn lose_exports(&self) {
        let mut state = self.state();
        state.lost = std::mem::take(&mut state.exports);
    }
    /// The QoS specs that a volume was made with.
    pub fn qos_of(&self, volume: &str) -> BTreeMap<String, String> {
        self.state().qos.get(volume).cloned().unwrap_or_default()
    }
    pub fn volumes(&self) -> Vec<String> {
        self.state().volumes.keys().cloned().collect()
    }
    /// Hosts that a volume is exported to.
    pub fn hosts_of(&self, volume: &str) -> Vec<String> {
        let mut hosts: Vec<String> = self.state().exports.get(volume).into_iter().flatten().map(|(_, (host, _))| host.clone()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }
    /// Initiators that a volume is exported to, and in which mode: `rw` or `ro`.
    pub fn initiators_of(&self, volume: &str) -> Vec<(String, &'static str)> {
        self.state().exports.get(volume).into_iter().flatten().map(|(initiator, (_, mode))| (initiator.clone(), mode.as_str())).collect()
    }
    /// Calls of `verb`, without the volume: hosts and initiators.
    pub fn ends(&self, verb: &str) -> Vec<String> {
        let state = self.state();
        let parts = state.calls.iter().map(|c| c.splitn(3, ' ').collect::<Vec<_>>()).filter(|c| c[0] == verb);
        parts.map(|c| c.get(2).copied().unwrap_or_default().to_owned()).collect()
    }
    /// How often `verb` was called, with anything.
    pub fn count(&self, verb: &str) -> usize {
        self.state().calls.iter().filter(|c| c.split(' ').next() == Some(verb)).count()
    }

    /// Notes the call, waits if it must, and says whether it fails before or after it was carried out.
    async fn begin(&self, verb: &'static str, what: &str) -> Result<Option<Fault>, DriverError> {
        let gate = {
            let mut state = self.state();
            state.calls.push(format!("{verb} {what}"));
            state.held.get(verb).cloned()
        };
        if let Some(gate) = gate {
            let released = gate.notified();
            tokio::pin!(released);
            // registered before the second look, so that a release in between is not missed
            released.as_mut().enable();
            if self.state().held.contains_key(verb) {
                released.await;
            }
        }
        let fault = self.state().faults.get_mut(verb).and_then(VecDeque::pop_front);
        match fault {
            Some(Fault::Refuse(kind)) => Err(DriverError::new(kind, format!("{verb} was told to fail"))),
            other => Ok(other),
        }
    }

    fn end<T>(fault: Option<Fault>, verb: &str, done: T) -> DriverResult<T> {
        match fault {
            Some(Fault::LoseAnswer(kind)) => Err(DriverError::new(kind, format!("the answer of {verb} was lost"))),
            _ => Ok(done),
        }
    }

    /// The back end `stowage@name` on this array.
    pub fn backend(self: &Arc<Self>, host: &str) -> Arc<Backend> {
        let name = host.split_once('@').unwrap().1;
        let face = Arc::new(Face(Arc::clone(self)));
        let mut interfaces = Interfaces::none(face.clone());
        interfaces.volumes = Some(face.clone());
        interfaces.connection_info = Some(face.clone());
        interfaces.poll = Some(face.clone());
        interfaces.volume_replication = Some(face.clone());
        self.offer_copies(&mut interfaces, face);
        let identity = DriverIdentity {
            file: "array".into(),
            sha256: "0".into(),
            interface_version: "0.1.0".into(),
            name: "array".into(),
            vendor: "tests".into(),
            version: "1".into(),
            state_version: 1,
            exports: vec!["volumes".into(), "connection-info".into()],
        };
        Arc::new(Backend::new(host, Arc::new(BackendConfig::new(name, "array")), identity, interfaces))
    }
}

pub fn pool(name: &str) -> Pool {
    Pool {
        name: name.into(),
        available: true,
        total: Capacity::Gib(10_000.0),
        free: Capacity::Gib(10_000.0),
        provisioned_gib: None,
        reserved_percentage: None,
        max_over_subscription_ratio: None,
        thin_provisioning: false,
        thick_provisioning: true,
        multiattach: None,
        online_extend: None,
        filter_function: None,
        goodness_function: None,
        extra: BTreeMap::new(),
    }
}

/// The array as the host sees it.
struct Face(Arc<Array>);

impl Capabilities for Face {
    fn report<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, DriverResult<CapabilityReport>> {
        Box::pin(async move { Ok(self.0.report.lock().unwrap().clone()) })
    }
}

fn made(volume: &Volume) -> VolumeUpdate {
    VolumeUpdate { provider_id: Some(format!("lun-{}", volume.id)), provider_data: None }
}

impl Volumes for Face {
    fn create<'a>(&'a self, _: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        Box::pin(async move {
            let fault = self.0.begin("create", &volume.id).await?;
            self.0.state().qos.insert(volume.id.clone(), volume.qos.clone());
            if let Some(Fault::Pending(polls)) = fault {
                self.0.state().pending.insert(volume.id.clone(), (polls, volume.clone()));
                return Ok(Answer::Pending(Pending { token: volume.id.clone(), retry_after: Duration::from_millis(20), percent: Some(1) }));
            }
            if let Some(Fault::Takes(retry_after)) = fault {
                self.0.state().pending.insert(volume.id.clone(), (0, volume.clone()));
                return Ok(Answer::Pending(Pending { token: volume.id.clone(), retry_after, percent: None }));
            }
            self.0.state().volumes.insert(volume.id.clone(), volume.pool.clone());
            Array::end(fault, "create", Answer::Done(made(volume)))
        })
    }
    fn delete<'a>(&'a self, _: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            let fault = self.0.begin("delete", &volume.id).await?;
            self.0.state().volumes.remove(&volume.id);
            Array::end(fault, "delete", ())
        })
    }
    fn extend<'a>(&'a self, _: &'a Call, volume: &'a Volume, to: u64) -> BoxFuture<'a, DriverResult<Answer<VolumeUpdate>>> {
        Box::pin(async move {
            let fault = self.0.begin("extend", &volume.id).await?;
            self.0.state().sizes.insert(volume.id.clone(), to);
            if let Some(Fault::Pending(polls)) = fault {
                self.0.state().pending.insert(volume.id.clone(), (polls, volume.clone()));
                return Ok(Answer::Pending(Pending { token: volume.id.clone(), retry_after: Duration::from_millis(20), percent: None }));
            }
            Array::end(fault, "extend", Answer::Done(made(volume)))
        })
    }
}

impl Poll for Face {
    fn poll<'a>(&'a self, _: &'a Call, token: &'a str) -> BoxFuture<'a, DriverResult<PollOutcome>> {
        Box::pin(async move {
            self.0.begin("poll", token).await?;
            let mut state = self.0.state();
            let Some((left, volume)) = state.pending.get_mut(token) else {
                return Err(DriverError::new(ErrorKind::NotFound, "no such work"));
            };
            if *left > 0 {
                *left -= 1;
                return Ok(PollOutcome::Pending(Pending { token: token.into(), retry_after: Duration::from_millis(20), percent: None }));
            }
            let volume = volume.clone();
            state.pending.remove(token);
            state.volumes.insert(volume.id.clone(), volume.pool.clone());
            Ok(PollOutcome::Volume(made(&volume)))
        })
    }
}

impl ConnectionInfo for Face {
    fn validate_connector<'a>(&'a self, _: &'a Call, connector: &'a Connector) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            match &connector.initiator {
                Some(_) => Ok(()),
                None => Err(DriverError::new(ErrorKind::Invalid, "no initiator").for_user("The connector has no 'initiator'.")),
            }
        })
    }
    fn connect<'a>(
        &'a self,
        _: &'a Call,
        volume: &'a Volume,
        _: &'a str,
        mode: AccessMode,
        connector: &'a Connector,
    ) -> BoxFuture<'a, DriverResult<Connection>> {
        Box::pin(async move {
            let initiator = connector.initiator.as_deref().unwrap_or("-");
            let fault = self.0.begin("connect", &format!("{} {} {initiator}", volume.id, connector.host)).await?;
            let to = (connector.host.clone(), mode);
            self.0.state().exports.entry(volume.id.clone()).or_default().insert(initiator.to_owned(), to);
            let target = IscsiTarget { portal: "192.0.2.1:3260".into(), iqn: format!("iqn.2026-01.test:{}", volume.id), lun: 1 };
            let iscsi = IscsiConnection { targets: vec![target], auth: None, discovery_auth: None, discard: false };
            Array::end(fault, "connect", Connection { target: ConnectionTarget::Iscsi(iscsi), extra: BTreeMap::new() })
        })
    }
    fn disconnect<'a>(&'a self, _: &'a Call, volume: &'a Volume, target: &'a DisconnectTarget) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            let initiator = match target {
                DisconnectTarget::Connector(c) => c.initiator.clone().unwrap_or_else(|| "-".to_owned()),
                DisconnectTarget::All => "*".to_owned(),
            };
            let host = match target {
                DisconnectTarget::Connector(c) => c.host.clone(),
                DisconnectTarget::All => "*".to_owned(),
            };
            let fault = self.0.begin("disconnect", &format!("{} {host} {initiator}", volume.id)).await?;
            let mut state = self.0.state();
            let State { exports, lost, .. } = &mut *state;
            for connected in [exports.get_mut(&volume.id), lost.get_mut(&volume.id)].into_iter().flatten() {
                match target {
                    DisconnectTarget::Connector(c) if c.initiator.is_some() => drop(connected.remove(&initiator)),
                    DisconnectTarget::Connector(_) => connected.retain(|_, (of, _)| *of != host),
                    DisconnectTarget::All => connected.clear(),
                }
            }
            drop(state);
            Array::end(fault, "disconnect", ())
        })
    }
    fn ensure_export<'a>(&'a self, _: &'a Call, volume: &'a Volume) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            // what is connected is read before the call is held
            let lost = self.0.state().lost.get(&volume.id).cloned().unwrap_or_default();
            let fault = self.0.begin("ensure-export", &volume.id).await?;
            self.0.state().exports.entry(volume.id.clone()).or_default().extend(lost);
            Array::end(fault, "ensure-export", ())
        })
    }
}
