//! What a driver may do on one back end: what its component imports **and** what the operator's section grants.
//!
//! Nothing is granted by default but memory, time and a little room in `kv`: no network, no secret's text. A grant that the
//! component does not import is not made, so that a driver without `http` has no client that could be misused.

use std::sync::Arc;

use super::host_fn::secrets::Secrets;
use crate::{
    config::{BackendConfig, Grants},
    driver::{
        DriverError, ErrorKind,
        egress::{AllowList, Authority},
    },
};

/// The effective grants of one incarnation.
#[derive(Debug, Clone)]
pub struct Effective {
    pub http: AllowList,
    pub kv_bytes: u64,
    /// Roots of trust that replace the system's.
    pub ca_pem: Option<Vec<u8>>,
    pub secrets: Arc<Secrets>,
}

impl Effective {
    /// `imports` are the interfaces the component imports, by their names in the contract: `http`, `kv`.
    ///
    /// # Errors
    /// `Invalid`, naming every entry of `grants.http` that is no authority, or a `grants.ca_file` that cannot be read.
    pub async fn new<S: AsRef<str>>(imports: &[S], config: &BackendConfig) -> Result<Self, DriverError> {
        let asks = |name: &str| imports.iter().any(|i| i.as_ref() == name);
        let listed = authorities(&config.grants)?;
        let ca_pem = roots(&config.grants).await?;
        let secrets = config.secrets.iter().map(|(name, secret)| (name.clone(), secret.expose().to_owned())).collect();
        Ok(Self {
            http: if asks("http") { listed } else { AllowList::default() },
            kv_bytes: if asks("kv") { u64::from(config.grants.kv_mib) << 20 } else { 0 },
            ca_pem,
            secrets: Arc::new(secrets),
        })
    }
}

async fn roots(grants: &Grants) -> Result<Option<Vec<u8>>, DriverError> {
    let path = &grants.ca_file;
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let fault = |e: std::io::Error| DriverError::new(ErrorKind::Invalid, format!("grants.ca_file {} cannot be read: {e}", path.display()));
    tokio::fs::read(path).await.map(Some).map_err(fault)
}

/// The granted authorities, whether or not a driver asks for them.
///
/// # Errors
/// `Invalid`, naming every entry that is none.
pub fn authorities(grants: &Grants) -> Result<AllowList, DriverError> {
    let (good, bad): (Vec<_>, Vec<_>) = grants.http.iter().map(|entry| entry.parse::<Authority>()).partition(Result::is_ok);
    if bad.is_empty() {
        return Ok(good.into_iter().flatten().collect());
    }
    let faults: Vec<String> = bad.into_iter().filter_map(Result::err).map(|e| e.to_string()).collect();
    Err(DriverError::new(ErrorKind::Invalid, format!("grants.http: {}", faults.join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(http: &[&str]) -> BackendConfig {
        let mut config = BackendConfig::new("a", "memory");
        config.grants.http = http.iter().map(|&h| h.to_owned()).collect();
        config.grants.kv_mib = 2;
        config
    }

    #[tokio::test]
    async fn both_sides_must_want_it() {
        let both = Effective::new(&["http", "kv"], &config(&["array.example:443"])).await.unwrap();
        assert_eq!((both.http.is_empty(), both.kv_bytes), (false, 2 << 20));
        let driver_does_not_ask = Effective::new(&["log"], &config(&["array.example:443"])).await.unwrap();
        assert_eq!((driver_does_not_ask.http.is_empty(), driver_does_not_ask.kv_bytes), (true, 0));
        let operator_does_not_grant = Effective::new(&["http"], &config(&[])).await.unwrap();
        assert!(operator_does_not_grant.http.is_empty());
    }

    #[tokio::test]
    async fn every_bad_entry_is_named() {
        let refused = Effective::new(&["http"], &config(&["https://a:1", "good:443", "10.0.0.0/8:80"])).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Invalid);
        assert!(refused.message.contains("`https://a:1`") && refused.message.contains("`10.0.0.0/8:80`"), "{}", refused.message);
    }
}
