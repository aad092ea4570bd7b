//! The node's refusals as the contract's errors. The `kind` in the body decides; without one it was not a node that answered
//! (a proxy, another service), and nothing is concluded from a status that would end the work as done or as never begun.

use serde::Deserialize;
use stowage_driver_sdk::{http::Answer, prelude::*};

use crate::names::shortened;

#[derive(Deserialize)]
struct Body {
    error: Said,
}

#[derive(Deserialize)]
struct Said {
    kind: String,
    #[serde(default)]
    message: String,
}

/// Longest part of a node's message that is passed on.
const LONGEST: usize = 1_000;

pub fn refusal(answer: &Answer) -> DriverError {
    match serde_json::from_slice::<Body>(&answer.body) {
        Ok(Body { error }) => said(&error, retry_after_ms(answer)),
        Err(_) => unsaid(answer),
    }
}

fn said(Said { kind, message }: &Said, retry_after_ms: Option<u32>) -> DriverError {
    let message = format!("the node refuses ({kind}): {}", shortened(message, LONGEST));
    let wait = |error: DriverError| match retry_after_ms {
        Some(ms) => error.retry_after(ms),
        None => error,
    };
    match kind.as_str() {
        "invalid" => DriverError::invalid(message),
        "auth" => DriverError::auth(message),
        "not-found" => DriverError::not_found(message),
        "busy" => wait(DriverError::busy(message)),
        "conflict" => DriverError::busy(message).for_user("Another object with this id is on the storage back end."),
        "stale-generation" => DriverError::busy(message).for_user("A newer request has taken over this object."),
        "data-loss-risk" => DriverError::data_loss_risk(message),
        "exhausted" => DriverError::exhausted(message),
        "unsupported" => DriverError::unsupported(message),
        "transient" => wait(DriverError::transient(message)),
        // `internal`, and what a newer node may say
        _ => DriverError::internal(message),
    }
}

/// An answer without the node's error in it.
fn unsaid(answer: &Answer) -> DriverError {
    let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(300)]);
    let message = format!("status {} without a node's error in it; is there a `stowage node` at this URL? {text:?}", answer.status);
    match answer.status {
        401 | 403 => DriverError::auth(message),
        408 | 425 | 429 | 502..=504 => match retry_after_ms(answer) {
            Some(ms) => DriverError::transient(message).retry_after(ms),
            None => DriverError::transient(message),
        },
        _ => DriverError::internal(message),
    }
}

/// The header in seconds; its date form is not used by nodes.
fn retry_after_ms(answer: &Answer) -> Option<u32> {
    answer.header("retry-after")?.trim().parse::<u32>().ok().map(|seconds| seconds.saturating_mul(1_000))
}
