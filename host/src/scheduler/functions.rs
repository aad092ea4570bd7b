//! A pool's `filter_function` and `goodness_function`, computed for one request.
//!
//! `stats` and `capabilities` are what the pool reports with our figures beside it, `extra` the type's extra specs, `qos` its
//! QoS specs, `volume` (or `share`) the request. A function that names the protocol is computed for each of its spellings.

use serde_json::{Map, Value as Json, json};

use super::{
    formula::{Formula, FormulaError, Value},
    pools::Candidate,
    request::PlacementRequest,
};
use crate::store::sql::backends::BackendKind;

/// Says of a pool whether it takes a request.
pub const FILTER: &str = "filter_function";
/// Says from 0 to 100 how good a pool is for a request.
pub const GOODNESS: &str = "goodness_function";

const PROTOCOL: &str = "storage_protocol";

/// What the pool's function gives, once for each spelling of the protocol if it names that; none if the pool has none.
///
/// # Errors
/// The function cannot be read, or computed for this request.
pub fn values(pool: &Candidate, request: &PlacementRequest, function: &str) -> Result<Option<Vec<Value>>, FormulaError> {
    let Some(text) = pool.capabilities.get(function).and_then(Json::as_str).filter(|t| !t.trim().is_empty()) else { return Ok(None) };
    let formula = Formula::parse(text)?;
    let about = about(request);
    let compute = |protocol: Option<&Json>| formula.evaluate(&|space, key| variable(pool, request, &about, protocol, space, key));
    let spellings = match pool.capabilities.get(PROTOCOL) {
        Some(Json::Array(all)) if !all.is_empty() && text.contains(PROTOCOL) => all,
        _ => return Ok(Some(vec![compute(None)?])),
    };
    spellings.iter().map(|p| compute(Some(p))).collect::<Result<Vec<_>, _>>().map(Some)
}

fn variable(
    pool: &Candidate,
    request: &PlacementRequest,
    about: &Map<String, Json>,
    protocol: Option<&Json>,
    space: &str,
    key: &str,
) -> Option<Json> {
    match space {
        "stats" | "capabilities" => match (key, protocol) {
            (PROTOCOL, Some(protocol)) => Some(protocol.clone()),
            ("host", _) => Some(json!(pool.row.host)),
            _ => pool.capabilities.get(key).cloned(),
        },
        "extra" => request.extra_specs.get(key).map(|v| json!(v)),
        "qos" if request.service == BackendKind::Block => request.qos.get(key).map(|v| json!(v)),
        "volume" if request.service == BackendKind::Block => about.get(key).cloned(),
        "share" if request.service == BackendKind::Share => about.get(key).cloned(),
        _ => None,
    }
}

fn about(request: &PlacementRequest) -> Map<String, Json> {
    let size = request.whole_gib.unwrap_or(request.size_gib);
    let all = json!({
        "id": request.resource_id,
        "size": size,
        "project_id": request.project_id,
        "availability_zone": request.availability_zone,
        "multiattach": request.extra_specs.get("multiattach").is_some_and(|v| v == "<is> True"),
    });
    match all {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}
