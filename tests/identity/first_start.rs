use std::os::unix::fs::PermissionsExt;

use stowage::api::route::Api;
use support::{Persona, TestApp};

#[tokio::test]
async fn the_administrators_password_stands_in_a_file_only_the_owner_may_read() {
    let app = TestApp::without_backends().await;
    let file = app.app().config.get().clouds_yaml();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&format!("auth_url: {}/v3", app.url(Api::Identity))), "{text}");
}

#[tokio::test]
async fn two_installations_have_different_passwords() {
    let (one, two) = (TestApp::without_backends().await, TestApp::without_backends().await);
    let read = |app: &TestApp| std::fs::read_to_string(app.app().config.get().clouds_yaml()).unwrap();
    let password = |text: String| text.lines().find(|l| l.trim().starts_with("password:")).unwrap().to_owned();
    assert_ne!(password(read(&one)), password(read(&two)));
}

#[tokio::test]
async fn a_second_start_leaves_everything_as_it_is() {
    let app = TestApp::without_backends().await;
    let file = app.app().config.get().clouds_yaml();
    let before = std::fs::read_to_string(&file).unwrap();
    let token = app.identity(Persona::Admin).await.token().to_owned();
    let app = app.restart().await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let projects = app.anonymous(Api::Identity).with_token(&token).get("/projects").await.expect(200);
    assert!(projects["projects"].as_array().unwrap().iter().any(|p| p["name"] == "admin"), "tokens outlive a restart");
}

#[tokio::test]
async fn the_roles_that_policy_is_about_are_there_and_admin_brings_member_and_reader() {
    let app = TestApp::without_backends().await;
    let admin = app.identity(Persona::Admin).await;
    let roles = admin.get("/roles").await.expect(200);
    let names: Vec<_> = roles["roles"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["admin", "member", "reader", "service"]);
    let own = admin.with_header("x-subject-token", admin.token()).get("/auth/tokens").await.expect(200);
    let names: Vec<_> = own["token"]["roles"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["admin", "member", "reader"]);
    let inferences = admin.get("/role_inferences").await.expect(200);
    assert_eq!(inferences["role_inferences"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn no_token_and_no_password_stands_in_the_database_in_clear() {
    let app = TestApp::without_backends().await;
    let login = app.personas().await.login(Persona::Member).clone();
    let dir = app.stop().await;
    let mut seen = 0;
    for file in std::fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().path()).filter(|p| p.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        if file.file_name().unwrap().to_string_lossy().contains("clouds") {
            continue;
        }
        seen += bytes.len();
        for secret in [&login.token, &login.password] {
            assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()), "{} is in {}", secret, file.display());
        }
    }
    assert!(seen > 10_000, "the database was looked at");
}
