//! Another hand on an array than the driver's.

use serde_json::{Value, json};

pub struct Forger {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Forger {
    pub async fn on(url: &str) -> Self {
        let http = reqwest::Client::new();
        let answer = http.post(format!("{url}/v1/session")).json(&json!({})).send().await.unwrap();
        let token = answer.json::<Value>().await.unwrap()["token"].as_str().unwrap().to_owned();
        Self { http, url: url.to_owned(), token }
    }
    async fn send(&self, request: reqwest::RequestBuilder) {
        // newer than any call of the driver
        let request = request.bearer_auth(&self.token).header("stowage-generation", u64::MAX / 2);
        request.send().await.unwrap().error_for_status().unwrap();
    }
    pub async fn put(&self, kind: &str, id: &str, object: &Value) {
        let request = self.http.put(self.object(kind, id)).header("if-none-match", "*");
        self.send(request.json(object)).await;
    }
    pub async fn delete(&self, kind: &str, id: &str) {
        self.send(self.http.delete(self.object(kind, id))).await;
    }
    fn object(&self, kind: &str, id: &str) -> String {
        // a key may hold an escaped character, which is part of it
        format!("{}/v1/objects/{kind}/{}", self.url, id.replace('%', "%25"))
    }
}
