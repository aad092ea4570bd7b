//! What operators do to share servers and back ends.

use http::Method;
use serde_json::json;

use super::{Player, Who};
use crate::{
    player::{brief, pick, text},
    shares::{plan::Step, world::BACKENDS},
};

impl Player {
    /// One of the servers that there are now.
    async fn server(&mut self, nth: usize) -> Option<String> {
        let answer = self.ask(Who::Admin, Method::GET, "/share-servers", None).await?;
        let servers = answer.body()["share_servers"].as_array().cloned().unwrap_or_default();
        pick(&servers.iter().map(|s| text(&s["id"])).collect::<Vec<_>>(), nth)
    }

    pub(super) async fn drop_server(&mut self, step: &Step, nth: usize) -> String {
        let Some(id) = self.server(nth).await else { return "no server".to_owned() };
        match self.request(step, Who::Admin, Method::DELETE, &format!("/share-servers/{id}"), None).await {
            Some(answer) => format!("server {id} {}", brief(&answer)),
            None => format!("server {id} no answer"),
        }
    }

    pub(super) async fn retry_server(&mut self, nth: usize) -> String {
        let Some(id) = self.server(nth).await else { return "no server".to_owned() };
        let outcome = self.operate(&format!("/share-servers/{id}/retry-network-update")).await;
        format!("server {id} {outcome}")
    }

    pub(super) async fn tell_server(&mut self, step: &Step, nth: usize) -> String {
        let Some(id) = self.server(nth).await else { return "no server".to_owned() };
        self.tell(step, &id, &format!("/share-servers/{id}/action"), "error").await
    }

    pub(super) async fn ensure(&mut self, step: &Step, backend: usize, strict: bool) -> String {
        let host = BACKENDS[backend];
        let (path, body) = match strict {
            true => ("/services/ensure", json!({ "host": host })),
            false => ("/services/ensure-shares", json!({ "ensure_shares": { "host": host } })),
        };
        match self.request(step, Who::Admin, Method::POST, path, Some(body)).await {
            Some(answer) => brief(&answer),
            None => "no answer".to_owned(),
        }
    }

    /// A request to our own API.
    pub(super) async fn operate(&mut self, path: &str) -> String {
        let Some(answer) = self.ask(Who::Operator, Method::POST, path, Some(json!({}))).await else { return "no answer".to_owned() };
        self.book.count(answer.status.is_success());
        if answer.status.is_server_error() {
            self.book.breaks(format!("[unexpected-status] {answer:?} (client {})", self.number));
        }
        brief(&answer)
    }
}
