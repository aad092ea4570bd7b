//! The same while services are killed at any moment: within a lease and the age of a job everything is true again.

use std::{sync::Arc, time::Duration};

use rand::{Rng, SeedableRng, rngs::StdRng};
use support::db::is_wanted;

use crate::{
    block,
    diary::{Counts, Diary},
    events::events_out_of_order,
    half::{CLIENTS, Half, On},
    rounds::Seeds,
    shares,
};

/// Steps after which a service is killed, of so many steps of each client.
fn moments(dice: &mut StdRng, kills: usize, steps: usize) -> Vec<usize> {
    let mut at: Vec<usize> = (0..kills).map(|_| dice.random_range(CLIENTS..CLIENTS * steps * 9 / 10)).collect();
    at.sort_unstable();
    at
}

/// Waits until so many steps were taken, and a moment more: not only when an answer has just come.
async fn reaches(diary: &Diary, steps: usize, dice: &mut StdRng) {
    while diary.progress() < steps {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(dice.random_range(0..40))).await;
}

async fn kills<H: Half>(on: On, seconds: u64) {
    if !is_wanted(on.name()) {
        return;
    }
    let mut world = H::start(on, 1).await;
    let mut counts = Counts::default();
    for seed in Seeds::for_seconds(seconds) {
        eprintln!("{} on {} killed, seed {seed}", H::NAME, on.name());
        let mut dice = StdRng::seed_from_u64(seed);
        let book = Arc::new(H::book(seed));
        let players = world.play(&book);
        for moment in moments(&mut dice, 3, H::STEPS) {
            reaches(&book, moment, &mut dice).await;
            book.remark("kill -9");
            world.services_mut()[0].kill();
            tokio::time::sleep(Duration::from_millis(dice.random_range(0..200))).await;
            world.services_mut()[0].restart().await;
            book.remark("it is back");
            counts.kills += 1;
        }
        for player in players {
            player.await.unwrap();
        }
        world.conclude(&book).await;
        counts.add(&book);
    }
    assert_eq!(events_out_of_order(&world.log()), Vec::<String>::new());
    counts.note(&format!("{} on {}, killed", H::NAME, on.name()));
}

async fn one_of_two<H: Half>(seconds: u64) {
    if !is_wanted(On::Postgres.name()) {
        return;
    }
    let mut world = H::start(On::Postgres, 2).await;
    let mut counts = Counts::default();
    for (round, seed) in Seeds::for_seconds(seconds).enumerate() {
        eprintln!("{}, two services, seed {seed}", H::NAME);
        let mut dice = StdRng::seed_from_u64(seed);
        let book = Arc::new(H::book(seed));
        let players = world.play(&book);
        // the first plan is played by two that live: its end needs both; then one goes and stays away until all is quiet
        let goes = (round > 0).then(|| dice.random_range(0..2));
        if let Some(service) = goes {
            let moment = moments(&mut dice, 1, H::STEPS)[0];
            reaches(&book, moment, &mut dice).await;
            book.remark(&format!("kill -9 of service {service}"));
            world.services_mut()[service].kill();
            counts.kills += 1;
        }
        for player in players {
            player.await.unwrap();
        }
        // asked first is the one that is there
        if goes == Some(0) {
            world.services_mut().swap(0, 1);
        }
        world.conclude(&book).await;
        counts.add(&book);
        if goes.is_some() {
            world.services_mut()[1].restart().await;
        }
    }
    counts.note(&format!("{} on postgres, one of two killed", H::NAME));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_again_and_again_leaves_everything_true_on_sqlite() {
    kills::<block::World>(On::Sqlite, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_again_and_again_leaves_everything_true_on_postgres() {
    kills::<block::World>(On::Postgres, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_services_is_killed_and_the_other_makes_everything_true() {
    one_of_two::<block::World>(40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_again_and_again_leaves_shares_and_servers_true_on_sqlite() {
    kills::<shares::World>(On::Sqlite, 35).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_again_and_again_leaves_shares_and_servers_true_on_postgres() {
    kills::<shares::World>(On::Postgres, 35).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_services_is_killed_and_the_other_makes_shares_and_servers_true() {
    one_of_two::<shares::World>(30).await;
}
