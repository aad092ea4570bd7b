//! The addresses of a configured subnet as numbers: positions, which count from the subnet's first address.
//!
//! Pure. Positions fit a `BIGINT` for IPv6, too: what lies further from the subnet's first address has none and is never given.

use std::net::{IpAddr, Ipv6Addr};

use ipnet::IpNet;

use crate::config::SubnetConfig;

/// How many addresses of an IPv6 subnet without ranges are used: more than anybody has servers.
const DEFAULT_IPV6: u128 = 1 << 32;

/// What may be given: disjoint intervals in order, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    base: IpAddr,
    ranges: Vec<(i64, i64)>,
}

impl Space {
    pub fn of(subnet: &SubnetConfig) -> Self {
        let mut space = Self { base: subnet.cidr.network(), ranges: Vec::new() };
        if subnet.ranges.is_empty() {
            space.ranges = default_ranges(&subnet.cidr);
        } else {
            let part = |r: &crate::config::AddressRange| Some((space.position(r.first)?, space.position(r.last)?));
            let mut ranges: Vec<(i64, i64)> = subnet.ranges.iter().filter_map(part).collect();
            ranges.sort_unstable();
            // those that touch are one
            for (first, last) in ranges {
                match space.ranges.last_mut() {
                    Some(before) if before.1.saturating_add(1) >= first => before.1 = before.1.max(last),
                    _ => space.ranges.push((first, last)),
                }
            }
        }
        if let Some(gateway) = subnet.gateway.and_then(|g| space.position(g)) {
            space.ranges = without(&space.ranges, &[gateway]);
        }
        space
    }

    /// Its text in the database.
    pub fn text(&self) -> String {
        let ranges: Vec<String> = self.ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        format!("{} {}", self.base, ranges.join(","))
    }

    /// From its text; none for another text, such as that of a pool which was never filled.
    pub fn parse(text: &str) -> Option<Self> {
        let (base, ranges) = text.split_once(' ')?;
        let range = |part: &str| part.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let ranges = ranges.split(',').filter(|part| !part.is_empty()).map(range).collect::<Option<Vec<_>>>()?;
        Some(Self { base: base.parse().ok()?, ranges })
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// None: not of this subnet's family, before it, or too far from its first address.
    pub fn position(&self, address: IpAddr) -> Option<i64> {
        let offset = match (address, self.base) {
            (IpAddr::V4(a), IpAddr::V4(base)) => u128::from(u32::from(a).checked_sub(u32::from(base))?),
            (IpAddr::V6(a), IpAddr::V6(base)) => u128::from(a).checked_sub(u128::from(base))?,
            _ => return None,
        };
        i64::try_from(offset).ok()
    }

    pub fn address(&self, position: i64) -> Option<IpAddr> {
        let offset = u128::try_from(position).ok()?;
        Some(match self.base {
            IpAddr::V4(base) => IpAddr::V4(u32::from(base).checked_add(u32::try_from(offset).ok()?)?.into()),
            IpAddr::V6(base) => IpAddr::V6(Ipv6Addr::from(u128::from(base).checked_add(offset)?)),
        })
    }

    /// Whether this address may be given.
    pub fn holds(&self, position: i64) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&position))
    }

    /// What is free when these addresses are not.
    pub fn free(&self, used: impl IntoIterator<Item = IpAddr>) -> Vec<(i64, i64)> {
        let mut used: Vec<i64> = used.into_iter().filter_map(|a| self.position(a)).collect();
        used.sort_unstable();
        without(&self.ranges, &used)
    }
}

/// All but the first address and, where it is everybody's (IPv4), the last; both are usable where there are only two.
fn default_ranges(cidr: &IpNet) -> Vec<(i64, i64)> {
    let bits = u32::from(cidr.max_prefix_len() - cidr.prefix_len());
    let (first, last) = match cidr {
        _ if bits <= 1 => (0, (1_u128 << bits) - 1),
        IpNet::V4(_) => (1, (1_u128 << bits) - 2),
        IpNet::V6(_) => (1, (1_u128 << bits.min(127)).min(DEFAULT_IPV6) - 1),
    };
    let end = |n: u128| i64::try_from(n).unwrap_or(i64::MAX);
    vec![(end(first), end(last))]
}

