//! `progress`: how far a long call is. In memory of this process: what a user sees of it is a hint, never a state.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

const MAX_TEXT: usize = 255;

/// What a driver last said about one operation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Progress {
    pub percent: u8,
    pub text: Option<String>,
}

/// The progress of every running call of this process, by operation id.
#[derive(Debug, Clone, Default)]
pub struct ProgressBoard(Arc<Mutex<HashMap<String, Progress>>>);

impl ProgressBoard {
    /// What was last reported for an operation that runs now.
    pub fn get(&self, operation_id: &str) -> Option<Progress> {
        self.lock().get(operation_id).cloned()
    }

    pub fn report(&self, operation_id: &str, percent: u8, text: Option<String>) {
        let text = text.map(|t| t.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect());
        self.lock().insert(operation_id.to_owned(), Progress { percent: percent.min(100), text });
    }

    /// The call has ended.
    pub fn forget(&self, operation_id: &str) {
        self.lock().remove(operation_id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
