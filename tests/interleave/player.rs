//! What every client that takes steps does, whatever they are about: it asks one service, and when that is gone another one.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::Value;
use support::{Answer, Client};

use crate::diary::Diary;

/// Longer after an accepted delete, the driver's `busy` may have given the resource back.
pub const FRESH: Duration = Duration::from_secs(1);
/// No service answers for so long at most, in the tests that kill them.
const DOWN: Duration = Duration::from_secs(60);

/// Every service, for each of those in whose name is asked.
pub struct Doors {
    doors: Vec<Vec<Client>>,
    /// The one that is asked.
    door: usize,
    /// A service was gone at some time.
    pub restarted: bool,
}

impl Doors {
    /// `doors[0]` has nothing special.
    pub fn new(doors: Vec<Vec<Client>>, number: usize, restarted: bool) -> Self {
        let door = number % doors[0].len();
        Self { doors, door, restarted }
    }

    /// Asks one service; when it is gone, says so and goes on to one that answers. None: what was asked may have been done.
    pub async fn ask(&mut self, diary: &Diary, who: usize, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let client = self.doors[who][self.door].clone();
        let gone = match client.try_send(method, path, body).await {
            Ok(answer) => return Some(answer),
            Err(gone) => gone,
        };
        if !diary.is_disturbed() {
            diary.breaks(format!("[no-answer] {gone:?}"));
        }
        self.restarted = true;
        let began = Instant::now();
        loop {
            self.door = (self.door + 1) % self.doors[0].len();
            let client = self.doors[0][self.door].rooted_at("");
            if client.try_send(Method::GET, "/healthcheck", None).await.is_ok() {
                return None;
            }
            assert!(began.elapsed() < DOWN, "no service answers: {gone:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Between two steps: nobody is as fast as that, and what was begun gets on.
pub fn breath(client: usize, step: usize) -> Duration {
    Duration::from_millis((client * 7 + step * 13) as u64 % 16)
}

pub fn pick(from: &[String], nth: usize) -> Option<String> {
    if from.is_empty() { None } else { Some(from[nth % from.len()].clone()) }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Status and sentence.
pub fn brief(answer: &Answer) -> String {
    if answer.status.is_success() {
        return answer.status.as_u16().to_string();
    }
    let said: String = answer.text.chars().take(220).collect();
    format!("{} {said}", answer.status.as_u16())
}