/// The ranges without some positions, which are in order.
fn without(ranges: &[(i64, i64)], taken: &[i64]) -> Vec<(i64, i64)> {
    let mut left = Vec::with_capacity(ranges.len());
    for &(first, last) in ranges {
        let mut at = first;
        let begin = taken.partition_point(|t| *t < first);
        for &t in taken[begin..].iter().take_while(|t| **t <= last) {
            if at < t {
                left.push((at, t - 1));
            }
            at = t + 1;
        }
        if at <= last {
            left.push((at, last));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn subnet(cidr: &str, gateway: Option<&str>, ranges: &[&str]) -> SubnetConfig {
        SubnetConfig {
            id: "s".into(),
            network_id: "n".into(),
            cidr: cidr.parse().unwrap(),
            gateway: gateway.map(|g| g.parse().unwrap()),
            ranges: ranges.iter().map(|r| r.parse().unwrap()).collect(),
            vlan: None,
            mtu: None,
        }
    }
    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn without_ranges_the_ends_and_the_gateway_are_left_out() {
        assert_eq!(Space::of(&subnet("10.0.0.0/24", Some("10.0.0.1"), &[])).ranges, [(2, 254)]);
        assert_eq!(Space::of(&subnet("10.0.0.0/24", Some("10.0.0.9"), &[])).ranges, [(1, 8), (10, 254)]);
        assert_eq!(Space::of(&subnet("10.0.0.0/31", None, &[])).ranges, [(0, 1)]);
        assert_eq!(Space::of(&subnet("10.0.0.7/32", None, &[])).ranges, [(0, 0)]);
        assert_eq!(Space::of(&subnet("0.0.0.0/0", None, &[])).ranges, [(1, (1 << 32) - 2)]);
        assert_eq!(Space::of(&subnet("fd00::/64", Some("fd00::1"), &[])).ranges, [(2, (1 << 32) - 1)]);
        assert_eq!(Space::of(&subnet("fd00::/126", None, &[])).ranges, [(1, 3)]);
        assert_eq!(Space::of(&subnet("::/0", None, &[])).ranges, [(1, (1 << 32) - 1)]);
    }

    #[test]
    fn ranges_are_put_in_order_and_lose_the_gateway() {
        let space = Space::of(&subnet("10.0.0.0/24", Some("10.0.0.100"), &["10.0.0.90-10.0.0.100", "10.0.0.10"]));
        assert_eq!(space.ranges, [(10, 10), (90, 99)]);
        assert_eq!(Space::of(&subnet("10.0.0.0/24", None, &["10.0.0.10-10.0.0.19", "10.0.0.20-10.0.0.29"])).ranges, [(10, 29)]);
        assert!(Space::of(&subnet("10.0.0.0/24", Some("10.0.0.5"), &["10.0.0.5"])).is_empty());
    }

    #[test]
    fn addresses_are_positions_and_back() {
        for (cidr, address, position) in [("10.0.0.0/8", "10.1.0.3", 65_539), ("fd00::/64", "fd00::1:0", 65_536)] {
            let space = Space::of(&subnet(cidr, None, &[]));
            assert_eq!(space.position(ip(address)), Some(position));
            assert_eq!(space.address(position), Some(ip(address)));
        }
    }

    #[test]
    fn what_is_not_in_the_subnet_has_no_position() {
        let v6 = Space::of(&subnet("fd00::/32", None, &[]));
        assert_eq!(v6.position(ip("fd00:0:ffff:ffff:ffff:ffff:ffff:ffff")), None, "too far");
        assert_eq!(v6.position(ip("fc00::1")), None, "before it");
        assert_eq!(v6.position(ip("10.0.0.1")), None, "of another family");
    }

    #[test]
    fn its_text_reads_back() {
        for space in [
            Space::of(&subnet("10.0.0.0/24", Some("10.0.0.9"), &[])),
            Space::of(&subnet("fd00::/64", None, &["fd00::5-fd00::9"])),
            Space { base: ip("10.0.0.0"), ranges: Vec::new() },
        ] {
            assert_eq!(Space::parse(&space.text()), Some(space));
        }
        assert_eq!(Space::parse(""), None);
    }

    proptest! {
        #[test]
        fn free_and_used_are_the_whole(used in proptest::collection::btree_set(0_u8..=255, 0..40)) {
            let space = Space::of(&subnet("10.0.0.0/24", None, &["10.0.0.10-10.0.0.99", "10.0.0.120-10.0.0.130"]));
            let free = space.free(used.iter().map(|n| IpAddr::from([10, 0, 0, *n])));
            for position in 0..256_i64 {
                let is_free = free.iter().any(|(a, b)| (*a..=*b).contains(&position));
                let taken = used.iter().any(|n| i64::from(*n) == position);
                prop_assert_eq!(is_free, space.holds(position) && !taken, "{}", position);
            }
            prop_assert!(free.windows(2).all(|w| w[0].1 + 1 < w[1].0), "disjoint, and no two touch: {:?}", free);
        }
    }
}
