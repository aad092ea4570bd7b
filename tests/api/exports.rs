//! What is connected is exported again when its back end comes into service, and nothing else is.

use serde_json::{Value, json};
use stowage::service::backend::exports::{Came, came_into_service};
use support::{Persona, both_databases, db::Db, wait};

use crate::{
    array::Fault,
    site::{Site, attach, connect, detach, reserve},
};
use stowage::driver::ErrorKind;

const HOST: &str = "stowage@a";

/// The back end is up again. Whether there was anything to begin, or to repeat.
async fn comes_up(site: &Site) -> bool {
    let at = site.app().store.now().await.unwrap();
    comes(site, Came::Up(at)).await
}

async fn comes(site: &Site, came: Came) -> bool {
    let backend = site.app().drivers.backend(HOST).unwrap();
    came_into_service(site.app(), &backend, came).await.unwrap()
}

async fn run(site: &Site) -> Value {
    site.admin(Persona::Admin).await.get(&format!("/backends/{HOST}/ensure")).await.expect(200)["ensure"].clone()
}

async fn ended(site: &Site) -> Value {
    wait::until("the run to end", || async {
        let run = run(site).await;
        (run.is_object() && run["state"] != "running").then_some(run)
    })
    .await
}

/// A site whose back end is asked for one volume at a time.
async fn one_at_a_time(db: &Db) -> Site {
    let site = Site::on(db).await;
    site.serve_configured(HOST, &site.array, |c| c.grants.concurrency = 2).await;
    site
}

async fn attached(site: &Site, host: &str) -> (String, String) {
    let volume = site.volume().await;
    let attachment = attach(&site.member().await, &volume, host).await;
    (volume, attachment)
}

