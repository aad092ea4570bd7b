//! A checked 0.1 component, ready to be opened for back ends.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use wasmtime::{
    Engine,
    component::{Component, HasSelf, Linker},
};

use super::{
    bindings::{self, guest::lifecycle},
    call::{Adapter, ask},
    convert::{IntoHost as _, text},
    exports::Exports,
};
use crate::{
    config::{BackendConfig, BackendKind},
    driver::{self, Backend, Call, DriverError, DriverIdentity, DriverResult, ErrorKind, Gate, Interfaces, LoadError, egress::AllowList},
    store::sql::driver_kv::DriverDb,
    wasm::{
        grants::Effective,
        host_fn::{
            config::{ConfigView, OptionKind, OptionSpec},
            http::{HttpClient, HttpLimits},
            kv::Kv,
            progress::ProgressBoard,
            secrets::Secrets,
            session::{Session, SessionLimits},
        },
        limits::CallLimits,
        state::{Durable, HostSide, State},
    },
};

/// What a component may use before any back end grants it something.
const TRIAL: driver::Grants = driver::Grants {
    http: Vec::new(),
    memory_mib: 512,
    call_timeout: Duration::from_secs(30),
    concurrency: 1,
    kv_mib: 0,
    portals: Vec::new(),
    reveal_secrets: false,
    ca_file: PathBuf::new(),
};
const MAX_OPTIONS: usize = 500;
const MAX_TEXT: usize = 255;

/// The host's functions, and an empty WASI.
///
/// # Errors
/// wasmtime's: two functions of one name.
pub fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    bindings::Driver::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    Ok(linker)
}

/// What every back end of a process shares.
#[derive(Clone)]
pub struct Shared {
    /// None: drivers keep nothing durable (tests, `driver check`).
    pub db: Option<DriverDb>,
    pub progress: ProgressBoard,
}

/// A component that passed its trial.
pub struct Loaded {
    identity: DriverIdentity,
    options: Vec<OptionSpec>,
    pre: wasmtime::component::InstancePre<State>,
    exports: Arc<Exports>,
    /// What it asks for, by the contract's names.
    imports: Vec<String>,
    shared: Shared,
}

impl Loaded {
    /// Links `component` and tries it: one instance, every export loaded, who it is, what options it takes.
    ///
    /// # Errors
    /// [`LoadError::Imports`], [`LoadError::Exports`], [`LoadError::Trial`].
    pub async fn new(
        file: &str,
        sha256: String,
        version: String,
        component: &Component,
        linker: &Linker<State>,
        shared: Shared,
    ) -> Result<Self, LoadError> {
        let pre = linker.instantiate_pre(component).map_err(|e| LoadError::Imports(format!("{e:#}")))?;
        let exports = Arc::new(Exports::find(&pre).map_err(LoadError::Exports)?);
        let limits = CallLimits::from_grants(&TRIAL);
        let http = HttpClient::new(AllowList::default(), Arc::default(), None, HttpLimits::default())
            .map_err(|e| LoadError::Host(format!("the HTTP client cannot be built: {e}")))?;
        let side = Arc::new(side(file, ConfigView::empty(""), Arc::default(), http, ProgressBoard::default(), None));
        let trial = Adapter { host: "trial".to_owned(), pre: pre.clone(), exports: exports.clone(), side, limits, gate: None };
        let (info, options) = trial.describe().await?;
        let identity = DriverIdentity {
            file: file.to_owned(),
            sha256,
            interface_version: version,
            name: text(&info.name, MAX_TEXT),
            vendor: text(&info.vendor, MAX_TEXT),
            version: text(&info.version, MAX_TEXT),
            state_version: info.state_version,
            exports: exports.names(),
        };
        let options = specs(options).map_err(|e| LoadError::Trial(DriverError::wrong_answer(e)))?;
        let imports = imports(component);
        Ok(Self { identity, options, pre, exports, imports, shared })
    }

    /// What the driver can be told, for `stowage driver check`.
    pub fn options(&self) -> &[OptionSpec] {
        &self.options
    }
}

impl Adapter {
    /// The pure half of `lifecycle`, on the trial's one instance.
    async fn describe(&self) -> Result<(lifecycle::DriverInfo, Vec<lifecycle::OptionSpec>), LoadError> {
        let call = Call::internal("load", self.limits.call_timeout);
        let mut run = self.begin(&call, "lifecycle.info").await.map_err(LoadError::Trial)?;
        self.exports.load_all(&mut run.store, &run.instance).map_err(LoadError::Exports)?;
        let indices = self.exports.lifecycle.as_ref().ok_or_else(|| LoadError::Exports("lifecycle is not exported".to_owned()))?;
        let drop_at = run.drop_at;
        let (store, instance) = (&mut run.store, &run.instance);
        let outcome = tokio::time::timeout_at(drop_at, async {
            let guest = indices.load(&mut *store, instance)?;
            let info = guest.call_info(&mut *store).await?;
            let options = guest.call_describe_options(&mut *store).await?;
            wasmtime::Result::Ok((info, options))
        })
        .await;
        let answer = self.outcome(&run, outcome);
        self.finish(run, answer).map_err(LoadError::Trial)
    }

    fn init<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, DriverResult<()>> {
        ask!(self, call, "lifecycle.init", lifecycle.call_init(), w => Ok(w))
    }
}

