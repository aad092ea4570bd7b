//! Objects in an HTTP array outside the service. The array itself refuses what does not fit and calls of an older generation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::{
    http::{Answer, Http},
    prelude::*,
    serde_json::json,
};

use super::{Array, Change, Created, Object, full};
use crate::options::ARRAY_PASSWORD;

pub struct HttpArray<'c> {
    http: Http<'c>,
}

#[derive(Deserialize)]
struct Found {
    id: String,
    version: u64,
    #[serde(flatten)]
    object: Object,
}

#[derive(Deserialize)]
struct Page {
    objects: Vec<Found>,
}

#[derive(Serialize)]
struct Put<'o> {
    #[serde(flatten)]
    object: &'o Object,
    limit_gib: Option<u64>,
}

#[derive(Deserialize)]
struct Full {
    used_gib: u64,
    limit_gib: u64,
}

impl<'c> HttpArray<'c> {
    /// With a user, the log-in carries the option `array_password`; the host writes it into the body, the driver never sees it.
    pub fn new(cx: &'c Context, url: &str, user: Option<&'c str>) -> Self {
        let base = url.trim_end_matches('/').to_owned();
        let log_in = base.clone();
        let http = cx.http().at(&base).identified().with_login("authorization", "Bearer ", move |cx| {
            #[derive(Deserialize)]
            struct Token {
                token: String,
            }
            let request = cx.http().post(format!("{log_in}/v1/session"));
            let request = match user {
                Some(user) => {
                    request.json(&json!({ "user": user, "password": "@password@" })).secret_in_json("@password@", &ARRAY_PASSWORD)
                }
                None => request.json(&json!({})),
            };
            Ok(request.send()?.ok()?.json::<Token>()?.token)
        });
        Self { http }
    }

    fn find(&self, kind: &str, id: &str) -> Result<Option<Found>> {
        self.http.get(path(kind, id)).send()?.found()?.map(|answer| answer.json()).transpose()
    }

    fn put(&self, kind: &str, id: &str, object: &Object, limit: Option<u64>, condition: (&str, String)) -> Result<Answer> {
        let answer = self.http.put(path(kind, id)).header(condition.0, condition.1).json(&Put { object, limit_gib: limit }).send()?;
        match answer.status {
            507 => {
                let Full { used_gib, limit_gib } = answer.json()?;
                Err(full(&object.pool, used_gib, limit_gib, object.gib))
            }
            412 => Err(DriverError::transient("the array has seen a newer generation of this call")),
            _ => Ok(answer),
        }
    }
}

fn path(kind: &str, id: &str) -> String {
    let mut path = format!("/v1/objects/{kind}/");
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
            other => path.push_str(&format!("%{other:02X}")),
        }
    }
    path
}

impl Array for HttpArray<'_> {
    fn get(&self, kind: &str, id: &str) -> Result<Option<Object>> {
        Ok(self.find(kind, id)?.map(|f| f.object))
    }

    fn create(&self, kind: &str, id: &str, object: &Object, limit: Option<u64>) -> Result<Created> {
        let answer = self.put(kind, id, object, limit, ("if-none-match", "*".into()))?;
        if answer.status != 409 {
            return answer.ok().map(|_| Created::New);
        }
        let there = self.get(kind, id)?.ok_or_else(|| DriverError::busy(format!("{kind} {id} is being deleted")))?;
        Ok(Created::There(there))
    }

    fn change(&self, kind: &str, id: &str, limit: Option<u64>, change: &mut Change<'_>) -> Result<Option<Object>> {
        for _ in 0..20 {
            let Some(found) = self.find(kind, id)? else { return Ok(None) };
            let mut object = found.object;
            if !change(&mut object)? {
                return Ok(Some(object));
            }
            let answer = self.put(kind, id, &object, limit, ("if-match", found.version.to_string()))?;
            match answer.status {
                404 => return Ok(None),
                409 => {}
                _ => return answer.ok().map(|_| Some(object)),
            }
        }
        Err(DriverError::busy(format!("{kind} {id} is being changed by too many calls")))
    }

    fn remove(&self, kind: &str, id: &str) -> Result<bool> {
        let answer = self.http.delete(path(kind, id)).send()?;
        match answer.status {
            404 => Ok(false),
            412 => Err(DriverError::transient("the array has seen a newer generation of this call")),
            _ => answer.ok().map(|_| true),
        }
    }

    fn list(&self, kind: &str, prefix: &str) -> Result<Vec<(String, Object)>> {
        let page: Page = self.http.get(format!("/v1/objects/{kind}?prefix={prefix}")).send()?.ok()?.json()?;
        Ok(page.objects.into_iter().map(|f| (f.id, f.object)).collect())
    }

    fn used(&self) -> Result<BTreeMap<String, u64>> {
        self.http.get("/v1/used").send()?.ok()?.json()
    }
}
