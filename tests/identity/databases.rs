//! The same identity on both databases, and several processes on one.

use std::time::Duration;

use http::Method;
use serde_json::json;
use stowage::{
    config::{Argon2Config, IdentityConfig},
    domain::identity::Scope,
    service::identity::{
        Identity,
        bootstrap::{ADMIN, Bootstrapped, bootstrap, reset_admin},
        catalog::ServiceCatalog,
        issue::{DomainRef, Proof, Ref, Wanted},
    },
    store::Store,
};
use support::{Persona, TestApp, both_databases};

use crate::member;

fn config() -> IdentityConfig {
    IdentityConfig { argon2: Argon2Config { memory_kib: 8, iterations: 1, parallelism: 1, concurrency: 2 }, ..IdentityConfig::default() }
}

fn identity(store: &Store) -> Identity {
    Identity::new(store.clone(), &config(), ServiceCatalog::default()).unwrap()
}

/// The administrator's password as the first start wrote it.
fn password(clouds: &std::path::Path) -> String {
    let text = std::fs::read_to_string(clouds).unwrap();
    text.lines().find_map(|l| l.trim().strip_prefix("password: ")).unwrap().trim_matches('"').to_owned()
}

fn admin(password: String) -> Proof {
    Proof::Password { user: Ref::Name(ADMIN.into(), DomainRef::Name("Default".into())), password }
}

fn admin_project() -> Wanted {
    Wanted::Project(Ref::Name(ADMIN.into(), DomainRef::Id("default".into())))
}

both_databases! {
    async fn the_first_start_makes_an_administrator_who_can_log_in(db) {
        let folder = tempfile::tempdir().unwrap();
        let clouds = folder.path().join("clouds.yaml");
        let made = bootstrap(&db.store, &config(), "http://i", &clouds).await.unwrap();
        assert_eq!(made, Bootstrapped::Now { clouds_yaml: clouds.clone() });
        let again = bootstrap(&db.store, &config(), "http://i", &clouds).await.unwrap();
        assert_eq!(again, Bootstrapped::Before);
        let issued = identity(&db.store).issue(admin(password(&clouds)), admin_project(), None).await.unwrap();
        let roles: Vec<_> = issued.info.roles.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(roles, ["admin", "member", "reader"]);
    }

    async fn a_new_administrators_password_replaces_the_old_one(db) {
        let folder = tempfile::tempdir().unwrap();
        let clouds = folder.path().join("clouds.yaml");
        bootstrap(&db.store, &config(), "http://i", &clouds).await.unwrap();
        let old = password(&clouds);
        let token = identity(&db.store).issue(admin(old.clone()), admin_project(), None).await.unwrap().token;
        reset_admin(&db.store, &config(), "http://i", &clouds).await.unwrap();
        let identity = identity(&db.store);
        assert!(identity.issue(admin(old), admin_project(), None).await.is_err());
        assert!(identity.resolve(&token).await.is_err());
        assert!(identity.issue(admin(password(&clouds)), admin_project(), None).await.is_ok());
    }

    async fn a_first_start_that_cannot_write_its_file_leaves_nothing_behind(db) {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no such folder").join("clouds.yaml");
        assert!(bootstrap(&db.store, &config(), "http://i", &missing).await.unwrap_err().to_string().contains("clouds.yaml"));
        let clouds = folder.path().join("clouds.yaml");
        assert!(matches!(bootstrap(&db.store, &config(), "http://i", &clouds).await.unwrap(), Bootstrapped::Now { .. }));
    }

    async fn roles_are_found_through_any_number_of_implications(db) {
        let folder = tempfile::tempdir().unwrap();
        bootstrap(&db.store, &config(), "http://i", &folder.path().join("clouds.yaml")).await.unwrap();
        let user = db.store.user_by_name("default", ADMIN).await.unwrap().unwrap();
        let reader = db.store.roles(Some("reader")).await.unwrap().remove(0);
        let admin = db.store.roles(Some("admin")).await.unwrap().remove(0);
        let mut tx = db.store.begin().await.unwrap();
        tx.insert_implied_role(&reader.id, &admin.id).await.unwrap();
        tx.commit().await.unwrap();
        let found = db.store.effective_roles(&user.id, &Scope::System).await.unwrap();
        assert_eq!(found.len(), 3, "a circle of implications ends");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_that_start_at_once_make_one_administrator() {
    support::db::on_postgres(|db| async move {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one.yaml"), folder.path().join("two.yaml"));
        let second = db.second_store().await;
        let (config, other) = (config(), config());
        let (a, b) = tokio::join!(bootstrap(&db.store, &config, "http://i", &one), bootstrap(&second, &other, "http://i", &two));
        let made: Vec<_> = [a.unwrap(), b.unwrap()].into_iter().filter(|m| matches!(m, Bootstrapped::Now { .. })).collect();
        assert_eq!(made.len(), 1);
        assert_ne!(one.exists(), two.exists(), "only the winner writes a password");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_revoked_by_one_process_is_refused_by_the_others_soon() {
    support::db::on_postgres(|db| async move {
        let folder = tempfile::tempdir().unwrap();
        let clouds = folder.path().join("clouds.yaml");
        bootstrap(&db.store, &config(), "http://i", &clouds).await.unwrap();
        let second = db.second_store().await;
        let (here, there) = (identity(&db.store), identity(&second));
        let token = here.issue(admin(password(&clouds)), admin_project(), None).await.unwrap().token;
        there.resolve(&token).await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        let user = db.store.user_by_name("default", ADMIN).await.unwrap().unwrap();
        tx.revoke_tokens_of_user(&user.id).await.unwrap();
        tx.commit().await.unwrap();
        let refused = async {
            while there.resolve(&token).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), refused).await.expect("refused within a few seconds");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_identity_api_works_on_postgresql() {
    if !support::db::is_wanted("postgres") {
        return;
    }
    let database = support::postgres::database().await;
    let app = TestApp::builder().backends([]).database(&database.url).start().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "u").await;
    assert_eq!(admin.get("/role_assignments?include_names=1").await.expect(200)["role_assignments"].as_array().unwrap().len(), 9);
    for filter in ["/users?name=u&domain_id=default&enabled=true", "/projects?name=u&parent_id=default&enabled=1"] {
        admin.get(filter).await.expect(200);
    }
    admin.patch(&format!("/users/{user}"), json!({"user": {"email": "u@example.org", "default_project_id": project}})).await.expect(200);
    admin.post("/users", json!({"user": {"name": "u"}})).await.expect(409);
    admin.send(Method::PUT, &format!("/projects/{project}/users/{user}/roles/nope"), None).await.expect(404);
    admin.post("/users", json!({"user": {"name": "nul\u{0}"}})).await.expect(400);
    admin.get("/users/%00").await.expect(404);
    let domain = admin.post("/domains", json!({"domain": {"name": "d", "enabled": false}})).await.expect(201);
    admin.delete(&format!("/domains/{}", domain["domain"]["id"].as_str().unwrap())).await.expect(204);
    admin.delete(&format!("/projects/{project}")).await.expect(204);
    admin.delete(&format!("/users/{user}")).await.expect(204);
    app.stop().await;
}
