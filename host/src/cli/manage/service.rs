//! Asking the running service, as a client does: with the credentials of clouds.yaml or of the `OS_` variables.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use stowage::{app::PublicUrls, config::Config, serve::Addresses};

/// Who is not told otherwise is here.
const DOMAIN: &str = "Default";

/// Without them: clouds.yaml in the state folder. The password only comes from the environment: everybody sees a command line.
#[derive(Args)]
#[command(after_help = "The password comes from OS_PASSWORD, else from clouds.yaml in the state folder.")]
pub struct Login {
    #[arg(long, env = "OS_AUTH_URL", value_name = "URL")]
    os_auth_url: Option<String>,
    #[arg(long, env = "OS_USERNAME", value_name = "NAME")]
    os_username: Option<String>,
    #[arg(long, env = "OS_PROJECT_NAME", value_name = "NAME")]
    os_project_name: Option<String>,
    #[arg(long, env = "OS_USER_DOMAIN_NAME", value_name = "NAME", default_value = DOMAIN)]
    os_user_domain_name: String,
    #[arg(long, env = "OS_PROJECT_DOMAIN_NAME", value_name = "NAME", default_value = DOMAIN)]
    os_project_domain_name: String,
    /// Roots of trust beside the system's. Without: identity.keystone.ca_file.
    #[arg(long, env = "OS_CACERT", value_name = "FILE")]
    os_cacert: Option<PathBuf>,
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
        let name = known(login.os_username.clone(), "username")?;
        let user = json!({ "name": name, "domain": { "name": login.os_user_domain_name }, "password": password });
        let project = known(login.os_project_name.clone(), "project_name")?;
        let project = json!({ "name": project, "domain": { "name": login.os_project_domain_name } });
        let identity = json!({ "methods": ["password"], "password": { "user": user } });
        let body = json!({ "auth": { "identity": identity, "scope": { "project": project } } }).to_string();
        let url = format!("{}/auth/tokens", known(login.os_auth_url.clone(), "auth_url")?.trim_end_matches('/'));
        let http = client(config, login)?;
        let asked = http.post(&url).header("content-type", "application/json").body(body).send().await;
        let answer = asked.with_context(|| format!("no service answers at {url}: start it, or set OS_AUTH_URL"))?;
        match answer.status() {
            status if status.is_success() => {}
            StatusCode::UNAUTHORIZED => bail!(
                "{url} refuses the credentials of {name}: see OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME and their domains, or {}",
                file.display()
            ),
            status => bail!("{url} answers {status}"),
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

fn client(config: &Config, login: &Login) -> Result<reqwest::Client> {
    let mut builder = reqwest::Client::builder();
    let configured = Some(config.identity.keystone.ca_file.clone()).filter(|f| !f.as_os_str().is_empty());
    if let Some(file) = login.os_cacert.clone().or(configured) {
        let pem = std::fs::read(&file).with_context(|| format!("cannot read the roots of trust {}", file.display()))?;
        for root in reqwest::Certificate::from_pem_bundle(&pem).with_context(|| format!("no certificates in {}", file.display()))? {
            builder = builder.add_root_certificate(root);
        }
    }
    Ok(builder.build()?)
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