both_databases! {
    async fn what_the_array_lost_is_exported_again_and_counted(db) {
        let site = Site::on(&db).await;
        let (one, _) = attached(&site, "h1").await;
        let (two, _) = attached(&site, "h2").await;
        let idle = site.volume().await;
        // reserved, and not connected
        reserve(&site.member().await, &idle, None).await;
        site.array.lose_exports();
        assert!(comes_up(&site).await);
        let run = ended(&site).await;
        assert_eq!((site.array.hosts_of(&one), site.array.hosts_of(&two)), (vec!["h1".to_owned()], vec!["h2".to_owned()]));
        let told = ["state", "cause", "total", "exported", "failed", "skipped"].map(|key| run[key].clone());
        assert_eq!(told, [json!("done"), json!("up"), json!(2), json!(2), json!(0), json!(0)], "{run}");
        assert_eq!(site.array.count("ensure-export"), 2, "each connected volume once, and no other");
    }

    async fn a_volume_that_is_detached_while_its_export_is_asked_for_is_not_exported_in_the_end(db) {
        let site = Site::on(&db).await;
        let (volume, attachment) = attached(&site, "h1").await;
        site.array.lose_exports();
        site.array.hold("ensure-export");
        comes_up(&site).await;
        site.until("the call", || async { site.array.count("ensure-export") == 1 }).await;
        let member = site.member().await;
        let detaching = tokio::spawn({
            let (member, attachment) = (member.clone(), attachment.clone());
            async move { detach(&member, &attachment).await.status }
        });
        member.at("3.27").until(&format!("/attachments/{attachment}"), |a| a.body()["attachment"]["status"] == "detaching").await;
        assert_eq!(site.array.count("disconnect"), 0, "a disconnect beside the call");
        site.array.release("ensure-export");
        assert_eq!(detaching.await.unwrap(), 200);
        ended(&site).await;
        assert_eq!(site.array.hosts_of(&volume), Vec::<String>::new());
    }

    async fn a_volume_that_was_detached_before_its_turn_is_not_asked_for(db) {
        let site = one_at_a_time(&db).await;
        let mut both = [attached(&site, "h1").await, attached(&site, "h2").await];
        both.sort();
        site.array.lose_exports();
        site.array.hold("ensure-export");
        comes_up(&site).await;
        site.until("the first call", || async { site.array.count("ensure-export") == 1 }).await;
        // the walk goes by their ids
        assert_eq!(detach(&site.member().await, &both[1].1).await.status, 200);
        site.array.release("ensure-export");
        ended(&site).await;
        assert_eq!((site.array.count("ensure-export"), site.array.hosts_of(&both[1].0)), (1, vec![]));
        assert_eq!(site.array.hosts_of(&both[0].0).len(), 1);
    }

    async fn other_work_of_the_back_end_goes_on_meanwhile(db) {
        let site = one_at_a_time(&db).await;
        attached(&site, "h1").await;
        attached(&site, "h2").await;
        site.array.hold("ensure-export");
        comes_up(&site).await;
        site.until("the first call", || async { site.array.count("ensure-export") == 1 }).await;
        let (volume, attachment) = attached(&site, "h3").await;
        assert_eq!(detach(&site.member().await, &attachment).await.status, 200);
        site.member().await.delete(&format!("/volumes/{volume}")).await.expect(202);
        site.member().await.until_gone(&format!("/volumes/{volume}")).await;
        assert_eq!(site.array.count("ensure-export"), 1, "more at once than leaves room for others");
        site.array.release("ensure-export");
        assert_eq!(ended(&site).await["exported"], 2);
    }

    async fn one_start_makes_one_run_and_a_loss_during_a_run_one_more(db) {
        let site = Site::on(&db).await;
        attached(&site, "h1").await;
        let started = Came::Start(site.app().store.now().await.unwrap());
        assert!(comes(&site, started).await);
        assert!(!comes(&site, started).await, "the same start, seen by another process");
        ended(&site).await;
        assert!(!comes(&site, started).await, "also when the run has ended");
        site.array.hold("ensure-export");
        assert!(comes_up(&site).await);
        site.until("the call", || async { site.array.count("ensure-export") == 2 }).await;
        assert!(comes_up(&site).await);
        assert_eq!((run(&site).await["state"].clone(), run(&site).await["repeats"].clone()), (json!("running"), json!(true)));
        site.array.release("ensure-export");
        let repeated = wait::until("the repeat", || async {
            let run = run(&site).await;
            (run["cause"] == "repeat" && run["state"] == "done").then_some(run)
        })
        .await;
        assert_eq!((repeated["exported"].clone(), site.array.count("ensure-export")), (json!(1), 3));
    }

    async fn a_volume_that_cannot_be_exported_again_stays_in_use_and_its_owner_is_told(db) {
        let site = Site::on(&db).await;
        let (volume, attachment) = attached(&site, "h1").await;
        site.array.fault("ensure-export", Fault::Refuse(ErrorKind::Invalid));
        comes_up(&site).await;
        let run = ended(&site).await;
        assert_eq!((&run["state"], &run["failed"], &run["volumes"][0]["volume_id"]), (&json!("done"), &json!(1), &json!(volume)), "{run}");
        assert!(run["volumes"][0]["reason"].as_str().unwrap().contains("was told to fail"), "{run}");
        assert_eq!(site.status(&volume).await, ("in-use".to_owned(), "attached".to_owned()));
        let member = site.member().await;
        let told = member.at("3.5").get(&format!("/messages?resource_uuid={volume}")).await.expect(200);
        let text = told["messages"][0]["user_message"].as_str().unwrap();
        assert!(text.starts_with("export volume again:The storage back end came back"), "{text}");
        // which is what helps
        assert_eq!(detach(&member, &attachment).await.status, 200);
        let again = reserve(&member, &volume, None).await;
        assert_eq!(connect(&member, &again, "h1").await.status, 200);
    }

    async fn a_call_that_fails_in_passing_is_repeated(db) {
        let site = Site::on(&db).await;
        let (volume, _) = attached(&site, "h1").await;
        site.array.lose_exports();
        site.array.fault("ensure-export", Fault::Refuse(ErrorKind::Transient));
        comes_up(&site).await;
        let run = ended(&site).await;
        assert_eq!((&run["exported"], &run["failed"]), (&json!(1), &json!(0)), "{run}");
        assert_eq!(site.array.hosts_of(&volume), ["h1"]);
    }

    async fn a_driver_that_exports_nothing_again_is_asked_once_and_left_alone(db) {
        let site = one_at_a_time(&db).await;
        for host in ["h1", "h2"] {
            attached(&site, host).await;
        }
        site.array.fault("ensure-export", Fault::Refuse(ErrorKind::Unsupported));
        comes_up(&site).await;
        let run = ended(&site).await;
        assert_eq!((&run["state"], &run["failed"]), (&json!("unsupported"), &json!(0)), "{run}");
        site.until("no job to be left", || async { site.app().store.unfinished_jobs("backend.exports", HOST).await.unwrap() == 0 }).await;
        assert_eq!(site.array.count("ensure-export"), 1);
    }
}

#[tokio::test]
async fn where_nothing_is_connected_nothing_is_begun() {
    let site = Site::start().await;
    let volume = site.volume().await;
    reserve(&site.member().await, &volume, None).await;
    assert!(!comes_up(&site).await);
    assert_eq!(run(&site).await, json!(null));
}
