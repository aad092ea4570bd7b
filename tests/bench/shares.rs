//! The share side: create, access rules, show and lists of few and many, and the ensuring of many.

use support::many_shares;

use crate::{
    access,
    create::{self, What},
    ensure, read,
    report::{Column, Report},
    scale::Scale,
    service::Service,
};

pub async fn measure(report: &mut Report, column: Column, service: &Service, scale: &Scale, say: &impl Fn(&str)) {
    let made = create::measure(report, column, service, What::Share, scale, say).await;
    access::measure(report, column, service, &made, scale, say).await;
    let mut have = 0;
    for rows in [1_000, scale.shares] {
        say(&format!("seed up to {rows} shares"));
        many_shares::copies(&service.config().database_url(), &made[0], have + 1, rows).await;
        have = rows;
        read::shares(report, column, service, rows, scale, say).await;
    }
    ensure::measure(report, column, service, scale, say).await;
}
