//! Which task carries out which kind of job.

use std::{collections::HashMap, sync::Arc};

use super::Task;
use crate::app::App;

/// Tasks by the name that stands in the row.
pub struct Registry<A: Send + Sync + 'static = App>(HashMap<&'static str, Arc<dyn Task<A>>>);

impl<A: Send + Sync + 'static> Default for Registry<A> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<A: Send + Sync + 'static> Registry<A> {
    #[must_use]
    pub fn with(mut self, task: impl Task<A> + 'static) -> Self {
        self.add(Arc::new(task));
        self
    }
    /// A later task of the same kind takes the place of an earlier one.
    pub fn add(&mut self, task: Arc<dyn Task<A>>) {
        self.0.insert(task.kind(), task);
    }
    pub fn get(&self, kind: &str) -> Option<Arc<dyn Task<A>>> {
        self.0.get(kind).cloned()
    }
    /// Every kind, sorted.
    pub fn kinds(&self) -> Vec<&'static str> {
        let mut kinds: Vec<_> = self.0.keys().copied().collect();
        kinds.sort_unstable();
        kinds
    }
}
