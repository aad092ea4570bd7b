//! The back end's section, parsed. Bad texts are refused by `init`, and so never reach a user's call.

use stowage_driver_sdk::prelude::*;

use crate::{faults::Fault, pools::PoolSpec};

const POOLS: Opt<Vec<String>> = Opt::texts(
    "pools",
    "Pools, each NAME:SIZE[:FLAG,...]. SIZE is GiB, `infinite` or `unknown`. Flags: thin, unavailable, reserved=PERCENT, \
     over_subscription=RATIO, fill=PERCENT, multiattach=yes|no, online_extend=yes|no; any other KEY=VALUE is a capability.",
)
.default("[\"pool0:10000\"]");
const BLOCK_PROTOCOL: Opt<String> = Opt::choice(
    "block_protocol",
    &["iscsi", "fibre-channel", "nvme-of", "rbd", "nfs", "none"],
    "How volumes are said to be reached; `none` for a back end of shares only.",
)
.default("iscsi");
const SHARE_PROTOCOLS: Opt<Vec<String>> =
    Opt::texts("share_protocols", "Protocols shares are said to be reached by: nfs, cifs, cephfs, ...").default("[\"nfs\"]");
const MULTIATTACH: Opt<bool> = Opt::boolean("multiattach", "Volumes may be connected to several hosts.").default("true");
const SHARED_TARGETS: Opt<String> =
    Opt::choice("shared_targets", &["yes", "no", "unknown"], "Whether volumes share a target; `yes` also puts them on one.").default("no");
const ONLINE_EXTEND: Opt<bool> = Opt::boolean("online_extend", "Volumes may grow while attached.").default("true");
const SERVERS: Opt<String> =
    Opt::choice("driver_handles_share_servers", &["no", "yes", "either"], "Whether shares live on servers of their own.").default("no");
const MULTIPLE_SUBNETS: Opt<bool> = Opt::boolean("multiple_subnets", "A share server may be built over several subnets.").default("false");
const ALLOCATION_UPDATE: Opt<bool> = Opt::boolean("allocation_update", "A live share server may be given more subnets.").default("false");
const CHECK_REFUSAL: Opt<String> =
    Opt::text("allocation_update_refusal", "When set, every check of such an update is refused with this reason.");
const MIGRATION: Opt<Vec<String>> =
    Opt::texts("migration", "What a migration of a share server to here can do: writable, preserve-snapshots, cancel, progress.")
        .default("[\"writable\", \"preserve-snapshots\", \"cancel\", \"progress\"]");
const MIGRATION_REFUSAL: Opt<String> =
    Opt::text("migration_refusal", "When set, every check of such a migration is refused with this reason.");
const ADDRESSES: Opt<i64> = Opt::integer("addresses_per_subnet", 1, 16, "Addresses a share server wants in each subnet.").default("1");
const ADMIN_ADDRESSES: Opt<i64> = Opt::integer("admin_addresses", 0, 16, "Addresses it wants in the admin network.").default("0");
const IP_VERSIONS: Opt<Vec<String>> = Opt::texts("ip_versions", "IP versions of share locations: 4, 6 or both.").default("[\"4\"]");
const EXPORT_ADDRESSES: Opt<Vec<String>> =
    Opt::texts("export_addresses", "Addresses that locations and portals are made of.").default("[\"192.0.2.10\"]");
const ADMIN_EXPORT_ADDRESS: Opt<String> = Opt::text("admin_export_address", "When set, shares have one more location, for administrators.");
const ENSURE_BATCH: Opt<i64> = Opt::integer("ensure_batch", 1, 100_000, "How many shares it wants in one ensure call.");
const CHAP: Opt<bool> = Opt::boolean("chap", "iSCSI connections carry CHAP credentials.").default("false");
const STRICT: Opt<bool> =
    Opt::boolean("refuse_delete_of_connected", "Deleting a connected volume is `busy`; else its connections go with it.").default("false");
const EXTRA: Opt<Vec<String>> = Opt::texts("extra", "Free capabilities of the back end, each KEY=VALUE.");
const REPLICATION_TARGETS: Opt<Vec<String>> = Opt::texts("replication_targets", "Where the back end may be failed over to.");
const FOREIGN: Opt<Vec<String>> = Opt::texts("foreign", "Volumes and shares that can be adopted, each NAME:GIB[:POOL].");
const FOREIGN_SERVERS: Opt<Vec<String>> =
    Opt::texts("foreign_servers", "Share servers that can be adopted, each NAME=ADDRESS[,ADDRESS...].");
