//! What may be asked at all, and within which bounds.
//!
//! What is asked is kept in the record and shown to people, so it is small; and it is such that it can be decided.

use std::collections::BTreeSet;

use edgeplane_types::{
    ActionId, AgentId, Epoch, MessageId, SafeLabel, Timestamp,
    decision::{Action, ActionKind, Choice},
};
use serde_json::Value;

use super::schema::{Schema, SchemaError};

/// Longest prompt in bytes: what a person reads before they decide. What is longer belongs into the subject.
pub const PROMPT_BYTES_MAX: usize = 4_096;

/// Most choices of a question.
pub const CHOICES_MAX: usize = 32;

/// Longest label of a choice in bytes.
pub const LABEL_BYTES_MAX: usize = 256;

/// Most roles that may decide.
pub const ROLES_MAX: usize = 16;

/// Most principals that an approval may need.
pub const QUORUM_MAX: u32 = 16;

/// Shortest time that an action waits, in milliseconds.
pub const LASTS_MS_MIN: u64 = 1_000;

/// Longest time that an action waits, in milliseconds: 30 days.
pub const LASTS_MS_MAX: u64 = 30 * 24 * 3_600_000;

/// How long an action waits where nothing else is said, in milliseconds: a day.
pub const LASTS_MS_DEFAULT: u64 = 24 * 3_600_000;

/// Longest idempotency key in bytes.
pub const KEY_BYTES_MAX: usize = 256;

/// Hexadecimal digits of a digest.
const DIGEST_DIGITS: usize = 64;

/// What somebody wants to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The id that it gets.
    pub id: ActionId,
    /// What is asked for.
    pub kind: ActionKind,
    /// The agent that asks.
    pub agent_id: AgentId,
    /// In which of its epochs.
    pub epoch: Epoch,
    /// As whom it asks.
    pub principal: SafeLabel,
    /// What a person reads.
    pub prompt: String,
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// The JSON Schema of an answer.
    pub schema: Option<Value>,
    /// What a vote must carry: the SHA-256, in 64 lower-case hexadecimal digits, of the canonical JSON (RFC 8785) of
    /// `{"choices":[{"label":…,"value":…},…],"prompt":…,"schema":…,"subject":…}`. All four keys are always there: no
    /// choices are `[]`, no schema and no subject are `null`, and the subject is `subject_digest`. It is what
    /// `proof::action_digest` makes of this request; that it was made of it is the caller's to see to.
    pub digest: String,
    /// The digest of what is to be done, word for word.
    pub subject_digest: Option<String>,
    /// Who may decide; none: any operator.
    pub roles: Vec<SafeLabel>,
    /// How many different principals must approve; 1 for a question.
    pub quorum: u32,
    /// How long it waits, in milliseconds; [`LASTS_MS_DEFAULT`] if nothing is said.
    pub lasts_ms: Option<u64>,
    /// The message that led to it.
    pub causation: Option<MessageId>,
    /// The asker's key against asking twice.
    pub idempotency_key: Option<String>,
}

/// Why something cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Nothing to read.
    #[error("{what} is empty")]
    Empty {
        /// Of what.
        what: &'static str,
    },
    /// Too long.
    #[error("{what} has {found} bytes; it may have {max}")]
    TooLong {
        /// Of what.
        what: &'static str,
        /// How long it is.
        found: usize,
        /// How long it may be.
        max: usize,
    },
    /// Too many.
    #[error("there are {found} {what}; there may be {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// Two choices give the same answer.
    #[error("the choice `{value}` stands twice")]
    DoubleChoice {
        /// The answer.
        value: SafeLabel,
    },
    /// No number of people can be that.
    #[error("quorum is {found}; it may be 1 to {QUORUM_MAX}")]
    Quorum {
        /// The number.
        found: u32,
    },
    /// Too short or too long a time.
    #[error("time to decide is {found_ms} ms; it may be {LASTS_MS_MIN} to {LASTS_MS_MAX}")]
    Lasts {
        /// The time.
        found_ms: u64,
    },
    /// Not a digest.
    #[error("{what} is not a SHA-256 digest in 64 lower-case hexadecimal digits")]
    Digest {
        /// Which.
        what: &'static str,
    },
    /// Parts that do not go together.
    #[error("{problem}")]
    Form {
        /// Which, and why.
        problem: &'static str,
    },
    /// A schema that is not understood.
    #[error("schema of the answer cannot be used")]
    Schema(#[source] SchemaError),
}

