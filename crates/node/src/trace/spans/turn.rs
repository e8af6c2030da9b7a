//! A turn: the program's work, its tools and commands, whom it waited for, and when it was silent.

use std::collections::HashMap;

use edgeplane_types::fact::UsageReported;
use edgeplane_types::{
    Epoch, Fact, ItemId, ProcessId, Rung, SafeLabel, SpanId, Timestamp, decision::ActionOutcome,
};
use edgeplane_wire::api::trace::{Owner, OwnerKind, Quiet, Segment, Span, SpanStatus};

use super::{Drawing, Passage, attribute, is_of, is_well, wait::Given};
use crate::capabilities::ASKS;

/// From when to when.
type Time = (Timestamp, Timestamp);

/// How a turn ended.
struct Ended {
    at: Timestamp,
    pos: u64,
    status: SpanStatus,
    reason: Option<String>,
}

impl Drawing<'_> {
    /// Draws the turn that a message began.
    pub(super) fn turn(&mut self, passage: &Passage, given: Given) {
        let id = passage.envelope.id;
        let mut span = self.part(passage, "turn", given.at);
        let agent = span.owner.name.clone();
        span.span_id = SpanId::of_turn(&id);
        span.name = format!("invoke_agent {agent}");
        span.segment = Segment::Turn;
        span.events.push(given.pos);
        attribute(&mut span, "gen_ai.operation.name", "invoke_agent");
        attribute(&mut span, "gen_ai.agent.name", agent);
        attribute(&mut span, "gen_ai.agent.id", passage.envelope.target.to_string());
        attribute(&mut span, "rt.run.epoch", given.epoch.to_string());
        match ended(passage, given) {
            Some(ended) => {
                span.end = Some(ended.at.max(given.at));
                span.status = ended.status;
                span.reason = ended.reason;
                if ended.pos != given.pos {
                    span.events.push(ended.pos);
                }
            }
            None if !passage.habits.ends_turns => {
                span.end = Some(passage.signs.last().copied().unwrap_or(given.at).max(given.at));
                span.status = SpanStatus::Unknown;
                span.reason = Some("its program does not say when a turn ends".to_owned());
            }
            None => {}
        }
        of_turn(passage, &mut span);
        let until = span.end;
        let first_part = self.spans.len();
        self.tools(passage, (given.at, until));
        self.commands(passage, given.epoch, until);
        self.leaves(passage, until);
        self.calls(passage, (given.at, until));
        let as_of = self.from.as_of;
        let parts = self.spans.iter().skip(first_part);
        let mut covered: Vec<Time> = parts.map(|part| (part.start, part.end.unwrap_or(as_of))).collect();
        covered.extend(self.asked(span.span_id));
        span.quiet = quiet(passage, (given.at, until.unwrap_or(as_of)), covered);
        self.answered(passage, until.map(|at| (at, span.status)));
        self.spans.push(span);
    }

    /// When others were busy with what was said to them in a turn.
    fn asked(&self, turn: SpanId) -> Vec<Time> {
        let is_by_turn = |other: &&Passage| {
            other.accepted.event.trace.as_ref().is_some_and(|trace| trace.parent == Some(turn))
        };
        let busy = |other: &Passage| {
            let last = other.row.receipts.iter().map(|receipt| receipt.at).max();
            let has_ended = other.row.receipts.iter().any(|receipt| receipt.rung == Rung::TurnEnded);
            let is_over = has_ended || other.row.given_up || !other.habits.ends_turns;
            (other.accepted.event.ts, last.filter(|_| is_over).unwrap_or(self.from.as_of))
        };
        self.from.messages.iter().filter(is_by_turn).map(busy).collect()
    }

    pub(super) fn tool(&self, passage: &Passage, what: &str, name: &str, start: Timestamp) -> Span {
        let mut span = self.part(passage, what, start);
        span.parent = Some(SpanId::of_turn(&passage.envelope.id));
        span.name = format!("execute_tool {name}");
        span.segment = Segment::Tool;
        span.owner = Owner { kind: OwnerKind::Tool, name: name.to_owned(), of: Some(span.owner.name) };
        attribute(&mut span, "gen_ai.operation.name", "execute_tool");
        attribute(&mut span, "gen_ai.tool.name", name);
        span
    }

    fn tools(&mut self, passage: &Passage, (from, until): (Timestamp, Option<Timestamp>)) {
        let mut order: Vec<ItemId> = Vec::new();
        let mut uses: HashMap<ItemId, Span> = HashMap::new();
        for event in &passage.tools {
            let Fact::ItemUpdated { item_id, status, .. } = &event.event.fact else { continue };
            let span = uses.entry(*item_id).or_insert_with(|| {
                order.push(*item_id);
                let name = passage.tool_names.get(item_id).map_or("tool", String::as_str);
                let mut span = self.tool(passage, &format!("tool {item_id}"), name, event.event.ts.max(from));
                attribute(&mut span, "gen_ai.tool.call.id", item_id.to_string());
                span
            });
            span.events.push(event.pos);
            match status.as_ref().map(SafeLabel::as_str) {
                Some("completed") => (span.end, span.status) = (Some(event.event.ts), SpanStatus::Ok),
                Some("failed") => {
                    (span.end, span.status) = (Some(event.event.ts), SpanStatus::Error);
                    span.reason = Some("the tool failed".to_owned());
                }
                _ => {}
            }
            span.end = span.end.map(|end| end.max(span.start));
        }
        for item in order {
            if let Some(mut span) = uses.remove(&item) {
                left_open(&mut span, until);
                self.spans.push(span);
            }
        }
    }

    fn commands(&mut self, passage: &Passage, epoch: Epoch, until: Option<Timestamp>) {
        let mut runs: Vec<(ProcessId, Span)> = Vec::new();
        for event in passage.events.iter().filter(|event| is_of(event, passage.envelope.id)) {
            match &event.event.fact {
                Fact::CommandStarted { process_id, .. } => {
                    let name = passage.commands.get(process_id).map_or("command", String::as_str);
                    let mut span = self.tool(passage, &format!("command {process_id}"), name, event.event.ts);
                    attribute(&mut span, "gen_ai.tool.type", "command");
                    attribute(&mut span, "rt.process.id", process_id.to_string());
                    attribute(&mut span, "rt.run.epoch", epoch.to_string());
                    span.events.push(event.pos);
                    runs.push((*process_id, span));
                }
                Fact::CommandEnded { process_id, status, reason, .. } => {
                    let run = runs.iter_mut().find(|(id, _)| id == process_id);
                    let Some((_, span)) = run else { continue };
                    span.end = Some(event.event.ts.max(span.start));
                    span.status = if is_well(*status) { SpanStatus::Ok } else { SpanStatus::Error };
                    let how = reason.clone().unwrap_or_else(|| format!("it ended with {status}"));
                    span.reason = (!is_well(*status)).then_some(how);
                    span.events.push(event.pos);
                }
                _ => {}
            }
        }
        for (_, mut span) in runs {
            left_open(&mut span, until);
            self.spans.push(span);
        }
    }

    /// What people were asked.
    fn leaves(&mut self, passage: &Passage, until: Option<Timestamp>) {
        let id = passage.envelope.id;
        for event in passage.events.iter().filter(|event| is_of(event, id)) {
            let Fact::ActionOpened { action } = &event.event.fact else { continue };
            let mut span = self.part(passage, &format!("leave {}", action.id), event.event.ts);
            span.parent = Some(SpanId::of_turn(&id));
            span.name = "wait for a person's leave".to_owned();
            span.segment = Segment::ApprovalWait;
            if action.idempotency_key.as_deref().is_some_and(|key| key.starts_with(ASKS)) {
                span.name = "wait for leave to call a connector".to_owned();
                span.segment = Segment::ConnectorPermission;
            }
            let roles: Vec<&str> = action.roles.iter().map(SafeLabel::as_str).collect();
            let whose = if roles.is_empty() { "an operator".to_owned() } else { roles.join(" or ") };
            span.owner = Owner { kind: OwnerKind::Person, name: whose, of: Some(span.owner.name) };
            attribute(&mut span, "rt.action.id", action.id.to_string());
            span.events.push(event.pos);
            let resolved = passage.events.iter().find_map(|later| match &later.event.fact {
                Fact::ActionResolved { action_id, outcome, by, reason, .. } if *action_id == action.id => {
                    Some((later, *outcome, by, reason))
                }
                _ => None,
            });
            if let Some((later, outcome, by, reason)) = resolved {
                span.end = Some(later.event.ts.max(span.start));
                let is_given = matches!(outcome, ActionOutcome::Approved | ActionOutcome::Answered);
                span.status = if is_given { SpanStatus::Ok } else { SpanStatus::Error };
                span.reason = (!is_given).then(|| reason.clone());
                if let Some(first) = by.first() {
                    span.owner.name = first.to_string();
                }
                span.events.push(later.pos);
            }
            left_open(&mut span, until);
            self.spans.push(span);
        }
    }
}

