use std::time::Duration;

use super::{load::parse, reload::Live, *};

const EXAMPLE: &str = include_str!("../../../examples/stowage.toml");

fn refusal(text: &str) -> String {
    let findings = parse(text).unwrap_err();
    ConfigError::Refused { path: "stowage.toml".into(), findings }.to_string()
}

/// The example with its one back end replaced by the type's own default, named as in the example.
fn documented_defaults() -> toml::Table {
    let config = Config { backends: vec![BackendConfig::new("memory", "memory")], ..Config::default() };
    toml::Table::try_from(config).unwrap()
}

#[test]
fn the_example_names_every_field_and_its_values_are_the_defaults() {
    let example: toml::Table = toml::from_str(EXAMPLE).unwrap();
    assert_eq!(toml::to_string(&example).unwrap(), toml::to_string(&documented_defaults()).unwrap());
}

#[test]
fn the_production_example_is_a_usable_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../../../examples/production/stowage.toml");
    let here = text.replace("/etc/stowage", &folder.path().display().to_string());
    for secret in ["keystone-password", "node-token"] {
        std::fs::write(folder.path().join(secret), "secret").unwrap();
    }
    let config = parse(&here).unwrap();
    assert_eq!((config.identity.mode, config.listen.identity), (IdentityMode::Keystone, Bind::OFF));
    assert!(config.identity.keystone.password.is_set() && config.database.url.starts_with("postgres://"));
    // the unit waits longer than the service takes to end
    let unit = include_str!("../../../examples/production/stowage.service");
    let wait = unit.lines().find_map(|l| l.strip_prefix("TimeoutStopSec=")).unwrap().parse().unwrap();
    assert!(config.listen.shutdown_grace < Duration::from_secs(wait));
}

#[test]
fn every_field_of_the_example_has_a_comment_above_it() {
    let mut previous = "";
    for line in EXAMPLE.lines() {
        let is_field = line.split_once('=').is_some_and(|(key, _)| key.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        let continues_a_group = previous.split_once('=').is_some();
        assert!(!is_field || previous.starts_with('#') || continues_a_group, "no comment above: {line}");
        previous = line;
    }
}

#[test]
fn an_empty_file_is_the_defaults() {
    assert_eq!(parse("").unwrap(), Config::default());
}

#[test]
fn an_unknown_key_is_refused_with_line_column_and_the_nearest_key() {
    let text = refusal("host = \"a\"\n\n[listen]\nblok = \"127.0.0.1:1\"\n");
    assert!(text.starts_with("stowage.toml:4:1: unknown key \"blok\""), "{text}");
    assert!(text.contains("did you mean \"block\"?"), "{text}");
}

#[test]
fn an_unknown_key_that_resembles_none_lists_the_known_ones() {
    let text = refusal("[policy]\nzzzzzzzzz = 1\n");
    assert!(text.contains("known here: ") || text.contains("did you mean") || text.contains("remove it"), "{text}");
    assert!(text.contains("stowage.toml:2:1"), "{text}");
}

#[test]
fn a_value_of_the_wrong_type_is_refused_where_it_stands() {
    let text = refusal("[jobs]\nconcurrency = \"many\"\n");
    assert!(text.starts_with("stowage.toml:2:15: invalid type: string \"many\""), "{text}");
}

#[test]
fn a_bad_duration_says_how_to_write_one() {
    let text = refusal("[jobs]\nlease = \"20 parsecs\"\n");
    assert!(text.starts_with("stowage.toml:2:9: "), "{text}");
    assert!(text.contains("\"30s\""), "{text}");
}

#[test]
fn a_bad_address_says_how_to_write_one() {
    let text = refusal("[listen]\nblock = \"localhost\"\n");
    assert!(text.starts_with("stowage.toml:2:9: \"localhost\" is no address"), "{text}");
}

#[test]
fn every_broken_rule_is_reported_at_once() {
    let text = "[listen]\nblock = \"127.0.0.1:5000\"\n[jobs]\nconcurrency = 0\n[[backend]]\nname = \"a@b\"\ndriver = \"m\"\n[[backend]]\nname = \"c\"\ndriver = \"\"\n";
    let found: Vec<usize> = parse(text).unwrap_err().iter().map(|f| f.line).collect();
    assert_eq!(found, [2, 4, 6, 10]);
}

#[test]
fn two_back_ends_of_one_name_are_refused() {
    let text = refusal("[[backend]]\nname = \"a\"\ndriver = \"m\"\n[[backend]]\nname = \"a\"\ndriver = \"m\"\n");
    assert!(text.starts_with("stowage.toml:5:8: there are two back ends \"a\""), "{text}");
}

#[test]
fn a_granted_authority_has_no_scheme() {
    let text = refusal("[[backend]]\nname = \"a\"\ndriver = \"m\"\ngrants.http = [\"https://array\"]\n");
    assert!(text.contains("no host:port"), "{text}");
}

#[test]
fn keystone_mode_needs_a_url_and_a_user() {
    let found = parse("[identity]\nmode = \"keystone\"\n").unwrap_err();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|f| f.line == 2));
}

