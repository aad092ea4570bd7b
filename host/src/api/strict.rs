//! What our own API does with what it does not understand: it refuses it. A misspelt `force` must not read as "without".
//! (The other APIs keep to what upstream does with each of its routes.)

use serde_json::Value;

use super::route::Route;
use crate::error::{Error, Result};

/// # Errors
/// [`Kind::Invalid`](crate::error::Kind::Invalid) for a query key or a body member that the route does not have, and for a
/// query key given twice; it names what the route takes.
pub fn check(route: &Route, query: &[(String, String)], body: &[u8]) -> Result<()> {
    for (n, (key, _)) in query.iter().enumerate() {
        if !route.query.iter().any(|(known, ..)| *known == key.as_str()) {
            return Err(Error::invalid(format!(
                "There is no query parameter {:?} here; {}.",
                short(key),
                takes(route.query, "query parameters")
            )));
        }
        if query[..n].iter().any(|(earlier, _)| earlier == key) {
            return Err(Error::invalid(format!("The query parameter {key:?} is given more than once.")));
        }
    }
    if body.is_empty() {
        return Ok(());
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else {
        return Err(Error::invalid(format!("The body must be a JSON object, or empty; {}.", takes(route.body, "body members"))));
    };
    match members.keys().find(|key| !route.body.iter().any(|(known, ..)| known.split('.').next() == Some(key.as_str()))) {
        None => Ok(()),
        Some(key) if route.query.iter().any(|(known, ..)| *known == key.as_str()) => {
            Err(Error::invalid(format!("{key:?} is no member of the body, it is a query parameter: ?{key}=...")))
        }
        Some(key) => Err(Error::invalid(format!("There is no body member {:?} here; {}.", short(key), takes(route.body, "body members")))),
    }
}

/// Enough of it to be recognised.
fn short(key: &str) -> String {
    key.chars().take(64).collect()
}

fn takes(known: &[(&str, &str, &str)], what: &str) -> String {
    if known.is_empty() {
        return format!("this takes no {what}");
    }
    let names: Vec<&str> = known.iter().map(|(name, ..)| *name).collect();
    format!("this takes the {what} {}", names.join(", "))
}
