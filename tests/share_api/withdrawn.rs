//! Rules that were denied and that the driver could not take away: they look like rules that it could not apply, and never hold
//! again. What a retry of a failed server does with them: `live_subnet_failures`.

use serde_json::{Value, json};
use support::{Client, both_databases, db::Db};

use crate::{
    ensure::{ended, patient},
    live::rule_until,
    site::{Site, action, allow, backend, snapshot, snapshot_action, text},
};

fn one(rule: &str) -> String {
    format!("/share-access-rules/{rule}")
}

fn level(level: &str) -> Value {
    json!({ "update_access": { "access_level": level } })
}

async fn site(db: &Db, fault: &str) -> Site {
    Site::on(db, vec![backend("m", json!({ "export_addresses": ["192.0.2.10"], "faults": [fault] }))], |_| {}).await
}

async fn deny(client: &Client, share: &str, rule: &str) {
    client.post(&action(share), json!({ "deny_access": { "access_id": rule } })).await.expect(202);
}

/// A share with a rule that holds and one that was denied and is in error since.
async fn withdrawn(site: &Site, client: &Client) -> (String, String, String) {
    let share = site.available().await;
    let kept = allow(client, &share, "10.0.0.1").await;
    rule_until(client, &kept, "active").await;
    let gone = allow(client, &share, "10.0.0.2").await;
    rule_until(client, &gone, "active").await;
    deny(client, &share, &gone).await;
    rule_until(client, &gone, "error").await;
    (share, kept, gone)
}

/// The array has another address, and its shares are ensured: drivers ask for the rules of shares that moved.
async fn move_and_ensure(site: &Site) {
    site.reconfigure(vec![backend("m", json!({ "export_addresses": ["192.0.2.20"] }))]).await;
    patient(&site.operator().await).await.expect(202);
    ended(site).await;
}

both_databases! {
    async fn it_gets_no_other_level_and_is_not_allowed_again_before_it_is_gone(db) {
        let site = site(&db, "access.apply#3=refuse:unsupported").await;
        let member = site.member().await;
        let (share, kept, gone) = withdrawn(&site, &member).await;
        assert!(member.put(&one(&gone), level("ro")).await.fault(400).contains("being removed"));
        let again = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.2" } });
        member.post(&action(&share), again).await.expect(400);
        // nor does what is done with another rule bring it back
        member.put(&one(&kept), level("ro")).await.expect(200);
        rule_until(&member, &kept, "active").await;
        assert_eq!(member.get(&one(&gone)).await.expect(200)["access"]["state"], "error");
        deny(&member, &share, &gone).await;
        member.until_gone(&one(&gone)).await;
        let anew = allow(&member, &share, "10.0.0.2").await;
        rule_until(&member, &anew, "active").await;
    }

    async fn it_is_not_locked(db) {
        let site = site(&db, "access.apply#3=refuse:unsupported").await;
        let member = site.member().await;
        let (_, kept, gone) = withdrawn(&site, &member).await;
        let lock = |rule: &str| json!({ "resource_lock": { "resource_id": rule, "resource_type": "access_rule", "resource_action": "delete" } });
        assert!(member.post("/resource-locks", lock(&gone)).await.fault(409).contains("being removed"));
        member.post("/resource-locks", lock(&kept)).await.expect(200);
    }

    async fn it_goes_when_the_rules_of_an_ensured_share_are_sent_again(db) {
        let site = site(&db, "access.apply#3=refuse:unsupported").await;
        let member = site.member().await;
        let (share, kept, gone) = withdrawn(&site, &member).await;
        move_and_ensure(&site).await;
        member.until_gone(&one(&gone)).await;
        rule_until(&member, &kept, "active").await;
        member.until(&format!("/shares/{share}"), |a| a.body()["share"]["access_rules_status"] == "active").await;
    }

    async fn one_of_a_snapshot_goes_so_too(db) {
        let site = site(&db, "snapshot-access.apply#3=refuse:unsupported").await;
        site.share_type("mountable", json!({ "snapshot_support": "True", "mount_snapshot_support": "True" })).await;
        let member = site.member().await;
        let share = site.available_with(json!({ "share_type": "mountable" })).await;
        let taken = snapshot(&member, &share).await;
        let list = format!("/snapshots/{taken}/access-list");
        let states = |listed: &Value| listed["snapshot_access_list"].as_array().unwrap().iter().map(|r| text(&r["state"])).collect::<Vec<_>>();
        let mut rules = Vec::new();
        for (n, to) in ["10.0.0.1", "10.0.0.2"].into_iter().enumerate() {
            let body = json!({ "allow_access": { "access_type": "ip", "access_to": to } });
            rules.push(text(&member.post(&snapshot_action(&taken), body).await.expect(202)["snapshot_access"]["id"]));
            member.until(&list, |a| states(&a.body()) == vec!["active"; n + 1]).await;
        }
        member.post(&snapshot_action(&taken), json!({ "deny_access": { "access_id": rules[1] } })).await.expect(202);
        member.until(&list, |a| states(&a.body()) == ["active", "error"]).await;
        move_and_ensure(&site).await;
        let left = member.until(&list, |a| states(&a.body()) == ["active"]).await.body();
        assert_eq!(left["snapshot_access_list"][0]["id"], json!(rules[0]));
    }

    async fn one_that_an_older_service_was_taking_away_is_known_as_such_when_that_fails(db) {
        let site = site(&db, "access.apply#2=refuse:unsupported").await;
        let member = site.member().await;
        let share = site.available().await;
        let gone = allow(&member, &share, "10.0.0.1").await;
        rule_until(&member, &gone, "active").await;
        site.sql("UPDATE share_access_rules SET state = 'denying'").await;
        let failed = allow(&member, &share, "10.0.0.2").await;
        for rule in [&gone, &failed] {
            rule_until(&member, rule, "error").await;
        }
        member.put(&one(&gone), level("ro")).await.expect(400);
        member.put(&one(&failed), level("ro")).await.expect(200);
        rule_until(&member, &failed, "active").await;
        assert_eq!(member.get(&one(&gone)).await.expect(200)["access"]["state"], "error");
    }
}