#[test]
fn a_webhook_needs_a_url_and_a_secret_and_events_there_can_be() {
    let text = refusal("[notify.webhook]\nurl = \"https://events.example.org/stowage\"\n");
    assert!(text.contains("stowage.toml:2:7: a receiver could not tell our events from anybody's"), "{text}");
    let text = refusal("[notify.webhook]\nurl = \"https://u:hunter2@events.example.org/\"\nsecret = { value = \"s\" }\n");
    assert!(text.contains("has a user in it") && !text.contains("hunter2"), "{text}");
    let text = refusal("[notify.webhook]\nevents = [\"volume.*\", \"*.end\"]\n");
    assert!(text.contains("\"*.end\" is no event"), "{text}");
}

#[test]
fn a_changed_secret_of_the_webhook_is_reported_and_not_shown() {
    let config = |secret: &str| Config {
        notify: NotifyConfig {
            webhook: WebhookConfig { url: "http://receiver".to_owned(), secret: Secret::literal(secret), ..WebhookConfig::default() },
        },
        ..Config::default()
    };
    let live = Live::new(config("hunter2"), load::Source::default());
    let report = live.replace(config("hunter3"));
    assert_eq!(report.changed, ["notify.webhook.secret"]);
    assert_eq!(live.get().notify.webhook.secret.expose(), "hunter3");
}

#[test]
fn a_secret_is_read_from_its_file_without_the_final_newline() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "hunter2\n").unwrap();
    let text = format!("[[backend]]\nname = \"a\"\ndriver = \"m\"\nsecrets.password = {{ file = \"{}\" }}\n", file.path().display());
    assert_eq!(parse(&text).unwrap().backends[0].secrets["password"].expose(), "hunter2");
}

#[test]
fn a_missing_secret_is_refused_where_it_is_named() {
    let text = refusal("[[backend]]\nname = \"a\"\ndriver = \"m\"\nsecrets.password = { env = \"STOWAGE_TEST_NO_SUCH_VARIABLE\" }\n");
    assert!(text.contains("STOWAGE_TEST_NO_SUCH_VARIABLE is not set"), "{text}");
    assert!(text.contains("stowage.toml:4:"), "{text}");
}

#[test]
fn no_form_of_the_configuration_shows_a_secret() {
    let text = "[database]\nurl = \"postgres://u:hunter2@h/d\"\n[identity.keystone]\npassword = { value = \"hunter2\" }\n[[backend]]\nname = \"a\"\ndriver = \"m\"\nsecrets.p = { value = \"hunter2\" }\n";
    let config = parse(text).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    assert!(!serde_json::to_string(&config).unwrap().contains("hunter2"));
}

