//! The body of `POST /v3/auth/tokens`.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    error::{Error, Kind, Result},
    service::identity::issue::{DomainRef, Proof, Ref, Wanted},
};

#[derive(Deserialize)]
pub struct Login {
    auth: Auth,
}

#[derive(Deserialize)]
struct Auth {
    identity: Methods,
    #[serde(default)]
    scope: Value,
}

#[derive(Deserialize)]
struct Methods {
    methods: Vec<String>,
    password: Option<Password>,
    token: Option<Token>,
}

#[derive(Deserialize)]
struct Password {
    user: User,
}

#[derive(Deserialize)]
struct User {
    id: Option<String>,
    name: Option<String>,
    domain: Option<Domain>,
    password: String,
}

#[derive(Deserialize)]
struct Token {
    id: String,
}

#[derive(Deserialize)]
struct Domain {
    id: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Project {
    id: Option<String>,
    name: Option<String>,
    domain: Option<Domain>,
}

impl Login {
    /// # Errors
    /// [`Kind::Invalid`] for what is missing or not understood; [`Kind::Unauthenticated`] for a method that is not served.
    pub fn into_parts(self) -> Result<(Proof, Wanted)> {
        let wanted = scope(self.auth.scope)?;
        let identity = self.auth.identity;
        let proof = match identity.methods.as_slice() {
            [one] if one == "password" => {
                let user = identity.password.ok_or_else(|| missing("password", "identity"))?.user;
                Proof::Password { user: reference(user.id, user.name, user.domain, "user")?, password: user.password }
            }
            [one] if one == "token" => Proof::Token(identity.token.ok_or_else(|| missing("token", "identity"))?.id),
            [] => return Err(missing("methods", "identity")),
            _ => {
                return Err(Error::new(
                    Kind::Unauthenticated,
                    "Attempted to authenticate with an unsupported method: use password or token.",
                ));
            }
        };
        Ok((proof, wanted))
    }
}

fn scope(value: Value) -> Result<Wanted> {
    let scope = match value {
        Value::Null => return Ok(Wanted::Whatever),
        Value::String(text) if text == "unscoped" => return Ok(Wanted::Unscoped),
        Value::Object(scope) => scope,
        _ => return Err(Error::invalid("Invalid input for field 'auth.scope': an object or \"unscoped\" is expected.")),
    };
    let mut scope = scope.into_iter();
    let (Some((kind, inside)), None) = (scope.next(), scope.next()) else {
        return Err(Error::invalid("Invalid input for field 'auth.scope': exactly one of project, domain, system is expected."));
    };
    match kind.as_str() {
        "project" => {
            let p: Project = parse(inside, "auth.scope.project")?;
            Ok(Wanted::Project(reference(p.id, p.name, p.domain, "project")?))
        }
        "domain" => Ok(Wanted::Domain(domain(Some(parse(inside, "auth.scope.domain")?), "scope")?)),
        "system" if inside.get("all") == Some(&Value::Bool(true)) => Ok(Wanted::System),
        "system" => Err(Error::invalid("Invalid input for field 'auth.scope.system': {\"all\": true} is expected.")),
        "unscoped" => Ok(Wanted::Unscoped),
        _ => Err(Error::invalid("Invalid input for field 'auth.scope': one of project, domain, system is expected.")),
    }
}

fn reference(id: Option<String>, name: Option<String>, of: Option<Domain>, what: &str) -> Result<Ref> {
    match (id, name) {
        (Some(id), _) => Ok(Ref::Id(id)),
        (None, Some(name)) => Ok(Ref::Name(name, domain(of, what)?)),
        (None, None) => Err(missing("id or name", what)),
    }
}

fn domain(given: Option<Domain>, what: &str) -> Result<DomainRef> {
    match given {
        Some(Domain { id: Some(id), .. }) => Ok(DomainRef::Id(id)),
        Some(Domain { name: Some(name), .. }) => Ok(DomainRef::Name(name)),
        _ => Err(missing("domain", what)),
    }
}

fn parse<T: serde::de::DeserializeOwned>(value: Value, at: &str) -> Result<T> {
    serde_json::from_value(value).map_err(|e| Error::invalid(format!("Invalid input for field '{at}': {e}")))
}

fn missing(what: &str, at: &str) -> Error {
    Error::invalid(format!(
        "Expecting to find {what} in {at}. The server could not comply with the request since it is either malformed or otherwise incorrect."
    ))
}
