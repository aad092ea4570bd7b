//! The driver against nodes that keep the HTTP contract ([`fake`]), and against answers that do not.

mod answers;
mod connections;
mod copies;
mod errors;
mod fake;
mod manage;
mod options;
mod report;
mod volumes;

use fake::Nodes;
use stowage_driver_sdk::{mock, prelude::*};

use crate::Linux;

const A: &str = "http://a.test:8788";
const B: &str = "http://b.test:8788";

/// A back end over the nodes `a` and `b`.
fn host(nodes: &Nodes) -> mock::Host {
    nodes.serve(mock::Host::new().option("nodes", [format!("a={A}").as_str(), format!("b={B}/").as_str()]))
}

/// A back end over one node, `a`.
fn single(nodes: &Nodes) -> mock::Host {
    nodes.serve(mock::Host::new().option("nodes", [format!("a={A}").as_str()]))
}

fn open(host: &mock::Host) -> (Linux, Context) {
    let cx = host.context("test");
    (Linux::open(&cx).unwrap(), cx)
}

/// The same, as a worker of this generation.
fn open_as(host: &mock::Host, generation: u64) -> (Linux, Context) {
    let (driver, mut cx) = open(host);
    cx.call.generation = generation;
    (driver, cx)
}

fn volume(id: &str, gib: u64) -> Volume {
    mock::volume(id, gib, "a")
}

fn with_spec(volume: Volume, key: &str, value: &str) -> Volume {
    Volume { specs: vec![KeyValue::new(key, value)], ..volume }
}

fn snapshot(id: &str, of: &str, gib: u64) -> VolumeSnapshot {
    VolumeSnapshot {
        id: id.into(),
        name: String::new(),
        project_id: String::new(),
        volume_id: of.into(),
        size_gib: gib,
        provider_id: None,
        provider_data: None,
        metadata: Vec::new(),
    }
}

fn connector(name: &str) -> Connector {
    Connector {
        host: name.into(),
        ip: Some("192.0.2.17".into()),
        initiator: Some(format!("iqn.1994-05.test:{name}")),
        wwpns: Vec::new(),
        wwnns: Vec::new(),
        nqn: None,
        nvme_host_id: None,
        system_uuid: None,
        multipath: false,
        os_type: None,
        platform: None,
        mountpoint: None,
        extra: Vec::new(),
    }
}
