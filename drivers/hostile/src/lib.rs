//! A driver that does what no driver may. It proves that each misdeed ends one call, with a typed error, and nothing else.
//!
//! The option `mode` names the misdeed, `verb` the function that commits it; everything else answers as a small honest driver
//! would, so that the back end can be loaded and watched.

mod lies;
mod misdeeds;

use stowage_driver_sdk::{RuleChanges, prelude::*};

use crate::misdeeds::Mode;

const MODE: Opt<String> = Opt::choice("mode", misdeeds::NAMES, "What it does wrong.").default("none");
const VERB: Opt<String> = Opt::text("verb", "The function that does it, `volumes.create`.").default("volumes.create");
const URL: Opt<String> = Opt::text("url", "Where mode `http` sends a request.").default("http://127.0.0.1:1/");

struct Hostile {
    mode: Mode,
    verb: String,
    url: String,
}

impl Hostile {
    /// The misdeed, if this is the verb for it.
    fn act(&self, cx: &Context) -> Result<()> {
        if cx.verb == self.verb { self.mode.commit(cx, &self.url) } else { Ok(()) }
    }
    /// Whether this verb's answer shall be this lie.
    fn lies(&self, cx: &Context, lie: Mode) -> bool {
        cx.verb == self.verb && self.mode == lie
    }
}

impl Driver for Hostile {
    fn info() -> DriverInfo {
        DriverInfo::new("hostile", "Stowage", env!("CARGO_PKG_VERSION"))
    }
    fn options() -> Vec<OptionSpec> {
        vec![MODE.spec(), VERB.spec(), URL.spec()]
    }
    fn open(cx: &Context) -> Result<Self> {
        let mode = cx.find(&MODE)?.unwrap_or_default();
        Ok(Self {
            mode: Mode::named(&mode),
            verb: cx.find(&VERB)?.unwrap_or_else(|| "volumes.create".into()),
            url: cx.find(&URL)?.unwrap_or_default(),
        })
    }
    fn init(&self, cx: &Context) -> Result<()> {
        self.act(cx)
    }
    fn report(&self, cx: &Context) -> Result<CapabilityReport> {
        self.act(cx)?;
        Ok(lies::report(self, cx))
    }
}

impl Volumes for Hostile {
    fn create_volume(&self, cx: &Context, volume: &Volume) -> Result<VolumeOutcome> {
        self.act(cx)?;
        if self.lies(cx, Mode::HugeAnswer) {
            let data = "x".repeat(100 << 20);
            return Ok(VolumeOutcome::Done(VolumeUpdate { provider_id: None, provider_data: Some(data) }));
        }
        if self.lies(cx, Mode::LongAnswer) {
            return Ok(VolumeOutcome::made_as("x".repeat(1 << 20)));
        }
        if self.lies(cx, Mode::ForeverPending) {
            return Ok(VolumeOutcome::Pending(Pending::new("x".repeat(100_000), 0)));
        }
        Ok(VolumeOutcome::made_as(&volume.id))
    }
    fn delete_volume(&self, cx: &Context, _: &Volume) -> Result<()> {
        self.act(cx)
    }
    fn extend_volume(&self, cx: &Context, volume: &Volume, _: u64) -> Result<VolumeOutcome> {
        self.act(cx)?;
        Ok(VolumeOutcome::made_as(&volume.id))
    }
}

impl Poll for Hostile {
    fn poll(&self, cx: &Context, token: &str) -> ServerResult<PollOutcome> {
        self.act(cx)?;
        // Of a volume, an answer for a share.
        Ok(PollOutcome::Share(ShareUpdate::at(vec![ExportLocation::new(token)])))
    }
}

impl ConnectionInfo for Hostile {
    fn validate_connector(&self, cx: &Context, _: &Connector) -> Result<()> {
        self.act(cx)
    }
    fn connect(&self, cx: &Context, volume: &Volume, _: &str, _: AccessMode, _: &Connector) -> Result<Connection> {
        self.act(cx)?;
        Ok(lies::connection(self, cx, volume))
    }
    fn disconnect(&self, cx: &Context, _: &Volume, _: &DisconnectTarget) -> Result<()> {
        self.act(cx)
    }
    fn ensure_export(&self, cx: &Context, _: &Volume) -> Result<()> {
        self.act(cx)
    }
}

impl Shares for Hostile {
    fn create_share(&self, cx: &Context, share: &Share) -> Result<ShareOutcome> {
        self.act(cx)?;
        Ok(ShareOutcome::Done(ShareUpdate::at(lies::locations(self, cx, share))))
    }
    fn delete_share(&self, cx: &Context, _: &Share) -> Result<()> {
        self.act(cx)
    }
    fn extend_share(&self, cx: &Context, _: &Share, _: u64) -> Result<ResizeOutcome> {
        self.act(cx)?;
        Ok(ResizeOutcome::Done)
    }
}

impl Access for Hostile {
    fn apply_access(&self, cx: &Context, _: &Share, rules: &[AccessRule], _: RuleChanges<'_>) -> Result<Vec<RuleState>> {
        self.act(cx)?;
        Ok(lies::rule_states(self, cx, rules))
    }
}

impl Ensure for Hostile {
    fn fingerprint(&self, cx: &Context) -> Result<String> {
        self.act(cx)?;
        Ok("as it was".into())
    }
    fn ensure_share(&self, _: &Context, _: &EnsureItem) -> Result<EnsureOutcome> {
        Ok(EnsureOutcome::Unchanged)
    }
    fn ensure_shares(&self, cx: &Context, items: &[EnsureItem]) -> Result<Vec<Ensured>> {
        self.act(cx)?;
        Ok(lies::ensured(self, cx, items))
    }
}

export!(Hostile: volumes, poll, connection_info, shares, access, ensure);
