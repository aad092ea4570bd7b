//! What a handler is given.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use bytes::Bytes;
use http::HeaderMap;
use serde::de::DeserializeOwned;

use super::route::Api;
use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
};

/// One authenticated request whose microversion and path already fit a route.
pub struct ApiRequest {
    pub app: Arc<App>,
    pub ctx: RequestContext,
    /// Path parameters by their name in the route, percent-decoded.
    pub path: HashMap<String, String>,
    /// Query pairs in order, decoded. A key may repeat.
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    /// At most 114688 bytes.
    pub body: Bytes,
    /// Scheme, host and root of this API as the client reached it, project segment included if the URL had one:
    /// `http://127.0.0.1:8776/v3/<project>`. Links in bodies start with it.
    pub base_url: String,
    /// Scheme and host alone: `http://127.0.0.1:8776`.
    pub host_url: String,
    pub api: Api,
    /// The share API's experimental operations were asked for.
    pub experimental: bool,
    /// Who is calling, for log-in limits: the address of the connection. None where the listener does not know it.
    pub peer: Option<IpAddr>,
}

impl ApiRequest {
    /// A path parameter; empty only if the route does not have it.
    pub fn param(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }
    /// The last value of a query key.
    pub fn query_value(&self, key: &str) -> Option<&str> {
        self.query.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }
    /// Parses the body.
    ///
    /// # Errors
    /// [`Kind::Invalid`](crate::error::Kind::Invalid) naming the member that does not fit and what was expected.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        if self.body.is_empty() {
            return Err(Error::invalid("Missing required element in request body: a JSON object is needed."));
        }
        let mut de = serde_json::Deserializer::from_slice(&self.body);
        let value = serde_path_to_error::deserialize(&mut de).map_err(|e| {
            if matches!(e.inner().classify(), serde_json::error::Category::Data) {
                Error::invalid(format!("Invalid input for field/attribute {}. {}", e.path(), e.inner()))
            } else {
                Error::invalid("Malformed request body")
            }
        })?;
        de.end().map_err(|_| Error::invalid("Malformed request body"))?;
        Ok(value)
    }
}
