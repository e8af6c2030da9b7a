//! One projection of one subject: what was folded, how far, and its digest.

use edgeplane_proof::{Digest, digest, digest::Digester};
use edgeplane_wire::api::stream::Target;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    definition::Definition,
    entry::Numbered,
    fold::{AnyFold, Step},
    subject::{Input, Subject},
};

/// One projection of one subject.
#[derive(Debug)]
pub struct Running {
    definition: &'static Definition,
    subject: Subject,
    n: u64,
    as_of: u64,
    /// Covers every envelope so far.
    chain: Digest,
    fold: Box<dyn AnyFold>,
    /// Kept between events, so that it is made once.
    buffer: Vec<u8>,
}

/// What a checkpoint holds.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    projection: String,
    version: u32,
    target: Target,
    n: u64,
    as_of: u64,
    chain: Digest,
    fold: Box<RawValue>,
}

impl Running {
    /// A projection of which nothing is folded yet.
    #[must_use]
    pub fn new(definition: &'static Definition, subject: &Subject) -> Self {
        let about = format!("{} {} {}", definition.name, definition.version, subject.target.kind.as_str());
        Self {
            definition,
            subject: Subject { work: definition.is_of_work(subject), ..subject.clone() },
            n: 0,
            as_of: 0,
            chain: digest(about.as_bytes()),
            fold: (definition.make)(subject),
            buffer: Vec::new(),
        }
    }

    /// Which projection it is.
    #[must_use]
    pub fn definition(&self) -> &'static Definition {
        self.definition
    }

    /// Whom it is about.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Takes in one event and gives what is to be said about it, numbered on from the last.
    ///
    /// An event of a type that the projection does not take, one of another stream, and one that was folded already
    /// change nothing but how far the source is known.
    pub fn fold(&mut self, input: &Input<'_>) -> Vec<Numbered> {
        let source = self.subject.source(input);
        if !self.subject.covers(input) || source <= self.as_of {
            return Vec::new();
        }
        self.as_of = source;
        if !(self.definition.takes)(input.event.fact.type_name()) {
            return Vec::new();
        }
        let mut step = Step { input, subject: &self.subject, before: self.n, said: Vec::new() };
        self.fold.fold(&mut step);
        let said = step.said;
        for numbered in &said {
            self.buffer.clear();
            self.buffer.extend_from_slice(self.chain.as_bytes());
            numbered.write(&mut self.buffer);
            self.chain = digest(&self.buffer);
            self.n = numbered.n;
        }
        said
    }

    /// The number of the last envelope; 0 before the first.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The last place of the source that is folded or passed over; 0 before the first.
    #[must_use]
    pub fn as_of(&self) -> u64 {
        self.as_of
    }

    /// Passes over events that the projection does not take, up to here.
    pub fn skip_to(&mut self, source: u64) {
        self.as_of = self.as_of.max(source);
    }

    /// What can be seen now. Lists show their newest 200 entries and the count of the rest.
    #[must_use]
    pub fn state(&self) -> Value {
        self.fold.state()
    }

    /// SHA-256 over every envelope and the state, lower-case hexadecimal. What was passed over is not in it.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut digester = Digester::default();
        digester.update(self.chain.as_bytes());
        digester.update(self.state().to_string().as_bytes());
        digester.finish().to_string()
    }

    /// A checkpoint, from which [`load`](Self::load) goes on.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        // Whatever a fold keeps can be written; an empty checkpoint would be refused, and the fold made anew.
        let Some(fold) = self.fold.save() else { return Vec::new() };
        let saved = Saved {
            projection: self.definition.name.to_owned(),
            version: self.definition.version,
            target: self.subject.target.clone(),
            n: self.n,
            as_of: self.as_of,
            chain: self.chain,
            fold,
        };
        serde_json::to_vec(&saved).unwrap_or_default()
    }

    /// Goes on from a checkpoint; none if it is one of another projection, version or target, or is no checkpoint.
    #[must_use]
    pub fn load(definition: &'static Definition, subject: &Subject, saved: &[u8]) -> Option<Self> {
        let saved: Saved = serde_json::from_slice(saved).ok()?;
        let is_same = saved.projection == definition.name
            && saved.version == definition.version
            && saved.target == subject.target;
        let fold = is_same.then(|| (definition.load)(saved.fold.get())).flatten()?;
        Some(Self {
            definition,
            subject: Subject { work: definition.is_of_work(subject), ..subject.clone() },
            n: saved.n,
            as_of: saved.as_of,
            chain: saved.chain,
            fold,
            buffer: Vec::new(),
        })
    }
}