const ARRAY_URL: Opt<String> = Opt::url("array_url", "An HTTP array that holds the state instead of `kv`.");
const ARRAY_USER: Opt<String> = Opt::text("array_user", "The user that array knows; then `array_password` is needed too.");
pub const ARRAY_PASSWORD: Opt<String> = Opt::secret("array_password", "The password that array wants.");
const FAULTS: Opt<Vec<String>> = Opt::texts(
    "faults",
    "What goes wrong, each VERB[@OBJECT][#N|#/N]=ACTION[:ARGUMENT]. VERB: `volumes.create` or `*`. OBJECT: a name or id, `*` at its end \
     matches any rest. #N: only the Nth call for an object; #/N: every Nth call. Actions: delay:MS, delay-after:MS, refuse:KIND, lose-answer, \
     fail-after:KIND, trap, trap-after, hang, hang-after, wrong-answer, pending:POLLS; where one call is about many objects \
     also wrong-id, leave-out.",
);

pub fn all() -> Vec<OptionSpec> {
    vec![
        POOLS.spec(),
        BLOCK_PROTOCOL.spec(),
        SHARE_PROTOCOLS.spec(),
        MULTIATTACH.spec(),
        SHARED_TARGETS.spec(),
        ONLINE_EXTEND.spec(),
        SERVERS.spec(),
        MULTIPLE_SUBNETS.spec(),
        ALLOCATION_UPDATE.spec(),
        CHECK_REFUSAL.spec(),
        MIGRATION.spec(),
        MIGRATION_REFUSAL.spec(),
        ADDRESSES.spec(),
        ADMIN_ADDRESSES.spec(),
        IP_VERSIONS.spec(),
        EXPORT_ADDRESSES.spec(),
        ADMIN_EXPORT_ADDRESS.spec(),
        ENSURE_BATCH.spec(),
        CHAP.spec(),
        STRICT.spec(),
        EXTRA.spec(),
        FOREIGN.spec(),
        FOREIGN_SERVERS.spec(),
        ARRAY_URL.spec(),
        ARRAY_USER.spec(),
        ARRAY_PASSWORD.spec(),
        REPLICATION_TARGETS.spec(),
        FAULTS.spec(),
    ]
}

/// A volume or share somebody else made.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    pub name: String,
    pub gib: u64,
    pub pool: String,
}

/// A share server somebody else made.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignServer {
    pub name: String,
    pub addresses: Vec<String>,
}

pub struct Config {
    pub pools: Vec<PoolSpec>,
    pub features: Features,
    pub extra: Vec<Property>,
    pub replication_targets: Vec<String>,
    pub faults: Vec<Fault>,
    pub foreign: Vec<Foreign>,
    pub foreign_servers: Vec<ForeignServer>,
    pub addresses: Vec<String>,
    pub admin_address: Option<String>,
    pub address_counts: AddressCounts,
    pub check_refusal: Option<String>,
    pub migration: MigrationAbilities,
    pub migration_refusal: Option<String>,
    pub chap: bool,
    pub strict: bool,
    pub array_url: Option<String>,
    pub array_user: Option<String>,
}

impl Config {
    pub fn read(cx: &Context) -> Result<Self> {
        let pools = texts(cx, &POOLS, &["pool0:10000"])?.iter().map(|t| PoolSpec::parse(t)).collect::<Result<Vec<_>>>()?;
        let first = pools.first().ok_or_else(|| DriverError::invalid("`pools` is empty"))?.name.clone();
        Ok(Self {
            features: features(cx)?,
            extra: texts(cx, &EXTRA, &[])?.iter().map(|t| property(t)).collect::<Result<_>>()?,
            replication_targets: texts(cx, &REPLICATION_TARGETS, &[])?,
            faults: texts(cx, &FAULTS, &[])?.iter().enumerate().map(|(n, t)| Fault::parse(n, t)).collect::<Result<_>>()?,
            foreign: texts(cx, &FOREIGN, &[])?.iter().map(|t| foreign(t, &first)).collect::<Result<_>>()?,
            foreign_servers: texts(cx, &FOREIGN_SERVERS, &[])?.iter().map(|t| foreign_server(t)).collect::<Result<_>>()?,
            addresses: texts(cx, &EXPORT_ADDRESSES, &["192.0.2.10"])?,
            admin_address: cx.find(&ADMIN_EXPORT_ADDRESS)?,
            address_counts: AddressCounts { per_subnet: count(cx, &ADDRESSES, 1)?, admin: count(cx, &ADMIN_ADDRESSES, 0)? },
            check_refusal: cx.find(&CHECK_REFUSAL)?,
            migration: migration(cx)?,
            migration_refusal: cx.find(&MIGRATION_REFUSAL)?,
            chap: cx.find(&CHAP)?.unwrap_or(false),
            strict: cx.find(&STRICT)?.unwrap_or(false),
            array_url: cx.find(&ARRAY_URL)?,
            array_user: cx.find(&ARRAY_USER)?,
            pools,
        })
    }

    pub fn pool(&self, name: &str) -> Result<&PoolSpec> {
        self.pools.iter().find(|p| p.name == name).ok_or_else(|| DriverError::invalid(format!("there is no pool `{name}`")))
    }
}

