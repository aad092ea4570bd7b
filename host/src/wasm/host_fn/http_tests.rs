use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::Request as In,
    response::{IntoResponse, Response as Out},
    routing::any,
};
use futures::future::BoxFuture;

use super::*;
use crate::driver::egress::AllowList;

/// A server on a loopback address of its own, with a count of what reached it.
struct Server {
    addr: SocketAddr,
    hits: Arc<AtomicUsize>,
}

impl Server {
    async fn at<F>(ip: &str, port: u16, answer: F) -> Self
    where
        F: Fn(In) -> Out + Clone + Send + Sync + 'static,
    {
        let listener = tokio::net::TcpListener::bind((ip, port)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let hits = Arc::new(AtomicUsize::new(0));
        let seen = hits.clone();
        let app = Router::new().fallback(any(move |request: In| {
            seen.fetch_add(1, Ordering::SeqCst);
            let answer = answer.clone();
            async move { answer(request) }
        }));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { addr, hits }
    }
    async fn new<F>(answer: F) -> Self
    where
        F: Fn(In) -> Out + Clone + Send + Sync + 'static,
    {
        Self::at("127.0.0.1", 0, answer).await
    }
    async fn hello() -> Self {
        Self::new(|_| "hello".into_response()).await
    }
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
    fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }
}

fn to(status: u16, location: String) -> Out {
    (StatusCode::from_u16(status).unwrap(), [(header::LOCATION, location)]).into_response()
}

/// Answers each name with the next of its addresses; the last one stays.
#[derive(Default)]
struct Names {
    answers: Mutex<Vec<&'static str>>,
    asked: AtomicUsize,
}

impl Names {
    fn say(answers: &[&'static str]) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.to_vec()), asked: AtomicUsize::new(0) })
    }
}

impl Lookup for Names {
    fn lookup<'a>(&'a self, _: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let mut answers = self.answers.lock().unwrap();
            let now = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
            Ok(now.split(' ').map(|a| a.parse().unwrap()).collect())
        })
    }
}

fn secrets() -> Arc<Secrets> {
    Arc::new(Secrets::from_iter([("password".to_owned(), "p\"<&w".to_owned()), ("token".to_owned(), "t0ken".to_owned())]))
}

fn client(allow: &[String]) -> HttpClient {
    HttpClient::new(
        AllowList::parse(allow).unwrap(),
        secrets(),
        None,
        HttpLimits { response_bytes: 1000, request_bytes: 1000, ..HttpLimits::default() },
    )
    .unwrap()
}

fn client_with(allow: &[String], lookup: Arc<dyn Lookup>) -> HttpClient {
    HttpClient::with_lookup(AllowList::parse(allow).unwrap(), secrets(), None, HttpLimits::default(), lookup).unwrap()
}

fn allow(servers: &[&Server]) -> Vec<String> {
    servers.iter().map(|s| s.addr.to_string()).collect()
}

async fn send(client: &HttpClient, request: Request) -> Result<Response, HttpError> {
    client.send(request, Instant::now() + Duration::from_secs(10), &Lease::unbounded()).await
}

async fn get(client: &HttpClient, url: String) -> Result<Response, HttpError> {
    send(client, Request::new(Method::GET, url)).await
}

#[track_caller]
fn denied(answer: Result<Response, HttpError>) -> String {
    match answer {
        Err(HttpError::Denied(why)) => why,
        other => panic!("must be denied, was {other:?}"),
    }
}

#[tokio::test]
async fn a_listed_host_is_reached_and_any_status_is_an_answer() {
    let server = Server::new(|_| (StatusCode::IM_A_TEAPOT, [("x-array", "one")], "short and stout").into_response()).await;
    let answer = get(&client(&allow(&[&server])), server.url("/pot")).await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (418, b"short and stout".as_slice()));
    assert!(answer.headers.contains(&("x-array".to_owned(), "one".to_owned())));
}

