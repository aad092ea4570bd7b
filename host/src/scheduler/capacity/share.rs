//! Shares. Real free space always counts; the reserve comes off before the ratio is applied; thick pools ignore what is
//! provisioned. `infinite` is no capacity here.

use super::{Capacity, Figures, Ratio, Verdict, float};

/// What is asked of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// New size, or the growth.
    pub gib: i64,
    /// The type does not rule thin provisioning out.
    pub thin: bool,
}

/// Whether the pool can take `ask`.
pub fn check(pool: &Figures, ask: Ask) -> Verdict {
    let requested = float(ask.gib);
    let free = match pool.free {
        None => return Verdict::no(None, "the pool reports no free capacity"),
        Some(Capacity::Unknown) => return Verdict::yes(None, "free capacity is unknown"),
        Some(Capacity::Infinite) => return Verdict::no(None, "free capacity is infinite, which a share pool must not report"),
        Some(Capacity::Gib(free)) => free,
    };
    let total = match pool.total {
        Capacity::Infinite => return Verdict::no(None, "total capacity is infinite, which a share pool must not report"),
        Capacity::Unknown if pool.reserved != 0 => {
            return Verdict::no(None, format!("{}% of an unknown capacity cannot be kept in reserve", pool.reserved));
        }
        Capacity::Unknown if requested <= free => return Verdict::yes(Some(free), format!("{free} GiB free of an unknown total")),
        Capacity::Unknown => return Verdict::no(Some(free), format!("{requested} GiB asked, {free} GiB free of an unknown total")),
        Capacity::Gib(total) if total <= 0.0 => return Verdict::no(None, format!("total capacity is {total} GiB")),
        Capacity::Gib(total) => total,
    };
    let usable = usable(free, total, pool.reserved);
    let thin = ask.thin && pool.thin;
    let room = if thin { usable * ratio(pool) } else { usable };
    if thin {
        let ratio = ratio(pool);
        if ratio < 1.0 {
            return Verdict::no(Some(room), format!("the over-subscription ratio {ratio} is below 1"));
        }
        let Some(provisioned) = pool.provisioned else {
            return Verdict::no(Some(room), "the pool reports its provisioned capacity as null");
        };
        if (provisioned + requested) / total > ratio {
            return Verdict::no(
                Some(room),
                format!("{provisioned} GiB provisioned and {requested} asked exceed the ratio {ratio} over {total} GiB"),
            );
        }
    }
    if room >= requested {
        Verdict::yes(Some(room), format!("{room} GiB of room"))
    } else {
        Verdict::no(Some(room), format!("{requested} GiB asked, {room} GiB of room"))
    }
}

/// What the capacity weigher compares. None where it is not a number.
pub fn weight(pool: &Figures, thin: bool) -> Option<f64> {
    let (total, free) = (pool.total.gib()?, pool.free.and_then(Capacity::gib)?);
    if thin && pool.thin {
        return Some((total * ratio(pool) - pool.provisioned.unwrap_or(0.0) - total * float(pool.reserved) / 100.0).floor());
    }
    Some(usable(free, total, pool.reserved))
}

fn usable(free: f64, total: f64, reserved: i64) -> f64 {
    (free - total * float(reserved) / 100.0).floor()
}

/// The ratio in force; there is no `auto` here.
fn ratio(pool: &Figures) -> f64 {
    match pool.ratio {
        Ratio::Fixed(r) => r,
        Ratio::Auto => 20.0,
    }
}
