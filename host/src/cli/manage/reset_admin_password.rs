//! `stowage manage reset-admin-password`: the way back for whoever lost clouds.yaml. The password stands in the new file and
//! nowhere else; a failure leaves the old password valid.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use stowage::{
    app::PublicUrls,
    config::{Config, IdentityMode},
    serve::{Addresses, state_folder},
    service::identity::bootstrap,
};

use super::line;

pub async fn reset(config: &Config, file: Option<PathBuf>) -> Result<()> {
    if config.identity.mode == IdentityMode::Keystone {
        bail!("identity.mode is \"keystone\": its users and passwords are that Keystone's");
    }
    let url = identity_url(config).context("the address of the identity service is not known here: set public_url.identity")?;
    let store = super::open(config).await?;
    let clouds = match file {
        Some(file) => file,
        None => {
            state_folder(&config.state_dir)?;
            config.clouds_yaml()
        }
    };
    let done = bootstrap::reset_admin(&store, &config.identity, &url, &clouds).await;
    store.close().await;
    done?;
    line(format_args!("{}", clouds.display()));
    line(format_args!("It holds the new password of the user {} (cloud \"stowage\"); only its owner may read it.", bootstrap::ADMIN));
    line(format_args!("Tokens got with the old password are revoked; other running processes notice within seconds."));
    Ok(())
}

/// As clients reach it. A port that the kernel chooses is known to the running service alone.
fn identity_url(config: &Config) -> Option<String> {
    let configured = PublicUrls::new(&config.public_url, &Addresses::default()).identity;
    if !configured.is_empty() {
        return Some(configured);
    }
    config.listen.identity.0.filter(|address| address.port() != 0).map(|address| format!("http://{address}"))
}