#[tokio::test]
async fn an_unlisted_host_is_not_reached() {
    let (listed, other) = (Server::hello().await, Server::hello().await);
    let why = denied(get(&client(&allow(&[&listed])), other.url("/secret?token=1")).await);
    assert_eq!(why, format!("{} is not in the back end's `allow` list", other.addr));
    assert_eq!(other.hits(), 0);
}

#[tokio::test]
async fn without_a_grant_nothing_is_reached() {
    let server = Server::hello().await;
    denied(get(&client(&[]), server.url("/")).await);
    assert_eq!(server.hits(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_listed_host_is_followed() {
    let end = Server::hello().await;
    let target = end.url("/there");
    let start = Server::new(move |_| to(302, target.clone())).await;
    let answer = get(&client(&allow(&[&start, &end])), start.url("/")).await.unwrap();
    assert_eq!(answer.body, b"hello");
}

#[tokio::test]
async fn a_redirect_to_an_unlisted_host_is_denied() {
    let end = Server::hello().await;
    let target = end.url("/");
    let start = Server::new(move |_| to(307, target.clone())).await;
    denied(get(&client(&allow(&[&start])), start.url("/")).await);
    assert_eq!((start.hits(), end.hits()), (1, 0));
}

#[tokio::test]
async fn a_redirect_to_loopback_in_disguise_is_denied() {
    let inside = Server::hello().await;
    let port = inside.addr.port();
    for target in [
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://localhost:{port}/"),
        format!("//127.1:{port}/"),
        "http://169.254.169.254/latest".to_owned(),
    ] {
        let to_it = target.clone();
        let start = Server::at("127.0.0.2", 0, move |_| to(302, to_it.clone())).await;
        denied(get(&client(&allow(&[&start])), start.url("/")).await);
        assert_eq!(inside.hits(), 0, "{target}");
    }
}

#[tokio::test]
async fn a_name_that_resolves_to_loopback_is_denied() {
    let inside = Server::hello().await;
    let port = inside.addr.port();
    for answer in ["127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254", "0.0.0.0", "::1"] {
        let client = client_with(&[format!("array.example:{port}")], Names::say(&[answer]));
        let why = denied(get(&client, format!("http://array.example:{port}/")).await);
        assert!(why.starts_with("array.example leads to"), "{why}");
    }
    assert_eq!(inside.hits(), 0);
}

#[tokio::test]
async fn the_name_localhost_of_the_system_is_no_way_around() {
    let inside = Server::hello().await;
    let port = inside.addr.port();
    denied(get(&client(&[format!("localhost:{port}")]), format!("http://localhost:{port}/")).await);
    assert_eq!(inside.hits(), 0);
}

#[tokio::test]
async fn of_several_addresses_only_the_permitted_are_dialled() {
    let good = Server::hello().await;
    let port = good.addr.port();
    let bad = Server::at("127.0.0.2", port, |_| "inside".into_response()).await;
    let client = client_with(&[format!("array.example:{port}"), good.addr.to_string()], Names::say(&["127.0.0.2 127.0.0.1"]));
    assert_eq!(get(&client, format!("http://array.example:{port}/")).await.unwrap().body, b"hello");
    assert_eq!(bad.hits(), 0);
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_dialled() {
    let good = Server::new(|_| ([(header::CONNECTION, "close")], "hello").into_response()).await;
    let port = good.addr.port();
    let inside = Server::at("127.0.0.2", port, |_| "inside".into_response()).await;
    let names = Names::say(&["127.0.0.1", "127.0.0.2"]);
    let client = client_with(&[format!("array.example:{port}"), good.addr.to_string()], names.clone());
    assert_eq!(get(&client, format!("http://array.example:{port}/")).await.unwrap().body, b"hello");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1, "the name is asked for once, and that answer is dialled");
    denied(get(&client, format!("http://array.example:{port}/")).await);
    assert_eq!(inside.hits(), 0);
}

#[tokio::test]
async fn an_oversized_answer_ends_at_the_limit() {
    let honest = Server::new(|_| "x".repeat(2000).into_response()).await;
    let chunked = Server::new(|_| {
        Body::from_stream(futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[0; 100])))).into_response()
    })
    .await;
    for server in [&honest, &chunked] {
        assert_eq!(get(&client(&allow(&[server])), server.url("/")).await.unwrap_err(), HttpError::TooLarge(1000));
    }
}

