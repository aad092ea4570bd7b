//! What must be true once nothing is under way: the rows, the API and the arrays say the same.
//!
//! Each violation begins with the name of its rule in brackets. Where a rule makes an exception, the reason stands there.

mod held;
mod locations;
mod networks;
mod rests;
mod rows;
mod rules;
mod servers;
mod told;

use std::{collections::BTreeMap, time::Duration};

use serde::de::DeserializeOwned;
use support::array::Object;

use self::rows::Rows;
use crate::{
    figures::Room,
    shares::{
        book::Book,
        world::{BACKENDS, World},
    },
};

pub use networks::free_of_gaps;

/// Reports come every second, events go out every second.
const NEXT_REPORT: Duration = Duration::from_secs(20);

type Objects = BTreeMap<String, Object>;

/// Everything that is compared.
struct Scene {
    rows: Rows,
    /// By array.
    held: Vec<BTreeMap<String, Objects>>,
}

/// All that is not so.
pub async fn violations(world: &World, book: &Book) -> Vec<String> {
    violations_after(world, book, NEXT_REPORT).await
}

/// As [`violations`], with as much time for the figures that follow with the next report.
pub async fn violations_after(world: &World, book: &Book, patience: Duration) -> Vec<String> {
    let scene = Scene::read(world).await;
    let mut broken = Vec::new();
    scene.rests(world, &mut broken).await;
    scene.shares_are_held(book, &mut broken);
    scene.snapshots_are_held(&mut broken);
    scene.rules_hold(book, &mut broken);
    scene.locations_are_true(&mut broken);
    scene.servers_are_held(&mut broken);
    scene.addresses_are_given_once(book, &mut broken);
    scene.lists(world, &mut broken).await;
    scene.usage(world, &mut broken).await;
    scene.reasons(world, book, &mut broken).await;
    broken.extend(scene.room().figures_come_true(&world.database, patience).await);
    broken
}

impl Scene {
    async fn read(world: &World) -> Self {
        let mut held = Vec::new();
        for array in &world.arrays {
            held.push(array.control.objects().await.unwrap());
        }
        Self { rows: Rows::read(&world.database).await, held }
    }

    /// The objects of one kind that an array holds.
    fn held(&self, array: usize, kind: &str) -> &Objects {
        static NONE: Objects = Objects::new();
        self.held[array].get(kind).unwrap_or(&NONE)
    }

    /// What lies where. Snapshots take room, too; but not for as long as they exist are they charged for it.
    fn room(&self) -> Room {
        let placed = self.rows.shares.iter().filter(|s| !s.host.is_empty());
        let used = |n: usize| self.held[n].values().flat_map(BTreeMap::values).map(|o| o.gib).sum();
        Room {
            lying: placed.map(|s| (s.id.clone(), (s.host.clone(), s.gib))).collect(),
            used: BACKENDS.iter().enumerate().map(|(n, backend)| (*backend, used(n))).collect(),
        }
    }
}

/// A field of what the driver wrote into an object.
fn field<T: DeserializeOwned>(object: &Object, name: &str) -> T {
    serde_json::from_value(object.data[name].clone()).unwrap_or_else(|e| panic!("{name}: {e}: {object:?}"))
}
