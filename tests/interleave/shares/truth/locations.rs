//! Where shares and snapshots are said to be mounted is where they are exported: on their array's own address, or on those of
//! their server.

use std::collections::BTreeSet;

use super::{Scene, field};
/// As the driver's option says when nobody does.
const OWN: &str = "192.0.2.10";
/// Shares in these states were whole once, and nothing took them from their place.
const WHOLE: &[&str] = &["available", "extending_error", "shrinking_error", "reverting_error"];

/// A path, and whether only administrators see it.
type Path = (String, bool);

impl Scene {
    pub(super) fn locations_are_true(&self, broken: &mut Vec<String>) {
        for s in self.rows.shares.iter().filter(|s| WHOLE.contains(&s.status.as_str())) {
            let what = format!("share {}", s.id);
            let Some(preferred) = self.compare(&what, "shares", &s.instance, &s.id, broken) else { continue };
            if preferred.len() != 1 {
                broken.push(format!("[wrong-locations] {what} has the preferred locations {preferred:?}, not one"));
            }
        }
        for s in self.rows.snapshots.iter().filter(|s| s.status == "available") {
            self.compare(&format!("snapshot {}", s.id), "snapshots", &s.instance, &s.share, broken);
        }
    }

    /// What is exported and what the rows say; the locations preferred.
    fn compare(&self, what: &str, folder: &str, instance: &str, share: &str, broken: &mut Vec<String>) -> Option<Vec<String>> {
        let share = self.rows.share(share)?;
        let rows = self.rows.locations.iter().filter(|l| l.of == instance);
        let said: BTreeSet<Path> = rows.clone().map(|l| (l.path.clone(), l.admin_only)).collect();
        let server = share.server.as_deref().and_then(|id| self.rows.server(id));
        let exported = self.exported(share.place()?, share.server.as_deref(), &share.protocol, folder, instance)?;
        // a server that failed to be given a subnet may have been given it; its owner sees that it failed
        let failed = server.is_some_and(|s| s.status == "error") && said.is_subset(&exported);
        if said != exported && !failed {
            broken.push(format!("[wrong-locations] {what} is said to be at {said:?}, and is at {exported:?}; server {:?}", share.server));
        }
        Some(rows.filter(|l| l.preferred).map(|l| l.path.clone()).collect())
    }

    /// None: the array has no such server, which is said elsewhere.
    fn exported(&self, array: usize, server: Option<&str>, protocol: &str, folder: &str, instance: &str) -> Option<BTreeSet<Path>> {
        let (users, admin): (Vec<String>, Vec<String>) = match server {
            None => (vec![OWN.to_owned()], Vec::new()),
            Some(id) => {
                let object = self.held(array, "servers").get(id)?;
                let subnets: Vec<(String, Vec<String>)> = field(object, "subnets");
                (subnets.into_iter().flat_map(|(_, addresses)| addresses).collect(), field(object, "admin"))
            }
        };
        let path = |address: &String| match protocol {
            "CIFS" => format!("\\\\{address}\\{instance}"),
            _ if address.contains(':') => format!("[{address}]:/{folder}/{instance}"),
            _ => format!("{address}:/{folder}/{instance}"),
        };
        Some(users.iter().map(|a| (path(a), false)).chain(admin.iter().map(|a| (path(a), true))).collect())
    }
}
