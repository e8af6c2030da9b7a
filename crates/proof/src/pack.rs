//! A pack of evidence: files that prove by themselves what a node's record says, away from the node.
//!
//! Owns the manifest of a pack and its verification, on bytes that the caller read. The manifest names each file with its
//! digest and is signed; the events are the bytes that the record holds, each with the hash before it and its own, so
//! that their chain can be walked again. So whatever is altered, left out, put in or moved is found, and named by the
//! file or the event that it concerns. What a pack does not prove is that nothing happened that the node did not write
//! down.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{SafeLabel, StreamName, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    Digest, KeyRing, PublicKey, SignatureError, SigningKey, canonical,
    canonical::CanonicalError,
    chain, digest,
    jws::{self, Kind},
};

/// The form that is written and read.
pub const FORMAT: &str = "edgeplane-evidence/1";

/// The file that names all others.
pub const MANIFEST: &str = "manifest.json";

/// The signature over the manifest.
pub const SIGNATURE: &str = "signature.jws";

/// Problems that are told; a pack with more is no pack.
const PROBLEMS_MAX: usize = 1_000;

/// What a pack is, signed as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// Its id, by which it can be named.
    pub pack_id: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// The node that made it: id, name, version.
    pub node: Value,
    /// What was asked for.
    pub scope: Value,
    /// To what of the runtime it belongs: session, thread, turn and so on.
    pub correlation: Value,
    /// The agents in it, and how they stood.
    pub agents: Vec<Value>,
    /// The streams in it.
    pub streams: Vec<StreamPart>,
    /// Every other file, in the order in which they were written.
    pub parts: Vec<Part>,
    /// Every body that an event names.
    pub bodies: Vec<BodyRef>,
    /// Every segment of a recording that an event names; recordings stay where they are.
    pub recordings: Vec<RecordingRef>,
    /// The public keys that the node signs with or has signed with.
    pub keys: Vec<Key>,
    /// What of each kind of signal is in it.
    pub signals: Vec<Signal>,
    /// What is known to be missing, and why.
    pub known_gaps: Vec<Value>,
}

/// A stretch of a stream, without a hole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamPart {
    /// Which.
    pub stream: StreamName,
    /// The file with its events, a line each.
    pub path: String,
    /// Number of its first event.
    pub from_seq: u64,
    /// Number of its last event.
    pub to_seq: u64,
    /// The hash before the first event.
    pub before: Digest,
    /// The hash of the last event.
    pub head: Digest,
    /// Number of the stream's newest event when the pack was made.
    pub newest_seq: u64,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its path in the pack.
    pub path: String,
    /// SHA-256 of it.
    pub digest: Digest,
    /// Its size.
    pub bytes: u64,
}

/// A body that an event names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRef {
    /// SHA-256 of it.
    pub digest: Digest,
    /// `inline`: it is in the pack; `ref`: the node has it; `withheld`: it may hold a secret; `erased`; `not_kept`: the
    /// node keeps no body of this digest.
    pub status: String,
    /// Why it is not in the pack, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A sealed segment of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingRef {
    /// The stream whose event sealed it.
    pub stream: StreamName,
    /// The epoch recorded.
    pub epoch: u64,
    /// Its number in the epoch.
    pub segment: u32,
    /// SHA-256 of its file.
    pub digest: String,
    /// Size of its file.
    pub file_bytes: u64,
    /// Whether the node has it still.
    pub present: bool,
}

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its id.
    pub key_id: SafeLabel,
    /// The key.
    pub public_key: String,
    /// Since when the node signs with it.
    pub created_at: Timestamp,
    /// Since when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Timestamp>,
}

/// What of a kind of signal is in a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// Which kind.
    pub name: String,
    /// `exported`, `not_applicable`, `unsupported` or `missing_correlation`.
    pub status: String,
}

/// One line of a file of events.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventLine {
    /// Its number in the stream.
    pub seq: u64,
    /// Its place in the record.
    pub pos: u64,
    /// The hash before.
    pub prev_hash: Digest,
    /// Its hash.
    pub hash: Digest,
    /// The bytes that the record holds, as they are.
    pub event: Box<RawValue>,
}

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The pack's id, as far as it can be read.
    pub pack_id: Option<String>,
    /// The key that signed it.
    pub signed_by: Option<SafeLabel>,
    /// Whether that is a key that the reader brought; one that only the pack itself names proves that nothing was
    /// changed since it was made, and not who made it.
    pub signer_is_known: bool,
    /// Events whose chain was walked.
    pub events: u64,
    /// Files whose digest was made anew.
    pub parts: u64,
    /// Bodies that are in the pack.
    pub bodies: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong with a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub part: String,
    /// What is wrong with it.
    pub what: String,
}

