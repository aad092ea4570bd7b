//! The callers of the tests: made over the identity API, as an operator would.

use std::{collections::HashMap, path::PathBuf};

use serde_json::{Value, json};
use stowage::api::route::Api;

use crate::Client;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Persona {
    /// The first start's admin.
    Admin,
    /// `member` (and `reader`) in project one.
    Member,
    /// A second `member` of project one.
    SecondMember,
    /// `reader` in project one.
    Reader,
    /// `member` of another project.
    Stranger,
    /// Has the role `service`, as Nova's service user has.
    Service,
}

/// A token and what it is for.
#[derive(Debug, Clone)]
pub struct Login {
    pub token: String,
    pub project_id: String,
    pub user_id: String,
    pub user_name: String,
    pub password: String,
}

/// Every persona's token.
pub struct Personas(HashMap<Persona, Login>);

impl Personas {
    pub async fn make(identity: String, clouds_yaml: PathBuf) -> Self {
        let clouds = std::fs::read_to_string(&clouds_yaml).unwrap_or_else(|e| panic!("{}: {e}", clouds_yaml.display()));
        let setting = |key: &str| {
            let line = clouds.lines().find_map(|l| l.trim().strip_prefix(key)?.trim_start().strip_prefix(':'));
            line.unwrap_or_else(|| panic!("no {key} in {clouds}")).trim().trim_matches(['"', '\'']).to_owned()
        };
        let anonymous = Client::new(Api::Identity, identity);
        let (user, password, project) = (setting("username"), setting("password"), setting("project_name"));
        let admin = log_in(&anonymous, &user, &password, json!({ "name": project, "domain": { "id": "default" } })).await;
        let operator = anonymous.clone().with_token(&admin.token);
        let roles = operator.get("/roles").await.expect(200);
        let role = |name: &str| {
            let found = roles["roles"].as_array().unwrap().iter().find(|r| r["name"] == name);
            found.unwrap_or_else(|| panic!("no role {name} in {roles}"))["id"].as_str().unwrap().to_owned()
        };
        let one = make_project(&operator, "one").await;
        let two = make_project(&operator, "two").await;
        let service = make_project(&operator, "services").await;
        let mut all = HashMap::from([(Persona::Admin, admin)]);
        let wanted = [
            (Persona::Member, "member-one", &one, "member"),
            (Persona::SecondMember, "second-member-one", &one, "member"),
            (Persona::Reader, "reader-one", &one, "reader"),
            (Persona::Stranger, "member-two", &two, "member"),
            (Persona::Service, "nova", &service, "service"),
        ];
        for (persona, name, project, role_name) in wanted {
            let password = format!("password of {name}");
            let body = json!({ "user": { "name": name, "password": password, "domain_id": "default" } });
            let user_id = operator.post("/users", body).await.expect(201)["user"]["id"].as_str().unwrap().to_owned();
            let grant = format!("/projects/{project}/users/{user_id}/roles/{}", role(role_name));
            operator.send(http::Method::PUT, &grant, None).await.expect(204);
            all.insert(persona, log_in(&anonymous, name, &password, json!({ "id": project })).await);
        }
        Self(all)
    }

    /// A further user, with one role in the project of one of the personas.
    pub async fn another(&self, identity: String, name: &str, in_project_of: Persona, role: &str) -> Login {
        let anonymous = Client::new(Api::Identity, identity);
        let operator = anonymous.clone().with_token(&self.login(Persona::Admin).token);
        let roles = operator.get("/roles").await.expect(200);
        let role = roles["roles"].as_array().unwrap().iter().find(|r| r["name"] == role).unwrap()["id"].as_str().unwrap().to_owned();
        let project = &self.login(in_project_of).project_id;
        let body = json!({ "user": { "name": name, "password": name, "domain_id": "default" } });
        let user_id = operator.post("/users", body).await.expect(201)["user"]["id"].as_str().unwrap().to_owned();
        operator.send(http::Method::PUT, &format!("/projects/{project}/users/{user_id}/roles/{role}"), None).await.expect(204);
        log_in(&anonymous, name, name, json!({ "id": project })).await
    }

    pub fn login(&self, persona: Persona) -> &Login {
        &self.0[&persona]
    }
    pub fn client(&self, api: Api, url: String, persona: Persona) -> Client {
        let login = self.login(persona);
        Client::new(api, url).with_token(&login.token).with_ids(&login.project_id, &login.user_id)
    }
}

async fn make_project(operator: &Client, name: &str) -> String {
    let body = json!({ "project": { "name": name, "domain_id": "default" } });
    operator.post("/projects", body).await.expect(201)["project"]["id"].as_str().unwrap().to_owned()
}

/// `POST /v3/auth/tokens` with a password.
pub async fn log_in(anonymous: &Client, user: &str, password: &str, project: Value) -> Login {
    let body = json!({ "auth": {
        "identity": { "methods": ["password"], "password": { "user": { "name": user, "domain": { "id": "default" }, "password": password } } },
        "scope": { "project": project },
    }});
    let answer = anonymous.post("/auth/tokens", body).await;
    let token = answer.expect(201);
    Login {
        token: answer.header("x-subject-token").unwrap().to_owned(),
        project_id: token["token"]["project"]["id"].as_str().unwrap().to_owned(),
        user_id: token["token"]["user"]["id"].as_str().unwrap().to_owned(),
        user_name: user.to_owned(),
        password: password.to_owned(),
    }
}
