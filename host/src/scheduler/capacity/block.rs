//! Block volumes. Thick: the lesser of what is really free and what is not yet provisioned. Thin: total x ratio less what
//! is provisioned; real free space plays no part.

use super::{Capacity, Figures, Ratio, Verdict, float, round2};

/// What is asked of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// New size, or the growth; 0 for taking over what exists.
    pub gib: i64,
    /// The type's `provisioning:type` is `thick`.
    pub thick: bool,
    /// The volume lies on this pool already.
    pub lives_here: bool,
}

/// Whether the pool can take `ask`.
pub fn check(pool: &Figures, ask: Ask) -> Verdict {
    let requested = float(ask.gib);
    if ask.lives_here {
        return Verdict::yes(None, "the volume lies on this pool");
    }
    if ask.gib == 0 {
        return Verdict::yes(None, "nothing is asked");
    }
    let Some(free) = pool.free else { return Verdict::no(None, "the pool reports no free capacity") };
    if free.gib().is_none() {
        return Verdict::yes(None, format!("free capacity is {free}"));
    }
    let Some(total) = pool.total.gib() else {
        return if pool.reserved == 0 {
            Verdict::yes(None, format!("total capacity is {}", pool.total))
        } else {
            Verdict::no(None, format!("{}% of a capacity that is {} cannot be kept in reserve", pool.reserved, pool.total))
        };
    };
    if total <= 0.0 {
        return Verdict::no(None, format!("total capacity is {total} GiB"));
    }
    let Some(provisioned) = pool.provisioned else { return Verdict::no(None, "the pool reports its provisioned capacity as null") };
    let thin = pool.thin && !ask.thick;
    let room = room(pool, thin).unwrap_or(0.0);
    if thin {
        let ratio = ratio(pool);
        if ratio < 1.0 {
            return Verdict::no(Some(room), format!("the over-subscription ratio {ratio} is below 1"));
        }
        let capacity = (total - reserve(total, pool.reserved)) * ratio;
        if capacity <= 0.0 {
            return Verdict::no(Some(room), format!("all of the {total} GiB are kept in reserve"));
        }
        if (provisioned + requested) / capacity > ratio {
            return Verdict::no(
                Some(room),
                format!("{provisioned} GiB provisioned and {requested} asked exceed the ratio {ratio} over {capacity} GiB"),
            );
        }
    }
    if room >= requested {
        Verdict::yes(Some(room), format!("{room} GiB of room"))
    } else {
        Verdict::no(Some(room), format!("{requested} GiB asked, {room} GiB of room"))
    }
}

/// GiB that could still be given: what the capacity weigher compares. None where it is not a number.
pub fn room(pool: &Figures, thin: bool) -> Option<f64> {
    let (total, free, provisioned) = (pool.total.gib()?, pool.free.and_then(Capacity::gib)?, pool.provisioned?);
    let usable = total - reserve(total, pool.reserved);
    let room = if thin && pool.thin { usable * ratio(pool) - provisioned } else { free.min(usable - provisioned) };
    Some(round2(room))
}

/// The ratio in force. `auto` follows what is provisioned now.
pub fn ratio(pool: &Figures) -> f64 {
    match pool.ratio {
        _ if !pool.thin => 1.0,
        Ratio::Fixed(r) => r,
        Ratio::Auto => match (pool.total.gib(), pool.free.and_then(Capacity::gib), pool.provisioned) {
            (Some(total), Some(free), Some(provisioned)) if provisioned > 0.0 => 1.0 + provisioned / ((total - free) + 1.0),
            (Some(_), Some(_), _) => 20.0,
            _ => 1.0,
        },
    }
}

fn reserve(total: f64, percent: i64) -> f64 {
    (total * float(percent) / 100.0).floor()
}