#[tokio::test]
async fn an_oversized_request_is_not_sent() {
    let server = Server::hello().await;
    let request = Request { body: Some(vec![0; 1001]), ..Request::new(Method::POST, server.url("/")) };
    assert!(matches!(send(&client(&allow(&[&server])), request).await, Err(HttpError::Invalid(_))));
    assert_eq!(server.hits(), 0);
}

#[tokio::test]
async fn a_slow_body_ends_at_the_calls_deadline() {
    let slow = Server::new(|_| {
        let first = futures::stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"a")) });
        Body::from_stream(futures::StreamExt::chain(first, futures::stream::pending())).into_response()
    })
    .await;
    let client = client(&allow(&[&slow]));
    let soon = Instant::now() + Duration::from_millis(200);
    assert_eq!(client.send(Request::new(Method::GET, slow.url("/")), soon, &Lease::unbounded()).await.unwrap_err(), HttpError::Timeout);
    let short = Request { timeout: Some(Duration::from_millis(100)), ..Request::new(Method::GET, slow.url("/")) };
    assert_eq!(send(&client, short).await.unwrap_err(), HttpError::Timeout);
}

#[tokio::test]
async fn nothing_is_sent_without_the_lease_or_after_the_deadline() {
    let server = Server::hello().await;
    let client = client(&allow(&[&server]));
    let lost = Lease::unbounded();
    lost.lose();
    let later = Instant::now() + Duration::from_secs(10);
    assert_eq!(client.send(Request::new(Method::GET, server.url("/")), later, &lost).await.unwrap_err(), HttpError::NotOwner);
    assert_eq!(
        client.send(Request::new(Method::GET, server.url("/")), Instant::now(), &Lease::unbounded()).await.unwrap_err(),
        HttpError::Timeout
    );
    let passed = Lease::new("w".into(), Some(std::time::Instant::now()));
    assert_eq!(client.send(Request::new(Method::GET, server.url("/")), later, &passed).await.unwrap_err(), HttpError::NotOwner);
    assert_eq!(server.hits(), 0);
}

#[tokio::test]
async fn a_redirect_is_not_followed_when_the_leases_time_has_passed_meanwhile() {
    let end = Server::hello().await;
    let url = end.url("/");
    let first = Server::new(move |_| {
        // blocks the thread, so that the time passes in one step as it does for a process that was stopped
        std::thread::sleep(Duration::from_millis(300));
        axum::response::Redirect::temporary(&url).into_response()
    })
    .await;
    let client = client(&allow(&[&first, &end]));
    let lease = Lease::new("w".into(), Some(std::time::Instant::now() + Duration::from_millis(200)));
    let later = Instant::now() + Duration::from_secs(10);
    assert_eq!(client.send(Request::new(Method::GET, first.url("/")), later, &lease).await.unwrap_err(), HttpError::NotOwner);
    assert_eq!((first.hits(), end.hits()), (1, 0));
}

#[tokio::test]
async fn a_lease_lost_during_a_request_ends_it() {
    let stuck = Server::new(|_| Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>()).into_response()).await;
    let client = client(&allow(&[&stuck]));
    let lease = Lease::unbounded();
    let request = client.send(Request::new(Method::GET, stuck.url("/")), Instant::now() + Duration::from_secs(60), &lease);
    let lose = async {
        while stuck.hits() == 0 {
            tokio::task::yield_now().await;
        }
        lease.lose();
    };
    assert_eq!(futures::join!(request, lose).0.unwrap_err(), HttpError::NotOwner);
}

