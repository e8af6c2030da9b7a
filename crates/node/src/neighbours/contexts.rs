//! Contexts: what a store gives is bounded, held against what it said, chosen for a budget, and the choice recorded.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_neighbour::{
    NeighbourError,
    context::{
        ContextStore, DOCUMENT_BYTES_MAX, Document, EXCERPT_BYTES_MAX, FOUND_MAX, Found, REFERENCE_BYTES_MAX,
    },
};
use edgeplane_types::{
    AgentId, Authority, ContextId, ErrorName, Fact, MessageId, StreamName,
    fact::{ContextItem, ContextOmission, ContextResolved, OmissionReason},
};
use edgeplane_wire::rpc::RpcError;

use super::failed;
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
    workspaces::blocking,
};

/// What comes out of a store of contexts weighs no more, whoever asks for it.
pub(crate) const AUTHORITY_MAX: Authority = Authority::External;

/// Texts that the query of a choice finds: those beyond its limit are told as left out.
const LEFT_OUT_MAX: usize = FOUND_MAX;

/// What to choose from, and how much.
#[derive(Debug)]
pub(crate) struct Choosing {
    pub(crate) query: Option<String>,
    pub(crate) references: Vec<String>,
    /// Most texts that the query chooses.
    pub(crate) limit: usize,
    pub(crate) budget_bytes: u64,
}

/// A text that was chosen, with all of it.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) item: ContextItem,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) selected: Vec<Chosen>,
    pub(crate) left_out: Vec<ContextOmission>,
    pub(crate) used_bytes: u64,
}

/// Whether a text may be a reference: whatever a store says, it stands in the record.
fn is_reference(text: &str) -> bool {
    !text.is_empty() && text.len() <= REFERENCE_BYTES_MAX && !text.chars().any(char::is_control)
}

fn cut(text: &mut String, bytes_max: usize) {
    text.truncate(text.floor_char_boundary(bytes_max));
}

/// What a store finds, as it may be told: bounded, each once, best first.
fn found(store: &dyn ContextStore, query: &str, found_max: usize) -> Result<Vec<Found>, NeighbourError> {
    let mut found = store.search(query, found_max)?;
    let mut seen = BTreeSet::new();
    found.retain(|one| is_reference(&one.reference) && seen.insert(one.reference.clone()));
    found.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.reference.cmp(&b.reference)));
    found.truncate(found_max);
    for one in &mut found {
        cut(&mut one.title, EXCERPT_BYTES_MAX);
        cut(&mut one.excerpt, EXCERPT_BYTES_MAX);
    }
    Ok(found)
}

pub(crate) async fn search(shared: &Shared, query: String, limit: usize) -> Result<Vec<Found>, RpcError> {
    let store = Arc::clone(&shared.neighbours.contexts);
    let done = blocking(move || found(store.as_ref(), &query, limit.min(FOUND_MAX))).await?;
    done.map_err(|error| failed(&error))
}

fn document(store: &dyn ContextStore, reference: &str) -> Result<Document, NeighbourError> {
    if !is_reference(reference) {
        let what = edgeplane_driver::render::clean(reference).chars().take(80).collect();
        return Err(NeighbourError::Name { neighbour: "the store of contexts", what });
    }
    let mut document = store.read(reference)?;
    if document.text.len() > DOCUMENT_BYTES_MAX {
        return Err(NeighbourError::TooLarge {
            neighbour: "the store of contexts",
            what: reference.to_owned(),
            bytes: size(&document.text),
            bytes_max: u64::try_from(DOCUMENT_BYTES_MAX).unwrap_or(u64::MAX),
        });
    }
    cut(&mut document.title, EXCERPT_BYTES_MAX);
    Ok(document)
}

pub(crate) async fn read(shared: &Shared, reference: String) -> Result<Document, RpcError> {
    let store = Arc::clone(&shared.neighbours.contexts);
    let done = blocking(move || document(store.as_ref(), &reference)).await?;
    done.map_err(|error| match error {
        // Unlike an artifact it was never promised, so that nothing failed.
        NeighbourError::Missing { what, .. } => {
            RpcError::new(ErrorName::NotFound, format!("no context `{what}`"))
                .hint("`edgeplane context search WORDS` finds those there are")
        }
        other => failed(&other),
    })
}

