//! An array whose certificate comes from an authority of the operator's own: `grants.ca_file`. The memory driver speaks to
//! an HTTP array through TLS; certificates are made by the `openssl` command for each test.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use serde_json::json;
use stowage::config::BackendConfig;
use support::array::Array;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use crate::bench::{Bench, backend, call, exercise, memory, volume};

/// An authority, and the folder its files are in.
struct Authority {
    dir: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        openssl(
            dir.path(),
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority",
        );
        Self { dir }
    }

    fn pem(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// What a server that is `name` needs.
    fn server(&self, name: &str) -> ServerConfig {
        let dir = self.dir.path();
        let request =
            "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj /CN=array -addext";
        openssl(dir, &format!("{request} subjectAltName={name}"));
        openssl(dir, "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out server.pem");
        let chain = vec![CertificateDer::from_pem_file(dir.join("server.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(dir.join("server.key")).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        builder.with_no_client_auth().with_single_cert(chain, key).unwrap()
    }
}

fn openssl(dir: &Path, arguments: &str) {
    let run = Command::new("openssl").args(arguments.split(' ')).current_dir(dir).stdin(Stdio::null()).output();
    let done = run.expect("the command openssl is needed for this test: install the package openssl");
    assert!(done.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

/// TLS in front of an array; its authority.
async fn tls_before(array: &Array, config: ServerConfig) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (acceptor, behind) = (TlsAcceptor::from(Arc::new(config)), array.url().trim_start_matches("http://").to_owned());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                // a client that does not trust us ends here
                let Ok(mut outside) = acceptor.accept(stream).await else { return };
                let mut inside = TcpStream::connect(behind).await.unwrap();
                let _closed = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    address
}

fn with_array(address: &str, ca_file: Option<PathBuf>) -> BackendConfig {
    let mut config = backend("one", "memory", json!({"array_url": format!("https://{address}")}));
    config.grants.http = vec![address.to_owned()];
    config.grants.ca_file = ca_file.unwrap_or_default();
    config
}

/// Why nothing can be made on the back end.
async fn refusal(bench: &Bench) -> String {
    match bench.catalog.backend("stowage@one") {
        Err(down) => down.message,
        Ok(backend) => backend.need_volumes().unwrap().create(&call("v"), &volume("v")).await.unwrap_err().message,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_is_trusted_by_the_authority_in_the_back_ends_ca_file() {
    let (array, ours) = (Array::start().await.unwrap(), Authority::new());
    let address = tls_before(&array, ours.server("IP:127.0.0.1")).await;
    let bench = Bench::new(&[("memory", memory())], &[with_array(&address, Some(ours.pem()))]).await;
    exercise(&bench.catalog, "one", "v").await.unwrap();
    assert!(!array.control.calls().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_that_the_ca_file_does_not_vouch_for_gets_no_request() {
    let (array, ours, another) = (Array::start().await.unwrap(), Authority::new(), Authority::new());
    let right = tls_before(&array, ours.server("IP:127.0.0.1")).await;
    let wrong_name = tls_before(&array, ours.server("DNS:array.example")).await;
    for (what, address, ca_file) in [
        ("only the system's authorities", &right, None),
        ("another authority", &right, Some(another.pem())),
        ("a certificate for another name", &wrong_name, Some(ours.pem())),
    ] {
        let bench = Bench::new(&[("memory", memory())], &[with_array(address, ca_file)]).await;
        let reason = refusal(&bench).await;
        assert!(reason.contains("certificate"), "{what}: {reason}");
    }
    assert!(array.control.calls().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ca_file_that_is_not_there_keeps_only_its_own_back_end_down() {
    let missing = PathBuf::from("/nowhere/ca.pem");
    let bench = Bench::new(&[("memory", memory())], &[with_array("127.0.0.1:1", Some(missing)), backend("two", "memory", json!({}))]).await;
    assert!(refusal(&bench).await.contains("grants.ca_file /nowhere/ca.pem cannot be read"));
    exercise(&bench.catalog, "two", "v").await.unwrap();
}
