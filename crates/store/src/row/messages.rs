//! Messages: how far each has come, what waits, which turns are open.

use edgeplane_types::{AgentId, Authority, Channel, Envelope, Epoch, MessageId, Receipt, Rung, Timestamp};

/// A message and how far it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageRow {
    /// Position of its acceptance in the record; the cursor of an inbox.
    pub accepted_pos: u64,
    /// Everything but its content. Its target is who has it: the replica, of a message to a set that was handed to one.
    pub envelope: Envelope,
    /// To whom it was addressed, as the envelope said when it was accepted.
    pub addressed: AgentId,
    /// The rungs it has reached, in the order of the record.
    pub receipts: Vec<Receipt>,
    /// The newest of them.
    pub state: Rung,
    /// Whether it is still to be delivered.
    pub waiting: bool,
    /// The epoch that it last met.
    pub epoch: Option<Epoch>,
    /// Why it was refused, given up or left uncertain.
    pub reason: Option<String>,
    /// When it is no longer worth delivering. Not what the envelope says, if its time was over when somebody asked
    /// that it be delivered after all.
    pub expires_at: Option<Timestamp>,
    /// Whether it stands on the list of those that were given up.
    pub given_up: bool,
    /// Why it was taken off that list for good.
    pub dropped: Option<String>,
}

/// A waiting message without its envelope, for those who go through very many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingRow {
    /// Position of its acceptance in the record; the cursor of a page.
    pub accepted_pos: u64,
    /// Its id.
    pub message_id: MessageId,
}

/// How much waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Messages.
    pub messages: u64,
    /// Bytes of their contents.
    pub content_bytes: u64,
}

/// How much waits in an inbox, by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitingTotals {
    /// What goes before the rest.
    pub high: Waiting,
    /// What goes in order of arrival.
    pub normal: Waiting,
    /// What goes after the rest.
    pub low: Waiting,
}

impl WaitingTotals {
    /// All of it.
    #[must_use]
    pub fn all(&self) -> Waiting {
        let sum = |of: fn(&Waiting) -> u64| of(&self.high) + of(&self.normal) + of(&self.low);
        Waiting { messages: sum(|one| one.messages), content_bytes: sum(|one| one.content_bytes) }
    }
}

/// A message that a program was given and whose turn has not ended, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenTurn {
    /// The message.
    pub message_id: MessageId,
    /// Position in the record at which the program was known to have it.
    pub since_pos: u64,
    /// How it weighs.
    pub authority: Authority,
    /// Its kind.
    pub channel: Channel,
}

/// What leads the words of a program: its newest open turn, or with none open the turn that ended last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leading {
    /// The message of that turn; none where the program was only answered, never told.
    pub message_id: Option<MessageId>,
    /// What the words weigh at most: as much as the lightest message of all open turns, or as that one, and as the
    /// lightest that was heard meanwhile.
    pub authority: Authority,
}