#[tokio::test]
async fn what_was_certainly_not_sent_is_told_apart_from_what_may_have_been_done() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let breaks = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut some = [0; 16];
        tokio::io::AsyncReadExt::read(&mut stream, &mut some).await.unwrap();
    });
    let client = client(&[addr.to_string()]);
    assert!(matches!(get(&client, format!("http://{addr}/")).await, Err(HttpError::Interrupted(_))));
    breaks.await.unwrap();
    // nobody listens any more
    let Err(HttpError::Unreachable(why)) = get(&client, format!("http://{addr}/")).await else { panic!("it was reached") };
    assert!(why.starts_with(&addr.to_string()) && why.contains("refused"), "{why}");
    assert_eq!(why.matches("refused").count(), 1, "told once: {why}");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_a_tls_error() {
    let server = Server::hello().await;
    let answer = get(&client(&allow(&[&server])), format!("https://{}/", server.addr)).await;
    assert!(matches!(answer, Err(HttpError::Tls(_))), "{answer:?}");
}

#[test]
fn a_ca_file_without_a_certificate_is_refused_at_once() {
    let list = || AllowList::parse(&["array.example:443"]).unwrap();
    for pem in [&b"not a certificate"[..], b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(HttpClient::new(list(), secrets(), Some(pem), HttpLimits::default()).is_err());
    }
}

/// Answers with the request's own credential header and body.
fn echo(request: In) -> Out {
    let auth = request
        .headers()
        .get(header::AUTHORIZATION)
        .or(request.headers().get("x-token"))
        .map_or("none", |v| v.to_str().unwrap())
        .to_owned();
    ([("x-saw", auth)], Body::from_stream(request.into_body().into_data_stream())).into_response()
}

fn saw(answer: &Response) -> &str {
    answer.headers.iter().find(|(n, _)| n == "x-saw").map_or("", |(_, v)| v)
}

#[tokio::test]
async fn credentials_are_written_by_the_host() {
    let server = Server::new(echo).await;
    let client = client(&allow(&[&server]));
    let cases = [
        (Credentials::Basic { user: "admin".to_owned(), password_option: "token".to_owned() }, "Basic YWRtaW46dDBrZW4="),
        (Credentials::Bearer("token".to_owned()), "Bearer t0ken"),
        (Credentials::Header { name: "X-Token".to_owned(), prefix: "Token ".to_owned(), secret_option: "token".to_owned() }, "Token t0ken"),
    ];
    for (credentials, wanted) in cases {
        let answer = send(&client, Request { credentials: Some(credentials), ..Request::new(Method::GET, server.url("/")) }).await.unwrap();
        assert_eq!(saw(&answer), wanted);
    }
    let unknown = Request { credentials: Some(Credentials::Bearer("other".to_owned())), ..Request::new(Method::GET, server.url("/")) };
    assert!(matches!(send(&client, unknown).await, Err(HttpError::Invalid(_))));
}

#[tokio::test]
async fn a_secret_is_written_into_the_body_escaped_for_its_form() {
    let server = Server::new(echo).await;
    let client = client(&allow(&[&server]));
    for (escape, wanted) in
        [(Escape::None, "[p\"<&w]"), (Escape::Json, "[p\\\"<&w]"), (Escape::Form, "[p%22%3C%26w]"), (Escape::Xml, "[p&quot;&lt;&amp;w]")]
    {
        let place = BodySecret { placeholder: "@@PW@@".to_owned(), secret_option: "password".to_owned(), escape };
        let request =
            Request { body: Some(b"[@@PW@@]".to_vec()), body_secrets: vec![place], ..Request::new(Method::POST, server.url("/")) };
        assert_eq!(send(&client, request).await.unwrap().body, wanted.as_bytes());
    }
    for body in ["no place", "@@PW@@ twice @@PW@@"] {
        let place = BodySecret { placeholder: "@@PW@@".to_owned(), secret_option: "password".to_owned(), escape: Escape::None };
        let request =
            Request { body: Some(body.as_bytes().to_vec()), body_secrets: vec![place], ..Request::new(Method::POST, server.url("/")) };
        assert!(matches!(send(&client, request).await, Err(HttpError::Invalid(_))));
    }
}

