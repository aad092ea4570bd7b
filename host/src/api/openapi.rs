//! The OpenAPI 3.1 document, made from the route tables: a route cannot be left out of it.
//!
//! Rows that share a method and a path (actions, versions, two APIs) are one operation there, with one request body out of
//! several; `x-stowage-operations` tells them apart: action, first and last microversion, policy, status.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use utoipa::openapi::{
    Components, ComponentsBuilder, Content, HttpMethod, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, PathsBuilder, Ref, RefOr,
    Required, Response, ResponseBuilder, ResponsesBuilder, Schema, ServerBuilder, Type,
    extensions::ExtensionsBuilder,
    path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
    request_body::{RequestBody, RequestBodyBuilder},
    schema::{OneOfBuilder, SchemaType},
    security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme},
    tag::TagBuilder,
};

use super::route::{Access, Api, Route, Verb};
use crate::app::PublicUrls;

const APIS: [Api; 4] = [Api::Identity, Api::Block, Api::Share, Api::Admin];

/// The document of every row of every API.
pub fn document(urls: &PublicUrls) -> OpenApi {
    of_rows(&APIS.into_iter().flat_map(super::routes).collect::<Vec<_>>(), urls)
}

/// The document of some rows.
pub fn of_rows(rows: &[Route], urls: &PublicUrls) -> OpenApi {
    let mut paths = PathsBuilder::new().build();
    for ((path, verb), rows) in grouped(rows) {
        paths.add_path_operation(path.clone(), vec![method(verb)], operation(&path, verb, &rows, urls));
    }
    let tags = APIS.map(|api| TagBuilder::new().name(api.name()).description(Some(about(api))).build());
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Stowage")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Four services, each on a listener of its own: see `servers` of each operation. Block and share paths are served with the \
                     project's id after the version, too: `/v3/{project_id}/volumes`.",
                ))
                .build(),
        )
        .tags(Some(tags))
        .paths(paths)
        .components(Some(components()))
        .build()
}

/// Rows by path and method. Paths that differ only in the names of their parameters are one path.
fn grouped(rows: &[Route]) -> BTreeMap<(String, &'static str), Vec<&Route>> {
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    let mut groups: BTreeMap<(String, &'static str), Vec<&Route>> = BTreeMap::new();
    for row in rows {
        let path = full_path(row);
        let shape = path.split('/').map(|s| if s.starts_with('{') { "{}" } else { s }).collect::<Vec<_>>().join("/");
        let path = named.entry(shape).or_insert(path).clone();
        groups.entry((path, verb_name(row.method))).or_default().push(row);
    }
    groups
}

/// The path from the listener's root.
pub fn full_path(row: &Route) -> String {
    if row.rooted { row.path.to_owned() } else { format!("/{}{}", row.api.root(), row.path) }
}

const fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Head => "head",
        Verb::Post => "post",
        Verb::Put => "put",
        Verb::Patch => "patch",
        Verb::Delete => "delete",
    }
}

