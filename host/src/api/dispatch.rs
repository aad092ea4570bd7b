//! The way of one HTTP request into a handler and back: the same for every API, driven by its route table.
//!
//! Order: request id, URL, body, token, microversion, route, media type, JSON, action, project, handler. Invariants: every
//! answer carries a request id; a handler's panic is this request's 500 and nobody else's; a handler runs in a task of its
//! own, so a client that hangs up does not cut a commit in two; after the deadline the client gets 504 and the handler
//! ends by itself. Bad input never reaches a handler as anything but a value it can parse.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
    response::Response,
};
use http::{HeaderName, HeaderValue, StatusCode, request::Parts};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    auth, body, fault,
    microversion::{self, Spoken},
    reply::Reply,
    request::ApiRequest,
    route::{Access, Api, Route, TokenScope},
    strict, target,
    tree::{Found, Tree},
};
use crate::{
    app::App,
    clock,
    context::{Principal, RequestContext},
    error::{Error, Kind},
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-openstack-request-id");
const COMPUTE_REQUEST_ID: HeaderName = HeaderName::from_static("x-compute-request-id");

/// What a listener may set.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a client is made to wait before it gets 504.
    pub deadline: Duration,
    /// Scheme and host for links, when a proxy changes what clients see. None: as the client wrote it.
    pub public_url: Option<String>,
    /// Where a 401 tells clients to authenticate.
    pub identity_url: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(60), public_url: None, identity_url: "http://127.0.0.1:5000/v3".into() }
    }
}

/// One API's dispatcher.
pub struct Dispatcher {
    app: Arc<App>,
    api: Api,
    below_root: Tree,
    rooted: Tree,
    options: Options,
}

/// A refusal before or instead of a handler's answer.
enum Refusal {
    Fault(Error),
    NoSuchUrl,
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Self {
        Self::Fault(e)
    }
}

/// What is learnt about a request on its way, for headers, log and metrics.
struct Learnt {
    route: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Answers of the router itself carry the second request id, too.
    both_request_ids: bool,
    /// The request got past the router, whose own answers carry fewer headers.
    routed: bool,
}

impl Learnt {
    fn of(api: Api) -> Self {
        // the share API's clients want the request id under both names on every answer
        Self { route: "none", headers: Vec::new(), routed: false, both_request_ids: api == Api::Share }
    }
}

/// The axum router that serves `routes`.
pub fn router(app: Arc<App>, api: Api, routes: &[Route], options: Options) -> axum::Router {
    let dispatcher = Arc::new(Dispatcher::new(app, api, routes, options));
    axum::Router::new().fallback(move |request: Request| {
        let dispatcher = Arc::clone(&dispatcher);
        async move { dispatcher.serve(request).await }
    })
}

impl Dispatcher {
    pub fn new(app: Arc<App>, api: Api, routes: &[Route], options: Options) -> Self {
        let of_api = || routes.iter().filter(|r| r.api == api);
        Self { app, api, below_root: Tree::new(of_api().filter(|r| !r.rooted)), rooted: Tree::new(of_api().filter(|r| r.rooted)), options }
    }

    /// Answers one request. Never fails, never panics.
    pub async fn serve(&self, request: Request) -> Response {
        let begun = Instant::now();
        let request_id = format!("req-{}", Uuid::new_v4());
        let (parts, body) = request.into_parts();
        let span = tracing::info_span!(
            "request",
            api = self.api.name(),
            method = %parts.method,
            request_id,
            global_request_id = tracing::field::Empty,
            project_id = tracing::field::Empty,
            user_id = tracing::field::Empty,
        );
        let mut learnt = Learnt::of(self.api);
        let outcome =
            tokio::time::timeout(self.options.deadline, self.exchange(&parts, body, &request_id, &mut learnt)).instrument(span.clone());
        let entered = |f: &mut dyn FnMut() -> Reply| span.in_scope(f);
        let reply = match outcome.await {
            Ok(Ok(reply)) => reply,
            Ok(Err(Refusal::NoSuchUrl)) => fault::no_such_url(self.api),
            Ok(Err(Refusal::Fault(e))) => entered(&mut || self.refuse(&e)),
            Err(_) => entered(&mut || self.refuse(&timed_out())),
        };
        let elapsed = begun.elapsed();
        span.in_scope(|| {
            tracing::info!(route = learnt.route, status = reply.status.as_u16(), elapsed_us = elapsed.as_micros(), "answered")
        });
        self.measure(&parts, &learnt, reply.status, elapsed);
        respond(reply, &request_id, learnt)
    }

