//! Password hashes: argon2id, on a bounded number of blocking threads.
//!
//! A check takes its time on purpose, so at most `concurrency` run at once and the rest wait in order; one that waited too
//! long is refused rather than let log-ins pile up. Checking against a user who does not exist costs the same.

use std::{sync::Arc, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use crate::{
    config::Argon2Config,
    error::{Error, Kind, Result},
};

/// How long a log-in waits for its turn.
const PATIENCE: Duration = Duration::from_secs(15);

/// Makes and checks password hashes.
#[derive(Clone)]
pub struct Passwords {
    argon2: Arc<Argon2<'static>>,
    turns: Arc<Semaphore>,
    /// What a password of nobody is compared with.
    decoy: Arc<str>,
}

impl Passwords {
    /// # Errors
    /// Parameters that argon2 does not take.
    pub fn new(config: &Argon2Config) -> Result<Self> {
        let params =
            Params::new(config.memory_kib, config.iterations, config.parallelism, None).map_err(|e| Error::internal(e.to_string()))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let decoy = hash(&argon2, &uuid::Uuid::new_v4().to_string())?;
        Ok(Self { argon2: Arc::new(argon2), turns: Arc::new(Semaphore::new(config.concurrency.max(1))), decoy: decoy.into() })
    }

    /// # Errors
    /// [`Kind::Unavailable`] when too many log-ins wait.
    pub async fn hash(&self, password: String) -> Result<String> {
        let argon2 = Arc::clone(&self.argon2);
        self.in_turn(move || hash(&argon2, &password)).await?
    }

    /// Whether `password` is the one behind `stored`; never for nobody.
    ///
    /// # Errors
    /// [`Kind::Unavailable`] when too many log-ins wait.
    pub async fn verify(&self, password: String, stored: Option<String>) -> Result<bool> {
        let (argon2, decoy) = (Arc::clone(&self.argon2), Arc::clone(&self.decoy));
        let known = stored.is_some();
        let checked = self.in_turn(move || {
            let stored = stored.as_deref().unwrap_or(&decoy);
            PasswordHash::new(stored).is_ok_and(|stored| argon2.verify_password(password.as_bytes(), &stored).is_ok())
        });
        Ok(checked.await? && known)
    }

    async fn in_turn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(Error::new(Kind::Unavailable, "Too many log-ins at once; try again."));
        };
        tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        })
        .await
        .map_err(Error::internal)
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> Result<String> {
    let hash: PasswordHash = argon2.hash_password(password.as_bytes()).map_err(|e| Error::internal(e.to_string()))?;
    Ok(hash.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap() -> Passwords {
        Passwords::new(&Argon2Config { memory_kib: 8, iterations: 1, parallelism: 1, concurrency: 2 }).unwrap()
    }

    #[tokio::test]
    async fn the_right_password_is_recognised_and_no_other() {
        let passwords = cheap();
        let stored = passwords.hash("hunter2 ü".into()).await.unwrap();
        assert!(stored.starts_with("$argon2id$"));
        assert!(passwords.verify("hunter2 ü".into(), Some(stored.clone())).await.unwrap());
        assert!(!passwords.verify("hunter2".into(), Some(stored)).await.unwrap());
    }
    #[tokio::test]
    async fn nobody_has_a_password() {
        assert!(!cheap().verify(String::new(), None).await.unwrap());
    }
    #[tokio::test]
    async fn a_damaged_hash_matches_nothing() {
        assert!(!cheap().verify("x".into(), Some("not a hash".into())).await.unwrap());
    }
    #[test]
    fn impossible_costs_are_refused() {
        assert!(Passwords::new(&Argon2Config { memory_kib: 1, iterations: 0, parallelism: 0, concurrency: 1 }).is_err());
    }
}