fn method(verb: &str) -> HttpMethod {
    match verb {
        "head" => HttpMethod::Head,
        "post" => HttpMethod::Post,
        "put" => HttpMethod::Put,
        "patch" => HttpMethod::Patch,
        "delete" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn about(api: Api) -> &'static str {
    match api {
        Api::Identity => "The built-in identity: Keystone v3, as far as clients need it",
        Api::Block => "Block volumes: Cinder v3",
        Api::Share => "Shared file systems: Manila v2",
        Api::Admin => "Stowage's own: drivers, back ends, jobs, placements",
    }
}

fn operation(path: &str, verb: &str, rows: &[&Route], urls: &PublicUrls) -> Operation {
    let apis: BTreeSet<&str> = rows.iter().map(|r| r.api.name()).collect();
    let mut summaries: Vec<&str> = rows.iter().map(|r| r.summary).collect();
    summaries.dedup();
    let mut operation = OperationBuilder::new()
        .summary(Some(if summaries.len() == 1 {
            summaries[0].to_owned()
        } else {
            format!("{} (and {} more)", summaries[0], summaries.len() - 1)
        }))
        .description((summaries.len() > 1).then(|| summaries.join("; ")))
        .operation_id(Some(operation_id(path, verb)))
        .tags(Some(apis))
        .servers(Some(servers(rows, urls)))
        .request_body(body(rows))
        .responses(responses(rows))
        .extensions(Some(
            ExtensionsBuilder::new().add("x-stowage-operations", Value::from_iter(rows.iter().map(|r| told_apart(r)))).build(),
        ));
    for parameter in parameters(path, rows) {
        operation = operation.parameter(parameter);
    }
    if rows.iter().any(|r| r.access == Access::Token) {
        operation = operation.security(SecurityRequirement::new("token", Vec::<String>::new()));
    }
    operation.build()
}

fn operation_id(path: &str, verb: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let words: Vec<&str> = std::iter::once(verb).chain(words).collect();
    if words.len() == 1 { format!("{verb}_root") } else { words.join("_") + if path.ends_with('/') { "_root" } else { "" } }
}

fn servers(rows: &[&Route], urls: &PublicUrls) -> Vec<utoipa::openapi::Server> {
    let apis: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|r| match r.api {
            Api::Identity => (r.api.name(), urls.identity.as_str()),
            Api::Block => (r.api.name(), urls.block.as_str()),
            Api::Share => (r.api.name(), urls.share.as_str()),
            Api::Admin => (r.api.name(), urls.admin.as_str()),
        })
        .collect();
    let server = |(name, url): (&str, &str)| {
        let url = if url.is_empty() { "/" } else { url };
        ServerBuilder::new().url(url).description(Some(name)).build()
    };
    apis.into_iter().map(server).collect()
}

fn told_apart(row: &Route) -> Value {
    let version = |minor: u16| match row.api {
        Api::Block => json!(format!("3.{minor}")),
        Api::Share => json!(format!("2.{minor}")),
        Api::Identity | Api::Admin => Value::Null,
    };
    json!({
        "api": row.api, "action": row.action, "summary": row.summary, "policy": row.policy, "access": row.access, "success": row.success,
        "since": version(row.since), "until": if row.until == u16::MAX { Value::Null } else { version(row.until) }, "experimental": row.experimental,
    })
}

fn parameters(path: &str, rows: &[&Route]) -> Vec<Parameter> {
    let text = || RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(Type::String).build()));
    let mut parameters = Vec::new();
    for name in path.split('/').filter_map(|s| s.strip_prefix('{').and_then(|s| s.strip_suffix('}'))) {
        parameters
            .push(ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True).schema(Some(text())).build());
    }
    let mut seen = BTreeSet::new();
    for (name, kind, meaning) in rows.iter().flat_map(|r| r.query).filter(|(name, ..)| seen.insert(*name)) {
        let schema = RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(schema_type(kind)).build()));
        let query = ParameterBuilder::new().name(*name).parameter_in(ParameterIn::Query).required(Required::False);
        parameters.push(query.description(Some(*meaning)).schema(Some(schema)).build());
    }
    let header = |name: &str, meaning: &str| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(meaning))
            .schema(Some(text()))
            .build()
    };
    let of = |api: Api| rows.iter().any(|r| r.api == api && !r.rooted);
    if of(Api::Block) {
        parameters.push(header("OpenStack-API-Version", "`volume 3.NN`, or `volume latest`; without it 3.0"));
    }
    if of(Api::Share) {
        parameters.push(header("X-OpenStack-Manila-API-Version", "`2.NN`; without it 2.0"));
    }
    if rows.iter().any(|r| r.experimental) {
        parameters.push(header("X-OpenStack-Manila-API-Experimental", "`True` to see experimental operations"));
    }
    parameters
}

/// One body, or one out of several. None where no row takes one.
fn body(rows: &[&Route]) -> Option<RequestBody> {
    let mut schemas: Vec<Schema> = rows.iter().filter(|r| !r.body.is_empty() || r.action.is_some()).map(|r| members(r)).collect();
    let schema = match schemas.len() {
        0 => return None,
        1 => schemas.remove(0),
        _ => Schema::OneOf(schemas.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item).build()),
    };
    let all = rows.iter().all(|r| !r.body.is_empty() || r.action.is_some());
    Some(
        RequestBodyBuilder::new()
            .required(Some(if all { Required::True } else { Required::False }))
            .content("application/json", Content::new(Some(schema)))
            .build(),
    )
}