fn specs(options: Vec<lifecycle::OptionSpec>) -> Result<Vec<OptionSpec>, String> {
    if options.len() > MAX_OPTIONS {
        return Err(format!("the driver describes {} options, at most {MAX_OPTIONS} are allowed", options.len()));
    }
    let mut names = BTreeSet::new();
    let mut specs = Vec::with_capacity(options.len());
    for o in options {
        let is_name =
            !o.name.is_empty() && o.name.len() <= 64 && o.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_name || !names.insert(o.name.clone()) {
            return Err(format!("{:?} cannot be an option's name, or stands twice", text(&o.name, 64)));
        }
        let kind = match o.kind {
            lifecycle::OptionKind::Text => OptionKind::Text,
            lifecycle::OptionKind::Secret => OptionKind::Secret,
            lifecycle::OptionKind::Integer((least, most)) => OptionKind::Integer { least, most },
            lifecycle::OptionKind::Number => OptionKind::Number,
            lifecycle::OptionKind::Boolean => OptionKind::Boolean,
            lifecycle::OptionKind::Choice(of) => OptionKind::Choice(of),
            lifecycle::OptionKind::Url => OptionKind::Url,
            lifecycle::OptionKind::Texts => OptionKind::Texts,
        };
        specs.push(OptionSpec { name: o.name, kind, required: o.required, default: o.default_value, help: text(&o.help, 1024) });
    }
    Ok(specs)
}

/// The contract's interfaces that a component imports.
fn imports(component: &Component) -> Vec<String> {
    let ty = component.component_type();
    let names = ty.imports(component.engine());
    names.filter_map(|(name, _)| Some(name.strip_prefix("stowage:driver/")?.split_once('@')?.0.to_owned())).collect()
}

fn side(
    driver: &str,
    config: ConfigView,
    secrets: Arc<Secrets>,
    http: HttpClient,
    progress: ProgressBoard,
    durable: Option<Durable>,
) -> HostSide {
    HostSide { driver: driver.to_owned(), config, secrets, http, session: Session::new(SessionLimits::default()), progress, durable }
}

impl driver::Driver for Loaded {
    fn identity(&self) -> &DriverIdentity {
        &self.identity
    }

    fn open<'a>(&'a self, host: &'a str, config: Arc<BackendConfig>) -> BoxFuture<'a, DriverResult<Backend>> {
        Box::pin(async move {
            self.fits_kind(config.kind)?;
            let adapter = Arc::new(self.adapter(host, &config).await?);
            let call = |step| Call::internal(format!("open:{host}:{step}"), config.grants.call_timeout);
            adapter.init(&call("init")).await?;
            let gate = adapter.gate.clone();
            let backend = Backend::new(host, config.clone(), self.identity.clone(), self.interfaces(&adapter));
            let backend = match gate {
                Some(gate) => backend.with_gate(gate),
                None => backend,
            };
            backend.refresh(&call("report")).await?;
            Ok(backend)
        })
    }
}

impl Loaded {
    /// A back end without its first verb would refuse everything: said once, here.
    fn fits_kind(&self, kind: BackendKind) -> DriverResult<()> {
        let (needed, missing): (&[&str], _) = match kind {
            BackendKind::Block => (&["volumes", "connection-info"], "block"),
            BackendKind::Share => (&["shares", "access"], "share"),
        };
        match needed.iter().find(|n| !self.identity.exports.iter().any(|e| e == *n)) {
            Some(n) => {
                let text = format!("a {missing} back end needs a driver that exports {n}; {}.wasm does not", self.identity.file);
                Err(DriverError::new(ErrorKind::Invalid, text))
            }
            None => Ok(()),
        }
    }

    /// Whether a back end's kind, options, secrets and grants fit this driver. Asks neither the driver nor its array anything.
    ///
    /// # Errors
    /// Every fault of the section, in one sentence each.
    pub async fn fits(&self, config: &BackendConfig) -> DriverResult<()> {
        self.fits_kind(config.kind)?;
        self.adapter(&config.name, config).await.map(drop)
    }

    /// Options checked, grants applied.
    async fn adapter(&self, host: &str, config: &BackendConfig) -> DriverResult<Adapter> {
        let invalid = |text: String| DriverError::new(ErrorKind::Invalid, text);
        let granted = Effective::new(&self.imports, config).await?;
        let secrets = granted.secrets.clone();
        let view = ConfigView::check(&config.name, &self.options, &config.options, secrets.clone(), config.grants.reveal_secrets)
            .map_err(|faults| invalid(faults.join("; ")))?;
        let http = HttpClient::new(granted.http, secrets.clone(), granted.ca_pem.as_deref(), HttpLimits::default())
            .map_err(|e| invalid(format!("grants: {e}")))?;
        let durable = self.shared.db.as_ref().map(|db| Durable { kv: Kv::new(db.clone(), &config.name, granted.kv_bytes), db: db.clone() });
        let limits = CallLimits::from_grants(&config.grants);
        let gate = Some(Gate::new(host, limits.concurrency));
        let side = Arc::new(side(&self.identity.file, view, secrets, http, self.shared.progress.clone(), durable));
        Ok(Adapter { host: host.to_owned(), pre: self.pre.clone(), exports: self.exports.clone(), side, limits, gate })
    }

    fn interfaces(&self, adapter: &Arc<Adapter>) -> Interfaces {
        let exports = &self.exports;
        // one object behind every trait the component has
        macro_rules! if_exported {
            ($($name:ident),*) => {
                Interfaces {
                    capabilities: adapter.clone(),
                    $($name: exports.$name.as_ref().map(|_| adapter.clone() as _),)*
                }
            };
        }
        if_exported!(
            poll,
            volumes,
            volume_clone,
            volume_from_snapshot,
            volume_snapshots,
            volume_revert,
            volume_retype,
            volume_manage,
            volume_replication,
            connection_info,
            shares,
            share_shrink,
            share_from_snapshot,
            share_snapshots,
            snapshot_access,
            share_revert,
            share_manage,
            share_snapshot_manage,
            access,
            ensure,
            share_servers,
            share_server_manage,
            share_server_migration,
            allocations
        )
    }
}
