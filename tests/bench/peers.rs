//! The released service on the same kind of machine: Cinder 29.0.0 with MariaDB and RabbitMQ, two cores, client and all
//! services on them.

/// Operations a second, by the row's name.
pub fn rate(name: &str) -> Option<f64> {
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

/// What the peers show where there is no rate.
pub fn other(name: &str) -> Option<&'static str> {
    Some(match name {
        "start, empty database" => "7.1 s until all services are up",
        "memory at idle (RSS)" => "1.13 GiB (API, scheduler, volume, backup)",
        _ => return None,
    })
}