/// The members of a body. `volume.size` is the member `size` of the member `volume`; an action's members are inside its key.
fn members(row: &Route) -> Schema {
    let mut tree = Member::default();
    if let Some(action) = row.action {
        tree.inside.entry(action.to_owned()).or_default().meaning = row.summary;
    }
    for (name, kind, meaning) in row.body {
        let mut at = &mut tree;
        let inside_action = row.action.filter(|a| *name != *a && !name.starts_with(&format!("{a}.")));
        for part in inside_action.into_iter().chain(name.split('.')) {
            at = at.inside.entry(part.to_owned()).or_default();
        }
        (at.kind, at.meaning) = (kind, meaning);
    }
    tree.schema()
}

#[derive(Default)]
struct Member {
    kind: &'static str,
    meaning: &'static str,
    inside: BTreeMap<String, Member>,
}

impl Member {
    fn schema(&self) -> Schema {
        let kind = if self.inside.is_empty() && !self.kind.is_empty() { schema_type(self.kind) } else { Type::Object.into() };
        let object = ObjectBuilder::new().schema_type(kind).description((!self.meaning.is_empty()).then_some(self.meaning));
        Schema::Object(self.inside.iter().fold(object, |object, (name, member)| object.property(name.clone(), member.schema())).build())
    }
}

/// What the tables write; anything else is any value.
fn schema_type(kind: &str) -> SchemaType {
    match kind {
        "string" => Type::String.into(),
        "integer" => Type::Integer.into(),
        "number" => Type::Number.into(),
        "boolean" => Type::Boolean.into(),
        "object" => Type::Object.into(),
        _ => SchemaType::AnyValue,
    }
}

fn responses(rows: &[&Route]) -> utoipa::openapi::Responses {
    let mut responses = ResponsesBuilder::new();
    let successes: BTreeSet<u16> = rows.iter().map(|r| r.success).collect();
    for success in successes {
        let text = http::StatusCode::from_u16(success).ok().and_then(|s| s.canonical_reason()).unwrap_or("Success");
        let response = ResponseBuilder::new().description(text);
        let any = RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(Type::Object).build()));
        let empty = success == 204 || rows.iter().all(|r| r.method == Verb::Head);
        let response = if empty { response } else { response.content("application/json", Content::new(Some(any))) };
        responses = responses.response(success.to_string(), response.build());
    }
    let openstack = rows.iter().any(|r| matches!(r.api, Api::Block | Api::Share));
    let fault = if openstack { "Fault" } else { "Error" };
    responses.response("default", Ref::new(format!("#/components/responses/{fault}"))).build()
}

