//! `stowage manage ensure HOST@BACKEND`: asks the running service, as a client does, with the credentials of clouds.yaml or
//! of the `OS_` variables. With `--wait` it shows how far the run is, and its exit status says whether every share was well.

use std::{
    io::{IsTerminal, Write},
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};
use stowage::{app::PublicUrls, config::Config, serve::Addresses};

use super::line;

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

/// Without them: clouds.yaml in the state folder.
#[derive(Args)]
struct Login {
    #[arg(long, env = "OS_AUTH_URL", value_name = "URL")]
    os_auth_url: Option<String>,
    #[arg(long, env = "OS_USERNAME", value_name = "NAME")]
    os_username: Option<String>,
    /// Only from the environment: a command line is seen by everybody.
    #[arg(skip)]
    os_password: Option<String>,
    #[arg(long, env = "OS_PROJECT_NAME", value_name = "NAME")]
    os_project_name: Option<String>,
}

pub async fn ensure(config: &Config, ask: &Ensure) -> Result<bool> {
    let session = Session::open(config, &ask.login).await?;
    let before = session.progress(&ask.host).await?;
    session.begin(&ask.host).await?;
    if !ask.wait {
        line(format_args!("the shares of {} are being ensured", ask.host));
        return Ok(true);
    }
    let run = session.follow(&ask.host, before["run_id"].as_str()).await?;
    line(format_args!("{}", summary(&run)));
    for share in run["shares"].as_array().into_iter().flatten() {
        line(format_args!("{} {} {}", text(&share["share_id"]), text(&share["state"]), text(&share["reason"])));
    }
    let well = ["failed", "left_out", "broken", "skipped"].iter().all(|key| run[*key] == 0);
    Ok(run["state"] == "done" && well)
}

/// What is needed to ask.
struct Session {
    http: reqwest::Client,
    token: String,
    share: String,
    admin: String,
}

impl Session {
    async fn open(config: &Config, login: &Login) -> Result<Self> {
        let clouds = std::fs::read_to_string(config.clouds_yaml()).unwrap_or_default();
        let given = |value: &Option<String>, key: &str| {
            let found = value.clone().or_else(|| in_clouds(&clouds, key));
            found.with_context(|| format!("{key} is not known: {} does not say, nor does the environment", shown(&config.clouds_yaml())))
        };
        let password = login.os_password.clone().or_else(|| std::env::var("OS_PASSWORD").ok());
        let (url, project) = (given(&login.os_auth_url, "auth_url")?, given(&login.os_project_name, "project_name")?);
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": { "user": {
                "name": given(&login.os_username, "username")?, "domain": { "name": "Default" }, "password": given(&password, "password")?,
            }}},
            "scope": { "project": { "name": project, "domain": { "name": "Default" } } },
        }});
        let http = reqwest::Client::builder().build()?;
        let url = format!("{}/auth/tokens", url.trim_end_matches('/'));
        let answer = http.post(&url).header("content-type", "application/json").body(body.to_string()).send().await?;
        if !answer.status().is_success() {
            bail!("{url} answers {}", answer.status());
        }
        let token = answer.headers().get("x-subject-token").and_then(|t| t.to_str().ok()).map(str::to_owned);
        let said: Value = serde_json::from_str(&answer.text().await?)?;
        Ok(Self {
            token: token.context("identity gave no token")?,
            share: share_url(&said).context("the catalog has no share service")?,
            admin: admin_url(config).context("the address of the admin API is not known here: set public_url.admin")?,
            http,
        })
    }

    async fn begin(&self, host: &str) -> Result<()> {
        let url = format!("{}/services/ensure-shares", self.share);
        let body = json!({ "ensure_shares": { "host": host } }).to_string();
        let asked = self.http.post(&url).header("x-auth-token", &self.token).header("x-openstack-manila-api-version", VERSION);
        let answer = asked.header("content-type", "application/json").body(body).send().await?;
        let status = answer.status();
        if status.is_success() { Ok(()) } else { Err(refusal(status.as_u16(), &answer.text().await?)) }
    }

    /// Null: there was none.
    async fn progress(&self, host: &str) -> Result<Value> {
        let url = format!("{}/stowage/v1/backends/{host}/ensure", self.admin);
        let answer = self.http.get(&url).header("x-auth-token", &self.token).send().await?;
        let (status, said) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            return Err(refusal(status.as_u16(), &said));
        }
        Ok(serde_json::from_str::<Value>(&said)?["ensure"].clone())
    }

    /// Shows the run until it, and the one that follows it if one does, has ended.
    async fn follow(&self, host: &str, before: Option<&str>) -> Result<Value> {
        let bar = std::io::stdout().is_terminal();
        loop {
            let run = self.progress(host).await?;
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
}

/// A member of our own clouds.yaml: one line a member.
fn in_clouds(clouds: &str, key: &str) -> Option<String> {
    let value = clouds.lines().find_map(|l| l.trim().strip_prefix(key)?.strip_prefix(':'))?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn share_url(token: &Value) -> Option<String> {
    let catalog = token["token"]["catalog"].as_array()?;
    let service = catalog.iter().find(|s| s["type"] == "shared-file-system" || s["type"] == "sharev2")?;
    let endpoints = service["endpoints"].as_array()?;
    let public = endpoints.iter().find(|e| e["interface"] == "public")?;
    Some(public["url"].as_str()?.trim_end_matches('/').to_owned())
}

/// A port that the kernel chooses is known to the running service alone.
fn admin_url(config: &Config) -> Option<String> {
    let configured = PublicUrls::new(&config.public_url, &Addresses::default()).admin;
    if !configured.is_empty() {
        return Some(configured);
    }
    config.listen.admin.0.filter(|address| address.port() != 0).map(|address| format!("http://{address}"))
}

fn refusal(status: u16, body: &str) -> anyhow::Error {
    let said: Value = serde_json::from_str(body).unwrap_or_default();
    let sentence = said.as_object().and_then(|o| o.values().next()).and_then(|f| f["message"].as_str()).unwrap_or("no reason given");
    anyhow!("{sentence} ({status})")
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

fn shown(path: &Path) -> String {
    path.display().to_string()
}
