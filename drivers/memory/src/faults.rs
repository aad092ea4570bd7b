//! What goes wrong, as the option `faults` says: `VERB[@OBJECT][#N|#/N]=ACTION[:ARGUMENT]`.
//!
//! Calls are counted in `kv`, so that "the first call" is the first also after a restart, and in whatever process.

use std::time::Duration;

use stowage_driver_sdk::prelude::*;

use crate::Memory;

#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Its place in the list: what its counter is named by.
    number: usize,
    verb: String,
    object: Option<String>,
    when: When,
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    Always,
    /// The nth call for one object.
    Nth(u64),
    /// Every nth call, whatever the object.
    EveryNth(u64),
}

#[derive(Debug, Clone, PartialEq)]
enum Action {
    Delay(u32),
    DelayAfter(u32),
    Refuse(ErrorKind),
    FailAfter(ErrorKind),
    Trap,
    TrapAfter,
    Hang,
    HangAfter,
    WrongAnswer,
    WrongId,
    LeaveOut,
    Pending(u32),
}

/// What one call has to do wrong.
#[derive(Debug, Default)]
pub struct Plan {
    actions: Vec<Action>,
    /// The answer shall be a wrong one.
    pub lie: bool,
    /// The answer shall be about another object.
    pub wrong_id: bool,
    /// There shall be no answer about this object, where there is one about others.
    pub leave_out: bool,
    /// Long work: how often it answers `pending` before it is done.
    pub polls: u32,
}

impl Fault {
    pub fn parse(number: usize, text: &str) -> Result<Self> {
        let bad = || DriverError::invalid(format!("`faults`: `{text}` is not VERB[@OBJECT][#N|#/N]=ACTION[:ARGUMENT]"));
        let (call, action) = text.split_once('=').ok_or_else(bad)?;
        let (call, when) = match call.split_once('#') {
            None => (call, When::Always),
            Some((call, n)) => match n.strip_prefix('/') {
                Some(n) => (call, When::EveryNth(n.parse().ok().filter(|n| *n > 0).ok_or_else(bad)?)),
                None => (call, When::Nth(n.parse().map_err(|_| bad())?)),
            },
        };
        let (verb, object) = match call.split_once('@') {
            None => (call, None),
            Some((verb, object)) => (verb, Some(object.to_owned())),
        };
        let action = Action::parse(action).ok_or_else(bad)?;
        Ok(Self { number, verb: verb.to_owned(), object, when, action })
    }

    fn matches(&self, verb: &str, id: &str, name: &str) -> bool {
        let object = self.object.as_deref().is_none_or(|wanted| match wanted.strip_suffix('*') {
            Some(start) => id.starts_with(start) || name.starts_with(start),
            None => id == wanted || name == wanted,
        });
        object && (self.verb == "*" || self.verb == verb)
    }

    /// Whether it is this call's turn; counts the call.
    fn due(&self, cx: &Context, id: &str) -> Result<bool> {
        let (key, turn): (_, fn(u64, u64) -> bool) = match self.when {
            When::Always => return Ok(true),
            When::Nth(_) => (format!("fault/{}/{id}", self.number), |count, n| count == n),
            When::EveryNth(_) => (format!("fault/{}", self.number), |count, n| count % n == 0),
        };
        let (When::Nth(n) | When::EveryNth(n)) = self.when else { return Ok(true) };
        let mut count = 0;
        cx.kv().update(&key, |so_far: Option<u64>| {
            count = so_far.unwrap_or_default() + 1;
            Ok(Some(count))
        })?;
        Ok(turn(count, n))
    }
}

impl Action {
    fn parse(text: &str) -> Option<Self> {
        let (action, argument) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        Some(match (action, argument) {
            ("delay", Some(ms)) => Self::Delay(ms.parse().ok()?),
            ("delay-after", Some(ms)) => Self::DelayAfter(ms.parse().ok()?),
            ("refuse", kind) => Self::Refuse(error_kind(kind.unwrap_or("internal"))?),
            ("fail-after", kind) => Self::FailAfter(error_kind(kind.unwrap_or("internal"))?),
            ("lose-answer", None) => Self::FailAfter(ErrorKind::Transient),
            ("trap", None) => Self::Trap,
            ("trap-after", None) => Self::TrapAfter,
            ("hang", None) => Self::Hang,
            ("hang-after", None) => Self::HangAfter,
            ("wrong-answer", None) => Self::WrongAnswer,
            ("wrong-id", None) => Self::WrongId,
            ("leave-out", None) => Self::LeaveOut,
            ("pending", Some(polls)) => Self::Pending(polls.parse().ok()?),
            _ => return None,
        })
    }
}

fn error_kind(text: &str) -> Option<ErrorKind> {
    Some(match text {
        "invalid" => ErrorKind::Invalid,
        "not-found" => ErrorKind::NotFound,
        "busy" => ErrorKind::Busy,
        "exhausted" => ErrorKind::Exhausted,
        "transient" => ErrorKind::Transient,
        "auth" => ErrorKind::Auth,
        "unsupported" => ErrorKind::Unsupported,
        "data-loss-risk" => ErrorKind::DataLossRisk,
        "internal" => ErrorKind::Internal,
        _ => return None,
    })
}