#[test]
fn a_refused_secret_does_not_stand_in_the_refusal() {
    for secret in ["{ value = \"hunter2\", env = \"X\" }", "\"hunter2\"", "[\"hunter2\"]", "{ valu = \"hunter2\" }"] {
        let text = refusal(&format!("[identity.keystone]\npassword = {secret}\n"));
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn durations_survive_being_written_and_read() {
    for d in [Duration::from_millis(1500), Duration::from_secs(20), Duration::from_secs(5400), Duration::from_secs(30 * 86400)] {
        assert_eq!(duration::parse(&duration::text(d)), Some(d), "{}", duration::text(d));
    }
}

#[test]
fn a_reload_applies_what_can_change_and_names_what_needs_a_restart() {
    let live = Live::new(Config::default(), load::Source::default());
    let mut watcher = live.subscribe();
    let mut wanted = Config { host: "other".into(), backends: vec![BackendConfig::new("a", "m")], ..Config::default() };
    wanted.quota.volumes = 99;
    let report = live.replace(wanted);
    assert_eq!(report.changed, ["quota.volumes"]);
    assert_eq!(report.needs_restart, ["host"]);
    assert_eq!(report.backends_added, ["a"]);
    assert_eq!(live.get().host, "stowage");
    assert_eq!(live.get().quota.volumes, 99);
    assert!(watcher.has_changed().unwrap());
    watcher.mark_unchanged();
}

/// Another value of the same type: of a key named `key` that has `value`.
fn another(key: &str, value: &serde_json::Value) -> serde_json::Value {
    use serde_json::{Value, json};
    match value {
        Value::Object(_) if key == "password" || key == "secret" => json!({"value": "other"}),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), another(key, value))).collect(),
        Value::Array(_) if key == "service" => json!([{"type": "network", "name": "n", "url": "http://n:9696"}]),
        Value::Array(_) if key == "subnet" => json!([{"id": "s", "network_id": "n", "cidr": "10.0.0.0/24", "ranges": []}]),
        Value::Array(_) if key == "events" => json!(["volume.*"]),
        Value::Array(items) if !items.is_empty() => json!(items[1..]),
        Value::Bool(b) => json!(!b),
        Value::Number(n) => n.as_i64().map_or_else(|| json!(n.as_f64().unwrap() + 1.0), |n| json!(n + 1)),
        Value::String(s) => match s.as_str() {
            "builtin" => json!("keystone"),
            "human" => json!("json"),
            "full" => json!("process"),
            s => match (duration::parse(s), s.parse::<std::net::SocketAddr>()) {
                (Some(d), _) => json!(duration::text(d + Duration::from_secs(1))),
                (None, Ok(mut address)) => {
                    address.set_port(address.port() + 1);
                    json!(address.to_string())
                }
                (None, Err(_)) => json!(format!("{s}x")),
            },
        },
        other => other.clone(),
    }
}

#[test]
fn a_reload_puts_every_key_into_force_or_names_it_as_needing_a_restart() {
    let mut values = serde_json::to_value(Config::default()).unwrap();
    values.as_object_mut().unwrap().remove("backend");
    let wanted: Config = serde_json::from_value(another("", &values)).unwrap();
    let (before, after) = (reload::leaves(&Config::default()), reload::leaves(&wanted));
    let live = Live::new(Config::default(), load::Source::default());
    let report = live.replace(wanted);
    let now = reload::leaves(&live.get());
    for (key, value) in &after {
        let (changed, restart) = (report.changed.contains(key), report.needs_restart.contains(key));
        assert_ne!(Some(value), before.get(key), "{key}: the test changes nothing");
        assert!(changed != restart, "{key}: {report:?}");
        assert_eq!(now.get(key), if changed { Some(value) } else { before.get(key) }, "{key}");
    }
}

#[test]
fn the_example_marks_every_key_that_needs_a_restart_and_no_other() {
    let (mut section, mut section_is_marked, mut comment) = (String::new(), false, String::new());
    for line in EXAMPLE.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push_str(text);
            continue;
        }
        let marked = std::mem::take(&mut comment).contains(" [restart] ");
        if line.starts_with("[[") {
            return; // back ends come, change and go
        } else if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut section);
            section_is_marked = marked;
        } else if let Some((key, _)) = line.split_once(" = ") {
            let key = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
            assert_eq!(marked || section_is_marked, reload::is_fixed(&key), "{key}");
        }
    }
}

