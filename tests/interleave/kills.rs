//! The same while services are killed at any moment: within a lease and the age of a job everything is true again.

use std::{sync::Arc, time::Duration};

use rand::{Rng, SeedableRng, rngs::StdRng};
use support::db::is_wanted;

use crate::{
    book::{Book, Counts},
    plan::{CLIENTS, Plan},
    play::start,
    rounds::{STEPS, Seeds, conclude},
    truth::events_out_of_order,
    world::{On, World},
};

/// Steps after which a service is killed.
fn moments(dice: &mut StdRng, kills: usize) -> Vec<usize> {
    let mut at: Vec<usize> = (0..kills).map(|_| dice.random_range(CLIENTS..CLIENTS * STEPS * 9 / 10)).collect();
    at.sort_unstable();
    at
}

/// Waits until so many steps were taken, and a moment more: not only when an answer has just come.
async fn reaches(book: &Book, steps: usize, dice: &mut StdRng) {
    while book.progress() < steps {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(dice.random_range(0..40))).await;
}

async fn kills(on: On) {
    if !is_wanted(on.name()) {
        return;
    }
    let mut world = World::start(on, 1).await;
    let mut counts = Counts::default();
    for seed in Seeds::for_seconds(40) {
        eprintln!("{} killed, seed {seed}", on.name());
        let mut dice = StdRng::seed_from_u64(seed);
        let book = Arc::new(Book::new(Plan::of(seed, STEPS)));
        let players = start(&world, &book);
        for moment in moments(&mut dice, 3) {
            reaches(&book, moment, &mut dice).await;
            book.remark("kill -9");
            world.services[0].kill();
            tokio::time::sleep(Duration::from_millis(dice.random_range(0..200))).await;
            world.services[0].restart().await;
            book.remark("it is back");
            counts.kills += 1;
        }
        for player in players {
            player.await.unwrap();
        }
        conclude(&mut world, &book).await;
        counts.add(&book);
    }
    assert_eq!(events_out_of_order(&world.log()), Vec::<String>::new());
    counts.note(&format!("{}, killed", on.name()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_again_and_again_leaves_everything_true_on_sqlite() {
    kills(On::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_again_and_again_leaves_everything_true_on_postgres() {
    kills(On::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_services_is_killed_and_the_other_makes_everything_true() {
    if !is_wanted(On::Postgres.name()) {
        return;
    }
    let mut world = World::start(On::Postgres, 2).await;
    let mut counts = Counts::default();
    for (round, seed) in Seeds::for_seconds(40).enumerate() {
        eprintln!("two services, seed {seed}");
        let mut dice = StdRng::seed_from_u64(seed);
        let book = Arc::new(Book::new(Plan::of(seed, STEPS)));
        let players = start(&world, &book);
        // the first plan is played by two that live; then one goes and stays away until all is quiet
        let goes = (round > 0).then(|| dice.random_range(0..2));
        if let Some(service) = goes {
            let moment = moments(&mut dice, 1)[0];
            reaches(&book, moment, &mut dice).await;
            book.remark(&format!("kill -9 of service {service}"));
            world.services[service].kill();
            counts.kills += 1;
        }
        for player in players {
            player.await.unwrap();
        }
        // asked first is the one that is there
        if goes == Some(0) {
            world.services.swap(0, 1);
        }
        conclude(&mut world, &book).await;
        counts.add(&book);
        if goes.is_some() {
            world.services[1].restart().await;
        }
    }
    counts.note("postgres, one of two killed");
}
