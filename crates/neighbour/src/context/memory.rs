//! The double: texts that end with the process, found by the same words.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use edgeplane_proof::digest;

use super::{
    ContextStore, Document, Found, STORE,
    rank::{Words, excerpt, ranked},
};
use crate::NeighbourError;

/// Searches texts in memory, and counts how often it is asked.
#[derive(Debug, Default)]
pub struct MemoryContexts {
    texts: BTreeMap<String, Document>,
    calls: AtomicU64,
}

impl MemoryContexts {
    /// With these texts, by reference.
    #[must_use]
    pub fn new(texts: BTreeMap<String, Document>) -> Self {
        Self { texts, calls: AtomicU64::new(0) }
    }

    /// How often it was asked for something.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl ContextStore for MemoryContexts {
    fn search(&self, query: &str, found_max: usize) -> Result<Vec<Found>, NeighbourError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let words: Vec<_> = self
            .texts
            .iter()
            .map(|(reference, document)| (reference.as_str(), Words::of(reference, &document.text)))
            .collect();
        let texts: Vec<_> = words.iter().map(|(reference, words)| (*reference, words)).collect();
        let found = ranked(query, &texts).into_iter().take(found_max).filter_map(|(reference, score)| {
            let document = self.texts.get(reference)?;
            Some(Found {
                reference: reference.to_owned(),
                title: document.title.clone(),
                digest: digest(document.text.as_bytes()),
                bytes: u64::try_from(document.text.len()).unwrap_or(u64::MAX),
                score,
                excerpt: excerpt(query, &document.text),
            })
        });
        Ok(found.collect())
    }

    fn read(&self, reference: &str) -> Result<Document, NeighbourError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let missing = || NeighbourError::Missing { neighbour: STORE, what: reference.to_owned() };
        self.texts.get(reference).cloned().ok_or_else(missing)
    }
}
