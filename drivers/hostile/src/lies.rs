//! Answers that are not true, or not even possible. Without a lie they are honest.

use stowage_driver_sdk::prelude::*;

use crate::{Hostile, misdeeds::Mode};

const NOBODY: &str = "00000000-0000-4000-8000-0000000000ff";

pub fn report(driver: &Hostile, cx: &Context) -> CapabilityReport {
    let mut features = Features::block(BlockProtocol::Iscsi);
    features.share_protocols = vec![ShareProtocol::Nfs];
    let honest = Pool::new("pool0").total_gib(1_000.0).free_gib(1_000.0);
    let pools = if driver.lies(cx, Mode::Nonsense) {
        vec![
            Pool::new("a#b@c").total_gib(f64::NAN).free_gib(-5.0),
            Pool { reserved_percentage: Some(400), max_over_subscription_ratio: Some(f64::NEG_INFINITY), ..Pool::new("") },
            honest.clone(),
            honest,
        ]
    } else if driver.lies(cx, Mode::LongList) {
        (0..1_000_000).map(|n| Pool::new(&n.to_string())).collect()
    } else if driver.lies(cx, Mode::HugeAnswer) {
        vec![Pool { extra: vec![Property::new("huge", "x".repeat(100 << 20))], ..honest }]
    } else {
        vec![honest]
    };
    CapabilityReport::new(features, pools)
}

pub fn connection(driver: &Hostile, cx: &Context, volume: &Volume) -> Connection {
    let target = IscsiTarget { portal: "192.0.2.66:3260".into(), iqn: format!("iqn.2026-01.org.stowage:{}", volume.id), lun: 1 };
    let targets = if driver.lies(cx, Mode::Nonsense) {
        Vec::new()
    } else if driver.lies(cx, Mode::LongList) {
        vec![target; 1_000_000]
    } else {
        vec![target]
    };
    Connection::new(ConnectionTarget::Iscsi(IscsiConnection { targets, auth: None, discovery_auth: None, discard: false }))
}

pub fn locations(driver: &Hostile, cx: &Context, share: &Share) -> Vec<ExportLocation> {
    let honest = ExportLocation::new(format!("192.0.2.66:/{}", share.id));
    if driver.lies(cx, Mode::Nonsense) {
        vec![honest.clone(), honest, ExportLocation::new("")]
    } else if driver.lies(cx, Mode::LongList) {
        (0..1_000_000).map(|n| ExportLocation::new(n.to_string())).collect()
    } else {
        vec![honest]
    }
}

pub fn rule_states(driver: &Hostile, cx: &Context, rules: &[AccessRule]) -> Vec<RuleState> {
    if driver.lies(cx, Mode::WrongIds) {
        return vec![RuleState { id: NOBODY.into(), outcome: RuleOutcome::Active, key: None }; 3];
    }
    rules.iter().map(RuleState::active).collect()
}

pub fn ensured(driver: &Hostile, cx: &Context, items: &[EnsureItem]) -> Vec<Ensured> {
    let mut ensured: Vec<Ensured> = items.iter().map(|i| Ensured::unchanged(&i.share.id)).collect();
    if driver.lies(cx, Mode::LeftOut) {
        ensured.pop();
    }
    if driver.lies(cx, Mode::WrongIds) {
        ensured.push(Ensured::unchanged(NOBODY));
    }
    if driver.lies(cx, Mode::Twice) {
        ensured.extend(ensured.clone());
    }
    ensured
}