fn components() -> Components {
    let code = || ObjectBuilder::new().schema_type(Type::Integer).description(Some("The HTTP status"));
    let message = || ObjectBuilder::new().schema_type(Type::String).description(Some("A sentence for whoever can act"));
    let inner = || ObjectBuilder::new().property("code", code()).required("code").property("message", message()).required("message");
    let fault = ObjectBuilder::new()
        .additional_properties(Some(Schema::Object(inner().build())))
        .description(Some("One member that names the fault: itemNotFound, badRequest, ..."));
    let error = ObjectBuilder::new().property("error", inner()).required("error");
    let response = |about: &str, schema: Schema| -> Response {
        ResponseBuilder::new().description(about).content("application/json", Content::new(Some(schema))).build()
    };
    let token = ApiKeyValue::with_description("X-Auth-Token", "A token from POST /v3/auth/tokens");
    ComponentsBuilder::new()
        .response("Fault", response("A refusal by the block or share API", Schema::Object(fault.build())))
        .response("Error", response("A refusal by the identity or admin API", Schema::Object(error.build())))
        .security_scheme("token", SecurityScheme::ApiKey(ApiKey::Header(token)))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_rows() -> Vec<Route> {
        APIS.into_iter().flat_map(crate::api::routes).collect()
    }
    fn json() -> Value {
        serde_json::to_value(document(&PublicUrls::default())).unwrap()
    }

    #[test]
    fn every_row_of_every_table_appears_with_its_summary_and_policy() {
        let document = json();
        for row in all_rows() {
            let shape = |p: &str| p.split('/').map(|s| if s.starts_with('{') { "{}" } else { s }).collect::<Vec<_>>().join("/");
            let wanted = shape(&full_path(&row));
            let (_, item) =
                document["paths"].as_object().unwrap().iter().find(|(p, _)| shape(p) == wanted).unwrap_or_else(|| panic!("no {wanted}"));
            let operations = item[verb_name(row.method)]["x-stowage-operations"].as_array().unwrap();
            assert!(
                operations.iter().any(|o| o["summary"] == row.summary && o["action"] == json!(row.action) && o["policy"] == row.policy),
                "{wanted}"
            );
        }
    }
    /// Rows that upstream opens to every token: what they show is no secret.
    const ANY_TOKEN: &[&str] = &[
        "/v3/extensions",
        "/v3/extensions/{alias}",
        "/v3/os-availability-zone",
        "/v3/resource_filters",
        "/v2/extensions",
        "/v2/extensions/{alias}",
        // of the caller's own project
        "/v2/limits",
        // the configured subnets are everybody's
        "/network/v2.0",
        "/network/v2.0/networks",
        "/network/v2.0/networks/{network_id}",
        "/network/v2.0/subnets",
        "/network/v2.0/subnets/{subnet_id}",
        "/network/v2.0/extensions",
        "/network/v2.0/quotas/{project_id}",
        "/network/v2.0/quotas/{project_id}/default",
    ];

    #[test]
    fn every_row_has_a_summary_and_a_known_policy_or_is_public() {
        let policy = crate::policy::Policy::load(None).unwrap();
        for row in all_rows() {
            let name = format!("{:?} {}", row.method, full_path(&row));
            assert!(!row.summary.is_empty(), "{name} has no summary");
            match row.access {
                Access::Public => assert!(row.policy.is_empty(), "{name} is public and has a policy"),
                Access::Token if row.method == Verb::Get && ANY_TOKEN.contains(&full_path(&row).as_str()) => {
                    assert!(row.policy.is_empty(), "{name}")
                }
                Access::Token => assert!(!row.policy.is_empty(), "{name} has no policy"),
            }
            for action in row.policy.split(',').map(str::trim).filter(|a| !a.is_empty() && row.api != Api::Admin) {
                assert!(policy.knows(action), "{name}: the policy {action} is in no table");
            }
        }
    }
    #[test]
    fn no_two_rows_answer_the_same_request() {
        let rows = all_rows();
        for (n, a) in rows.iter().enumerate() {
            for b in &rows[n + 1..] {
                let same = a.api == b.api && a.rooted == b.rooted && a.method == b.method && a.path == b.path && a.action == b.action;
                assert!(!same || a.until < b.since || b.until < a.since, "{:?} {} twice", a.method, a.path);
            }
        }
    }
    #[test]
    fn the_document_is_openapi_3_1_with_unique_operation_ids_and_declared_path_parameters() {
        let document = json();
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
        let mut ids = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            assert!(path.starts_with('/'));
            for (verb, operation) in item.as_object().unwrap() {
                assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{verb} {path}: {}", operation["operationId"]);
                assert!(operation["responses"].as_object().unwrap().len() >= 2, "{verb} {path}");
                let empty = Vec::new();
                let declared: BTreeSet<&str> = operation["parameters"]
                    .as_array()
                    .unwrap_or(&empty)
                    .iter()
                    .filter(|p| p["in"] == "path")
                    .map(|p| p["name"].as_str().unwrap())
                    .collect();
                let used: BTreeSet<&str> = path.split('/').filter_map(|s| s.strip_prefix('{')?.strip_suffix('}')).collect();
                assert_eq!(declared, used, "{verb} {path}");
            }
        }
    }
    #[test]
    fn an_actions_members_stand_inside_its_key() {
        const ROW: Route = Route::new(Api::Block, Verb::Post, "/v/{id}/action", "p", 202, "Extend", crate::handler!(nothing))
            .action("os-extend")
            .body(&[("new_size", "integer", "GiB")]);
        async fn nothing(_: crate::api::request::ApiRequest) -> crate::error::Result<crate::api::reply::Reply> {
            Ok(crate::api::reply::Reply::empty(http::StatusCode::OK))
        }
        let document = serde_json::to_value(of_rows(&[ROW], &PublicUrls::default())).unwrap();
        let schema = &document["paths"]["/v3/v/{id}/action"]["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(schema["properties"]["os-extend"]["properties"]["new_size"]["type"], "integer");
    }
}
