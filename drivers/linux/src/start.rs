//! What is tried before a driver or a configuration goes into service.
//!
//! A fault of the configuration (an URL that is not granted, two pools on one node, another node than before) keeps it out.
//! So does a back end of which no node works; if at least one does, the others are the report's business. It has seconds: a
//! starting service waits five for all of a back end's opening, the first report included.

use std::{collections::BTreeMap, time::Duration};

use stowage_driver_sdk::prelude::*;

use crate::{
    Linux,
    node::Node,
    report::{down_key, share},
};

/// For all nodes together; what quick ones leave is there for the others.
const PATIENCE: Duration = Duration::from_secs(3);
/// For one node at least: a busy machine is no dead one.
const LEAST: Duration = Duration::from_millis(500);

impl Linux {
    pub fn start(&self, cx: &Context) -> Result<()> {
        let nodes = &self.config.nodes;
        let mut behind: BTreeMap<String, &str> = BTreeMap::new();
        let mut failures = Vec::new();
        let began = cx.monotonic_ms();
        for (n, place) in nodes.iter().enumerate() {
            let left = PATIENCE.saturating_sub(Duration::from_millis(cx.monotonic_ms().saturating_sub(began)));
            let node = Node::new(cx, place).within(share(left, nodes.len() - n).max(LEAST));
            match self.about(cx, &node) {
                Ok(about) => {
                    if let Some(other) = behind.insert(about.id, &place.pool) {
                        let why =
                            format!("`nodes`: the pools `{other}` and `{}` are the same node; its room would count twice", place.pool);
                        return Err(DriverError::invalid(why));
                    }
                }
                Err(e) if matches!(e.kind, ErrorKind::Unsupported | ErrorKind::Invalid) => return Err(e),
                Err(e) => {
                    cx.log(Level::Warn, &format!("a node does not serve: {}", e.message), &[KeyValue::new("pool", place.pool.as_str())]);
                    if e.kind == ErrorKind::Transient {
                        let ttl = Duration::from_secs(60);
                        cx.session().put(&down_key(&place.pool), &(cx.monotonic_ms(), e.message.clone()), Some(ttl))?;
                    }
                    failures.push(e);
                }
            }
        }
        // what must be repaired by hand comes before what may pass by itself
        let worst = failures.iter().position(|e| e.kind != ErrorKind::Transient).unwrap_or(0);
        if failures.len() < nodes.len() { Ok(()) } else { Err(failures.swap_remove(worst)) }
    }
}
