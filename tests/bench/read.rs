//! Show and list.

use crate::{
    http::repeat,
    report::{Column, Report, per_second, thousands},
    scale::Scale,
    seed,
    service::Service,
};

pub async fn measure(report: &mut Report, column: Column, service: &Service, rows: usize, scale: &Scale, say: &impl Fn(&str)) {
    let (address, token) = (service.block(), service.token.as_str());
    let project = &service.project_id;
    let many = rows == scale.many;
    let mut paths = Vec::new();
    if many {
        paths.push(("GET one volume".to_owned(), format!("/v3/{project}/volumes/{}", seed::id(rows / 2))));
    }
    let detail = format!("/v3/{project}/volumes/detail?limit=100");
    let of = thousands(rows);
    paths.push((format!("GET detail?limit=100 of {of}, first page"), detail.clone()));
    // the newest come first: a tenth from the end is deep
    paths.push((format!("GET detail?limit=100 of {of}, deep page"), format!("{detail}&marker={}", seed::id(rows / 10))));
    for (name, path) in paths {
        for connections in [1, 8] {
            let name = format!("{name}, {connections} connection{}", if connections == 1 { "" } else { "s" });
            say(&name);
            let sample = repeat(&address, token, &path, connections, scale.read).await;
            report.rate(column, &name, sample.rate(), per_second(&sample));
        }
    }
}
