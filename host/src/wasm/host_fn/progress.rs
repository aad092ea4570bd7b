//! `progress`: how far a long call is. In memory of the process that makes the call, which shows it with the job: a hint for
//! operators, never a state.

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
    /// What a call of this job, which runs here now, reported last. Its calls' operations are named by it.
    pub fn of_job(&self, job_id: &str) -> Option<Progress> {
        let is_its = |operation: &str| operation.strip_prefix(job_id).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        self.lock().iter().find(|(operation, _)| is_its(operation)).map(|(_, progress)| progress.clone())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jobs_progress_is_that_of_its_call_until_that_ends() {
        let board = ProgressBoard::default();
        board.report("job-1:create", 140, Some("copies\n".into()));
        let shown = Progress { percent: 100, text: Some("copies".into()) };
        assert_eq!((board.of_job("job-1"), board.of_job("job"), board.of_job("job-10")), (Some(shown), None, None));
        board.forget("job-1:create");
        assert_eq!(board.of_job("job-1"), None);
    }
}
