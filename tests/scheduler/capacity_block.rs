//! Room in a block pool, row by row as the released service answers. Total and free are 100 GiB, nothing is provisioned.

use stowage::scheduler::capacity::{
    Capacity::{self, Gib, Infinite, Unknown},
    Figures, Ratio,
    block::{Ask, check, ratio, room},
};

fn thick() -> Figures {
    Figures { total: Gib(100.0), free: Some(Gib(100.0)), provisioned: Some(0.0), reserved: 0, ratio: Ratio::Fixed(20.0), thin: false }
}
fn thin(ratio: f64) -> Figures {
    Figures { ratio: Ratio::Fixed(ratio), thin: true, ..thick() }
}
fn reserved(pool: Figures, percent: i64) -> Figures {
    Figures { reserved: percent, ..pool }
}
fn free(pool: Figures, gib: f64) -> Figures {
    Figures { free: Some(Gib(gib)), ..pool }
}
fn provisioned(pool: Figures, gib: f64) -> Figures {
    Figures { provisioned: Some(gib), ..pool }
}
fn total(pool: Figures, total: Capacity) -> Figures {
    Figures { total, ..pool }
}
const fn ask(gib: i64) -> Ask {
    Ask { gib, thick: false, lives_here: false }
}

macro_rules! vector {
    ($($name:ident: $pool:expr, $gib:literal, $passes:ident;)*) => {
        $(
            #[test]
            fn $name() {
                let verdict = check(&$pool, ask($gib));
                assert_eq!(if verdict.fits { "yes" } else { "no" }, stringify!($passes), "{}", verdict.reason);
            }
        )*
    };
}

vector! {
    thick_takes_all_of_it: thick(), 100, yes;
    thick_takes_no_more: thick(), 101, no;
    thick_keeps_the_reserve_90: reserved(thick(), 10), 90, yes;
    thick_keeps_the_reserve_91: reserved(thick(), 10), 91, no;
    thick_minds_what_is_provisioned_20: provisioned(free(thick(), 50.0), 80.0), 20, yes;
    thick_minds_what_is_provisioned_21: provisioned(free(thick(), 50.0), 80.0), 21, no;
    thin_takes_its_ratio: thin(2.0), 200, yes;
    thin_takes_no_more_than_its_ratio: thin(2.0), 201, no;
    thin_ignores_real_free_space: free(thin(2.0), 0.0), 200, yes;
    thin_reserve_comes_off_before_the_ratio_180: reserved(thin(2.0), 10), 180, yes;
    thin_reserve_comes_off_before_the_ratio_181: reserved(thin(2.0), 10), 181, no;
    thin_of_ratio_one_minds_what_is_provisioned_50: provisioned(thin(1.0), 50.0), 50, yes;
    thin_of_ratio_one_minds_what_is_provisioned_51: provisioned(thin(1.0), 50.0), 51, no;
    a_ratio_below_one_takes_nothing: thin(0.5), 1, no;
    thin_with_everything_reserved_takes_nothing: reserved(thin(2.0), 100), 1, no;
    thick_total_99_9_reserved_33_takes_66: reserved(total(thick(), Gib(99.9)), 33), 66, yes;
    thick_total_99_9_reserved_33_takes_67: reserved(total(thick(), Gib(99.9)), 33), 67, yes;
    infinite_free_passes: Figures { free: Some(Infinite), ..thick() }, 1000000, yes;
    unknown_free_passes_without_a_look_at_the_total: Figures { free: Some(Unknown), ..total(thick(), Gib(0.0)) }, 10, yes;
    infinite_total_without_reserve_passes: total(free(thick(), 1.0), Infinite), 10, yes;
    infinite_total_with_a_reserve_does_not: reserved(total(thick(), Infinite), 1), 10, no;
    no_total_takes_nothing: total(thick(), Gib(0.0)), 1, no;
    missing_free_takes_nothing: Figures { free: None, ..thick() }, 1, no;
    missing_free_is_no_matter_when_nothing_is_asked: Figures { free: None, ..thick() }, 0, yes;
    growth_by_ten_needs_ten: free(thick(), 10.0), 10, yes;
    null_provisioned_on_thick_takes_nothing: Figures { provisioned: None, ..thick() }, 1, no;
    null_provisioned_on_thin_takes_nothing: Figures { provisioned: None, ..thin(2.0) }, 1, no;
}

#[test]
fn a_thick_type_on_a_thin_pool_takes_what_is_really_free() {
    let pool = provisioned(free(thin(20.0), 50.0), 10.0);
    assert!(check(&pool, Ask { thick: true, ..ask(50) }).fits);
}

#[test]
fn a_thick_type_on_a_thin_pool_minds_what_is_provisioned() {
    let pool = provisioned(free(thin(20.0), 50.0), 80.0);
    assert!(!check(&pool, Ask { thick: true, ..ask(21) }).fits);
}

#[test]
fn a_volume_that_lives_there_passes() {
    assert!(check(&Figures { free: None, ..thick() }, Ask { lives_here: true, ..ask(1000) }).fits);
}

#[test]
fn an_automatic_ratio_follows_what_is_provisioned() {
    let auto = Figures { ratio: Ratio::Auto, ..thin(1.0) };
    assert!((ratio(&auto) - 20.0).abs() < 1e-9, "nothing provisioned yet");
    let used = provisioned(free(auto.clone(), 51.0), 100.0);
    assert!((ratio(&used) - 3.0).abs() < 1e-9, "1 + 100 / ((100 - 51) + 1)");
    assert!((ratio(&Figures { thin: false, ..auto.clone() }) - 1.0).abs() < 1e-9, "thick pools have none");
    assert!((ratio(&total(auto, Unknown)) - 1.0).abs() < 1e-9, "unknown figures");
}

#[test]
fn room_is_rounded_to_hundredths_and_is_no_number_for_unknown_pools() {
    assert_eq!(room(&free(thick(), 33.333_333), false), Some(33.33));
    assert_eq!(room(&Figures { free: Some(Unknown), ..thick() }, false), None);
    assert_eq!(room(&total(thick(), Infinite), false), None);
}

#[test]
fn a_refusal_tells_the_figures() {
    let verdict = check(&free(thick(), 5.0), ask(6));
    assert_eq!(verdict.reason, "6 GiB asked, 5 GiB of room");
    assert_eq!(verdict.room, Some(5.0));
}
