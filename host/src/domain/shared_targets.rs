//! Whether consumers must lock around attach and detach, from what the driver says.

/// What a driver says about its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Yes,
    No,
    Unknown,
}

/// The value a volume carries: false only when the driver says no; none for any spelling of NVMe-oF; else true, the safe answer.
pub fn stored(report: Report, protocol: &str) -> Option<bool> {
    match report {
        Report::No => Some(false),
        Report::Yes | Report::Unknown => (!is_nvme(protocol)).then_some(true),
    }
}

/// Every spelling of NVMe over fabrics that drivers use.
pub fn is_nvme(protocol: &str) -> bool {
    protocol.to_ascii_lowercase().replace(['-', '_', ' '], "").starts_with("nvme")
}

/// What is shown: below 3.69 the wire has no null and a stored none reads as true.
pub fn shown(stored: Option<bool>, microversion: u16) -> Option<bool> {
    if microversion < 69 { Some(stored.unwrap_or(true)) } else { stored }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_no_is_false_and_nvme_is_none() {
        assert_eq!(stored(Report::No, "iSCSI"), Some(false));
        assert_eq!(stored(Report::No, "NVMe-oF"), Some(false));
        assert_eq!(stored(Report::Yes, "iSCSI"), Some(true));
        assert_eq!(stored(Report::Unknown, "ceph"), Some(true));
        for nvme in ["NVMe-oF", "nvmeof", "NVMeOF", "nvme_of", "NVMe-TCP"] {
            assert_eq!(stored(Report::Unknown, nvme), None, "{nvme}");
            assert_eq!(stored(Report::Yes, nvme), None, "{nvme}");
        }
    }

    #[test]
    fn below_3_69_none_reads_as_true() {
        assert_eq!(shown(None, 48), Some(true));
        assert_eq!(shown(None, 68), Some(true));
        assert_eq!(shown(None, 69), None);
        assert_eq!(shown(Some(false), 48), Some(false));
    }
}
