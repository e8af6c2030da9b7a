//! What a fold is, and how it says something.

use std::fmt;

use edgeplane_types::{Event, Fact};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    entry::{BodyRef, Entry, EnvelopeId, Ids, Numbered},
    json::Json,
    subject::{Input, Subject},
};

/// Most entries of which a state shows each; of the rest it shows the count. What a reader looks at without reading
/// the stream, and what a checkpoint of a long history may weigh.
pub(crate) const SHOWN_MAX: usize = 200;

/// One fold: what it keeps is what it serializes.
pub(crate) trait Fold: fmt::Debug + Send + Serialize + DeserializeOwned + 'static {
    fn new(subject: &Subject) -> Self;
    fn fold(&mut self, step: &mut Step<'_>);
    fn state(&self) -> Value;
}

/// A fold of whichever kind.
pub(crate) trait AnyFold: fmt::Debug + Send {
    fn fold(&mut self, step: &mut Step<'_>);
    fn state(&self) -> Value;
    fn save(&self) -> Option<Box<RawValue>>;
}

impl<F: Fold> AnyFold for F {
    fn fold(&mut self, step: &mut Step<'_>) {
        Fold::fold(self, step);
    }

    fn state(&self) -> Value {
        Fold::state(self)
    }

    fn save(&self) -> Option<Box<RawValue>> {
        to_raw_value(self).ok()
    }
}

pub(crate) fn make<F: Fold>(subject: &Subject) -> Box<dyn AnyFold> {
    Box::new(F::new(subject))
}

pub(crate) fn load<F: Fold>(saved: &str) -> Option<Box<dyn AnyFold>> {
    serde_json::from_str::<F>(saved).ok().map(|fold| Box::new(fold) as Box<dyn AnyFold>)
}

/// One event on its way through a fold, and what is said about it.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) subject: &'a Subject,
    /// The number of the last envelope before this event.
    pub(crate) before: u64,
    pub(crate) said: Vec<Numbered>,
}

impl<'a> Step<'a> {
    pub(crate) fn event(&self) -> &'a Event {
        self.input.event
    }

    pub(crate) fn fact(&self) -> &'a Fact {
        &self.input.event.fact
    }

    /// The id that the next envelope will have.
    pub(crate) fn next_id(&self) -> EnvelopeId {
        EnvelopeId { event: self.input.event.id, index: u32::try_from(self.said.len()).unwrap_or(u32::MAX) }
    }

    /// The number that the next envelope will have.
    pub(crate) fn next_n(&self) -> u64 {
        let said = u64::try_from(self.said.len()).unwrap_or(u64::MAX);
        self.before.saturating_add(said).saturating_add(1)
    }

    /// Says something about the event.
    pub(crate) fn say(&mut self, kind: &'static str, ids: Ids, payload: Json) -> &mut Entry {
        let entry =
            Entry { kind, payload, ids, refs: Vec::new(), causation: self.input.event.cause, trace: None };
        let numbered = Numbered {
            n: self.next_n(),
            source: self.subject.source(self.input),
            event_id: self.next_id(),
            ts: self.input.event.ts,
            entry,
        };
        self.said.push(numbered);
        let last = self.said.len() - 1;
        &mut self.said[last].entry
    }
}

impl Entry {
    pub(crate) fn with(&mut self, name: &'static str, digest: &str, bytes: u64) -> &mut Self {
        self.refs.push(BodyRef::new(name, digest, bytes));
        self
    }
}
