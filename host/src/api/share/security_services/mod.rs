//! `/security-services`.

mod create;
mod delete;
mod list;
mod show;
mod update;

use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::Members,
    },
    domain::text,
    error::Result,
    handler,
};

const ALL: &str = "/security-services";
const ONE: &str = "/security-services/{service_id}";

const LIST_QUERY: &[(&str, &str, &str)] = &[
    ("limit", "integer", "at most this many"),
    ("offset", "integer", "skip this many"),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("share_network_id", "string", "those that this network uses"),
    ("name", "string", "filter"),
    ("type", "string", "filter"),
    ("user", "string", "filter"),
    ("server", "string", "filter"),
    ("dns_ip", "string", "filter"),
    ("domain", "string", "filter"),
];

const BODY: &[(&str, &str, &str)] = &[
    ("security_service.type", "string", "ldap, kerberos, active_directory"),
    ("security_service.name", "string", "at most 255 characters"),
    ("security_service.description", "string", "at most 255 characters"),
    ("security_service.dns_ip", "string", "of the name server"),
    ("security_service.server", "string", "host name or address"),
    ("security_service.domain", "string", "the domain"),
    ("security_service.user", "string", "who the share server logs in as"),
    ("security_service.password", "string", "the user's"),
    ("security_service.ou", "string", "the organizational unit, from 2.44"),
    ("security_service.default_ad_site", "string", "instead of a server, from 2.76"),
];

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, ALL, "security_service:index", 200, "List security services", handler!(list::summaries))
        .query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Get,
        "/security-services/detail",
        "security_service:detail",
        200,
        "List security services with all fields",
        handler!(list::details),
    )
    .query(LIST_QUERY),
    Route::new(Api::Share, Verb::Post, ALL, "security_service:create", 200, "Create a security service", handler!(create::create))
        .body(BODY),
    Route::new(Api::Share, Verb::Get, ONE, "security_service:show", 200, "Show a security service", handler!(show::show)),
    Route::new(Api::Share, Verb::Put, ONE, "security_service:update", 200, "Change a security service", handler!(update::update))
        .body(BODY),
    Route::new(
        Api::Share,
        Verb::Delete,
        ONE,
        "security_service:delete",
        202,
        "Delete a security service that no network uses",
        handler!(delete::delete),
    ),
];

/// Members that are texts, and the columns they are kept in.
const TEXTS: [(&str, &str); 9] = [
    ("name", "name"),
    ("description", "description"),
    ("dns_ip", "dns_ip"),
    ("server", "server"),
    ("domain", "domain"),
    ("user", "user_name"),
    ("password", "password"),
    ("ou", "ou"),
    ("default_ad_site", "default_ad_site"),
];
/// Longest address of a name server.
const MAX_DNS: usize = 64;

/// A text as it stands: blanks may be part of a password.
fn bounded(members: &Members<'_>, key: &str) -> Result<Option<String>> {
    let most = if key == "dns_ip" { MAX_DNS } else { text::MAX };
    match members.text(key)? {
        // without the value, which may be a secret
        Some(t) if t.chars().count() > most => {
            Err(crate::error::Error::invalid(format!("Invalid input for field/attribute {key}: it has more than {most} characters.")))
        }
        found => Ok(found.map(str::to_owned)),
    }
}
