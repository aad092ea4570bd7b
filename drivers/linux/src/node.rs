//! One node, asked over HTTP. Each request carries whose call it is; a change also carries the generation by which the node
//! fences, and the operation for its log. A request ends a little before the call does, so that the host is told what was
//! being waited for instead of ending the call itself.

use std::time::Duration;

use serde::de::DeserializeOwned;
use stowage_driver_sdk::{
    http::{Answer, Method},
    prelude::*,
    serde_json::Value as Json,
};

use crate::{
    options::{Place, TOKEN},
    refusal::refusal,
    wire::unusable,
};

/// Left over of a call when its request gives up.
const MARGIN: Duration = Duration::from_millis(500);

pub struct Node<'c> {
    cx: &'c Context,
    pub place: &'c Place,
    limit: Duration,
}

impl<'c> Node<'c> {
    pub fn new(cx: &'c Context, place: &'c Place) -> Self {
        Self { cx, place, limit: Duration::MAX }
    }

    /// No request takes longer than this.
    pub fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.ask(Method::Get, path, None)
    }

    pub fn put<T: DeserializeOwned>(&self, path: &str, body: &Json) -> Result<T> {
        self.ask(Method::Put, path, Some(body))
    }

    pub fn post<T: DeserializeOwned>(&self, path: &str, body: Option<&Json>) -> Result<T> {
        self.ask(Method::Post, path, body)
    }

    /// Success only if the node says so: an answer of somebody else in between is none. What is gone is gone.
    pub fn delete(&self, path: &str) -> Result<()> {
        let sent = self.send(Method::Delete, path, None).and_then(|answer| match answer.status {
            204 => Ok(()),
            200..=299 => Err(unusable(format!("status {} where 204 is due", answer.status))),
            _ => Err(refusal(&answer)),
        });
        match sent {
            Err(e) if e.kind == ErrorKind::NotFound => Ok(()),
            other => other.map_err(|e| self.named(e, "DELETE", path)),
        }
    }

    fn ask<T: DeserializeOwned>(&self, method: Method, path: &str, body: Option<&Json>) -> Result<T> {
        let answer = self.send(method, path, body).and_then(|answer| match answer.status {
            200 => serde_json::from_slice(&answer.body).map_err(unusable),
            201..=299 => Err(unusable(format!("status {} where 200 is due", answer.status))),
            _ => Err(refusal(&answer)),
        });
        let name = match method {
            Method::Put => "PUT",
            Method::Post => "POST",
            _ => "GET",
        };
        answer.map_err(|e| self.named(e, name, path))
    }

    fn send(&self, method: Method, path: &str, body: Option<&Json>) -> Result<Answer> {
        let call = &self.cx.call;
        let time = self.limit.min(self.cx.remaining().saturating_sub(MARGIN)).max(Duration::from_millis(1));
        let mut request = self
            .cx
            .http()
            .at(&self.place.url)
            .request(method, path)
            .bearer(&TOKEN)
            .timeout(time)
            .header("stowage-request-id", &call.request_id);
        if method != Method::Get {
            request = request.header("stowage-generation", call.generation.to_string()).header("stowage-operation", &call.operation_id);
        }
        match body {
            Some(body) => request.json(body).send(),
            None => request.send(),
        }
    }

    /// Says where it went wrong. The query is left out: it is the driver's own.
    fn named(&self, error: DriverError, method: &str, path: &str) -> DriverError {
        let path = path.split('?').next().unwrap_or(path);
        error.while_doing(format!("pool `{}` at {}: {method} {path}", self.place.pool, self.place.url))
    }
}
