//! The OpenAPI 3.1 document, made from the route table: a route cannot be left out of it.

use serde_json::{Map, Value, json};

use super::routes::{ROWS, Row};
use crate::node::refusal::Kind;

/// The document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for row in ROWS {
        let item = paths.entry(row.path).or_insert_with(|| json!({}));
        item[row.method.to_ascii_lowercase()] = operation(row);
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Stowage node", "version": env!("CARGO_PKG_VERSION"), "description": "A Linux machine as a storage array"},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Error": {"description": "A refusal", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}},
            "schemas": {"Error": {
                "type": "object", "required": ["error"],
                "properties": {"error": {
                    "type": "object", "required": ["kind", "message"],
                    "properties": {"kind": {"type": "string", "enum": Kind::ALL}, "message": {"type": "string", "description": "For the operator; no secrets"}},
                }},
            }},
        },
    })
}

fn operation(row: &Row) -> Value {
    let mut parameters: Vec<Value> = row
        .path
        .split('/')
        .filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    parameters.extend(
        row.query
            .iter()
            .map(|(name, kind, meaning)| json!({"name": name, "in": "query", "description": meaning, "schema": {"type": kind}})),
    );
    if row.changes {
        let header = |name: &str, required: bool, meaning: &str, kind: Value| json!({"name": name, "in": "header", "required": required, "description": meaning, "schema": kind});
        parameters.push(header(
            "Stowage-Generation",
            true,
            "Lower than one seen for the object: refused",
            json!({"type": "integer", "minimum": 0}),
        ));
        parameters.push(header(
            "Stowage-Operation",
            false,
            "The id of the piece of work, for the log",
            json!({"type": "string", "maxLength": 255}),
        ));
        parameters.push(header(
            "Stowage-Request-Id",
            false,
            "The user's request, for the log",
            json!({"type": "string", "maxLength": 255}),
        ));
    }
    let success = match row.success {
        204 => json!({"description": "Done"}),
        _ => json!({"description": "Done", "content": {"application/json": {"schema": {"type": "object"}}}}),
    };
    let mut operation = json!({
        "summary": row.summary,
        "operationId": operation_id(row),
        "parameters": parameters,
        "responses": {row.success.to_string(): success, "default": {"$ref": "#/components/responses/Error"}},
    });
    if !row.open {
        operation["security"] = json!([{"token": []}]);
    }
    if !row.body.is_empty() {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": schema(row)}}});
    }
    operation
}

fn schema(row: &Row) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, kind, meaning) in row.body {
        if kind.ends_with('!') {
            required.push(*name);
        }
        properties.insert((*name).to_owned(), json!({"type": kind.trim_end_matches('!'), "description": meaning}));
    }
    json!({"type": "object", "additionalProperties": false, "properties": properties, "required": required})
}

fn operation_id(row: &Row) -> String {
    let method = row.method.to_ascii_lowercase();
    let words = row.path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_an_operation_with_a_name_of_its_own() {
        let document = document();
        let mut names = std::collections::BTreeSet::new();
        for row in ROWS {
            let operation = &document["paths"][row.path][row.method.to_ascii_lowercase()];
            assert_eq!(operation["summary"], row.summary);
            assert!(names.insert(operation["operationId"].to_string()), "{}", row.path);
        }
    }

    #[test]
    fn only_health_is_open_and_everything_but_get_is_fenced() {
        for row in ROWS {
            assert_eq!(row.open, row.path == "/healthz");
            assert_eq!(row.changes, row.method != "GET", "{}", row.path);
        }
    }

    #[test]
    fn the_contract_in_prose_names_every_path() {
        let prose = include_str!("../../../../docs/node-api.md");
        for row in ROWS {
            assert!(prose.contains(row.path), "{} is not in docs/node-api.md", row.path);
        }
    }
}
