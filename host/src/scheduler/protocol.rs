//! The spellings of storage protocols: a type that asks for one matches a driver that reports another.

const SPELLINGS: [&[&str]; 4] = [&["iSCSI", "iscsi"], &["FC", "fibre_channel", "fc"], &["NFS", "nfs"], &["NVMe-oF", "NVMeOF", "nvmeof"]];

/// Every spelling of `protocol`, the one reported first.
pub fn spellings(protocol: &str) -> Vec<&str> {
    match SPELLINGS.iter().find(|group| group.contains(&protocol)) {
        Some(group) => std::iter::once(protocol).chain(group.iter().copied().filter(|p| *p != protocol)).collect(),
        None => vec![protocol],
    }
}
