//! Asking the running service, as a client does: with the credentials of clouds.yaml or of the `OS_` variables.

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use stowage::{app::PublicUrls, config::Config, serve::Addresses};

/// Without them: clouds.yaml in the state folder. The password only comes from the environment: everybody sees a command line.
#[derive(Args)]
pub struct Login {
    #[arg(long, env = "OS_AUTH_URL", value_name = "URL")]
    os_auth_url: Option<String>,
    #[arg(long, env = "OS_USERNAME", value_name = "NAME")]
    os_username: Option<String>,
    #[arg(long, env = "OS_PROJECT_NAME", value_name = "NAME")]
    os_project_name: Option<String>,
}

/// A running service, and a token for it.
pub struct Session {
    http: reqwest::Client,
    token: String,
    /// What the token's catalog says is where.
    catalog: Value,
    admin: String,
}

impl Session {
    pub async fn open(config: &Config, login: &Login) -> Result<Self> {
        let file = config.clouds_yaml();
        let clouds = std::fs::read_to_string(&file).unwrap_or_default();
        let known = |given: Option<String>, key: &str| {
            let found = given.or_else(|| in_clouds(&clouds, key));
            found.with_context(|| format!("{key} is not known: {} does not say, nor does the environment", file.display()))
        };
        let password = known(std::env::var("OS_PASSWORD").ok(), "password")?;
        let user = json!({ "name": known(login.os_username.clone(), "username")?, "domain": { "name": "Default" }, "password": password });
        let project = json!({ "name": known(login.os_project_name.clone(), "project_name")?, "domain": { "name": "Default" } });
        let identity = json!({ "methods": ["password"], "password": { "user": user } });
        let body = json!({ "auth": { "identity": identity, "scope": { "project": project } } }).to_string();
        let url = format!("{}/auth/tokens", known(login.os_auth_url.clone(), "auth_url")?.trim_end_matches('/'));
        let http = reqwest::Client::builder().build()?;
        let answer = http.post(&url).header("content-type", "application/json").body(body).send().await?;
        if !answer.status().is_success() {
            bail!("{url} answers {}", answer.status());
        }
        let token = answer.headers().get("x-subject-token").and_then(|t| t.to_str().ok()).map(str::to_owned);
        let mut said: Value = serde_json::from_str(&answer.text().await?)?;
        Ok(Self {
            token: token.context("identity gave no token")?,
            catalog: said["token"]["catalog"].take(),
            admin: admin_url(config).context("the address of the admin API is not known here: set public_url.admin")?,
            http,
        })
    }

    /// The public address of the first service of these types.
    pub fn endpoint(&self, types: &[&str]) -> Option<String> {
        let service = self.catalog.as_array()?.iter().find(|s| s["type"].as_str().is_some_and(|t| types.contains(&t)))?;
        let public = service["endpoints"].as_array()?.iter().find(|e| e["interface"] == "public")?;
        Some(public["url"].as_str()?.trim_end_matches('/').to_owned())
    }

    /// A request to the admin API.
    pub fn admin(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}/stowage/v1{path}", self.admin))
    }

    /// A request to any of its APIs.
    pub fn post(&self, url: &str) -> RequestBuilder {
        self.http.post(url)
    }

    /// Sends it with the token; the body of the answer.
    ///
    /// # Errors
    /// The sentence of a fault.
    pub async fn ask(&self, request: RequestBuilder) -> Result<String> {
        let answer = request.header("x-auth-token", &self.token).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if status.is_success() {
            return Ok(text);
        }
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let sentence = said.as_object().and_then(|o| o.values().next()).and_then(|f| f["message"].as_str()).unwrap_or("no reason given");
        Err(anyhow!("{sentence} ({})", status.as_u16()))
    }
}

/// A member of our own clouds.yaml: one line a member.
fn in_clouds(clouds: &str, key: &str) -> Option<String> {
    let value = clouds.lines().find_map(|l| l.trim().strip_prefix(key)?.strip_prefix(':'))?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// A port that the kernel chooses is known to the running service alone.
fn admin_url(config: &Config) -> Option<String> {
    let configured = PublicUrls::new(&config.public_url, &Addresses::default()).admin;
    if !configured.is_empty() {
        return Some(configured);
    }
    config.listen.admin.0.filter(|address| address.port() != 0).map(|address| format!("http://{address}"))
}
