//! The array's objects, the generations it has seen, and the record of calls. Pure: no HTTP, no clock but the caller's.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something the array holds: a volume, a snapshot, a connection, a share, an access rule, a share server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Grows with every change; `If-Match` compares it.
    #[serde(default)]
    pub version: u64,
    /// The pool that `gib` is taken from.
    pub pool: String,
    /// Space taken in the pool.
    pub gib: u64,
    /// The driver's own fields.
    #[serde(default)]
    pub data: Value,
}

/// What the array remembers of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub sequence: u64,
    pub method: String,
    pub kind: String,
    pub id: String,
    /// The driver interface's function that made the call, as the driver says it: `volumes.create`.
    pub verb: String,
    pub operation_id: String,
    pub generation: u64,
    pub request_id: String,
    /// What was answered, or would have been: a dropped answer is recorded with the status it had.
    pub status: u16,
    pub dropped: bool,
}

/// Why the array refuses a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NotFound,
    /// Create of what exists, or update of another version. The object as it is goes back to the caller.
    Conflict,
    /// The pool lacks the space.
    Full {
        used: u64,
        limit: u64,
    },
    /// An older generation than one already seen for this object.
    Stale {
        seen: u64,
    },
}

/// What a PUT expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Absent,
    Version(u64),
}

type Key = (String, String);

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct State {
    objects: BTreeMap<String, BTreeMap<String, Object>>,
    /// Outlives the object: a late create of an old generation must not bring a deleted object back.
    generations: BTreeMap<String, BTreeMap<String, u64>>,
    #[serde(skip)]
    calls: Vec<Call>,
    #[serde(skip)]
    file: Option<PathBuf>,
}

impl State {
    /// Reads the objects of an earlier run when the file is there.
    pub fn open(file: Option<PathBuf>) -> anyhow::Result<Self> {
        let mut state = match &file {
            Some(path) if path.exists() => serde_json::from_slice(&fs::read(path)?)?,
            _ => Self::default(),
        };
        state.file = file;
        Ok(state)
    }

    pub fn get(&self, kind: &str, id: &str) -> Option<&Object> {
        self.objects.get(kind)?.get(id)
    }

    /// Objects of a kind whose id starts with `prefix`, in the order of their ids.
    pub fn list(&self, kind: &str, prefix: &str) -> Vec<(String, Object)> {
        let Some(objects) = self.objects.get(kind) else { return Vec::new() };
        objects.iter().filter(|(id, _)| id.starts_with(prefix)).map(|(id, o)| (id.clone(), o.clone())).collect()
    }

    pub fn all(&self) -> &BTreeMap<String, BTreeMap<String, Object>> {
        &self.objects
    }

    /// GiB taken, by pool.
    pub fn used(&self) -> BTreeMap<String, u64> {
        let mut used = BTreeMap::new();
        for object in self.objects.values().flat_map(BTreeMap::values) {
            *used.entry(object.pool.clone()).or_default() += object.gib;
        }
        used
    }

    pub fn used_gib(&self, pool: &str) -> u64 {
        self.used().remove(pool).unwrap_or_default()
    }

    /// Creates or replaces an object. `limit` is the pool's size, when it has one.
    pub fn put(&mut self, key: Key, mut object: Object, expect: Expect, limit: Option<u64>, generation: u64) -> Result<Object, Refusal> {
        self.fence(&key, generation)?;
        let found = self.get(&key.0, &key.1);
        match (expect, found) {
            (Expect::Absent, Some(_)) => return Err(Refusal::Conflict),
            (Expect::Version(_), None) => return Err(Refusal::NotFound),
            (Expect::Version(v), Some(o)) if o.version != v => return Err(Refusal::Conflict),
            _ => {}
        }
        let before = found.filter(|o| o.pool == object.pool).map_or(0, |o| o.gib);
        let used = self.used_gib(&object.pool);
        if let Some(limit) = limit
            && object.gib > before
            && used - before + object.gib > limit
        {
            return Err(Refusal::Full { used, limit });
        }
        object.version = found.map_or(1, |o| o.version + 1);
        self.objects.entry(key.0).or_default().insert(key.1, object.clone());
        Ok(object)
    }

    pub fn delete(&mut self, key: &Key, generation: u64) -> Result<(), Refusal> {
        self.fence(key, generation)?;
        self.objects.get_mut(&key.0).and_then(|o| o.remove(&key.1)).map(drop).ok_or(Refusal::NotFound)
    }

    fn fence(&mut self, key: &Key, generation: u64) -> Result<(), Refusal> {
        let seen = self.generations.entry(key.0.clone()).or_default().entry(key.1.clone()).or_default();
        if generation < *seen {
            return Err(Refusal::Stale { seen: *seen });
        }
        *seen = generation;
        Ok(())
    }

    /// All objects of a kind are gone. What was seen of their generations stays.
    pub fn lose(&mut self, kind: &str) {
        self.objects.remove(kind);
    }

    pub fn record(&mut self, mut call: Call) {
        call.sequence = self.calls.len() as u64;
        self.calls.push(call);
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Writes the objects to the state file, so that a killed array finds them again.
    pub fn save(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let partial = file.with_extension("partial");
        fs::write(&partial, serde_json::to_vec(self)?)?;
        fs::rename(partial, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> Key {
        ("volumes".into(), id.into())
    }
    fn object(gib: u64) -> Object {
        Object { version: 0, pool: "p".into(), gib, data: Value::Null }
    }

    #[test]
    fn an_object_is_created_once() {
        let mut s = State::default();
        assert!(s.put(key("a"), object(1), Expect::Absent, None, 1).is_ok());
        assert_eq!(s.put(key("a"), object(1), Expect::Absent, None, 1), Err(Refusal::Conflict));
    }

    #[test]
    fn a_full_pool_refuses_and_counts_what_it_holds() {
        let mut s = State::default();
        s.put(key("a"), object(6), Expect::Absent, Some(10), 1).unwrap();
        assert_eq!(s.put(key("b"), object(5), Expect::Absent, Some(10), 1), Err(Refusal::Full { used: 6, limit: 10 }));
        s.put(key("a"), object(10), Expect::Version(1), Some(10), 1).unwrap();
        assert_eq!(s.used_gib("p"), 10);
    }

    #[test]
    fn a_lower_generation_changes_nothing_even_after_the_object_is_gone() {
        let mut s = State::default();
        s.put(key("a"), object(1), Expect::Absent, None, 1).unwrap();
        s.delete(&key("a"), 3).unwrap();
        assert_eq!(s.put(key("a"), object(1), Expect::Absent, None, 2), Err(Refusal::Stale { seen: 3 }));
        assert!(s.get("volumes", "a").is_none());
    }
}
