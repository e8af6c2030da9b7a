//! What holds for every event of a session, whichever scenario it belongs to: read from the events alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::template::pick;

/// A word of an event that is a member of it.
#[must_use]
pub fn word<'a>(event: &'a Value, member: &str) -> &'a str {
    event.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// The event's type.
#[must_use]
pub fn kind(event: &Value) -> &str {
    word(event, "type")
}

/// Its number in its session.
#[must_use]
pub fn sequence(event: &Value) -> u64 {
    event.get("sequence").and_then(Value::as_u64).unwrap_or_default()
}

/// What the events of one session say so far.
#[derive(Debug, Default)]
pub struct Ledger {
    last: u64,
    seen: BTreeMap<String, u64>,
    required: BTreeSet<String>,
    resolved: BTreeSet<String>,
    started: BTreeSet<String>,
    completed: BTreeSet<String>,
    /// By task: the run and the count of its newest attempt.
    attempts: BTreeMap<String, BTreeMap<String, u64>>,
}

/// What the runner itself did, which tells whether something came of silence.
#[derive(Debug, Default)]
pub struct Deeds {
    /// The actions that it decided.
    pub decided: BTreeSet<String>,
}

impl Ledger {
    /// The number of the newest event.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The actions that are open.
    #[must_use]
    pub fn open(&self) -> Vec<&String> {
        self.required.difference(&self.resolved).collect()
    }

    /// Takes an event in, and says what is wrong with it.
    pub fn take(&mut self, event: &Value, deeds: &Deeds) -> Vec<String> {
        let mut wrong = Vec::new();
        let (id, number) = (word(event, "eventId").to_owned(), sequence(event));
        if self.seen.get(&id) == Some(&number) && number <= self.last {
            // The same event once more: consumers tolerate that.
            return wrong;
        }
        if let Some(was) = self.seen.insert(id.clone(), number) {
            wrong.push(format!("two events have the id {id}: numbers {was} and {number}"));
        }
        if number != self.last + 1 {
            let expected = self.last + 1;
            wrong.push(format!("`sequence` is {number} where {expected} comes next"));
        }
        self.last = self.last.max(number);
        self.actions(event, deeds, &mut wrong);
        self.calls(event, &mut wrong);
        self.work(event, &mut wrong);
        wrong
    }

    fn actions(&mut self, event: &Value, deeds: &Deeds, wrong: &mut Vec<String>) {
        let action = word(event, "actionId").to_owned();
        match kind(event) {
            "action.required" => {
                self.required.insert(action);
            }
            "action.resolved" => {
                if !self.required.contains(&action) {
                    wrong.push(format!("action {action} is resolved and was never required"));
                }
                if !self.resolved.insert(action.clone()) {
                    wrong.push(format!("action {action} is resolved twice"));
                }
                let decision = pick(event, "/payload/decision");
                let is_leave =
                    matches!(decision.as_str(), Some("approved" | "allow" | "allowed" | "answered"));
                if is_leave && !deeds.decided.contains(&action) {
                    wrong.push(format!("action {action} was resolved by silence: nobody responded to it"));
                }
            }
            _ => {}
        }
    }

    fn calls(&mut self, event: &Value, wrong: &mut Vec<String>) {
        let call = word(event, "toolCallId").to_owned();
        match kind(event) {
            "tool.started" if !self.started.insert(call.clone()) => {
                wrong.push(format!("tool call {call} begins twice"));
            }
            "tool.result" | "tool.progress" | "tool.args" if !self.started.contains(&call) => {
                wrong.push(format!("`{}` of tool call {call} stands before its `tool.started`", kind(event)));
            }
            "turn.completed" => {
                let turn = word(event, "turnId").to_owned();
                if !self.completed.insert(turn.clone()) {
                    wrong.push(format!("turn {turn} is completed twice"));
                }
            }
            _ => {}
        }
    }

    /// An attempt is never written over: a further one has another id and a higher count.
    fn work(&mut self, event: &Value, wrong: &mut Vec<String>) {
        if kind(event) != "task.attempt.started" {
            return;
        }
        let (task, run) = (word(event, "taskId").to_owned(), word(event, "runId").to_owned());
        let count = pick(event, "/taskAttempt/attemptCount").as_u64().unwrap_or_default();
        let attempts = self.attempts.entry(task.clone()).or_default();
        if attempts.contains_key(&run) {
            wrong.push(format!("attempt {run} of task {task} is begun twice: it was written over"));
        } else if attempts.values().any(|before| *before >= count) {
            wrong.push(format!("attempt {run} of task {task} has the count {count} of a former one"));
        }
        attempts.insert(run, count);
    }

