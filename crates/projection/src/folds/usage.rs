//! `usage.cost`: what an agent used, as its program says it.
//!
//! A program repeats what a turn has used while it runs, and tells what its session has cost since it began: of both
//! the newest word counts, and only tokens of turns are summed.

use std::collections::VecDeque;

use edgeplane_types::fact::UsageReported;
use edgeplane_types::{Fact, MessageId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::Subject,
    turns::Turns,
};

pub(crate) fn takes(kind: &str) -> bool {
    matches!(kind, "agent.declared" | "usage.reported" | "session.opened") || kind.starts_with("message.")
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tokens {
    input: u64,
    output: u64,
    total: u64,
}

impl Tokens {
    fn add(&mut self, was: Self, now: Self) {
        let change = |sum: u64, was: u64, now: u64| sum.saturating_sub(was).saturating_add(now);
        self.input = change(self.input, was.input, now.input);
        self.output = change(self.output, was.output, now.output);
        self.total = change(self.total, was.total, now.total);
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct OfTurn {
    /// None: said outside of any turn.
    message: Option<MessageId>,
    tokens: Tokens,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Usage {
    turns: Turns,
    sum: Tokens,
    reports: u64,
    context_tokens: Option<u64>,
    /// Of the session that runs, since it began, in the program's own words.
    cost: Option<String>,
    /// What the sessions before had cost at their ends, newest last.
    former_costs: VecDeque<String>,
    former_costs_more: u64,
    newest: VecDeque<OfTurn>,
    newest_more: u64,
}

impl Usage {
    fn report(&mut self, message: Option<MessageId>, said: [Option<u64>; 3]) -> Tokens {
        // Looked for among the newest only: a program that comes back to an older turn is counted as if it were new.
        let known = message.and_then(|id| self.newest.iter_mut().rev().find(|of| of.message == Some(id)));
        let (was, is_new) = known.as_ref().map_or((Tokens::default(), true), |of| (of.tokens, false));
        let now = Tokens {
            input: said[0].unwrap_or(was.input),
            output: said[1].unwrap_or(was.output),
            total: said[2].unwrap_or(was.total),
        };
        if let Some(of) = known {
            of.tokens = now;
        }
        if message.is_some() {
            self.sum.add(was, now);
        }
        if is_new && message.is_some() {
            if self.newest.len() == SHOWN_MAX {
                self.newest.pop_front();
                self.newest_more += 1;
            }
            self.newest.push_back(OfTurn { message, tokens: now });
        }
        now
    }
}

impl Fold for Usage {
    fn new(subject: &Subject) -> Self {
        Self {
            turns: Turns::new(subject),
            sum: Tokens::default(),
            reports: 0,
            context_tokens: None,
            cost: None,
            former_costs: VecDeque::new(),
            former_costs_more: 0,
            newest: VecDeque::new(),
            newest_more: 0,
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        match step.fact() {
            // A session that goes on counts on; any other begins anew.
            Fact::SessionOpened { continuity, .. } if *continuity != edgeplane_types::Continuity::Full => {
                if let Some(cost) = self.cost.take() {
                    if self.former_costs.len() == SHOWN_MAX {
                        self.former_costs.pop_front();
                        self.former_costs_more += 1;
                    }
                    self.former_costs.push_back(cost);
                }
            }
            Fact::UsageReported(UsageReported {
                epoch,
                message_id,
                input_tokens,
                output_tokens,
                total_tokens,
                context_tokens,
                cost,
            }) => {
                self.reports += 1;
                let of_turn = self.report(*message_id, [*input_tokens, *output_tokens, *total_tokens]);
                self.context_tokens = context_tokens.or(self.context_tokens);
                if cost.is_some() {
                    self.cost.clone_from(cost);
                }
                let payload = Object::new()
                    .put("turn", &of_turn)
                    .put("sum", &self.sum)
                    .maybe("context_tokens", *context_tokens)
                    .maybe("session_cost", cost.as_ref())
                    .done();
                let ids = Ids { epoch: Some(*epoch), ..self.turns.ids(*message_id) };
                let trace = self.turns.trace(*message_id).map(str::to_owned);
                step.say("usage.changed", ids, payload).trace = trace;
            }
            _ => {
                self.turns.follow(step.event());
            }
        }
    }

    fn state(&self) -> Value {
        let turns: Vec<_> =
            self.newest.iter().map(|of| json!({ "message_id": of.message, "tokens": of.tokens })).collect();
        json!({
            "said_by": "program",
            "reports": self.reports,
            "tokens": self.sum,
            "context_tokens": self.context_tokens,
            "session_cost": self.cost,
            "former_session_costs": { "more": self.former_costs_more, "entries": self.former_costs },
            "turns": { "more": self.newest_more, "entries": turns },
        })
    }
}
