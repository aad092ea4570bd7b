//! Fail-over to targets that have a copy of every volume but those that were said to be lost.

use futures::future::BoxFuture;
use stowage::driver::{
    Call, DriverError, DriverResult, ErrorKind,
    block::{FailedOver, VolumeReplication},
    types::{Value, Volume, VolumeUpdate},
};

use super::{Array, Face};

impl Array {
    /// It has these targets, and says so in its next report.
    pub fn replicates_to(&self, targets: &[&str]) {
        let targets: Vec<String> = targets.iter().map(|t| (*t).to_owned()).collect();
        self.report(|r| drop(r.extra.insert("replication_targets".into(), Value::Texts(targets.clone()))));
        self.state().targets = targets;
    }
    /// No target has it.
    pub fn lose_copy(&self, volume: &str) {
        self.state().without_copy.insert(volume.to_owned());
    }
    /// Volumes of each call that was carried out.
    pub fn failed_over(&self) -> Vec<Vec<String>> {
        self.state().failed_over.clone()
    }
}

impl VolumeReplication for Face {
    fn choose<'a>(&'a self, _: &'a Call, target: Option<&'a str>) -> BoxFuture<'a, DriverResult<String>> {
        Box::pin(async move {
            let fault = self.0.begin("choose", target.unwrap_or("any")).await?;
            let chosen = match target {
                None => self.0.state().targets[0].clone(),
                Some(t) if t == "default" || self.0.state().targets.iter().any(|known| known == t) => t.to_owned(),
                Some(t) => return Err(DriverError::new(ErrorKind::Invalid, format!("there is no target {t}"))),
            };
            Array::end(fault, "choose", chosen)
        })
    }
    fn failover<'a>(&'a self, _: &'a Call, target: &'a str, volumes: &'a [Volume]) -> BoxFuture<'a, DriverResult<FailedOver>> {
        Box::pin(async move {
            let fault = self.0.begin("failover", target).await?;
            let mut state = self.0.state();
            state.failed_over.push(volumes.iter().map(|v| v.id.clone()).collect());
            let served = |v: &Volume| VolumeUpdate { provider_id: Some(format!("{target}-{}", v.id)), provider_data: None };
            let state_of = |v: &Volume| if state.without_copy.contains(&v.id) { Err("no copy".to_owned()) } else { Ok(served(v)) };
            Array::end(fault, "failover", volumes.iter().map(|v| (v.id.clone(), state_of(v))).collect())
        })
    }
    fn complete<'a>(&'a self, _: &'a Call, target: &'a str) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            let fault = self.0.begin("complete", target).await?;
            Array::end(fault, "complete", ())
        })
    }
}
