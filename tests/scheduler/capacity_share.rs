//! Room in a share pool, row by row as the released service answers. Total and free are 100 GiB, nothing is provisioned.

use stowage::scheduler::capacity::{
    Capacity::{self, Gib, Infinite, Unknown},
    Figures, Ratio,
    share::{Ask, check, weight},
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

macro_rules! vector {
    ($($name:ident: $pool:expr, $gib:literal, $passes:ident;)*) => {
        $(
            #[test]
            fn $name() {
                let verdict = check(&$pool, Ask { gib: $gib, thin: true });
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
    thick_ignores_what_is_provisioned: provisioned(free(thick(), 50.0), 80.0), 50, yes;
    thin_takes_its_ratio: thin(2.0), 200, yes;
    thin_takes_no_more_than_its_ratio: thin(2.0), 201, no;
    thin_minds_real_free_space: free(thin(2.0), 0.0), 1, no;
    thin_multiplies_real_free_space: free(thin(2.0), 50.0), 100, yes;
    thin_over_subscription_binds: provisioned(free(thin(2.0), 50.0), 50.0), 101, no;
    thin_reserve_comes_off_before_the_ratio_180: reserved(thin(2.0), 10), 180, yes;
    thin_reserve_comes_off_before_the_ratio_181: reserved(thin(2.0), 10), 181, no;
    thin_reserve_and_provisioned: provisioned(reserved(thin(2.0), 10), 20.0), 180, yes;
    a_ratio_below_one_takes_nothing: thin(0.5), 1, no;
    unknown_free_passes: Figures { free: Some(Unknown), ..thick() }, 1000000, yes;
    unknown_total_takes_what_is_free: total(free(thick(), 10.0), Unknown), 10, yes;
    unknown_total_takes_no_more_than_is_free: total(free(thick(), 10.0), Unknown), 11, no;
    unknown_total_with_a_reserve_takes_nothing: reserved(total(thick(), Unknown), 1), 1, no;
    infinite_free_is_no_capacity: Figures { free: Some(Infinite), ..thick() }, 1, no;
    infinite_total_is_no_capacity: total(thick(), Infinite), 1, no;
    no_total_takes_nothing: total(thick(), Gib(0.0)), 1, no;
    missing_free_takes_nothing: Figures { free: None, ..thick() }, 1, no;
    null_provisioned_on_thin_takes_nothing: Figures { provisioned: None, ..thin(2.0) }, 1, no;
}

#[test]
fn a_type_that_rules_thin_out_takes_what_is_really_free() {
    let verdict = |gib| check(&thin(2.0), Ask { gib, thin: false }).fits;
    assert!(verdict(100));
    assert!(!verdict(101));
}

#[test]
fn the_weight_of_a_thin_pool_is_what_it_may_still_promise() {
    assert_eq!(weight(&provisioned(reserved(thin(2.0), 10), 20.0), true), Some(170.0));
    assert_eq!(weight(&thin(2.0), false), Some(100.0));
    assert_eq!(weight(&Figures { free: Some(Unknown), ..thick() }, true), None);
}
