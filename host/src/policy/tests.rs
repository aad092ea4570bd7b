use super::*;
use crate::context::Principal;

fn caller(roles: &[&str], project: &str) -> RequestContext {
    let principal = Principal {
        user_id: "u1".into(),
        project_id: project.into(),
        roles: roles.iter().map(|r| (*r).to_owned()).collect(),
        ..Principal::default()
    };
    RequestContext { principal, ..RequestContext::default() }
}

/// Whether `rule` lets a caller with `roles` in project p1 act on something of p1.
fn allows(rule: &str, roles: &[&str]) -> bool {
    let policy = Policy::from_yaml(&format!("\"volume:create\": \"{rule}\"")).unwrap();
    policy.allows(&caller(roles, "p1"), "volume:create", &Target::project("p1"))
}

fn refusal(yaml: &str) -> String {
    Policy::from_yaml(yaml).err().expect("refused").to_string()
}

#[test]
fn the_shipped_tables_load_and_hold_every_upstream_action() {
    let policy = Policy::load(None).unwrap();
    for action in
        ["volume:create", "volume:attachment_create", "share:create", "service:ensure_shares", "identity:create_user", "share/message:get"]
    {
        assert!(policy.knows(action), "{action}");
    }
}

#[test]
fn a_member_acts_in_the_own_project_only() {
    let policy = Policy::load(None).unwrap();
    let member = caller(&["member", "reader"], "p1");
    assert!(policy.check(&member, "volume:create", &Target::project("p1")).is_ok());
    assert!(policy.check(&member, "volume:create", &Target::project("p2")).is_err());
    assert!(policy.check(&caller(&["reader"], "p1"), "volume:create", &Target::project("p1")).is_err());
    assert!(policy.check(&caller(&["admin"], "p1"), "volume:create", &Target::project("p2")).is_ok());
}

#[test]
fn a_refusal_names_the_action_as_upstream_does() {
    let policy = Policy::load(None).unwrap();
    let error = policy.check(&caller(&["member"], "p1"), "volume_extension:type_create", &Target::project("p1")).unwrap_err();
    assert_eq!(error.message, "Policy doesn't allow volume_extension:type_create to be performed.");
    assert_eq!(error.kind, crate::error::Kind::Forbidden);
}

#[test]
fn an_unknown_action_is_refused() {
    assert!(!Policy::load(None).unwrap().allows(&caller(&["admin"], "p1"), "volume:no_such", &Target::default()));
}

#[test]
fn a_caller_without_a_project_owns_nothing_without_a_project() {
    assert!(!Policy::load(None).unwrap().allows(&caller(&["member"], ""), "volume:create", &Target::project("")));
}

#[test]
fn the_share_tables_rules_ask_for_a_project_scope() {
    let policy = Policy::load(None).unwrap();
    let mut system = caller(&["admin"], "");
    system.principal.system_scope = true;
    assert!(!policy.allows(&system, "share:manage", &Target::default()));
    assert!(policy.allows(&caller(&["admin"], "p1"), "share:manage", &Target::default()));
}

#[test]
fn and_binds_closer_than_or() {
    assert!(allows("role:a or role:b and role:c", &["a"]));
    assert!(!allows("role:a or role:b and role:c", &["b"]));
    assert!(allows("role:b and role:c or role:a", &["a"]));
    assert!(!allows("(role:a or role:b) and role:c", &["a"]));
    assert!(allows("(role:a or role:b) and role:c", &["a", "c"]));
}

#[test]
fn not_binds_closest_and_nests() {
    assert!(allows("not role:a and role:b", &["b"]));
    assert!(!allows("not role:a and role:b", &["a", "b"]));
    assert!(!allows("not (role:a or role:b)", &["b"]));
    assert!(allows("not not role:a", &["a"]));
    assert!(allows("not (not (role:a))", &["a"]));
    assert!(allows("NOT role:a AND role:b", &["b"]));
}

#[test]
fn constants_and_the_empty_rule() {
    assert!(allows("@", &[]));
    assert!(!allows("!", &["admin"]));
    assert!(allows("", &[]));
}

#[test]
fn attributes_compare_with_the_target_and_with_literals() {
    assert!(allows("project_id:%(project_id)s", &[]));
    assert!(allows("project_id:p1", &[]));
    assert!(!allows("project_id:p2", &[]));
    assert!(allows("'p1':%(project_id)s", &[]));
    assert!(!allows("user_id:%(user_id)s", &[]), "the target has no user");
    assert!(!allows("no_such_attribute:%(no_such_attribute)s", &["admin"]));
    assert!(allows("is_admin:True", &["admin"]));
    assert!(allows("is_admin:False", &["member"]));
    assert!(allows("project_id:p%(number)s or project_id:%(project_id)s", &[]));
}

#[test]
fn roles_compare_without_case() {
    assert!(allows("role:ADMIN", &["admin"]));
    assert!(allows("role:admin", &["Admin"]));
}

