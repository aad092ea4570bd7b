//! Share networks and their subnets.

use http::Method;
use serde_json::{Value, json};

use super::{Player, Who};
use crate::{
    player::{brief, pick, text},
    shares::{
        book::Net,
        plan::Step,
        world::{SUBNETS, named},
    },
};

impl Player {
    fn network(&self, net: usize) -> Option<String> {
        self.book.net(net).network.clone()
    }

    fn forget_network(&self, net: usize, id: &str) {
        let mut held = self.book.net(net);
        if held.network.as_deref() == Some(id) {
            *held = Default::default();
        }
    }

    /// The network in the slot; a new one where there is none.
    pub(super) async fn network_in(&mut self, step: &Step, net: usize) -> Result<String, String> {
        if let Some(there) = self.network(net) {
            return Ok(there);
        }
        let outcome = self.make_network(step, net, net).await;
        self.network(net).ok_or(outcome)
    }

    /// Puts a new network into the slot, if that is empty.
    pub(super) async fn make_network(&mut self, step: &Step, net: usize, subnet: usize) -> String {
        if let Some(there) = self.network(net) {
            let gone = self.shown(&format!("/share-networks/{there}")).await.is_some_and(|a| a.status == 404);
            if !gone {
                return format!("{there} is there");
            }
            self.forget_network(net, &there);
        }
        let body = json!({ "share_network": named(SUBNETS[subnet]) });
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/share-networks", Some(body)).await else {
            return "no answer".to_owned();
        };
        if answer.status != 200 {
            return brief(&answer);
        }
        let made = answer.body()["share_network"].clone();
        let id = text(&made["id"]);
        let mut held = self.book.net(net);
        if held.network.is_none() {
            *held = Net { network: Some(id.clone()), subnets: vec![text(&made["share_network_subnets"][0]["id"])] };
        }
        format!("200 network {id}")
    }

    pub(super) async fn drop_network(&mut self, step: &Step, net: usize) -> String {
        let Some(id) = self.network(net) else { return "no network".to_owned() };
        let path = format!("/share-networks/{id}");
        let Some(answer) = self.request(step, Who::Member, Method::DELETE, &path, None).await else { return format!("{id} no answer") };
        match answer.status.as_u16() {
            404 => self.forget_network(net, &id),
            202 => {
                if let Some(a) = self.shown(&path).await.filter(|a| a.status != 404) {
                    self.book.breaks(format!("[read-after-write] the delete of network {id} was accepted, and then: {a:?}"));
                }
                self.forget_network(net, &id);
            }
            _ => {}
        }
        format!("{id} {}", brief(&answer))
    }

    /// A request about the network in the slot.
    async fn about_network(&mut self, step: &Step, net: usize, method: Method, rest: &str, body: Option<Value>) -> (String, Option<Value>) {
        let Some(id) = self.network(net) else { return ("no network".to_owned(), None) };
        let Some(answer) = self.request(step, Who::Member, method, &format!("/share-networks/{id}{rest}"), body).await else {
            return (format!("{id} no answer"), None);
        };
        if answer.status == 404 && self.shown(&format!("/share-networks/{id}")).await.is_some_and(|a| a.status == 404) {
            self.forget_network(net, &id);
        }
        let accepted = answer.status.is_success().then(|| answer.body());
        (format!("{id} {}", brief(&answer)), accepted)
    }

    pub(super) async fn add_subnet(&mut self, step: &Step, net: usize, subnet: usize) -> String {
        let body = json!({ "share-network-subnet": named(SUBNETS[subnet]) });
        let (outcome, made) = self.about_network(step, net, Method::POST, "/subnets", Some(body)).await;
        let Some(made) = made else { return outcome };
        let (id, of) = (text(&made["share_network_subnet"]["id"]), text(&made["share_network_subnet"]["share_network_id"]));
        let mut held = self.book.net(net);
        if held.network.as_ref() == Some(&of) {
            held.subnets.push(id.clone());
        }
        format!("{outcome} subnet {id}")
    }

    pub(super) async fn check_subnet(&mut self, step: &Step, net: usize, subnet: usize, anew: bool) -> String {
        let mut members = named(SUBNETS[subnet]);
        members["reset_operation"] = json!(anew);
        let body = json!({ "share_network_subnet_create_check": members });
        self.about_network(step, net, Method::POST, "/action", Some(body)).await.0
    }

    pub(super) async fn drop_subnet(&mut self, step: &Step, net: usize, nth: usize) -> String {
        let Some(id) = pick(&self.book.net(net).subnets, nth) else { return "no subnet".to_owned() };
        let (outcome, gone) = self.about_network(step, net, Method::DELETE, &format!("/subnets/{id}"), None).await;
        if gone.is_some() || outcome.contains(" 404 ") {
            self.book.net(net).subnets.retain(|s| *s != id);
        }
        format!("subnet {id} of {outcome}")
    }

    pub(super) async fn secure(&mut self, step: &Step, net: usize) -> String {
        let body = json!({ "security_service": { "type": "ldap", "domain": "example.org" } });
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/security-services", Some(body)).await else {
            return "no answer".to_owned();
        };
        let id = text(&answer.body()["security_service"]["id"]);
        let body = json!({ "add_security_service": { "security_service_id": id } });
        self.about_network(step, net, Method::POST, "/action", Some(body)).await.0
    }
}