fn size(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Chooses: what is named first, then what fits best, as long as there is room. What does not fit leaves room for what
/// comes after it.
fn choose(store: &dyn ContextStore, wanted: &Choosing) -> Result<Choice, NeighbourError> {
    let mut choice = Choice::default();
    let mut seen = BTreeSet::new();
    for reference in &wanted.references {
        if seen.insert(reference.clone()) {
            take(store, &mut choice, (reference, None), wanted.budget_bytes)?;
        }
    }
    let best = match &wanted.query {
        Some(query) => found(store, query, LEFT_OUT_MAX)?,
        None => Vec::new(),
    };
    let mut taken = 0;
    for one in best.iter().filter(|one| !seen.contains(&one.reference)) {
        if taken == wanted.limit {
            choice.left_out.push(left_out(one, OmissionReason::Rank));
        } else if take(store, &mut choice, (&one.reference, Some(one)), wanted.budget_bytes)? {
            taken += 1;
        }
    }
    Ok(choice)
}

fn left_out(one: &Found, reason: OmissionReason) -> ContextOmission {
    ContextOmission {
        reference: one.reference.clone(),
        digest: Some(one.digest.to_string()),
        bytes: Some(one.bytes),
        score: Some(one.score),
        reason,
    }
}

/// Takes a text in if there is room for it.
fn take(
    store: &dyn ContextStore,
    choice: &mut Choice,
    (reference, found): (&str, Option<&Found>),
    budget_bytes: u64,
) -> Result<bool, NeighbourError> {
    let score = found.map(|found| found.score);
    let omit = |reason| ContextOmission {
        // What is no reference is told as far as it can be.
        reference: edgeplane_driver::render::clean(reference).chars().take(REFERENCE_BYTES_MAX / 4).collect(),
        digest: found.map(|found| found.digest.to_string()),
        bytes: found.map(|found| found.bytes),
        score,
        reason,
    };
    let document = match document(store, reference) {
        Ok(document) => document,
        Err(NeighbourError::Missing { .. }) => {
            choice.left_out.push(omit(OmissionReason::Missing));
            return Ok(false);
        }
        Err(NeighbourError::Name { .. } | NeighbourError::TooLarge { .. }) => {
            choice.left_out.push(omit(OmissionReason::Policy));
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let (bytes, digest) = (size(&document.text), edgeplane_proof::digest(document.text.as_bytes()));
    let digest = digest.to_string();
    if choice.used_bytes.saturating_add(bytes) > budget_bytes {
        let reference = reference.to_owned();
        let reason = OmissionReason::Budget;
        choice.left_out.push(ContextOmission {
            reference,
            digest: Some(digest),
            bytes: Some(bytes),
            score,
            reason,
        });
        return Ok(false);
    }
    choice.used_bytes = choice.used_bytes.saturating_add(bytes);
    let item = ContextItem { reference: reference.to_owned(), digest, bytes, score };
    choice.selected.push(Chosen { item, title: document.title, text: document.text });
    Ok(true)
}

/// Chooses, and records what was chosen and what was left out before anybody is given it.
pub(crate) async fn resolve(
    shared: &Shared,
    wanted: Choosing,
    (owner, message_id): (Option<AgentId>, Option<MessageId>),
    origin: &Origin,
) -> Result<(ContextId, Choice), RpcError> {
    let store = Arc::clone(&shared.neighbours.contexts);
    let (query, budget_bytes) = (wanted.query.clone(), wanted.budget_bytes);
    let choice = blocking(move || choose(store.as_ref(), &wanted)).await?.map_err(|error| failed(&error))?;
    let context_id: ContextId = shared.record.mint().id();
    let mut draft = Draft::default();
    let query = query.map(|query| draft.body(query.into_bytes()));
    let fact = ContextResolved {
        context_id,
        message_id,
        query_bytes: query.as_ref().map_or(0, |(_, bytes)| *bytes),
        query_digest: query.map(|(digest, _)| digest),
        budget_bytes,
        used_bytes: choice.used_bytes,
        authority: AUTHORITY_MAX,
        selected: choice.selected.iter().map(|chosen| chosen.item.clone()).collect(),
        left_out: choice.left_out.clone(),
    };
    let stream = owner.map_or(StreamName::Node(shared.identity.id), StreamName::Agent);
    shared.record.add(&mut draft, stream, origin, Fact::ContextResolved(Box::new(fact)));
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    Ok((context_id, choice))
}

#[cfg(test)]
#[path = "contexts/tests.rs"]
mod tests;
