//! A client that costs little: one connection a worker, no pool, bodies looked at only where an id is needed.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;

/// One keep-alive connection with a token.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    token: String,
}

impl Connection {
    /// `address` is `127.0.0.1:PORT`.
    pub async fn open(address: &str, token: &str) -> Self {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { sender, host: address.to_owned(), token: token.to_owned() }
    }

    /// Status and body.
    pub async fn send(&mut self, method: Method, path: &str, body: Option<&Value>) -> (u16, Bytes) {
        let body = body.map(|b| Bytes::from(b.to_string())).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.host)
            .header("x-auth-token", &self.token)
            .header("openstack-api-version", "volume 3.54")
            .header("x-openstack-manila-api-version", "2.86")
            .header("accept", "application/json")
            .header("content-type", "application/json")
            .body(Full::new(body))
            .unwrap();
        self.sender.ready().await.unwrap();
        let answer = self.sender.send_request(request).await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.into_body().collect().await.unwrap().to_bytes())
    }

    /// As [`Self::send`], for an answer that must have `status`.
    ///
    /// # Panics
    /// With the answer, if it has another.
    pub async fn expect(&mut self, status: u16, method: Method, path: &str, body: Option<&Value>) -> Bytes {
        let (found, text) = self.send(method.clone(), path, body).await;
        assert_eq!(found, status, "{method} {path}: {}", String::from_utf8_lossy(&text));
        text
    }

    pub async fn json(&mut self, status: u16, method: Method, path: &str, body: Option<&Value>) -> Value {
        serde_json::from_slice(&self.expect(status, method, path, body).await).unwrap()
    }
}

/// Latencies and the time they took together.
pub struct Sample {
    sorted: Vec<Duration>,
    pub elapsed: Duration,
}

impl Sample {
    pub fn new(mut latencies: Vec<Duration>, elapsed: Duration) -> Self {
        latencies.sort();
        Self { sorted: latencies, elapsed }
    }
    pub fn rate(&self) -> f64 {
        self.sorted.len() as f64 / self.elapsed.as_secs_f64()
    }
    pub fn latencies(&self) -> &[Duration] {
        &self.sorted
    }
    pub fn quantile(&self, q: f64) -> Duration {
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get((last as f64 * q).round() as usize).copied().unwrap_or_default()
    }
}

/// Repeats one GET over `connections` connections for `length`.
pub async fn repeat(address: &str, token: &str, path: &str, connections: usize, length: Duration) -> Sample {
    // caches and prepared statements are warm, as they are in a service that runs
    let mut warm = Connection::open(address, token).await;
    for _ in 0..20 {
        warm.expect(200, Method::GET, path, None).await;
    }
    let begun = Instant::now();
    let workers = (0..connections).map(|_| {
        let (address, token, path) = (address.to_owned(), token.to_owned(), path.to_owned());
        tokio::spawn(async move {
            let mut connection = Connection::open(&address, &token).await;
            let mut latencies = Vec::new();
            while begun.elapsed() < length {
                let sent = Instant::now();
                connection.expect(200, Method::GET, &path, None).await;
                latencies.push(sent.elapsed());
            }
            latencies
        })
    });
    let all = futures::future::join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    Sample::new(all, begun.elapsed())
}
