//! The released services on the same kind of machine: Cinder 29.0.0 and Manila 23.0.1 with MariaDB and RabbitMQ, two cores,
//! client and all services on them.

use crate::report::Section;

pub fn introduction(section: Section) -> &'static str {
    match section {
        Section::Volumes => {
            "## Volumes\n\nThe peers' column is Cinder 29.0.0 (MariaDB, RabbitMQ, two cores, client and services on them; its long list had \
             10,000 volumes)."
        }
        Section::Shares => {
            "## Shares\n\nThe peers' column is Manila 23.0.1 on the same machine (its long list had 10,000 shares; 0.05 s of each of its \
             driver calls are the dummy driver's)."
        }
    }
}

/// Operations a second, by the row's name.
pub fn rate(section: Section, name: &str) -> Option<f64> {
    match section {
        Section::Volumes => cinder(name),
        Section::Shares => manila(name),
    }
}

fn cinder(name: &str) -> Option<f64> {
    Some(match name {
        "GET one volume, 1 connection" => 49.5,
        "GET one volume, 8 connections" => 102.0,
        "GET detail?limit=100 of 1,000, first page, 1 connection" => 10.5,
        "GET detail?limit=100 of 1,000, first page, 8 connections" => 17.7,
        // measured with 10,000
        "GET detail?limit=100 of 100,000, first page, 1 connection" => 8.2,
        "GET detail?limit=100 of 100,000, first page, 8 connections" => 15.2,
        "create until available, 1 at once" => 1.0 / 0.32,
        "create until available, 16 at once" => 3.2,
        "attachment create + update + complete + delete, 1 at once" => 4.1,
        "attachment create + update + complete + delete, 8 at once" => 7.0,
        _ => return None,
    })
}

fn manila(name: &str) -> Option<f64> {
    Some(match name {
        "GET one share, 1 connection" => 62.1,
        "GET one share, 8 connections" => 136.0,
        "GET detail?limit=100 of 1,000, first page, 1 connection" => 7.7,
        "GET detail?limit=100 of 1,000, first page, 8 connections" => 14.7,
        // measured with 10,000
        "GET detail?limit=100 of 50,000, first page, 1 connection" => 5.2,
        "GET detail?limit=100 of 50,000, first page, 8 connections" => 6.0,
        "create until available, 1 at once" => 1.0 / 0.46,
        "create until available, 16 at once" => 4.6,
        "access rule: allow until active, deny until gone, 1 at once" => 1.0 / 1.27,
        "access rule: allow until active, deny until gone, 8 at once" => 1.44,
        _ => return None,
    })
}

/// What the peers show where there is no rate.
pub fn other(section: Section, name: &str) -> Option<&'static str> {
    Some(match (section, name) {
        (Section::Volumes, "start, empty database") => "7.1 s until all services are up (Manila: 9.8 s)",
        (Section::Volumes, "memory at idle (RSS)") => "1.13 GiB (API, scheduler, volume, backup; Manila: 1.33 GiB)",
        (Section::Shares, "access rule: allow until active, 1 at once") => "p50 590 ms",
        _ => return None,
    })
}
