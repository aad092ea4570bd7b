//! D5: two attachments of one volume go through their lives in every order, made by either API, and leave in either way.

use serde_json::json;
use support::Client;

use crate::{
    site::{Site, complete, connect, connector, detach, reserve},
    volume_actions::act,
};

/// Which API leads an attachment through its life.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    New,
    Older,
}

/// How far an attachment is: steps done.
const RESERVED: usize = 1;
const CONNECTED: usize = 2;
const ATTACHED: usize = 3;
const LEFT: usize = 4;

struct Life {
    way: Way,
    /// Taken away by an operator, not by its owner.
    forced: bool,
    host: &'static str,
    done: usize,
    id: String,
}

impl Life {
    fn new(way: Way, forced: bool, host: &'static str) -> Self {
        Self { way, forced, host, done: 0, id: String::new() }
    }

    /// What it counts as in the volume's status, best first.
    fn counts_as(&self) -> Option<&'static str> {
        match (self.done, self.way) {
            (ATTACHED, _) => Some("attached"),
            (CONNECTED, _) | (RESERVED, Way::Older) => Some("attaching"),
            (RESERVED, Way::New) => Some("reserved"),
            _ => None,
        }
    }

    async fn step(&mut self, site: &Site, member: &Client, operator: &Client, volume: &str) {
        match (self.done, self.way) {
            (0, Way::New) => self.id = reserve(member, volume, None).await,
            (0, Way::Older) => {
                act(member, volume, "os-reserve", json!({})).await.expect(202);
                let all = site.app.app().store.attachments_of(volume).await.unwrap();
                self.id = all.into_iter().find(|a| a.older.is_some()).unwrap().id;
            }
            (RESERVED, Way::New) => drop(connect(member, &self.id, self.host).await.expect(200)),
            (RESERVED, Way::Older) => {
                let body = json!({ "connector": connector(self.host) });
                let info = act(member, volume, "os-initialize_connection", body).await.expect(200);
                assert_eq!(info["connection_info"]["driver_volume_type"], "iscsi");
            }
            (CONNECTED, Way::New) => drop(complete(member, &self.id).await.expect(204)),
            (CONNECTED, Way::Older) => {
                let body = json!({ "host_name": self.host, "mountpoint": "/dev/vdb" });
                act(member, volume, "os-attach", body).await.expect(202);
            }
            (_, _) if self.forced => {
                let body = json!({ "attachment_id": self.id, "connector": null });
                act(operator, volume, "os-force_detach", body).await.expect(202);
            }
            (_, Way::New) => drop(detach(member, &self.id).await.expect(200)),
            (_, Way::Older) => drop(act(member, volume, "os-detach", json!({ "attachment_id": self.id })).await.expect(202)),
        }
        self.done += 1;
    }
}

/// The alphabetically first of what its attachments count as decides.
fn expected(lives: &[Life; 2]) -> (&'static str, &'static str) {
    match lives.iter().filter_map(Life::counts_as).min() {
        Some("attached") => ("in-use", "attached"),
        Some(other) => (other, other),
        None => ("available", "detached"),
    }
}

/// Every order of two lives of four steps: which of the two takes the next step.
fn orders() -> Vec<Vec<usize>> {
    (0..1_u32 << (2 * LEFT))
        .filter(|bits| bits.count_ones() as usize == LEFT)
        .map(|bits| (0..2 * LEFT).map(|n| usize::from(bits & (1 << n) != 0)).collect())
        .collect()
}

async fn in_every_order(ways: [Way; 2]) {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let volume = site.multiattach_volume().await;
    for (n, order) in orders().into_iter().enumerate() {
        let mut lives = [Life::new(ways[0], n % 2 == 0, "c1"), Life::new(ways[1], n % 3 == 0, "c2")];
        for who in &order {
            lives[*who].step(&site, &member, &operator, &volume).await;
            let (status, attach_status) = site.status(&volume).await;
            assert_eq!((status.as_str(), attach_status.as_str()), expected(&lives), "{ways:?} {order:?}");
            let mut hosts: Vec<_> = lives.iter().filter(|l| (CONNECTED..LEFT).contains(&l.done)).map(|l| l.host).collect();
            hosts.sort_unstable();
            assert_eq!(site.array.hosts_of(&volume), hosts, "{ways:?} {order:?}");
        }
    }
    assert_eq!(orders().len(), 70);
}

#[tokio::test]
async fn d5_two_attachments_in_every_order_of_attach_complete_detach_and_force_detach() {
    in_every_order([Way::New, Way::New]).await;
}

#[tokio::test]
async fn d5_the_same_when_the_older_actions_make_one_of_them() {
    in_every_order([Way::New, Way::Older]).await;
}