#[tokio::test]
async fn a_secret_does_not_follow_a_redirect_to_another_authority() {
    let end = Server::new(echo).await;
    let target = end.url("/");
    let start = Server::new(move |_| to(307, target.clone())).await;
    let client = client(&allow(&[&start, &end]));
    for credentials in [
        Credentials::Bearer("token".to_owned()),
        Credentials::Header { name: "x-token".to_owned(), prefix: String::new(), secret_option: "token".to_owned() },
    ] {
        let answer = send(&client, Request { credentials: Some(credentials), ..Request::new(Method::GET, start.url("/")) }).await.unwrap();
        assert_eq!(saw(&answer), "none");
    }
    let place = BodySecret { placeholder: "@".to_owned(), secret_option: "token".to_owned(), escape: Escape::None };
    let hits = end.hits();
    denied(
        send(&client, Request { body: Some(b"@".to_vec()), body_secrets: vec![place], ..Request::new(Method::POST, start.url("/")) }).await,
    );
    assert_eq!(end.hits(), hits);
}

#[tokio::test]
async fn a_redirect_after_a_post_is_a_get_without_the_body() {
    let server = Server::new(|request| match (request.method().as_str(), request.uri().path()) {
        ("POST", "/") => to(303, "/done".to_owned()),
        ("GET", "/done") if !request.headers().contains_key(header::CONTENT_TYPE) => "done".into_response(),
        _ => StatusCode::BAD_REQUEST.into_response(),
    })
    .await;
    let headers = vec![("content-type".to_owned(), "text/plain".to_owned())];
    let request = Request { body: Some(b"x".to_vec()), headers, ..Request::new(Method::POST, server.url("/")) };
    assert_eq!(send(&client(&allow(&[&server])), request).await.unwrap().body, b"done");
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let server = Server::new(|_| to(302, "/again".to_owned())).await;
    denied(get(&client(&allow(&[&server])), server.url("/")).await);
    assert_eq!(server.hits(), MAX_REDIRECTS + 1);
}

#[tokio::test]
async fn a_driver_does_not_choose_the_messages_frame() {
    let server = Server::hello().await;
    let client = client(&allow(&[&server]));
    for name in ["Host", "connection", "Content-Length", "transfer-encoding", "Proxy-Authorization", "bad name", "x\r\ny"] {
        let request = Request { headers: vec![(name.to_owned(), "1".to_owned())], ..Request::new(Method::GET, server.url("/")) };
        assert!(matches!(send(&client, request).await, Err(HttpError::Invalid(_))), "{name}");
    }
    let split = Request { headers: vec![("x".to_owned(), "a\r\nHost: evil".to_owned())], ..Request::new(Method::GET, server.url("/")) };
    assert!(matches!(send(&client, split).await, Err(HttpError::Invalid(_))));
    assert_eq!(server.hits(), 0);
}

#[tokio::test]
async fn connections_are_kept_between_requests() {
    let ports = Arc::new(Mutex::new(Vec::new()));
    let seen = ports.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let app = Router::new()
        .fallback(any(move |axum::extract::ConnectInfo(peer): axum::extract::ConnectInfo<SocketAddr>| async move {
            seen.lock().unwrap().push(peer.port())
        }))
        .into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let client = client(&[addr.to_string()]);
    for _ in 0..3 {
        get(&client, format!("http://{addr}/")).await.unwrap();
    }
    let ports = ports.lock().unwrap();
    assert_eq!(ports.len(), 3);
    assert!(ports.iter().all(|p| *p == ports[0]), "{ports:?}");
}