/// Opens an action at `now`, if it can be decided.
///
/// # Errors
/// When a part is beyond its bounds, or the parts do not go together.
pub fn open(request: Request, now: Timestamp) -> Result<Action, RequestError> {
    check_text("prompt", &request.prompt, PROMPT_BYTES_MAX)?;
    check_count("roles", request.roles.len(), ROLES_MAX)?;
    check_choices(&request.choices)?;
    check_digest("digest", &request.digest)?;
    if let Some(subject) = &request.subject_digest {
        check_digest("digest of the subject", subject)?;
    }
    if let Some(key) = &request.idempotency_key {
        check_text("idempotency key", key, KEY_BYTES_MAX)?;
    }
    check_form(&request)?;
    if let Some(schema) = &request.schema {
        Schema::parse(schema).map_err(RequestError::Schema)?;
    }
    let lasts_ms = request.lasts_ms.unwrap_or(LASTS_MS_DEFAULT);
    if !(LASTS_MS_MIN..=LASTS_MS_MAX).contains(&lasts_ms) {
        return Err(RequestError::Lasts { found_ms: lasts_ms });
    }
    let Request {
        id,
        kind,
        agent_id,
        epoch,
        principal,
        prompt,
        choices,
        schema,
        digest,
        subject_digest,
        roles,
        quorum,
        lasts_ms: _,
        causation,
        idempotency_key,
    } = request;
    let expires_at = now.plus_millis(lasts_ms);
    Ok(Action {
        id,
        kind,
        agent_id,
        epoch,
        principal,
        prompt,
        choices,
        schema,
        digest,
        subject_digest,
        roles,
        quorum,
        expires_at,
        causation,
        idempotency_key,
    })
}

fn check_form(request: &Request) -> Result<(), RequestError> {
    let Request { quorum, choices, schema, .. } = request;
    if !(1..=QUORUM_MAX).contains(quorum) {
        return Err(RequestError::Quorum { found: *quorum });
    }
    let problem = match request.kind {
        ActionKind::Approval if !choices.is_empty() => "an approval has no choices: ask a question",
        ActionKind::Approval if schema.is_some() => "an approval has no schema: ask a question",
        // Of several different answers none would be the answer.
        ActionKind::Question if *quorum > 1 => "a question is answered by one person: its quorum is 1",
        ActionKind::Question if !choices.is_empty() && schema.is_some() => {
            "a question has choices or a schema, not both"
        }
        ActionKind::Question | ActionKind::Approval => return Ok(()),
    };
    Err(RequestError::Form { problem })
}

fn check_choices(choices: &[Choice]) -> Result<(), RequestError> {
    check_count("choices", choices.len(), CHOICES_MAX)?;
    let mut values = BTreeSet::new();
    for choice in choices {
        check_text("label of a choice", &choice.label, LABEL_BYTES_MAX)?;
        if !values.insert(&choice.value) {
            return Err(RequestError::DoubleChoice { value: choice.value.clone() });
        }
    }
    Ok(())
}

fn check_text(what: &'static str, text: &str, max: usize) -> Result<(), RequestError> {
    if text.trim().is_empty() {
        return Err(RequestError::Empty { what });
    }
    if text.len() > max {
        return Err(RequestError::TooLong { what, found: text.len(), max });
    }
    Ok(())
}

fn check_count(what: &'static str, found: usize, max: usize) -> Result<(), RequestError> {
    if found > max { Err(RequestError::TooMany { what, found, max }) } else { Ok(()) }
}

fn check_digest(what: &'static str, text: &str) -> Result<(), RequestError> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == DIGEST_DIGITS && text.bytes().all(is_digit) {
        Ok(())
    } else {
        Err(RequestError::Digest { what })
    }
}
