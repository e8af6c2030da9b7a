//! The steps in which a message is entered into a terminal, and the ids of what is written for them.
//!
//! Knows no screen and no shim: how far an entry is, when it is late, and which id belongs to which step.

use std::time::Duration;

use edgeplane_types::MessageId;
use tokio::time::Instant;

/// How long a pasted text may take to be seen in the composer while the program is idle.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// How long a submitted text may take to be gone from the composer.
const SUBMIT_TIME: Duration = Duration::from_secs(10);

/// How long an emptied composer may take to be seen empty.
const CLEAR_TIME: Duration = Duration::from_secs(5);

/// How often one message is entered in one epoch; its number is part of the ids of its steps.
pub(super) const ATTEMPTS_MAX: u8 = 3;

/// The attempt after one of which nobody can know whether it was submitted: the last.
pub(super) const ATTEMPT_AFTER_DOUBT: u8 = ATTEMPTS_MAX;

/// The version of the ids of messages; the ids of their steps have higher ones.
const VERSION: u8 = 7;

/// Steps of one attempt that have an id.
const STAGES: u8 = 3;

/// What of an attempt is written to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Paste,
    Submit,
    Clear,
}

impl Stage {
    /// The id of an input. The first paste has the message's own.
    pub(super) fn id(self, message: MessageId, attempt: u8) -> [u8; 16] {
        let mut id = *message.as_bytes();
        let stage = match self {
            Self::Paste => 0,
            Self::Submit => 1,
            Self::Clear => 2,
        };
        let version =
            VERSION.saturating_add(attempt.saturating_sub(1).saturating_mul(STAGES)).saturating_add(stage);
        if let Some(byte) = id.get_mut(6) {
            *byte = (*byte & 0x0f) | (version << 4);
        }
        id
    }

    /// The message, attempt and stage of an input.
    pub(super) fn of(mut id: [u8; 16]) -> Option<(MessageId, u8, Self)> {
        let byte = id.get_mut(6)?;
        let number = (*byte >> 4).checked_sub(VERSION)?;
        *byte = (*byte & 0x0f) | (VERSION << 4);
        let stage = match number.checked_rem(STAGES)? {
            0 => Self::Paste,
            1 => Self::Submit,
            _ => Self::Clear,
        };
        Some((MessageId::from_bytes(id), number.checked_div(STAGES)?.saturating_add(1), stage))
    }
}

/// How far a message has been entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The shim writes the text.
    Pasting,
    /// The text is to be seen in the composer.
    Checking,
    /// The shim writes the submit keys.
    Submitting,
    /// The text is to be gone from the composer.
    Verifying,
    /// The shim writes the keys that empty the composer, and it is to be seen empty.
    Clearing,
}

/// A message that is being entered.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) message_id: MessageId,
    pub(super) attempt: u8,
    /// The text as it is to be seen.
    pub(super) text: String,
    pub(super) step: Step,
    /// When the step began.
    pub(super) since: Instant,
    /// Bytes of output that there were when the step began.
    pub(super) head: u64,
}

impl Entry {
    pub(super) fn go_on(&mut self, step: Step, head: u64) {
        self.step = step;
        self.since = Instant::now();
        self.head = head;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.step {
            Step::Pasting | Step::Submitting => None,
            Step::Checking => Some(self.since + CHECK_TIME),
            Step::Verifying => Some(self.since + SUBMIT_TIME),
            Step::Clearing => Some(self.since + CLEAR_TIME),
        }
    }

    pub(super) fn is_late(&self) -> bool {
        self.deadline().is_some_and(|at| at <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves TERM-012.
    #[test]
    fn the_id_of_a_stage_names_its_message_attempt_and_stage() {
        let message = MessageId::from_parts(1_700_000_000_000, [7; 10]);
        let mut all = std::collections::BTreeSet::new();
        for attempt in 1..=ATTEMPTS_MAX {
            for stage in [Stage::Paste, Stage::Submit, Stage::Clear] {
                let id = stage.id(message, attempt);
                assert_eq!(Stage::of(id), Some((message, attempt, stage)));
                assert!(all.insert(id));
                let marked = MessageId::from_bytes(id);
                assert_eq!(marked.to_string().parse(), Ok(marked), "a mark is read again");
            }
        }
        assert_eq!(Stage::Paste.id(message, 1), *message.as_bytes());
    }
}