#[test]
fn a_value_without_sense_is_refused_where_it_stands_with_a_remedy() {
    let cases = [
        ("quota", "volumes = -2"),
        ("quota", "gigabytes = -9223372036854775808"),
        ("quota", "per_volume_gigabytes = -100"),
        ("scheduler", "max_over_subscription_ratio = nan"),
        ("scheduler", "max_over_subscription_ratio = inf"),
        ("scheduler", "max_over_subscription_ratio = -1.0"),
        ("scheduler", "max_over_subscription_ratio = 0.5"),
        ("scheduler", "capacity_weight = inf"),
        ("scheduler", "reserved_percentage = 101"),
        ("scheduler", "report_interval = \"0s\""),
        ("drivers", "max_instances = 0"),
        ("drivers", "max_instances = 4000000000"),
        ("drivers", "settle = \"0s\""),
        ("jobs", "poll = \"0s\""),
        ("jobs", "lease = \"10ms\""),
        ("jobs", "concurrency = 0"),
        ("jobs", "max_age = \"0s\""),
        ("jobs", "wait = \"0s\""),
        ("jobs", "tombstone_age = \"0s\""),
        ("jobs", "tombstone_age = \"2000000h\""),
        ("identity", "token_ttl = \"0s\""),
        ("identity", "token_ttl = \"2562047h\""),
        ("identity", "failed_login_window = \"0s\""),
        ("identity", "region = \"\""),
        ("identity.argon2", "concurrency = 0"),
        ("identity.argon2", "memory_kib = 4294967295"),
        ("identity.argon2", "iterations = 4294967295"),
        ("identity.keystone", "timeout = \"0s\""),
        ("identity.keystone", "cache_ttl = \"6m\""),
        ("database", "max_connections = 1"),
        ("database", "max_connections = 4294967295"),
        ("database", "acquire_timeout = \"0s\""),
        ("listen", "max_connections = 0"),
        ("listen", "header_timeout = \"0s\""),
        ("listen", "shutdown_grace = \"1000h\""),
        ("block", "osapi_max_limit = 0"),
        ("block", "osapi_max_limit = 4294967295"),
        ("block", "default_availability_zone = \"\""),
    ];
    for (section, line) in cases {
        let found = parse(&format!("[{section}]\n{line}\n")).expect_err(line);
        assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), [2], "{section}: {line}: {found:?}");
        assert!(!found[0].remedy.is_empty(), "{line}");
    }
    for line in ["memory_mib = 0", "memory_mib = 4096", "call_timeout = \"0s\"", "concurrency = 0", "kv_mib = 4294967295"] {
        let found = parse(&format!("[[backend]]\nname = \"a\"\ndriver = \"m\"\n[backend.grants]\n{line}\n")).expect_err(line);
        assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), [5], "{line}: {found:?}");
        assert!(!found[0].remedy.is_empty(), "{line}");
    }
}

#[test]
fn a_changed_secret_changes_its_back_end() {
    let with = |secret: &str| {
        let mut backend = BackendConfig::new("a", "m");
        backend.secrets.insert("p".into(), Secret::literal(secret));
        Config { backends: vec![backend], ..Config::default() }
    };
    let live = Live::new(with("one"), load::Source::default());
    assert_eq!(live.replace(with("two")).backends_changed, ["a"]);
    assert_eq!(live.replace(with("two")), Reload::default());
    assert_eq!(live.replace(Config::default()).backends_removed, ["a"]);
}

#[test]
fn a_bad_file_leaves_the_running_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stowage.toml");
    std::fs::write(&file, "[quota]\nvolumes = 5\n").unwrap();
    let source = load::Source { file: Some(file.clone()), state_dir: Some(dir.path().into()) };
    let live = Live::new(source.load().unwrap(), source);
    std::fs::write(&file, "[quota]\nvolumes = \"x\"\n").unwrap();
    assert!(live.reload().is_err());
    assert_eq!(live.get().quota.volumes, 5);
    std::fs::write(&file, "[quota]\nvolumes = 7\n").unwrap();
    assert_eq!(live.reload().unwrap().changed, ["quota.volumes"]);
    assert_eq!(live.get().quota.volumes, 7);
}

