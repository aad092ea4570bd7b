use http::Method;
use serde_json::json;
use support::{Persona, TestApp};

use crate::{log_in, member, role};

#[tokio::test]
async fn roles_are_given_checked_listed_and_taken_on_projects_domains_and_the_system() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "u").await;
    let reader = role(&admin, "reader").await;
    for scope in [format!("/projects/{project}"), "/domains/default".to_owned(), "/system".to_owned()] {
        let roles = format!("{scope}/users/{user}/roles");
        let one = format!("{roles}/{reader}");
        admin.get(&one).await.expect(404);
        assert_eq!(admin.send(Method::HEAD, &one, None).await.status, 404);
        for _ in 0..2 {
            admin.send(Method::PUT, &one, None).await.expect(204);
        }
        admin.get(&one).await.expect(204);
        assert_eq!(admin.send(Method::HEAD, &one, None).await.status, 204);
        let listed = admin.get(&roles).await.expect(200);
        assert!(listed["roles"].as_array().unwrap().iter().any(|r| r["name"] == "reader"), "{listed}");
        admin.delete(&one).await.expect(204);
        admin.delete(&one).await.expect(404);
    }
}

#[tokio::test]
async fn what_does_not_exist_gets_no_role() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "u").await;
    let reader = role(&admin, "reader").await;
    for (path, what) in [
        (format!("/projects/nope/users/{user}/roles/{reader}"), "project: nope"),
        (format!("/projects/{project}/users/nope/roles/{reader}"), "user: nope"),
        (format!("/projects/{project}/users/{user}/roles/nope"), "role: nope"),
        (format!("/domains/nope/users/{user}/roles/{reader}"), "domain: nope"),
    ] {
        assert_eq!(admin.send(Method::PUT, &path, None).await.fault(404), format!("Could not find {what}."));
    }
}

#[tokio::test]
async fn assignments_are_listed_by_user_role_and_scope_with_names_on_request() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let (user, project) = member(&admin, "u").await;
    let member_role = role(&admin, "member").await;
    admin.send(Method::PUT, &format!("/system/users/{user}/roles/{member_role}"), None).await.expect(204);
    let all = admin.get("/role_assignments").await.expect(200);
    assert!(all["role_assignments"].as_array().unwrap().len() > 5);
    let own = admin.get(&format!("/role_assignments?user.id={user}")).await.expect(200);
    assert_eq!(own["role_assignments"].as_array().unwrap().len(), 2);
    let one = admin.get(&format!("/role_assignments?scope.project.id={project}&include_names")).await.expect(200);
    let one = &one["role_assignments"][0];
    assert_eq!(one["user"], json!({"id": user, "name": "u", "domain": {"id": "default", "name": "Default"}}));
    assert_eq!(one["scope"]["project"], json!({"id": project, "name": "u", "domain": {"id": "default", "name": "Default"}}));
    assert_eq!(one["role"]["name"], "member");
    let system = admin.get(&format!("/role_assignments?scope.system=all&user.id={user}")).await.expect(200);
    assert_eq!(system["role_assignments"][0]["scope"], json!({"system": {"all": true}}));
    assert_eq!(admin.get("/role_assignments?role.id=nope").await.expect(200)["role_assignments"], json!([]));
}

#[tokio::test]
async fn only_administrators_give_roles() {
    let app = TestApp::without_backends().await;
    let login = app.personas().await.login(Persona::Member).clone();
    let admin_role = role(&app.identity(Persona::Admin).await, "admin").await;
    let path = format!("/projects/{}/users/{}/roles/{admin_role}", login.project_id, login.user_id);
    app.identity(Persona::Member).await.send(Method::PUT, &path, None).await.expect(403);
    let token = log_in(&app, Persona::Member, json!({"project": {"id": login.project_id}})).await.expect(201);
    assert!(token["token"]["roles"].as_array().unwrap().iter().all(|r| r["name"] != "admin"));
}
