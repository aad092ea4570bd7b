//! Whether somebody answers where events are posted. No event is told.

use stowage::{config::Config, error::chain, notify::webhook::Sender};

use super::Report;

pub async fn check(report: &mut Report, config: &Config) {
    let webhook = &config.notify.webhook;
    if !webhook.is_on() {
        return report.note("webhook", "off: events go to the log alone");
    }
    let sender = match Sender::new(webhook, &config.host) {
        Ok(sender) => sender,
        Err(e) => return report.wrong("webhook", chain(&e), "correct notify.webhook.ca_file"),
    };
    // the rest of the URL may hold what only the receiver should know
    let shown = webhook.url.split('?').next().unwrap_or_default();
    match sender.knock().await {
        Ok(_) => report.ok("webhook", format_args!("{shown} answers")),
        Err(e) => {
            report.wrong("webhook", format_args!("{shown}: {e}"), "correct notify.webhook.url, or start the receiver; events wait for it")
        }
    }
    if webhook.url.starts_with("http:") && !is_loopback(&webhook.url) {
        report.note("webhook", "events travel in the clear: use https");
    }
}

fn is_loopback(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|u| match u.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    })
}