/// Ends what its turn left open: how it ended nobody said.
pub(super) fn left_open(span: &mut Span, until: Option<Timestamp>) {
    if let (SpanStatus::Open, Some(until)) = (span.status, until) {
        span.end = Some(until.max(span.start));
        span.status = SpanStatus::Unknown;
        span.reason = Some("its turn ended before it".to_owned());
    }
}

/// What is known of a turn besides its time.
fn of_turn(passage: &Passage, span: &mut Span) {
    for event in passage.events.iter().filter(|event| is_of(event, passage.envelope.id)) {
        match &event.event.fact {
            Fact::TurnCompleted { turn_id, outcome, .. } => {
                attribute(span, "rt.turn.id", turn_id.to_string());
                if let Some(outcome) = outcome {
                    attribute(span, "gen_ai.response.finish_reasons", outcome.as_str());
                }
            }
            Fact::UsageReported(UsageReported { input_tokens, output_tokens, .. }) => {
                let said = [
                    ("gen_ai.usage.input_tokens", input_tokens),
                    ("gen_ai.usage.output_tokens", output_tokens),
                ];
                for (name, count) in said {
                    if let Some(count) = count {
                        attribute(span, name, count.to_string());
                    }
                }
            }
            _ => {}
        }
    }
}

/// The end of a turn: its program's word, or its epoch's end.
fn ended(passage: &Passage, given: Given) -> Option<Ended> {
    let id = passage.envelope.id;
    let mut outcome = None;
    for event in &passage.events {
        let (at, pos) = (event.event.ts, event.pos);
        let badly = |reason: String| Some(Ended { at, pos, status: SpanStatus::Error, reason: Some(reason) });
        match &event.event.fact {
            Fact::TurnCompleted { message_id: Some(of), outcome: said, .. } if *of == id => {
                outcome = said.as_ref().map(ToString::to_string);
            }
            Fact::MessageTurnEnded { message_id, .. } if *message_id == id => {
                return match outcome.as_deref() {
                    Some(
                        "error" | "timeout" | "cancelled" | "refusal" | "max_tokens" | "max_turn_requests",
                    ) => badly(format!("the turn ended with {}", outcome.unwrap_or_default())),
                    _ => Some(Ended { at, pos, status: SpanStatus::Ok, reason: None }),
                };
            }
            Fact::MessageDeadLettered { message_id, reason } if *message_id == id && pos > given.pos => {
                return badly(reason.clone());
            }
            Fact::AgentExited { epoch, status, .. } if *epoch == given.epoch && pos > given.pos => {
                return badly(format!("its program ended with {status} in the turn"));
            }
            _ => {}
        }
    }
    None
}

/// The longest time of a turn without a sign of life, those times apart in which somebody else was waited for.
fn quiet(passage: &Passage, (from, to): Time, covered: Vec<Time>) -> Option<Quiet> {
    let own = passage.events.iter().filter(|event| is_of(event, passage.envelope.id));
    let signs = passage.signs.iter().copied().chain(own.map(|event| event.event.ts));
    let mut alive: Vec<Time> = signs.map(|at| (at, at)).chain(covered).collect();
    alive.sort_unstable();
    let (mut longest, mut since) = ((0, from), from);
    for (begin, end) in alive.into_iter().filter(|(_, end)| *end >= from).chain([(to, to)]) {
        let silent = begin.min(to).millis_since(since);
        if silent > longest.0 {
            longest = (silent, since);
        }
        since = since.max(end);
    }
    let (ms, from) = longest;
    (ms > 0).then_some(Quiet { from, ms, limit_ms: passage.habits.quiet_ms })
}
