//! What was seen of a node, as leaves by their paths, so that two nodes can be compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

/// Keys whose values are another each time, whatever is done.
const ANOTHER_EACH_TIME: [&str; 17] = [
    "ts",
    "at",
    "since",
    "pid",
    "start_time",
    "startTime",
    "boot_id",
    "bootId",
    "trace",
    "traceId",
    "spanId",
    "hash",
    "prev_hash",
    "timestamp",
    "pos",
    "sequence",
    "uptime",
];

/// What was seen.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) catalogue: Value,
    leaves: BTreeMap<String, String>,
    ids: BTreeMap<String, usize>,
    counts: BTreeMap<String, usize>,
    dir: String,
}

impl Seen {
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            catalogue: Value::Null,
            leaves: BTreeMap::new(),
            ids: BTreeMap::new(),
            counts: BTreeMap::new(),
            dir: dir.display().to_string(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// An event of the log: the how many-th of its kind in its stream.
    pub(crate) fn event(&mut self, event: &Value) {
        let stream = self.text(event["stream"].as_str().unwrap_or_default());
        let place = format!("{stream} {}", event["type"].as_str().unwrap_or_default());
        let count = self.counts.entry(place.clone()).or_default();
        *count += 1;
        let place = format!("{place} {count}");
        self.leaves.insert(place.clone(), "is there".to_owned());
        self.leaf(&format!("{place} by"), &event["actor"]);
        self.leaf(&place, &event["payload"]);
    }

    pub(crate) fn state(&mut self, name: &str, state: &Value) {
        self.leaf(name, state);
    }

    /// Paths at which two nodes are not the same.
    pub(crate) fn differs(&self, other: &Self) -> BTreeSet<String> {
        let all: BTreeSet<&String> = self.leaves.keys().chain(other.leaves.keys()).collect();
        all.into_iter().filter(|path| self.leaves.get(*path) != other.leaves.get(*path)).cloned().collect()
    }

    fn leaf(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    let is_time = ["_at", "At", "_ms", "Ms", "_us"].iter().any(|end| key.ends_with(end));
                    if !is_time && !ANOTHER_EACH_TIME.contains(&key.as_str()) {
                        let key = self.text(key);
                        self.leaf(&format!("{path}/{key}"), value);
                    }
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.leaf(&format!("{path}/{index}"), value);
                }
            }
            Value::String(text) => {
                let text = self.text(text);
                self.leaves.insert(path.to_owned(), text);
            }
            other => drop(self.leaves.insert(path.to_owned(), other.to_string())),
        }
    }

    /// A text in which each id is the how many-th of its kind that was seen, and the folder of the test has one name.
    fn text(&mut self, text: &str) -> String {
        let text = text.replace(&self.dir, "DIR");
        let mut told = String::new();
        let mut rest = text.as_str();
        while let Some(place) =
            rest.char_indices().map(|(place, _)| place).find(|place| id_at(rest, *place).is_some())
        {
            let id = id_at(rest, place).unwrap_or_default();
            // The same UUID under another prefix is the same thing.
            let (prefix, uuid) = id.split_at(4);
            let next = self.ids.len();
            let number = *self.ids.entry(uuid.to_owned()).or_insert(next);
            told.push_str(&rest[..place]);
            told.push_str(&format!("{prefix}{number}"));
            rest = &rest[place + id.len()..];
        }
        told + rest
    }
}

/// The id that stands at a place.
fn id_at(text: &str, place: usize) -> Option<&str> {
    let id = text.get(place..place + 40)?;
    let (prefix, uuid) = id.split_at_checked(4)?;
    let letters = prefix.strip_suffix('_')?;
    let is_id = letters.bytes().all(|byte| byte.is_ascii_lowercase())
        && uuid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && uuid.bytes().filter(|byte| *byte == b'-').count() == 4;
    is_id.then_some(id)
}
