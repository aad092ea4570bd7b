//! The service's database as it stands, read beside the service: what no API shows.

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};

/// Where it is.
#[derive(Debug, Clone)]
pub struct Database {
    url: String,
}

impl Database {
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }
    fn sqlite(&self) -> Option<SqliteConnectOptions> {
        let path = self.url.strip_prefix("sqlite:")?;
        Some(SqliteConnectOptions::new().filename(path.trim_start_matches("//")).busy_timeout(std::time::Duration::from_secs(10)))
    }

    /// The rows of a statement that has one column of text.
    pub async fn texts(&self, sql: &'static str) -> Vec<String> {
        match self.sqlite() {
            Some(options) => {
                let mut c = SqliteConnection::connect_with(&options).await.unwrap();
                let rows = sqlx::query_scalar(sql).fetch_all(&mut c).await.unwrap();
                c.close().await.unwrap();
                rows
            }
            None => {
                let mut c = PgConnection::connect(&self.url).await.unwrap();
                let rows = sqlx::query_scalar(sql).fetch_all(&mut c).await.unwrap();
                c.close().await.unwrap();
                rows
            }
        }
    }

    /// Forges something.
    pub async fn execute(&self, sql: String) -> u64 {
        match self.sqlite() {
            Some(options) => {
                let mut c = SqliteConnection::connect_with(&options.foreign_keys(false)).await.unwrap();
                let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut c).await.unwrap().rows_affected();
                c.close().await.unwrap();
                done
            }
            None => {
                let mut c = PgConnection::connect(&self.url).await.unwrap();
                let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut c).await.unwrap().rows_affected();
                c.close().await.unwrap();
                done
            }
        }
    }
}
