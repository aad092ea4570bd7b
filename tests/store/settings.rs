use support::both_databases;

both_databases! {
    async fn the_first_value_settles_a_setting_and_a_later_one_is_told_it(db) {
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.settle_setting("host", "stowage").await.unwrap(), "stowage");
        assert_eq!(tx.settle_setting("host", "other").await.unwrap(), "stowage");
        tx.commit().await.unwrap();
        assert_eq!(db.store.setting("host").await.unwrap().as_deref(), Some("stowage"));
    }

    async fn a_setting_can_be_overwritten(db) {
        for value in ["1", "2"] {
            let mut tx = db.store.begin().await.unwrap();
            tx.set_setting("a", value).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!(db.store.setting("a").await.unwrap().as_deref(), Some("2"));
    }
}