    fn refuse(&self, error: &Error) -> Reply {
        let reply = fault::render(self.api, error);
        match fault::www_authenticate(&self.options.identity_url) {
            Some((name, value)) if error.kind == Kind::Unauthenticated => reply.header(name, value),
            _ => reply,
        }
    }

    async fn exchange(&self, parts: &Parts, raw: Body, request_id: &str, learnt: &mut Learnt) -> Result<Reply, Refusal> {
        let url = target::path(self.api, &parts.uri);
        if self.api == Api::Share && url.as_ref().is_some_and(|u| u.below_root) {
            // what is refused on the way says which version was asked for, too
            learnt.headers = microversion::echo_asked(self.api, &parts.headers);
        }
        let found = url.as_ref().and_then(|url| self.find(url, parts));
        let raw = body::read(&parts.headers, raw).await?;
        let mut ctx = self.context(parts, request_id);
        // upstream's auth middleware stands in front of its router: without a token even an unknown URL is 401
        if !found.as_ref().is_some_and(|f| f.rows.iter().all(|r| r.access == Access::Public)) {
            self.authenticate(parts, &mut ctx).await?;
        }
        let (Some(url), Some(found)) = (&url, found) else { return Err(Refusal::NoSuchUrl) };
        learnt.routed = true;
        learnt.route = found.rows[0].path;

        // requests above the root have no version
        let spoken = if self.api == Api::Share && !url.below_root { Spoken::default() } else { self.negotiate(parts, learnt)? };
        ctx.microversion = spoken.minor;
        let body = body::json(self.api, &parts.headers, raw)?;
        let row = pick(&found, spoken, &body)?;
        if url.project.as_ref().is_some_and(|p| *p != ctx.principal.project_id) {
            return Err(Error::invalid("Malformed request url").into());
        }
        check_scope(row, &ctx.principal)?;
        let query =
            target::query(&parts.uri).ok_or_else(|| Error::invalid("The query string must be UTF-8 text without NUL characters."))?;
        // whoever may not ask at all is told that by the handler
        if self.api == Api::Admin && !row.rooted && (row.access == Access::Public || ctx.is_admin()) {
            strict::check(row, &query, &body)?;
        }
        let host_url = target::host_url(self.options.public_url.as_deref(), &parts.uri, &parts.headers);
        let project = url.project.as_deref().map(|p| format!("/{p}")).unwrap_or_default();
        let request = ApiRequest {
            app: Arc::clone(&self.app),
            ctx,
            path: found.params(row),
            query,
            headers: parts.headers.clone(),
            body,
            base_url: format!("{host_url}/{}{project}", self.api.root()),
            host_url,
            api: self.api,
            experimental: spoken.experimental,
            peer: peer(parts),
        };
        let handler = row.handler;
        let task = tokio::spawn(async move { handler(request).await }.in_current_span());
        match task.await {
            Ok(answer) => Ok(answer?),
            Err(e) => Err(Error::internal(e).into()),
        }
    }

    fn find<'t, 'p>(&'t self, url: &'p target::Target, parts: &Parts) -> Option<Found<'t, 'p>> {
        let tree = if url.below_root { &self.below_root } else { &self.rooted };
        let head_as_get = parts.method == http::Method::HEAD && matches!(self.api, Api::Identity | Api::Admin);
        tree.find(&url.segments, &parts.method).or_else(|| head_as_get.then(|| tree.find(&url.segments, &http::Method::GET)).flatten())
    }

    fn context(&self, parts: &Parts, request_id: &str) -> RequestContext {
        let global = parts.headers.get(&REQUEST_ID).and_then(|v| v.to_str().ok()).filter(|v| is_request_id(v));
        if let Some(global) = global {
            tracing::Span::current().record("global_request_id", global);
        }
        RequestContext {
            request_id: request_id.to_owned(),
            global_request_id: global.map(str::to_owned),
            deadline: clock::now() + clock::micros(self.options.deadline),
            ..RequestContext::default()
        }
    }

