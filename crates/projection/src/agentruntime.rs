//! The outside vocabulary of Agent Runtime (draft 0.4.0): what happens in a session, in the words of that standard.
//!
//! Owns the names and the mapping; everything that the standard demands and the record does not hold is said as a gap,
//! and nothing is joined by time or by what words look like. The names stand in one module.

mod artifact;
mod benchmark;
mod event;
mod export;
mod history;
mod invocation;
mod job;
mod life;
pub(crate) mod names;
mod subagent;
mod turn;
mod work;

use edgeplane_types::{SessionId, TurnId};

pub(crate) use export::{Events, Lime, takes};

use crate::{model::Profile, subject::Subject};

/// The public form of the standard, in this runtime's own version of it.
pub(crate) const PUBLIC: Profile = Profile { version: names::PUBLIC_VERSION };

/// The strict form.
pub(crate) const LIME: Profile = Profile { version: names::LIME_VERSION };

/// What an installation is called outside.
pub(crate) fn runtime(subject: &Subject) -> String {
    subject.node.map_or_else(|| "unknown".to_owned(), |node| node.to_string())
}

/// The turn that everything belongs to for which the standard demands a turn and which belongs to none. Each session
/// has one, the same whoever makes it.
pub(crate) fn system_turn(session: SessionId) -> TurnId {
    let digest = edgeplane_proof::digest(format!("system turn of {session}").as_bytes());
    let mut bytes = *session.as_bytes();
    // The time of the session stays, and so do the bits that make it a UUID of its kind.
    for (to, from) in bytes.iter_mut().zip(digest.as_bytes()).skip(9) {
        *to = *from;
    }
    TurnId::from_bytes(bytes)
}