/// The manifest's one spelling.
///
/// # Errors
/// When it has none.
pub fn manifest_bytes(manifest: &Manifest) -> Result<Vec<u8>, CanonicalError> {
    canonical::to_vec(manifest)
}

impl SigningKey {
    /// Signs the bytes of a pack's manifest.
    #[must_use]
    pub fn sign_pack(&self, manifest: &[u8]) -> String {
        jws::sign_detached(self, Kind::Evidence, manifest)
    }
}

/// The digests that an event names: every text of 64 hexadecimal digits in a field whose name ends with `digest`.
/// Digests of secrets are none: there is no body behind them, and whoever has one could try what it was made of.
#[must_use]
pub fn referenced(event: &Value) -> BTreeSet<Digest> {
    let mut found = BTreeSet::new();
    walk(event, &mut found);
    found
}

fn walk(value: &Value, found: &mut BTreeSet<Digest>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name.ends_with("digest") && name != "secret_digest" => {
                        found.extend(text.parse::<Digest>().ok());
                    }
                    other => walk(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Verifies a pack: the signature, each file, each chain, each reference. `known` are the keys that are believed; without
/// any, those that the pack names.
#[must_use]
pub fn verify(files: &BTreeMap<String, Vec<u8>>, known: &KeyRing, has_known: bool) -> Report {
    let mut looking = Looking { files, report: Report::default(), inline: BTreeSet::new() };
    looking.all(known, has_known);
    let mut report = looking.report;
    report.ok = report.problems.is_empty();
    report
}

struct Looking<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    report: Report,
    inline: BTreeSet<Digest>,
}

impl Looking<'_> {
    fn problem(&mut self, part: &str, what: impl Into<String>) {
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(Problem { part: part.to_owned(), what: what.into() });
        }
    }

    fn all(&mut self, known: &KeyRing, has_known: bool) {
        let Some(bytes) = self.files.get(MANIFEST) else { return self.problem(MANIFEST, "it is missing") };
        let manifest: Manifest = match serde_json::from_slice(bytes) {
            Ok(manifest) => manifest,
            Err(error) => return self.problem(MANIFEST, format!("it cannot be read: {error}")),
        };
        self.report.pack_id = Some(manifest.pack_id.clone());
        if manifest.format != FORMAT {
            return self.problem(MANIFEST, format!("its format is not {FORMAT}"));
        }
        if manifest_bytes(&manifest).ok().as_ref() != Some(bytes) {
            self.problem(MANIFEST, "it is not in its one spelling: it was altered");
        }
        self.signature(&manifest, bytes, (known, has_known));
        self.parts(&manifest);
        let mut referenced = BTreeSet::new();
        for part in &manifest.streams {
            self.stream(part, &mut referenced);
        }
        self.bodies(&manifest, &referenced);
    }

    fn signature(&mut self, manifest: &Manifest, bytes: &[u8], (known, has_known): (&KeyRing, bool)) {
        let Some(text) = self.files.get(SIGNATURE) else { return self.problem(SIGNATURE, "it is missing") };
        let mut own = KeyRing::default();
        for key in &manifest.keys {
            match key.public_key.parse::<PublicKey>() {
                // The first key of an id stands; a second is not believed.
                Ok(public) if public.key_id() == &key.key_id => drop(own.add(public)),
                _ => self.problem(MANIFEST, format!("key `{}` is not what its id says", key.key_id)),
            }
        }
        let keys = if has_known { known } else { &own };
        let text = String::from_utf8_lossy(text);
        match jws::verify_detached(keys, Kind::Evidence, bytes, text.trim_end()) {
            Ok(key_id) => {
                self.report.signer_is_known = has_known;
                self.report.signed_by = Some(key_id);
            }
            Err(SignatureError::Mismatch { key_id }) => {
                self.problem(SIGNATURE, format!("it is not that of key `{key_id}` over this manifest"));
            }
            Err(error) => self.problem(SIGNATURE, error.to_string()),
        }
    }

    fn parts(&mut self, manifest: &Manifest) {
        let mut listed: BTreeSet<&str> = BTreeSet::from([MANIFEST, SIGNATURE]);
        for part in &manifest.parts {
            if !listed.insert(&part.path) {
                self.problem(&part.path, "it is listed twice");
            }
            let Some(bytes) = self.files.get(&part.path) else {
                self.problem(&part.path, "it was left out");
                continue;
            };
            self.report.parts = self.report.parts.saturating_add(1);
            if digest(bytes) != part.digest || u64::try_from(bytes.len()) != Ok(part.bytes) {
                self.problem(&part.path, "it was altered: it is not what the manifest's digest was made of");
            }
        }
        for path in self.files.keys().filter(|path| !listed.contains(path.as_str())) {
            let what = "it was put in: the manifest does not name it".to_owned();
            if self.report.problems.len() < PROBLEMS_MAX {
                self.report.problems.push(Problem { part: path.clone(), what });
            }
        }
    }

    fn stream(&mut self, part: &StreamPart, referenced: &mut BTreeSet<Digest>) {
        let Some(bytes) = self.files.get(&part.path) else {
            return self.problem(&part.path, "the events of a stream were left out");
        };
        if part.from_seq == 1 && part.before != chain::genesis(&part.stream) {
            self.problem(&part.path, "it does not begin where its stream does");
        }
        let (mut seq, mut hash) = (part.from_seq.saturating_sub(1), part.before);
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line: EventLine = match serde_json::from_slice(line) {
                Ok(line) => line,
                Err(error) => {
                    let at = seq.saturating_add(1);
                    self.problem(&part.path, format!("event {at} cannot be read: {error}"));
                    return;
                }
            };
            self.event(part, &line, (seq, hash), referenced);
            (seq, hash) = (line.seq, line.hash);
            self.report.events = self.report.events.saturating_add(1);
        }
        if seq != part.to_seq || hash != part.head {
            let what = format!("it should end with event {}: the end was left out or altered", part.to_seq);
            self.problem(&part.path, what);
        }
    }

    fn event(
        &mut self,
        part: &StreamPart,
        line: &EventLine,
        (seq, hash): (u64, Digest),
        referenced: &mut BTreeSet<Digest>,
    ) {
        let expected = seq.saturating_add(1);
        let bytes = line.event.get().as_bytes();
        if line.seq != expected {
            let what = format!("event {} stands where event {expected} should", line.seq);
            return self.problem(&part.path, what);
        }
        if line.prev_hash != hash {
            self.problem(&part.path, format!("event {expected} does not follow the event before it"));
        }
        if chain::link(&line.prev_hash, bytes) != line.hash {
            self.problem(&part.path, format!("event {expected} was altered: its hash is another's"));
        }
        let event: Value = serde_json::from_str(line.event.get()).unwrap_or_default();
        let own = (event.get("seq").and_then(Value::as_u64), event.get("stream").and_then(Value::as_str));
        if own != (Some(expected), Some(part.stream.to_string().as_str())) {
            self.problem(&part.path, format!("event {expected} is one of another place"));
        }
        referenced.extend(self::referenced(&event));
    }

    fn bodies(&mut self, manifest: &Manifest, referenced: &BTreeSet<Digest>) {
        let mut listed = BTreeSet::new();
        for body in &manifest.bodies {
            listed.insert(body.digest);
            let path = body_path(&body.digest);
            match (body.status == "inline", self.files.get(&path)) {
                (true, None) => self.problem(&path, "a body was left out"),
                (true, Some(bytes)) if digest(bytes) != body.digest => {
                    self.problem(&path, "a body was altered: it is not what its events name");
                }
                (true, Some(_)) => {
                    self.inline.insert(body.digest);
                    self.report.bodies = self.report.bodies.saturating_add(1);
                }
                (false, Some(_)) => {
                    self.problem(&path, format!("a body that is `{}` is here all the same", body.status));
                }
                (false, None) => {}
            }
        }
        for unlisted in referenced.difference(&listed) {
            self.problem(MANIFEST, format!("it does not list body {unlisted}, which an event names"));
        }
    }
}

/// Where a body stands in a pack.
#[must_use]
pub fn body_path(digest: &Digest) -> String {
    format!("bodies/{digest}")
}

#[cfg(test)]
#[path = "pack/tests.rs"]
mod tests;