    async fn authenticate(&self, parts: &Parts, ctx: &mut RequestContext) -> Result<(), Refusal> {
        // what cannot be asked within its share of the deadline is unavailable: 503, and not the handler's 504
        let asking = tokio::time::timeout(self.options.deadline * 3 / 4, auth::caller(&*self.app.tokens, &parts.headers));
        let caller = asking.await.map_err(|_| Error::new(Kind::Unavailable, "The token could not be checked in time; try again."))??;
        let span = tracing::Span::current();
        span.record("project_id", &caller.principal.project_id);
        span.record("user_id", &caller.principal.user_id);
        ctx.principal = caller.principal;
        ctx.service_token = caller.service_token;
        Ok(())
    }

    fn negotiate(&self, parts: &Parts, learnt: &mut Learnt) -> Result<Spoken, Refusal> {
        match microversion::negotiate(self.api, &parts.headers) {
            Ok(spoken) => {
                learnt.headers = microversion::echo(self.api, spoken);
                Ok(spoken)
            }
            Err(refused) => {
                learnt.headers = refused.echo.map(|text| microversion::echo_text(self.api, &text)).unwrap_or_default();
                Err(refused.error.into())
            }
        }
    }

    fn measure(&self, parts: &Parts, learnt: &Learnt, status: StatusCode, elapsed: Duration) {
        let method = if learnt.routed { parts.method.to_string() } else { "OTHER".to_owned() };
        let labels = [
            metrics::Label::from_static_parts("api", self.api.name()),
            metrics::Label::new("method", method),
            metrics::Label::from_static_parts("route", learnt.route),
            metrics::Label::new("status", status.as_str().to_owned()),
        ];
        // every label but the status, which would multiply the buckets
        metrics::histogram!("stowage_http_request_seconds", labels[..3].iter()).record(elapsed.as_secs_f64());
        metrics::counter!("stowage_http_requests_total", labels.iter()).increment(1);
    }
}

/// The row for this version and action.
fn pick<'t>(found: &Found<'t, '_>, spoken: Spoken, body: &[u8]) -> Result<&'t Route, Error> {
    let alive = |r: &&&Route| r.since <= spoken.minor && spoken.minor <= r.until && (!r.experimental || spoken.experimental);
    if found.rows.iter().all(|r| r.action.is_none()) {
        return found.rows.iter().find(alive).copied().ok_or_else(not_in_this_version);
    }
    let key = if body.is_empty() { "None".to_owned() } else { body::action_key(body)? };
    let mut named = found.rows.iter().filter(|r| r.action == Some(key.as_str())).peekable();
    if named.peek().is_none() {
        let shown: String = key.chars().take(64).collect();
        return Err(Error::invalid(format!("There is no such action: {shown}")));
    }
    named.find(alive).copied().ok_or_else(not_in_this_version)
}

/// Block and share resources are projects': a token for a domain or for nothing has no place there, one for the system only
/// where the route says so. Without this check, what such a token makes would belong to a project without a name.
fn check_scope(row: &Route, caller: &Principal) -> Result<(), Error> {
    let free = row.access == Access::Public || !row.api.has_project_segment() || !caller.project_id.is_empty();
    if free || (caller.system_scope && row.scope == TokenScope::ProjectOrSystem) {
        return Ok(());
    }
    let found = match (caller.system_scope, caller.domain_id.is_empty()) {
        (true, _) => "for the system",
        (_, false) => "for a domain",
        _ => "for nothing",
    };
    Err(Error::forbidden(format!("This needs a token for a project; the one given is {found}.")))
}

fn not_in_this_version() -> Error {
    Error::not_found("The resource could not be found.")
}

fn timed_out() -> Error {
    Error::new(Kind::Timeout, "The request took longer than the server waits. What it asked for may still happen; look again.")
}

fn peer(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|c| c.0.ip())
}

/// `req-` and a UUID, as oslo accepts it from outside.
fn is_request_id(text: &str) -> bool {
    text.len() == 40 && text.strip_prefix("req-").is_some_and(|id| Uuid::try_parse(id).is_ok())
}

fn respond(reply: Reply, request_id: &str, learnt: Learnt) -> Response {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.extend(learnt.headers);
    for (name, value) in reply.headers {
        headers.append(name, value);
    }
    if let Ok(id) = HeaderValue::from_str(request_id) {
        if learnt.routed || learnt.both_request_ids {
            headers.insert(COMPUTE_REQUEST_ID, id.clone());
        }
        headers.insert(REQUEST_ID, id);
    }
    response
}