#[test]
fn a_foreign_service_of_the_catalog_needs_a_url_and_a_type_that_is_not_ours() {
    let text = refusal("[[identity.service]]\ntype = \"volumev3\"\nname = \"x\"\nurl = \"nowhere\"\n");
    assert!(text.contains("\"volumev3\" already") && text.contains("\"nowhere\" is no http(s) URL"), "{text}");
}

const SUBNET: &str = "[[network.subnet]]\nid = \"blue\"\nnetwork_id = \"net\"\ncidr = \"10.0.0.0/24\"\n";

#[test]
fn a_subnet_of_share_servers_needs_an_id_a_network_and_a_cidr() {
    let config = parse(&format!("[network]\ndefault_subnet = \"blue\"\n{SUBNET}gateway = \"10.0.0.1\"\nranges = [\"10.0.0.10-10.0.0.20\", \"10.0.0.30\"]\nvlan = 7\nmtu = 9000\n")).unwrap();
    let subnet = config.network.subnet("blue").unwrap();
    assert_eq!((subnet.cidr.to_string(), subnet.vlan, subnet.ranges.len()), ("10.0.0.0/24".to_owned(), Some(7), 2));
    assert!(refusal("[[network.subnet]]\nid = \"blue\"\n").contains("missing field"));
    assert!(refusal("[[network.subnet]]\nid = \"blue\"\nnetwork_id = \"n\"\ncidr = \"10.0.0.0/33\"\n").contains("stowage.toml:4:"));
    assert!(refusal(&format!("{SUBNET}ranges = [\"10.0.0.9-\"]\n")).contains("is no IP address"));
}

#[test]
fn a_subnet_that_could_not_give_addresses_is_refused_where_it_stands() {
    for (more, line, why) in [
        ("gateway = \"10.0.1.1\"\n", 5, "is not in 10.0.0.0/24"),
        ("ranges = [\"10.0.0.5\", \"10.0.1.5\"]\n", 5, "is no part of 10.0.0.0/24"),
        ("ranges = [\"10.0.0.9-10.0.0.5\"]\n", 5, "is no part of 10.0.0.0/24"),
        ("ranges = [\"fd00::5\"]\n", 5, "is no part of 10.0.0.0/24"),
        ("ranges = [\"10.0.0.5-10.0.0.9\", \"10.0.0.9\"]\n", 5, "overlaps another range"),
        ("gateway = \"10.0.0.5\"\nranges = [\"10.0.0.5\"]\n", 6, "no address of 10.0.0.0/24"),
        ("vlan = 4095\n", 5, "4095 is no VLAN"),
        ("mtu = 1\n", 5, "1 is outside of what makes sense here"),
        ("[[network.subnet]]\nid = \"blue\"\nnetwork_id = \"net\"\ncidr = \"10.1.0.0/24\"\n", 6, "two subnets \"blue\""),
        ("[[network.subnet]]\nid = \"red\"\nnetwork_id = \"net\"\ncidr = \"10.0.0.0/25\"\n", 8, "overlaps 10.0.0.0/24"),
        ("[[network.subnet]]\nid = \"red\"\nnetwork_id = \"net\"\ncidr = \"10.1.0.5/24\"\n", 8, "is an address in a subnet"),
        ("[[network.subnet]]\nid = \"\"\nnetwork_id = \"net\"\ncidr = \"10.1.0.0/24\"\n", 6, "cannot be passed by a client"),
    ] {
        let text = refusal(&format!("{SUBNET}{more}"));
        assert!(text.contains(why) && text.contains(&format!("stowage.toml:{line}:")), "{more}: {text}");
    }
    assert!(refusal("[network]\nadmin_subnet = \"red\"\n").contains("there is no [[network.subnet]] with the id \"red\""));
    // another VLAN is another wire
    assert!(
        parse(&format!("{SUBNET}vlan = 1\n[[network.subnet]]\nid = \"red\"\nnetwork_id = \"net\"\ncidr = \"10.0.0.0/24\"\nvlan = 2\n"))
            .is_ok()
    );
}