impl Plan {
    fn before(&self, cx: &Context) -> Result<()> {
        for action in &self.actions {
            match action {
                Action::Delay(ms) => delay(cx, *ms)?,
                Action::Refuse(kind) => return Err(configured(*kind)),
                Action::Trap => trap(),
                Action::Hang => hang(),
                _ => {}
            }
        }
        Ok(())
    }

    fn after(&self, cx: &Context) -> Result<()> {
        for action in &self.actions {
            match action {
                Action::DelayAfter(ms) => cx.sleep(Duration::from_millis((*ms).into()))?,
                Action::FailAfter(kind) => return Err(configured(*kind)),
                Action::TrapAfter => trap(),
                Action::HangAfter => hang(),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Says how far it is, as long work should.
fn delay(cx: &Context, ms: u32) -> Result<()> {
    const PART: u32 = 100;
    let mut slept = 0;
    while slept < ms {
        let part = PART.min(ms - slept);
        cx.sleep(Duration::from_millis(part.into()))?;
        slept += part;
        cx.progress(u8::try_from(u64::from(slept) * 100 / u64::from(ms)).unwrap_or(100), "waits as it was told to");
    }
    Ok(())
}

fn configured(kind: ErrorKind) -> DriverError {
    DriverError::new(kind, "a fault of the memory driver's configuration").for_user("The storage refuses, as it was told to.")
}

#[expect(clippy::panic, reason = "a trap is what the configuration asks for")]
fn trap() -> ! {
    panic!("a trap of the memory driver's configuration")
}

/// Runs until the host ends the call.
fn hang() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

impl Memory {
    /// Runs one verb on an object, with whatever goes wrong for it.
    pub fn verb<T, E: From<DriverError>>(
        &self,
        cx: &Context,
        id: &str,
        name: &str,
        work: impl FnOnce(&Plan) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut plan = Plan::default();
        for fault in self.config.faults.iter().filter(|f| f.matches(cx.verb, id, name)) {
            if fault.due(cx, id)? {
                match fault.action {
                    Action::WrongAnswer => plan.lie = true,
                    Action::WrongId => plan.wrong_id = true,
                    Action::LeaveOut => plan.leave_out = true,
                    Action::Pending(polls) => plan.polls = polls,
                    _ => plan.actions.push(fault.action.clone()),
                }
            }
        }
        plan.before(cx)?;
        let answer = work(&plan)?;
        plan.after(cx)?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowage_driver_sdk::mock;

    fn memory(fault: &str) -> (mock::Host, Memory) {
        let host = mock::Host::new().option("faults", [fault]);
        let memory = Memory::open(&host.context("test")).unwrap();
        (host, memory)
    }
    fn create(host: &mock::Host, memory: &Memory, id: &str, name: &str) -> Result<()> {
        memory.verb(&host.context("volumes.create"), id, name, |_| Ok(()))
    }

    #[test]
    fn a_refusal_names_its_kind_and_spares_other_verbs() {
        let (host, memory) = memory("volumes.create=refuse:exhausted");
        assert_eq!(create(&host, &memory, "a", "").unwrap_err().kind, ErrorKind::Exhausted);
        assert!(memory.verb::<(), DriverError>(&host.context("volumes.delete"), "a", "", |_| Ok(())).is_ok());
    }

    #[test]
    fn the_nth_call_is_counted_for_each_object() {
        let (host, memory) = memory("volumes.create#1=lose-answer");
        for id in ["a", "b"] {
            assert_eq!(create(&host, &memory, id, "").unwrap_err().kind, ErrorKind::Transient);
            assert!(create(&host, &memory, id, "").is_ok());
        }
    }

    #[test]
    fn every_nth_call_is_counted_over_all_objects() {
        let (host, memory) = memory("*#/3=refuse:busy");
        let refused: Vec<bool> = ["a", "b", "c", "d", "e", "f"].iter().map(|id| create(&host, &memory, id, "").is_err()).collect();
        assert_eq!(refused, [false, false, true, false, false, true]);
    }

    #[test]
    fn an_object_is_meant_by_id_or_by_the_beginning_of_its_name() {
        let (host, memory) = memory("volumes.create@bad*=refuse:invalid");
        assert!(create(&host, &memory, "a", "bad one").is_err());
        assert!(create(&host, &memory, "a", "good").is_ok());
    }

    #[test]
    fn unreadable_faults_are_refused_when_the_driver_is_loaded() {
        for text in ["volumes.create", "a=explode", "a#x=trap", "a=delay:soon", "a#/0=trap"] {
            let host = mock::Host::new().option("faults", [text]);
            assert!(Memory::open(&host.context("lifecycle.init")).is_err(), "{text}");
        }
    }
}
