//! Which task carries out which kind of job.

use std::{collections::HashMap, sync::Arc};

use super::Task;

/// Tasks by the name that stands in the row.
#[derive(Clone, Default)]
pub struct Registry(HashMap<&'static str, Arc<dyn Task>>);

impl Registry {
    #[must_use]
    pub fn with(mut self, task: impl Task + 'static) -> Self {
        self.add(Arc::new(task));
        self
    }
    /// A later task of the same kind takes the place of an earlier one.
    pub fn add(&mut self, task: Arc<dyn Task>) {
        self.0.insert(task.kind(), task);
    }
    pub fn get(&self, kind: &str) -> Option<Arc<dyn Task>> {
        self.0.get(kind).cloned()
    }
    /// Every kind, sorted.
    pub fn kinds(&self) -> Vec<&'static str> {
        let mut kinds: Vec<_> = self.0.keys().copied().collect();
        kinds.sort_unstable();
        kinds
    }
}
