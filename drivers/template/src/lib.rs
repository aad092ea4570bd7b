//! The smallest useful driver. Copy this folder, rename it, and fill it in.
//!
//! It keeps a list of volumes in the back end's `kv` and calls nobody, so it runs without any grant. A real driver speaks
//! to its array through [`Context::http`] instead; see docs/driver-author-guide.md.

use stowage_driver_sdk::prelude::*;

const SIZE: Opt<i64> = Opt::integer("size_gib", 1, 1_000_000, "Size of the only pool").default("100");

const PORTAL: Opt<String> = Opt::text("portal", "Where the array's iSCSI targets listen, address:port").default("192.0.2.1:3260");

/// What one call needs. Made by [`Driver::open`] before every verb, gone after it.
struct Template {
    size_gib: f64,
    portal: String,
}

impl Driver for Template {
    fn info() -> DriverInfo {
        DriverInfo::new("template", "Your company", env!("CARGO_PKG_VERSION"))
    }

    fn options() -> Vec<OptionSpec> {
        vec![SIZE.spec(), PORTAL.spec()]
    }

    #[expect(clippy::cast_precision_loss, reason = "the option is at most a million")]
    fn open(cx: &Context) -> Result<Self> {
        Ok(Self { size_gib: cx.get(&SIZE)? as f64, portal: cx.get(&PORTAL)? })
    }

    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 GiB")]
    fn report(&self, cx: &Context) -> Result<CapabilityReport> {
        let mut used = 0.0;
        cx.kv().each("volume/", |_, gib: u64| {
            used += gib as f64;
            Ok(())
        })?;
        let pool = Pool::new("main").total_gib(self.size_gib).free_gib(self.size_gib - used);
        Ok(CapabilityReport::new(Features::block(BlockProtocol::Iscsi), vec![pool]))
    }
}

impl Volumes for Template {
    fn create_volume(&self, cx: &Context, volume: &Volume) -> Result<VolumeOutcome> {
        // Under the host's id: a repeat writes the same again.
        cx.kv().put(&key(volume), &volume.size_gib)?;
        Ok(VolumeOutcome::made())
    }

    fn delete_volume(&self, cx: &Context, volume: &Volume) -> Result<()> {
        // Whether it was there does not matter: gone is gone.
        cx.kv().delete(&key(volume)).map(drop)
    }

    fn extend_volume(&self, cx: &Context, volume: &Volume, new_size_gib: u64) -> Result<VolumeOutcome> {
        cx.kv().update(&key(volume), |gib: Option<u64>| {
            let gib = gib.ok_or_else(|| DriverError::not_found("no such volume"))?;
            Ok((gib < new_size_gib).then_some(new_size_gib))
        })?;
        Ok(VolumeOutcome::made())
    }
}

/// A block back end has to say how hosts reach its volumes.
impl ConnectionInfo for Template {
    fn validate_connector(&self, _: &Context, connector: &Connector) -> Result<()> {
        let initiator = connector.initiator.as_ref().ok_or_else(|| DriverError::invalid("the connector lacks `initiator`"));
        initiator.map(drop)
    }

    fn connect(&self, cx: &Context, volume: &Volume, _attachment_id: &str, _: AccessMode, _: &Connector) -> Result<Connection> {
        // A real driver lets this initiator, and no other, see the volume.
        self.ensure_export(cx, volume)?;
        let iqn = format!("iqn.2026-01.org.stowage.template:{}", volume.id);
        let targets = vec![IscsiTarget { portal: self.portal.clone(), iqn, lun: 0 }];
        Ok(Connection::new(ConnectionTarget::Iscsi(IscsiConnection { targets, auth: None, discovery_auth: None, discard: false })))
    }

    fn disconnect(&self, _: &Context, _: &Volume, _: &DisconnectTarget) -> Result<()> {
        Ok(())
    }

    fn ensure_export(&self, cx: &Context, volume: &Volume) -> Result<()> {
        let gib = cx.kv().get::<u64>(&key(volume))?;
        gib.map(drop).ok_or_else(|| DriverError::not_found("no such volume"))
    }
}

fn key(volume: &Volume) -> String {
    format!("volume/{}", volume.id)
}

export!(Template: volumes, connection_info);

#[cfg(test)]
mod tests {
    use super::*;
    use stowage_driver_sdk::mock;

    fn call(host: &mock::Host) -> (Template, Context) {
        let cx = host.context("test");
        (Template::open(&cx).unwrap(), cx)
    }

    #[test]
    fn a_repeated_create_makes_one_volume() {
        let host = mock::Host::new().option("size_gib", 10).option("portal", "192.0.2.1:3260");
        let (driver, cx) = call(&host);
        for _ in 0..2 {
            driver.create_volume(&cx, &mock::volume("a", 4, "main")).unwrap();
        }
        assert_eq!(driver.report(&cx).unwrap().pools[0].free, Capacity::Gib(6.0));
    }

    #[test]
    fn deleting_what_is_gone_succeeds() {
        let host = mock::Host::new().option("size_gib", 10).option("portal", "192.0.2.1:3260");
        let (driver, cx) = call(&host);
        assert_eq!(driver.delete_volume(&cx, &mock::volume("a", 4, "main")), Ok(()));
    }
}
