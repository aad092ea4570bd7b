//! Rows by SQL, into the database of the running service: what its lists are long of.

use sqlx::{Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::service::Service;

/// The same text on both databases. Ids count up with the time of creation.
const SQL: &str = "INSERT INTO volumes (id, project_id, user_id, name, size_gib, status, attach_status, volume_type_id, availability_zone, \
     host, backend, bootable, multiattach, shared_targets, service_uuid, backend_name, consumes_quota, created_at) \
     WITH RECURSIVE s(n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM s WHERE n < $2) \
     SELECT '00000000-0000-4000-8000-' || substr(CAST(1000000000000 + n AS TEXT), 2), $3, $4, 'seed-' || CAST(n AS TEXT), 1, 'available', \
     'detached', (SELECT MIN(id) FROM volume_types), 'nova', b.host || '#bench', b.host, FALSE, FALSE, TRUE, b.service_uuid, b.backend_name, \
     TRUE, 1000000 * n FROM s CROSS JOIN (SELECT host, service_uuid, backend_name FROM backends WHERE kind = 'block' ORDER BY host LIMIT 1) b";

/// The id of seeded volume `n`, counted from 1, the oldest.
pub fn id(n: usize) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// Brings the seeded volumes to `rows`. Calls with growing numbers add up.
pub async fn up_to(service: &Service, rows: usize) {
    let url = service.config().database_url();
    let rows = i64::try_from(rows).unwrap();
    let count = "SELECT COUNT(*) FROM volumes WHERE id LIKE '00000000-0000-4000-8000-%'";
    if url.starts_with("postgres") {
        let mut db = PgConnection::connect(&url).await.unwrap();
        let (have,): (i64,) = sqlx::query_as(count).fetch_one(&mut db).await.unwrap();
        sqlx::query(SQL).bind(have + 1).bind(rows).bind(&service.project_id).bind(&service.user_id).execute(&mut db).await.unwrap();
        sqlx::query("ANALYZE").execute(&mut db).await.unwrap();
        db.close().await.unwrap();
    } else {
        let options =
            SqliteConnectOptions::new().filename(url.trim_start_matches("sqlite:")).busy_timeout(std::time::Duration::from_secs(60));
        let mut db = SqliteConnection::connect_with(&options).await.unwrap();
        let (have,): (i64,) = sqlx::query_as(count).fetch_one(&mut db).await.unwrap();
        sqlx::query(SQL).bind(have + 1).bind(rows).bind(&service.project_id).bind(&service.user_id).execute(&mut db).await.unwrap();
        db.close().await.unwrap();
    }
}