fn features(cx: &Context) -> Result<Features> {
    let block_protocols = match cx.find(&BLOCK_PROTOCOL)?.as_deref().unwrap_or("iscsi") {
        "fibre-channel" => vec![BlockProtocol::FibreChannel],
        "nvme-of" => vec![BlockProtocol::NvmeOf],
        "rbd" => vec![BlockProtocol::Rbd],
        "nfs" => vec![BlockProtocol::Nfs],
        "none" => Vec::new(),
        _ => vec![BlockProtocol::Iscsi],
    };
    Ok(Features {
        block_protocols,
        share_protocols: texts(cx, &SHARE_PROTOCOLS, &["nfs"])?.iter().map(|t| share_protocol(t)).collect(),
        multiattach: cx.find(&MULTIATTACH)?.unwrap_or(true),
        shared_targets: match cx.find(&SHARED_TARGETS)?.as_deref() {
            Some("yes") => SharedTargets::Yes,
            Some("unknown") => SharedTargets::Unknown,
            _ => SharedTargets::No,
        },
        online_extend: cx.find(&ONLINE_EXTEND)?.unwrap_or(true),
        share_server_mode: match cx.find(&SERVERS)?.as_deref() {
            Some("yes") => ShareServerMode::WithServers,
            Some("either") => ShareServerMode::Either,
            _ => ShareServerMode::WithoutServers,
        },
        share_server_multiple_subnet_support: cx.find(&MULTIPLE_SUBNETS)?.unwrap_or(false),
        network_allocation_update_support: cx.find(&ALLOCATION_UPDATE)?.unwrap_or(false),
        ip_versions: texts(cx, &IP_VERSIONS, &["4"])?.iter().map(|t| if t == "6" { IpVersion::V6 } else { IpVersion::V4 }).collect(),
        ensure_batch: cx.find(&ENSURE_BATCH)?.and_then(|n| u32::try_from(n).ok()),
    })
}

fn migration(cx: &Context) -> Result<MigrationAbilities> {
    let mut abilities = MigrationAbilities { writable: false, preserve_snapshots: false, cancel: false, progress: false };
    for ability in texts(cx, &MIGRATION, &["writable", "preserve-snapshots", "cancel", "progress"])? {
        match ability.as_str() {
            "writable" => abilities.writable = true,
            "preserve-snapshots" => abilities.preserve_snapshots = true,
            "cancel" => abilities.cancel = true,
            "progress" => abilities.progress = true,
            other => return Err(DriverError::invalid(format!("`migration`: there is no ability `{other}`"))),
        }
    }
    Ok(abilities)
}

/// A list option; the fallback only counts where the host did not fill in defaults, as in unit tests.
fn texts(cx: &Context, option: &Opt<Vec<String>>, fallback: &[&str]) -> Result<Vec<String>> {
    Ok(cx.find(option)?.unwrap_or_else(|| fallback.iter().map(|t| (*t).to_owned()).collect()))
}

fn count(cx: &Context, option: &Opt<i64>, fallback: u32) -> Result<u32> {
    Ok(cx.find(option)?.and_then(|n| u32::try_from(n).ok()).unwrap_or(fallback))
}

fn share_protocol(text: &str) -> ShareProtocol {
    match text.to_ascii_lowercase().as_str() {
        "nfs" => ShareProtocol::Nfs,
        "cifs" => ShareProtocol::Cifs,
        "cephfs" => ShareProtocol::Cephfs,
        "glusterfs" => ShareProtocol::Glusterfs,
        "hdfs" => ShareProtocol::Hdfs,
        "maprfs" => ShareProtocol::Maprfs,
        other => ShareProtocol::Other(other.to_owned()),
    }
}

fn foreign(text: &str, first_pool: &str) -> Result<Foreign> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default().to_owned();
    let gib = parts.next().and_then(|n| n.parse().ok());
    let Some(gib) = gib.filter(|_| !name.is_empty()) else {
        return Err(DriverError::invalid(format!("`foreign`: `{text}` is not NAME:GIB[:POOL]")));
    };
    Ok(Foreign { name, gib, pool: parts.next().unwrap_or(first_pool).to_owned() })
}

fn foreign_server(text: &str) -> Result<ForeignServer> {
    match text.split_once('=') {
        Some((name, addresses)) if !name.is_empty() => Ok(ForeignServer {
            name: name.to_owned(),
            addresses: addresses.split(',').filter(|a| !a.is_empty()).map(str::to_owned).collect(),
        }),
        _ => Err(DriverError::invalid(format!("`foreign_servers`: `{text}` is not NAME=ADDRESS[,ADDRESS...]"))),
    }
}

/// `KEY=VALUE`; a value that reads as a boolean or a number is one.
pub fn property(text: &str) -> Result<Property> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(DriverError::invalid(format!("`{text}` is not KEY=VALUE")));
    };
    let value = match value {
        "true" | "True" => Value::Boolean(true),
        "false" | "False" => Value::Boolean(false),
        _ => value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Number),
    };
    Ok(Property { key: key.to_owned(), value })
}
