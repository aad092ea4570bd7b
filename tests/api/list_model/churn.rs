//! What pages promise while rows come and go: what is there all the while is seen once and in order; the marker may go.

use std::collections::HashSet;

use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use stowage::{api::route::Api, store::sql::volumes::NewVolume};
use support::{Persona, TestApp};

use super::{
    chosen_seed, ids,
    model::VOLUMES,
    on_databases,
    seed::{self, Raw},
};

async fn insert(app: &TestApp, project: &str, created_at: i64, size: i64) -> String {
    let id = uuid::Uuid::new_v4().to_string();
    let mut tx = app.app().store.begin().await.unwrap();
    let new = NewVolume {
        id: id.clone(),
        project_id: project.to_owned(),
        user_id: "u".into(),
        name: Some("n".into()),
        description: None,
        size_gib: size,
        volume_type_id: seed::default_type(app).await,
        availability_zone: "nova".into(),
        multiattach: false,
        bootable: false,
        snapshot_id: None,
        source_volid: None,
        created_at,
    };
    tx.volume_insert(&new).await.unwrap();
    tx.commit().await.unwrap();
    id
}

async fn keeps_its_promise(app: &TestApp, raw: &mut Raw, seed: u64, sort: &str) {
    let client = app.client(Api::Block, Persona::Member).await.at("3.71");
    let mut random = StdRng::seed_from_u64(seed);
    let mut present = Vec::new();
    for n in 0..30 {
        present.push(insert(app, &client.project_id, 1_700_000_000_000_000 + n / 3, 1 + n % 3).await);
    }
    // a volume without a host is gone at once when it is deleted
    raw.run("UPDATE volumes SET status = 'error'".to_owned()).await;
    let whole = ids(&client.get(&format!("/volumes/detail?sort={sort}")).await.expect(200), &VOLUMES);
    let (mut seen, mut gone) = (Vec::new(), HashSet::new());
    let mut path = format!("/volumes/detail?limit=4&sort={sort}");
    loop {
        let page = client.get(&path).await.expect(200);
        let on_page = ids(&page, &VOLUMES);
        seen.extend(on_page.clone());
        let Some(next) = page["volumes_links"][0]["href"].as_str() else { break };
        path = next.split_once("/v3").unwrap().1.to_owned();
        // the marker, and any other
        let any = present.choose(&mut random).unwrap().clone();
        let marker = on_page.last().unwrap().clone();
        let doomed = if random.random() { vec![marker, any] } else { vec![any] };
        for id in doomed {
            if gone.insert(id.clone()) {
                let status = client.delete(&format!("/volumes/{id}")).await.status.as_u16();
                assert!(status == 202 || status == 404, "{status}");
            }
        }
        let at = 1_700_000_000_000_000 + random.random_range(0..12);
        insert(app, &client.project_id, at, random.random_range(1..4)).await;
        raw.run("UPDATE volumes SET status = 'error'".to_owned()).await;
        assert!(seen.len() < 200, "the pages go round in circles");
    }
    let stayed: Vec<&String> = whole.iter().filter(|id| !gone.contains(*id)).collect();
    let seen_of_those: Vec<&String> = seen.iter().filter(|id| stayed.contains(id)).collect();
    assert_eq!(seen_of_those, stayed, "STOWAGE_TEST_SEED={seed} sort={sort}");
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len(), "nothing is seen twice");
    for id in present {
        client.delete(&format!("/volumes/{id}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stays_is_seen_once_while_rows_come_and_go_and_markers_are_deleted() {
    let seed = chosen_seed();
    on_databases(|app, mut raw| async move {
        for sort in ["created_at:desc", "created_at:asc", "size:desc", "name:asc,size:desc"] {
            keeps_its_promise(&app, &mut raw, seed, sort).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_types_and_messages_still_page() {
    on_databases(|app, mut raw| async move {
        let operator = app.client(Api::Block, Persona::Admin).await.at("3.71");
        let member = app.client(Api::Block, Persona::Member).await.at("3.71");
        for n in 0..3 {
            let body = serde_json::json!({ "volume_type": { "name": format!("t{n}") } });
            operator.post("/types", body).await.expect(200);
        }
        let all = ids(&member.get("/types?sort=name:asc").await.expect(200), &super::model::TYPES);
        operator.delete(&format!("/types/{}", all[1])).await.expect(202);
        let rest = member.get(&format!("/types?sort=name:asc&marker={}", all[1])).await.expect(200);
        assert_eq!(ids(&rest, &super::model::TYPES), all[2..]);

        seed::messages(&app, &mut raw, &member.project_id, "other", 7).await;
        let all = ids(&member.get("/messages?sort=request_id:asc").await.expect(200), &super::model::MESSAGES);
        member.delete(&format!("/messages/{}", all[1])).await.expect(204);
        let rest = member.get(&format!("/messages?sort=request_id:asc&marker={}", all[1])).await.expect(200);
        assert_eq!(ids(&rest, &super::model::MESSAGES), all[2..]);
        let stranger = app.client(Api::Block, Persona::Stranger).await.at("3.71");
        assert_eq!(stranger.get(&format!("/messages?marker={}", all[1])).await.status, 404);
        assert_eq!(stranger.get(&format!("/messages?marker={}", all[2])).await.status, 404);
    })
    .await;
}