    /// What a snapshot leaves out although the events up to it say that it is open.
    #[must_use]
    pub fn vanished(&self, snapshot: &Value) -> Vec<String> {
        let shown = pick(snapshot, "/threads/*/pendingRequests/*/actionId").to_string();
        let open = self.open().into_iter();
        open.filter(|action| !shown.contains(action.as_str()))
            .map(|action| format!("action {action} is open and the snapshot does not show it"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Deeds, Ledger};

    fn event(kind: &str, number: u64, more: &Value) -> Value {
        let mut event = json!({ "type": kind, "eventId": format!("e{number}"), "sequence": number });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    }

    fn check(events: &[(&str, u64, Value)], deeds: &Deeds, expected: &str) {
        let mut ledger = Ledger::default();
        let wrong: Vec<_> =
            events.iter().flat_map(|(kind, n, more)| ledger.take(&event(kind, *n, more), deeds)).collect();
        match expected {
            "" => assert_eq!(wrong, Vec::<String>::new()),
            words => assert!(wrong.iter().any(|one| one.contains(words)), "{wrong:?}"),
        }
    }

    #[test]
    fn numbers_have_no_gap_and_a_double_is_passed_over() {
        let none = Deeds::default();
        let plain = |n| ("run.status", n, json!({}));
        check(&[plain(1), plain(2), plain(2), plain(3)], &none, "");
        check(&[plain(1), plain(3)], &none, "where 2 comes next");
        check(&[plain(2), plain(1)], &none, "where 1 comes next");
        check(&[plain(1), ("run.status", 2, json!({ "eventId": "e1" }))], &none, "two events have the id");
    }

    #[test]
    fn an_action_is_resolved_once_and_never_by_silence() {
        let action = json!({ "actionId": "a", "payload": { "decision": "approved" } });
        let (asked, decided) =
            (("action.required", 1, action.clone()), ("action.resolved", 2, action.clone()));
        let by_us = Deeds { decided: ["a".to_owned()].into() };
        check(&[asked.clone(), decided.clone()], &by_us, "");
        check(&[asked.clone(), decided.clone()], &Deeds::default(), "by silence");
        check(&[asked.clone(), decided.clone(), ("action.resolved", 3, action)], &by_us, "resolved twice");
        check(&[("action.resolved", 1, json!({ "actionId": "a" }))], &by_us, "never required");
        let expired = json!({ "actionId": "a", "payload": { "decision": "expired" } });
        check(&[asked, ("action.resolved", 2, expired)], &Deeds::default(), "");
    }

    #[test]
    fn an_action_that_is_open_stands_in_the_snapshot() {
        let mut ledger = Ledger::default();
        let asked = event("action.required", 1, &json!({ "actionId": "a" }));
        assert!(ledger.take(&asked, &Deeds::default()).is_empty());
        let shown = json!({ "threads": [{ "pendingRequests": [{ "actionId": "a" }] }] });
        assert_eq!(ledger.vanished(&shown), Vec::<String>::new());
        assert_eq!(ledger.vanished(&json!({ "threads": [{ "pendingRequests": [] }] })).len(), 1);
    }

    #[test]
    fn attempts_and_calls_are_not_written_over() {
        let none = Deeds::default();
        let run = |n, id: &str, count: u64| {
            let more = json!({ "taskId": "t", "runId": id, "taskAttempt": { "attemptCount": count } });
            ("task.attempt.started", n, more)
        };
        check(&[run(1, "r", 1), run(2, "s", 2)], &none, "");
        check(&[run(1, "r", 1), run(2, "r", 1)], &none, "written over");
        check(&[run(1, "r", 1), run(2, "s", 1)], &none, "count 1 of a former one");
        let call = json!({ "toolCallId": "c" });
        check(&[("tool.result", 1, call.clone())], &none, "before its `tool.started`");
        check(&[("tool.started", 1, call.clone()), ("tool.started", 2, call)], &none, "begins twice");
    }
}
