//! What a test makes the array do wrong.

use serde::{Deserialize, Serialize};

/// A fault for the next calls that match. Empty fields match everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fault {
    /// `PUT`, `DELETE`, ...
    pub method: String,
    /// `volumes`, `snapshots`, ...
    pub kind: String,
    pub id: String,
    /// `volumes.create`, as the driver names its call.
    pub verb: String,
    pub action: Action,
    /// How many matching calls are disturbed; after that the fault is spent.
    pub times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Does the work, then closes the connection without an answer.
    DropAnswer,
    /// Closes the connection before the work.
    DropCall,
    /// Answers with this status; nothing is done.
    Refuse(u16),
    /// Waits, then does the work.
    Delay { milliseconds: u64 },
    /// Does the work, then holds the answer back until the test releases it.
    HoldAnswer,
    /// Holds the call back until the test releases it, then does the work.
    HoldCall,
}

impl Default for Fault {
    fn default() -> Self {
        Self { method: String::new(), kind: String::new(), id: String::new(), verb: String::new(), action: Action::DropAnswer, times: 1 }
    }
}

impl Fault {
    /// The next call of this verb.
    #[must_use]
    pub fn on(verb: &str, action: Action) -> Self {
        Self { verb: verb.into(), action, ..Self::default() }
    }
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }
    fn matches(&self, method: &str, kind: &str, id: &str, verb: &str) -> bool {
        let same = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        self.times > 0 && same(&self.method, method) && same(&self.kind, kind) && same(&self.id, id) && same(&self.verb, verb)
    }
}

/// Takes one use of the first fault that matches.
pub fn take(faults: &mut Vec<Fault>, method: &str, kind: &str, id: &str, verb: &str) -> Option<Action> {
    let fault = faults.iter_mut().find(|f| f.matches(method, kind, id, verb))?;
    fault.times -= 1;
    let action = fault.action.clone();
    faults.retain(|f| f.times > 0);
    Some(action)
}
