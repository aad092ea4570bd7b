//! Ensuring where something is in the way: a back end that is down, shares that no driver is asked for, a run that nobody can read.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    clock,
    config::Config,
    driver::catalog::BackendState,
    jobs::NewJob,
    service::share_service::start::KIND,
    store::sql::{ensure::NewEnsureRun, jobs::JobFilter},
};
use support::{both_databases, wait};

use crate::{
    ensure::{HOST, ended, patient, run, strict},
    site::{Site, backend, create, snapshot},
};

both_databases! {
    async fn b1_a_quarantined_back_end_is_a_conflict(db) {
        let faults = json!({ "faults": ["shares.create=trap"] });
        // the reports that would say that it is down come later
        let site = Site::on(&db, vec![backend("m", faults)], |c| c.scheduler.report_interval = Duration::from_secs(600)).await;
        let (member, operator) = (site.member().await, site.operator().await);
        wait::until("the quarantine", || async {
            let status = site.app().drivers.backend_status().into_iter().find(|b| b.host == HOST).unwrap();
            if status.state == BackendState::Quarantined {
                return Some(());
            }
            create(&member, json!({})).await;
            None
        })
        .await;
        for answer in [strict(&operator).await, patient(&operator).await] {
            assert!(answer.fault(409).contains("left alone"), "{answer:?}");
        }
        assert_eq!(run(&site).await, Value::Null);
    }

    async fn b1_without_a_worker_it_is_a_conflict(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |c| c.jobs.work = false).await;
        let operator = site.operator().await;
        for answer in [strict(&operator).await, patient(&operator).await] {
            assert!(answer.fault(409).contains("no worker"), "{answer:?}");
        }
        assert_eq!(run(&site).await, Value::Null);
    }

    async fn b2_twenty_busy_shares_are_named_and_all_are_counted(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |_| {}).await;
        let operator = site.operator().await;
        let mut all = Vec::new();
        for _ in 0..21 {
            let id = site.available().await;
            site.tell(&id, "migrating").await;
            all.push(id);
        }
        let refused = strict(&operator).await.fault(409);
        assert!(refused.starts_with("21 shares of stowage@m") && refused.ends_with(", ...."), "{refused}");
        assert_eq!(all.iter().filter(|id| refused.contains(id.as_str())).count(), 20, "{refused}");
        site.tell(&all[0], "available").await;
        let refused = strict(&operator).await.fault(409);
        assert!(refused.starts_with("20 shares") && !refused.contains("..."), "{refused}");
        assert!(all[1..].iter().all(|id| refused.contains(id.as_str())), "{refused}");
    }

    async fn b4_shares_of_which_no_driver_is_asked_are_reported_and_counted(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |_| {}).await;
        let shares = [site.available().await, site.available().await];
        site.tell(&shares[1], "error_deleting").await;
        patient(&site.operator().await).await.expect(202);
        let run = ended(&site).await;
        assert_eq!((&run["state"], &run["total"], &run["done"], &run["skipped"]), (&json!("done"), &json!(2), &json!(2), &json!(1)), "{run}");
        let text = run.to_string();
        assert!(text.contains(&shares[1]) && text.contains("its status is error_deleting"), "{run}");
    }

    async fn b5_a_quarantined_back_end_is_waited_for_no_longer_than_other_jobs_may_take(db) {
        let options = json!({ "ensure_batch": 1, "faults": ["ensure.ensure-shares=trap"] });
        // a report that succeeds is not counted as a failure, and begins the count anew
        let settings = |c: &mut Config| (c.jobs.max_age, c.scheduler.report_interval) = (Duration::from_secs(3), Duration::from_secs(600));
        let site = Site::on(&db, vec![backend("m", options)], settings).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let mut shares = Vec::new();
        for _ in 0..12 {
            shares.push(site.available().await);
        }
        patient(&operator).await.expect(202);
        let run = ended(&site).await;
        assert_eq!((&run["state"], &run["skipped"]), (&json!("given_up"), &json!(1)), "{run}");
        assert!(run["reason"].as_str().unwrap().contains("the back end is down"), "{run}");
        for id in &shares {
            assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], "available");
        }
    }

    async fn b5_a_run_whose_job_nobody_can_read_ends_and_holds_nothing(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |_| {}).await;
        let (member, share) = (site.member().await, site.available().await);
        let now = clock::now();
        let begun = NewEnsureRun {
            id: "r".into(),
            backend: HOST.into(),
            cause: "request",
            request_id: "req-1".into(),
            project_id: member.project_id.clone(),
            user_id: "u".into(),
            changes_status: true,
            incarnation: None,
            batch: 10,
            started_at: now,
        };
        let job = NewJob {
            kind: KIND,
            resource_kind: "backend",
            order_key: format!("ensure:{HOST}"),
            resource_id: HOST.into(),
            backend: Some(HOST.into()),
            payload: json!("not what it was"),
            max_age: Duration::from_secs(1),
            request_id: "req-1".into(),
            project_id: member.project_id.clone(),
            user_id: "u".into(),
        };
        let mut tx = site.app().store.begin().await.unwrap();
        tx.ensure_begin(&begun, 0).await.unwrap();
        let mut row = tx.ensure_run("r").await.unwrap().unwrap();
        tx.ensure_take_next(&mut row, 10, now).await.unwrap();
        tx.enqueue(&site.app().jobs, job).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(member.get(&format!("/shares/{share}")).await.expect(200)["share"]["status"], "ensuring");
        assert_eq!(ended(&site).await["state"], "given_up");
        member.share_until(&share, "available").await;
        patient(&site.operator().await).await.expect(202);
        assert_eq!(ended(&site).await["state"], "done");
    }

    async fn b6_snapshots_count_against_a_batch_too(db) {
        let site = Site::on(&db, vec![backend("m", json!({ "ensure_batch": 2 }))], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let shares = [site.available().await, site.available().await];
        // each step of a run has a generation of its own
        let steps = async || {
            patient(&operator).await.expect(202);
            assert_eq!(ended(&site).await["done"], 2);
            let filter = JobFilter { kind: Some(KIND.to_owned()), resource_id: Some(HOST.to_owned()), ..JobFilter::default() };
            let jobs = site.app().store.list_jobs(&filter, None, 100).await.unwrap();
            jobs.into_iter().max_by_key(|job| job.seq).unwrap().generation
        };
        let together = steps().await;
        snapshot(&member, &shares[0]).await;
        snapshot(&member, &shares[0]).await;
        assert_eq!(steps().await, together, "as many snapshots as shares");
        snapshot(&member, &shares[1]).await;
        assert_eq!(steps().await, together + 2, "one step to part them, and one call more");
    }
}
