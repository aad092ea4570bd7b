//! Who calls, in the tables of who may call what: every role, in the project that things belong to and in another one.

use stowage::api::route::Api;

use crate::{Client, Persona, persona::Personas};

/// A caller: what he is, and whether what he asks about is his own project's.
pub struct Caller {
    pub name: &'static str,
    pub role: &'static str,
    pub own: bool,
    pub client: Client,
}

impl Caller {
    /// What upstream's table says of an operation that `needs` this.
    pub fn may(&self, needs: &str, about_a_project: bool) -> bool {
        let at_home = self.own || !about_a_project;
        match needs {
            "public" | "T" => true,
            "R" => self.role == "admin" || (at_home && matches!(self.role, "member" | "reader")),
            "M" => self.role == "admin" || (at_home && self.role == "member"),
            "A" => self.role == "admin",
            other => panic!("{other} is no role of the table"),
        }
    }
}

/// All of them, of the API at `url`; things belong to project one.
pub async fn callers(personas: &Personas, api: Api, url: &str, identity: &str) -> Vec<Caller> {
    let shipped = |persona| personas.client(api, url.to_owned(), persona);
    let further = async |name: &'static str, of: Persona, role: &str| {
        let login = personas.another(identity.to_owned(), name, of, role).await;
        Client::new(api, url.to_owned()).with_token(login.token).with_ids(login.project_id, login.user_id)
    };
    let caller = |name, role, own, client: Client| Caller { name, role, own, client };
    vec![
        caller("reader of the project", "reader", true, shipped(Persona::Reader)),
        caller("service in the project", "service", true, further("service-in-one", Persona::Member, "service").await),
        caller("member of another project", "member", false, shipped(Persona::Stranger)),
        caller("reader of another project", "reader", false, further("reader-in-two", Persona::Stranger, "reader").await),
        caller("service in another project", "service", false, shipped(Persona::Service)),
        caller("member of the project", "member", true, shipped(Persona::Member)),
        caller("admin in the project", "admin", true, further("admin-in-one", Persona::Member, "admin").await),
        caller("admin in another project", "admin", false, shipped(Persona::Admin)),
    ]
}
