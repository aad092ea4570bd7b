//! One pool: what the configuration says of it, and what is reported.

use stowage_driver_sdk::prelude::*;

use crate::options::property;

#[derive(Debug, Clone, PartialEq)]
pub struct PoolSpec {
    pub name: String,
    total: Capacity,
    thin: bool,
    available: bool,
    reserved: Option<u32>,
    over_subscription: Option<f64>,
    /// How much of what was promised in a thin pool counts as written, in percent.
    fill: f64,
    multiattach: Option<bool>,
    online_extend: Option<bool>,
    extra: Vec<Property>,
}

impl PoolSpec {
    /// `NAME:SIZE[:FLAG,...]`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| DriverError::invalid(format!("`pools`: `{text}`: {why}"));
        let mut parts = text.splitn(3, ':');
        let name = parts.next().unwrap_or_default();
        if name.is_empty() {
            return Err(bad("it has no name"));
        }
        let total = match parts.next() {
            Some("infinite") => Capacity::Infinite,
            Some("unknown") | None => Capacity::Unknown,
            Some(gib) => Capacity::Gib(gib.parse().ok().filter(|g| *g >= 0.0).ok_or_else(|| bad("its size is not a number of GiB"))?),
        };
        let mut pool = Self {
            name: name.to_owned(),
            total,
            thin: false,
            available: true,
            reserved: None,
            over_subscription: None,
            fill: 0.0,
            multiattach: None,
            online_extend: None,
            extra: Vec::new(),
        };
        for flag in parts.next().into_iter().flat_map(|flags| flags.split(',')).filter(|f| !f.is_empty()) {
            pool.set(flag).ok_or_else(|| bad(&format!("`{flag}` is not understood")))?;
        }
        Ok(pool)
    }

    fn set(&mut self, flag: &str) -> Option<()> {
        let yes = |text: &str| match text {
            "yes" | "true" => Some(true),
            "no" | "false" => Some(false),
            _ => None,
        };
        match flag.split_once('=') {
            None if flag == "thin" => self.thin = true,
            None if flag == "unavailable" => self.available = false,
            None => return None,
            Some(("reserved", n)) => self.reserved = Some(n.parse().ok()?),
            Some(("over_subscription", n)) => self.over_subscription = Some(n.parse().ok()?),
            Some(("fill", n)) => self.fill = n.parse().ok()?,
            Some(("multiattach", b)) => self.multiattach = Some(yes(b)?),
            Some(("online_extend", b)) => self.online_extend = Some(yes(b)?),
            Some(_) => self.extra.push(property(flag).ok()?),
        }
        Some(())
    }

    pub fn available(&self) -> bool {
        self.available
    }

    /// What the array itself refuses to go beyond. A thin pool is full when it is written full, not when it is promised away.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are whole, positive and far below 2^52 GiB")]
    pub fn limit_gib(&self) -> Option<u64> {
        match self.total {
            Capacity::Gib(total) if !self.thin => Some(total as u64),
            _ => None,
        }
    }

    /// With `used` GiB promised to objects.
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 GiB")]
    pub fn report(&self, used: u64) -> Pool {
        let promised = used as f64;
        let written = if self.thin { promised * self.fill / 100.0 } else { promised };
        let free = match self.total {
            Capacity::Gib(total) => Capacity::Gib((total - written).max(0.0)),
            other => other,
        };
        Pool {
            available: self.available,
            total: self.total,
            free,
            provisioned_gib: Some(promised),
            reserved_percentage: self.reserved,
            max_over_subscription_ratio: self.over_subscription,
            thin_provisioning: self.thin,
            thick_provisioning: !self.thin,
            multiattach: self.multiattach,
            online_extend: self.online_extend,
            extra: self.extra.clone(),
            ..Pool::new(&self.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_read_with_its_flags() {
        let pool = PoolSpec::parse("gold:100:thin,reserved=10,over_subscription=2.5,fill=50,multiattach=no,disk=ssd,dedup=true").unwrap();
        let report = pool.report(40);
        assert_eq!((report.total, report.free), (Capacity::Gib(100.0), Capacity::Gib(80.0)));
        assert_eq!((report.provisioned_gib, report.reserved_percentage), (Some(40.0), Some(10)));
        assert_eq!((report.thin_provisioning, report.max_over_subscription_ratio), (true, Some(2.5)));
        assert_eq!(report.multiattach, Some(false));
        assert_eq!(report.extra, [Property::new("disk", "ssd"), Property::new("dedup", true)]);
    }

    #[test]
    fn infinite_and_unknown_sizes_stay_so() {
        assert_eq!(PoolSpec::parse("a:infinite").unwrap().report(7).free, Capacity::Infinite);
        assert_eq!(PoolSpec::parse("a:unknown").unwrap().report(7).free, Capacity::Unknown);
        assert_eq!(PoolSpec::parse("a:infinite").unwrap().limit_gib(), None);
    }

    #[test]
    fn nonsense_is_refused_with_its_text() {
        for text in [":5", "a:many", "a:5:whatever", "a:5:reserved=lots"] {
            assert!(PoolSpec::parse(text).unwrap_err().message.contains(text), "{text}");
        }
    }
}
