//! The way of a message to its program: in the queue, while the program does not run, on its way.

use edgeplane_store::CommittedEvent;
use edgeplane_types::{Epoch, Fact, MessageId, Timestamp};
use edgeplane_wire::api::trace::{Owner, OwnerKind, Segment, SpanStatus};

use super::{Drawing, Passage, attribute};

/// A message in a program's hands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    pub(super) at: Timestamp,
    pub(super) pos: u64,
    pub(super) epoch: Epoch,
}

/// Why a message is not with its program yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Its program does not run, or takes nothing yet.
    NotRunning,
    /// It is busy with this one.
    Busy(MessageId),
    /// It could take it.
    Free,
}

/// What is known of an agent at a moment.
#[derive(Debug, Clone, Copy)]
struct State {
    runs: bool,
    busy_with: Option<MessageId>,
}

impl State {
    fn why(self) -> Why {
        match (self.runs, self.busy_with) {
            (false, _) => Why::NotRunning,
            (true, Some(other)) => Why::Busy(other),
            (true, None) => Why::Free,
        }
    }

    fn take(&mut self, fact: &Fact, own: MessageId) {
        match fact {
            Fact::AgentStarted { .. }
            | Fact::AgentAdopted { frozen: false, .. }
            | Fact::AgentThawed { .. }
            | Fact::SessionOpened { .. } => self.runs = true,
            Fact::AgentStarting { .. }
            | Fact::AgentStartFailed { .. }
            | Fact::AgentExited { .. }
            | Fact::AgentBackedOff { .. }
            | Fact::AgentFailed { .. }
            | Fact::AgentStopped {}
            | Fact::AgentFrozen { .. }
            | Fact::AgentAdopted { frozen: true, .. }
            | Fact::AgentUnobservable { .. }
            | Fact::AgentQuarantined { .. } => *self = Self { runs: false, busy_with: None },
            Fact::MessageInjected { message_id, .. } if *message_id != own => {
                self.busy_with = Some(*message_id);
            }
            Fact::MessageTurnEnded { message_id, .. } if self.busy_with == Some(*message_id) => {
                self.busy_with = None;
            }
            _ => {}
        }
    }
}

/// How a wait ends for good.
#[derive(Debug, Clone, Copy)]
enum End<'a> {
    Given(Epoch),
    GivenUp(&'a str),
}

impl Drawing<'_> {
    /// Draws what a message waited for; tells when its program got it.
    pub(super) fn waits(&mut self, passage: &Passage) -> Option<Given> {
        let id = passage.envelope.id;
        let mut state = met(passage);
        let mut since = (passage.accepted.event.ts, passage.accepted.pos);
        let mut number = 0_u32;
        for event in passage.events.iter().filter(|event| event.pos > passage.accepted.pos) {
            let end = end_of_wait(event, id);
            let was = state.why();
            state.take(&event.event.fact, id);
            if matches!(event.event.fact, Fact::SessionOpened { .. }) && was == Why::Free {
                // What a program does before its session takes messages is a part of its start.
                self.wait(passage, (Why::NotRunning, number.saturating_add(1)), since, Some((event, None)));
            } else if end.is_some() || state.why() != was {
                self.wait(passage, (was, number.saturating_add(1)), since, Some((event, end)));
            } else {
                continue;
            }
            number = number.saturating_add(1);
            since = (event.event.ts, event.pos);
            match end {
                Some(End::Given(epoch)) => {
                    return Some(Given { at: event.event.ts, pos: event.pos, epoch });
                }
                Some(End::GivenUp(_)) => {
                    self.answered(passage, Some((event.event.ts, SpanStatus::Error)));
                    return None;
                }
                None => {}
            }
        }
        self.wait(passage, (state.why(), number.saturating_add(1)), since, None);
        self.answered(passage, None);
        None
    }

    fn wait(
        &mut self,
        passage: &Passage,
        (why, number): (Why, u32),
        (from, from_pos): (Timestamp, u64),
        until: Option<(&CommittedEvent, Option<End<'_>>)>,
    ) {
        let mut span = self.part(passage, &format!("wait {number}"), from);
        let agent = span.owner.name.clone();
        (span.name, span.segment) = match why {
            Why::NotRunning => (format!("wait until {agent} runs"), Segment::RuntimeDelay),
            Why::Busy(other) => {
                attribute(&mut span, "rt.waits_for.message.id", other.to_string());
                (format!("wait in the queue of {agent}"), Segment::QueueWait)
            }
            Why::Free => (format!("deliver to {agent}"), Segment::Delivery),
        };
        if why == Why::NotRunning {
            span.owner = Owner { kind: OwnerKind::Node, name: "node".to_owned(), of: Some(agent) };
        }
        span.events.push(from_pos);
        if let Some((until, _)) = until {
            span.events.push(until.pos);
            span.end = Some(until.event.ts.max(from));
            span.status = SpanStatus::Ok;
        }
        if let Some((_, Some(End::GivenUp(reason)))) = until {
            span.status = SpanStatus::Error;
            span.reason = Some(reason.to_owned());
        }
        // A moment between two changes is nothing to look at; an open or a refused wait is, however short.
        let is_moment = span.end == Some(from) && span.status == SpanStatus::Ok;
        if !is_moment {
            self.spans.push(span);
        }
    }
}

fn end_of_wait(event: &CommittedEvent, id: MessageId) -> Option<End<'_>> {
    match &event.event.fact {
        Fact::MessageInjected { message_id, epoch, .. }
        | Fact::MessageTurnEnded { message_id, epoch, .. }
            if *message_id == id =>
        {
            Some(End::Given(*epoch))
        }
        Fact::MessageRejected { message_id, reason }
        | Fact::MessageDeadLettered { message_id, reason }
        | Fact::MessageAmbiguous { message_id, reason, .. }
            if *message_id == id =>
        {
            Some(End::GivenUp(reason))
        }
        Fact::MessageExpired { message_id } if *message_id == id => Some(End::GivenUp("its time was over")),
        _ => None,
    }
}

/// How a message met its agent.
fn met(passage: &Passage) -> State {
    let mut state = State { runs: false, busy_with: None };
    let id = passage.envelope.id;
    if let Some(met) = &passage.met {
        state.take(&met.event.fact, id);
    }
    let since = passage.met.as_ref().map_or(0, |met| met.pos);
    if let Some(turn) = passage.met_turn.as_ref().filter(|turn| state.runs && turn.pos > since) {
        state.take(&turn.event.fact, id);
    }
    state
}
