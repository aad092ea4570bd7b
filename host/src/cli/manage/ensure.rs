//! `stowage manage ensure HOST@BACKEND`: asks the running service, as a client does, with the credentials of clouds.yaml or
//! of the `OS_` variables. With `--wait` it shows how far the run is, and its exit status says whether every share was well.

use std::{
    io::{IsTerminal, Write},
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};
use stowage::config::Config;

use super::{
    line,
    service::{Login, Session},
};

/// The version that has the operation.
const VERSION: &str = "2.86";
const LOOK: Duration = Duration::from_millis(500);
const BAR: usize = 30;

#[derive(Args)]
pub struct Ensure {
    /// The back end as `GET /services` names it.
    #[arg(value_name = "HOST@BACKEND")]
    host: String,
    /// Show the progress until it has ended. Exit status 1 unless every share was well.
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    login: Login,
}

pub async fn ensure(config: &Config, ask: &Ensure) -> Result<bool> {
    let session = Session::open(config, &ask.login).await?;
    let share = session.endpoint(&["shared-file-system", "sharev2"]).context("the catalog has no share service")?;
    let before = progress(&session, &ask.host).await?;
    begin(&session, &share, &ask.host).await?;
    if !ask.wait {
        line(format_args!("the shares of {} are being ensured", ask.host));
        return Ok(true);
    }
    let run = follow(&session, &ask.host, before["run_id"].as_str()).await?;
    line(format_args!("{}", summary(&run)));
    for share in run["shares"].as_array().into_iter().flatten() {
        line(format_args!("{} {} {}", text(&share["share_id"]), text(&share["state"]), text(&share["reason"])));
    }
    let well = ["failed", "left_out", "broken", "skipped"].iter().all(|key| run[*key] == 0);
    Ok(run["state"] == "done" && well)
}

async fn begin(session: &Session, share: &str, host: &str) -> Result<()> {
    let body = json!({ "ensure_shares": { "host": host } }).to_string();
    let request = session.post(&format!("{share}/services/ensure-shares")).header("x-openstack-manila-api-version", VERSION);
    session.ask(request.header("content-type", "application/json").body(body)).await.map(drop)
}

/// Null: there was none.
async fn progress(session: &Session, host: &str) -> Result<Value> {
    let said = session.ask(session.admin(Method::GET, &format!("/backends/{host}/ensure"))).await?;
    Ok(serde_json::from_str::<Value>(&said)?["ensure"].take())
}

/// Shows the run until it, and the one that follows it if one does, has ended.
async fn follow(session: &Session, host: &str, before: Option<&str>) -> Result<Value> {
    let bar = std::io::stdout().is_terminal();
    loop {
        let run = progress(session, host).await?;
        let is_ours = run["state"] == "running" || run["run_id"].as_str() != before;
        if bar && is_ours {
            let mut out = std::io::stdout().lock();
            let _ = write!(out, "\r{} ", drawn(&run));
            let _ = out.flush();
        }
        if is_ours && run["state"] != "running" && run["repeats"] != true {
            if bar {
                line(format_args!(""));
            }
            return Ok(run);
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn drawn(run: &Value) -> String {
    let (done, total) = (run["done"].as_i64().unwrap_or(0), run["total"].as_i64().unwrap_or(0));
    let share = if total > 0 { done.clamp(0, total) as f64 / total as f64 } else { 1.0 };
    let full = (share * BAR as f64) as usize;
    let rate = run["rate"].as_f64().unwrap_or(0.0);
    let bad = ["failed", "left_out", "broken", "skipped"].iter().filter_map(|k| run[*k].as_i64()).sum::<i64>();
    format!("[{}{}] {done}/{total}, {bad} not well, {rate:.0} a second", "#".repeat(full), ".".repeat(BAR.saturating_sub(full)))
}

fn summary(run: &Value) -> String {
    let of = |key: &str| run[key].as_i64().unwrap_or(0);
    format!(
        "{}: {} of {} shares: {} unchanged, {} updated, {} broken, {} failed, {} left out, {} skipped",
        text(&run["state"]),
        of("done"),
        of("total"),
        of("unchanged"),
        of("updated"),
        of("broken"),
        of("failed"),
        of("left_out"),
        of("skipped")
    )
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
