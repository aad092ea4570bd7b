//! What stands in the plugin folder and is no driver, or cannot be looked at now.

use super::*;

/// Puts what is no driver file under drivers' names; the names, and what each refusal says.
fn not_files(folder: &std::path::Path) -> Vec<(&'static str, &'static str)> {
    use std::os::unix::fs::symlink;
    let at = |name: &str| folder.join(format!("{name}.wasm"));
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    symlink("/nowhere/at/all", at("dangling")).unwrap();
    symlink("/proc/self/mem", at("unreadable")).unwrap();
    std::fs::write(at("empty"), b"").unwrap();
    vec![
        ("pipe", "a pipe"),
        ("folder", "a folder"),
        ("zero", "a device"),
        ("dangling", "a link to /nowhere/at/all"),
        ("unreadable", "cannot be read"),
        ("empty", "not a component"),
    ]
}

#[tokio::test]
async fn what_is_no_file_in_the_plugin_folder_is_refused_at_start_and_the_rest_serves() {
    let bench = Bench::new(&[("good", V1)], &[]).await;
    let wrong = not_files(&bench.dir.path().join("drivers"));
    let backends = [back_end("one", "good")];
    let bench = tokio::time::timeout(Duration::from_secs(20), bench.restart(&backends)).await.expect("the start waits for something");
    assert_eq!(bench.version("one"), "1");
    for (name, why) in wrong {
        let said = bench.driver(name).refused.unwrap().reason;
        assert!(said.contains(why), "{name}: {said}");
    }
}

#[tokio::test]
async fn what_is_no_file_in_the_plugin_folder_is_refused_at_every_look_and_the_rest_is_taken() {
    let bench = Bench::new(&[("z", V1)], &[back_end("one", "z")]).await;
    let wrong = not_files(&bench.dir.path().join("drivers"));
    // the watched folder
    until(|| wrong.iter().all(|(name, _)| bench.catalog.status().iter().any(|d| d.name == *name && d.refused.is_some()))).await;
    std::fs::write(bench.file("z"), V2).unwrap();
    until(|| bench.version("one") == "2").await;
    // and on demand
    let looked = tokio::time::timeout(Duration::from_secs(20), bench.catalog.reload_now(false)).await.expect("it waits for something");
    let looked = looked.unwrap();
    for (name, why) in wrong {
        let one = looked.iter().find(|o| o.driver == name).unwrap();
        assert_eq!(one.result, OfferResult::Refused, "{name}");
        assert!(one.reason.as_ref().unwrap().contains(why), "{one:?}");
    }
    assert_eq!(bench.version("one"), "2");
}

#[tokio::test]
async fn a_file_that_a_busy_database_kept_from_being_taken_is_taken_later() {
    let dir = tempfile::tempdir().unwrap();
    let patience = Duration::from_millis(300);
    let options = StoreOptions { acquire_timeout: patience, ..StoreOptions::new(dir.path().join("s.db").display().to_string()) };
    let store = Store::open(&options).await.unwrap();
    store.migrate().await.unwrap();
    let bench = Bench::on(dir, store, &[("d", V1)], &[back_end("one", "d")]).await;
    let busy = bench.store.begin().await.unwrap();
    let loads = bench.texts.loads.load(Ordering::SeqCst);
    std::fs::write(bench.file("d"), V2).unwrap();
    until(|| bench.texts.loads.load(Ordering::SeqCst) > loads).await;
    // longer than it waits for the database
    tokio::time::sleep(patience * 2).await;
    drop(busy);
    until(|| bench.version("one") == "2").await;
}