#[test]
fn a_helper_rule_of_the_operators_own_may_be_defined_and_used() {
    let policy = Policy::from_yaml("storage_team: 'role:storage'\nvolume:create: rule:storage_team or rule:admin_api\n").unwrap();
    assert!(policy.allows(&caller(&["storage"], "p9"), "volume:create", &Target::default()));
}

#[test]
fn an_override_of_a_shared_name_may_be_for_one_service() {
    let policy = Policy::from_yaml("'share/message:get': '!'").unwrap();
    assert!(!policy.allows(&caller(&["admin"], "p1"), "share/message:get", &Target::project("p1")));
    assert!(policy.allows(&caller(&["admin"], "p1"), "message:get", &Target::project("p1")));
}

#[test]
fn an_unknown_name_is_told_with_line_and_nearest_name_and_the_rest_is_in_force() {
    let policy = Policy::from_yaml("# comment\nvolume:creat: 'rule:of_another_release'\nvolume:get: '!'\n").unwrap();
    let warnings = policy.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("line 2: 'volume:creat'") && warnings[0].contains("'volume:create'"), "{warnings:?}");
    assert!(!policy.allows(&caller(&["admin"], "p1"), "volume:get", &Target::project("p1")));
    assert!(!policy.knows("volume:creat"));
    assert!(Policy::load(None).unwrap().warnings().is_empty());
}

#[test]
fn a_list_needs_one_of_its_elements_and_an_inner_list_all_of_its_own() {
    let allows = |rule: &str, roles: &[&str]| {
        let policy = Policy::from_yaml(&format!("volume:create: {rule}\nvolume:get: '@'")).unwrap();
        policy.allows(&caller(roles, "p1"), "volume:create", &Target::project("p1"))
    };
    assert!(allows("[[\"role:a\"], [\"role:b\", \"role:c\"]]", &["a"]));
    assert!(allows("[[\"role:a\"], [\"role:b\", \"role:c\"]]", &["b", "c"]));
    assert!(!allows("[[\"role:a\"], [\"role:b\", \"role:c\"]]", &["b"]));
    assert!(allows("['role:a', 'project_id:%(project_id)s']", &["x"]));
    assert!(!allows("['role:a', 'project_id:p2']", &["x"]));
    assert!(allows("\n  - ['rule:admin_api']\n  - role:b", &["b"]));
    assert!(allows("[]", &[]), "nothing is asked");
    assert!(!allows("[[]]", &["admin"]));
    assert!(!allows("[['!'], []]", &["admin"]));
}

#[test]
fn an_unknown_rule_reference_is_refused_with_its_line() {
    let text = refusal("volume:get: '@'\nvolume:create: rule:no_such\n");
    assert!(text.starts_with("line 2: ") && text.contains("no_such"), "{text}");
}

#[test]
fn rules_that_refer_to_each_other_in_a_circle_are_refused() {
    assert!(refusal("admin_api: rule:context_is_admin\ncontext_is_admin: rule:admin_api\n").contains("circle"));
}

#[test]
fn rules_that_do_not_parse_are_refused() {
    for rule in [
        "role:a and",
        "and role:a",
        "role:a role:b",
        "(role:a",
        "role:a)",
        "admin",
        "not",
        "http://x/",
        "role:a or or role:b",
        "()",
        "'p1:x",
    ] {
        let text = refusal(&format!("volume:create: \"{rule}\""));
        assert!(text.starts_with("line 1: the rule of 'volume:create': "), "{rule}: {text}");
    }
    let deep = format!("volume:create: \"{}role:a{}\"", "(".repeat(5000), ")".repeat(5000));
    assert!(refusal(&deep).contains("nested"));
}

#[test]
fn what_is_not_a_flat_mapping_is_refused() {
    for yaml in [
        "- a\n- b",
        "volume:create: [a, b]",
        "volume:create: [['role:a or role:b']]",
        "volume:create: [[['role:a']]]",
        "volume:create: [{role: a}]",
        "volume:create: {a: b}",
        "volume:create:",
        "a: b: c",
        "just text",
        "volume:get: '@'\nvolume:get: '!'",
    ] {
        assert!(Policy::from_yaml(yaml).is_err(), "{yaml}");
    }
}

#[test]
fn an_empty_file_changes_nothing() {
    assert!(Policy::from_yaml("").is_ok());
    assert!(Policy::from_yaml("# only a comment\n---\n").is_ok());
}

#[test]
fn a_bad_file_leaves_the_rules_in_force() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    std::fs::write(&file, "volume:create: '!'").unwrap();
    let policy = Policy::load(Some(&file)).unwrap();
    std::fs::write(&file, "volume:create: 'nonsense'").unwrap();
    assert!(policy.reload(Some(&file)).is_err());
    assert!(!policy.allows(&caller(&["admin"], "p1"), "volume:create", &Target::default()));
    std::fs::write(&file, "volume:create: '@'").unwrap();
    policy.reload(Some(&file)).unwrap();
    assert!(policy.allows(&caller(&[], "p1"), "volume:create", &Target::default()));
}
