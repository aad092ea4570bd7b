//! Show and list.

use support::many_shares;

use crate::{
    http::repeat,
    report::{Column, Report, per_second, thousands},
    scale::Scale,
    seed,
    service::Service,
};

/// Of so many volumes.
pub async fn volumes(report: &mut Report, column: Column, service: &Service, rows: usize, scale: &Scale, say: &impl Fn(&str)) {
    let project = &service.project_id;
    let mut paths = Vec::new();
    if rows == scale.many {
        paths.push(("GET one volume".to_owned(), format!("/v3/{project}/volumes/{}", seed::id(rows / 2))));
    }
    let detail = format!("/v3/{project}/volumes/detail?limit=100");
    let of = thousands(rows);
    paths.push((format!("GET detail?limit=100 of {of}, first page"), detail.clone()));
    // the newest come first: a tenth from the end is deep
    paths.push((format!("GET detail?limit=100 of {of}, deep page"), format!("{detail}&marker={}", seed::id(rows / 10))));
    measure(report, column, &service.block(), &service.token, paths, scale, say).await;
}

/// Of so many shares.
pub async fn shares(report: &mut Report, column: Column, service: &Service, rows: usize, scale: &Scale, say: &impl Fn(&str)) {
    let mut paths = Vec::new();
    let of = thousands(rows);
    if rows == scale.shares {
        paths.push(("GET one share".to_owned(), format!("/v2/shares/{}", many_shares::id(rows / 2))));
    }
    let deep = many_shares::id(rows / 10);
    paths.push((format!("GET detail?limit=100 of {of}, first page"), "/v2/shares/detail?limit=100".to_owned()));
    paths.push((format!("GET detail?limit=100 of {of}, deep page"), format!("/v2/shares/detail?limit=100&marker={deep}")));
    if rows == scale.shares {
        for (what, path) in [("detail", "shares/detail"), ("summary", "shares")] {
            for limit in [10, 100, 1000] {
                if (what, limit) != ("detail", 100) {
                    paths.push((format!("GET {what}?limit={limit} of {of}, first page"), format!("/v2/{path}?limit={limit}")));
                }
            }
        }
    }
    measure(report, column, &service.share(), &service.token, paths, scale, say).await;
}

async fn measure(
    report: &mut Report,
    column: Column,
    address: &str,
    token: &str,
    paths: Vec<(String, String)>,
    scale: &Scale,
    say: &impl Fn(&str),
) {
    for (name, path) in paths {
        for connections in [1, 8] {
            let name = format!("{name}, {connections} connection{}", if connections == 1 { "" } else { "s" });
            say(&name);
            let sample = repeat(address, token, &path, connections, scale.read).await;
            report.rate(column, &name, sample.rate(), per_second(&sample));
        }
    }
}
