//! A session as a snapshot: the read models of Agent Runtime, with what is not known said as such.

use edgeplane_types::{Phase, ThreadId, TurnId};
use serde_json::{Map, Value, json};

use super::{Model, Pending, Thread, TurnView};
use crate::{fold::SHOWN_MAX, subject::turn_of};

/// Whose form a snapshot has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Profile {
    /// What it calls the form.
    pub(crate) version: &'static str,
}

impl Model {
    /// What a thread is doing, in the words of Agent Runtime.
    pub(crate) fn thread_status(&self, id: ThreadId) -> &'static str {
        let Some(thread) = self.threads.get(&id) else { return "unknown" };
        let waits_for_person = self.pending.values().any(|pending| pending.thread == Some(id));
        let runs = !thread.running.is_empty();
        match self.life.phase {
            Phase::Retired => "completed",
            Phase::Unobservable => "unknown",
            Phase::Failed | Phase::Quarantined => "failed",
            _ if thread.is_archived() && !runs => "completed",
            Phase::Frozen if runs => "blocked",
            _ if waits_for_person => "blocked",
            _ if runs => "running",
            _ if !thread.queued.is_empty() => "queued",
            _ => "idle",
        }
    }

    /// The few things of a thread that readers follow: each change of one of them is told.
    pub(crate) fn summary(&self, id: ThreadId) -> Option<(&'static str, Option<TurnId>, usize, usize)> {
        let thread = self.threads.get(&id)?;
        let pending = self.pending.values().filter(|pending| pending.thread == Some(id)).count();
        Some((self.thread_status(id), thread.running.last().copied(), thread.queued.len(), pending))
    }

    /// Everything that is happening in a thread now.
    pub(crate) fn thread_view(&self, id: ThreadId) -> Value {
        let none = Thread::default();
        let thread = self.threads.get(&id).unwrap_or(&none);
        let turns = thread.order.iter().filter_map(|turn| Some((turn, thread.turns.get(turn)?)));
        let pending = self.pending.iter().filter(|(_, pending)| pending.thread == Some(id));
        let pending: Vec<_> =
            pending.map(|(action, pending)| request(&action.to_string(), pending)).collect();
        let queued = thread.queued.iter().rev().take(SHOWN_MAX);
        let queued: Vec<_> =
            queued.map(|message| json!({ "turnId": turn_of(*message), "messageId": message })).collect();
        let mut view = json!({
            "threadId": id,
            "status": self.thread_status(id),
            "phase": self.life.phase,
            "turns": turns.map(|(id, turn)| turn_view(*id, turn)).collect::<Vec<_>>(),
            "turnsMore": thread.turns_more,
            "pendingRequests": pending,
            "queuedTurns": queued,
            "queuedMore": thread.queued.len().saturating_sub(SHOWN_MAX),
            "incidents": incidents(thread),
            "incidentsMore": thread.incidents_more,
            "evidenceSummary": { "outputs": thread.outputs },
            "permissionState": self.governed.permission(id, pending_approval(&pending)),
            "sandboxState": self.governed.sandbox(id),
            "modelRouting": routing(),
        });
        if let Some(object) = view.as_object_mut() {
            if Some(id) == self.turns.main() {
                object.insert("subagents".to_owned(), json!(self.children.shown().0));
            }
            thread.describe(object);
        }
        if let (Some(active), Some(object)) = (thread.running.last(), view.as_object_mut()) {
            object.insert("activeTurnId".to_owned(), json!(active));
        }
        if let (Some((turn, digest, bytes)), Some(object)) = (&thread.last_output, view.as_object_mut()) {
            let output = json!({ "turnId": turn, "ref": format!("sha256:{digest}"), "sizeBytes": bytes });
            object.insert("outputs".to_owned(), json!([output]));
        }
        view
    }

    /// The whole session. The first thread is always there.
    pub(crate) fn snapshot(&self, profile: Profile, runtime: &str) -> Value {
        let mut ids: Vec<_> = self.turns.main().into_iter().collect();
        ids.extend(self.threads.keys().rev().copied().filter(|id| Some(*id) != self.turns.main()));
        let more = ids.len().saturating_sub(SHOWN_MAX);
        let threads: Vec<_> = ids.iter().take(SHOWN_MAX).map(|id| self.thread_view(*id)).collect();
        let (tasks, task_summary) = self.work.shown();
        let (_, children) = self.children.shown();
        let joined = if self.traces.is_empty() { "missing_correlation" } else { "joined" };
        json!({
            "schemaVersion": profile.version,
            "runtimeId": runtime,
            "sessionId": self.turns.session(),
            "updatedAt": self.updated,
            "status": self.life.phase,
            "threads": threads,
            "threadsMore": more,
            "tasks": tasks,
            "taskSummary": task_summary,
            "subagentJobSummary": children,
            "routingLimitSummary": self.routing_limits(),
            "telemetrySummary": { "joinStatus": joined, "traceIds": self.traces, "more": self.traces_more },
            "executionEnvironment": self.environment(),
            "permissionState": { "pending": self.pending.len() },
            "sandboxState": { "status": "unknown", "reason": "not recorded" },
            "historySummary": { "continuity": self.life.continuity },
            "evidenceRefs": self.evidence,
            "evidenceMore": self.evidence_more,
        })
    }

    fn routing_limits(&self) -> Value {
        let mut view = routing();
        if let (Some((kind, turn, at)), Some(object)) = (&self.limited, view.as_object_mut()) {
            let state =
                json!({ "status": "blocked", "kind": kind, "scope": "run", "turnId": turn, "at": at });
            object.insert("limitState".to_owned(), state);
        }
        view
    }

    fn environment(&self) -> Value {
        json!({ "agent": self.life.name, "phase": self.life.phase, "epoch": self.life.epoch })
    }
}

impl Thread {
    fn is_archived(&self) -> bool {
        self.made.as_ref().is_some_and(|made| made.archived.is_some())
    }

    /// What it was made as, and whether its history was cut.
    fn describe(&self, view: &mut Map<String, Value>) {
        if self.rolled_back > 0 {
            view.insert("rolledBack".to_owned(), json!(self.rolled_back));
        }
        if let Some(boundary) = &self.boundary {
            let summary =
                json!({ "ref": format!("sha256:{}", boundary.summary.0), "sizeBytes": boundary.summary.1 });
            let drawn = json!({
                "throughTurnId": boundary.through,
                "turns": boundary.turns,
                "summaryRef": summary,
                "tokensBefore": boundary.tokens_before,
                "createdAt": boundary.at,
            });
            view.insert("contextBoundary".to_owned(), drawn);
        }
        let Some(made) = &self.made else { return };
        view.insert("sessionId".to_owned(), json!(made.session));
        if let Some(title) = &made.title {
            view.insert("title".to_owned(), json!(title));
        }
        if let Some(parent) = &made.parent {
            view.insert("parent".to_owned(), json!(parent));
        }
        if let Some(archived) = made.archived {
            view.insert("archivedAt".to_owned(), json!(archived));
        }
    }
}

fn turn_view(id: TurnId, turn: &TurnView) -> Value {
    let mut view = Map::new();
    view.insert("turnId".to_owned(), json!(id));
    view.insert("status".to_owned(), json!(turn.status));
    view.insert("nativeStatus".to_owned(), json!(turn.native));
    if let Some(started) = turn.started {
        view.insert("startedAt".to_owned(), json!(started));
    }
    if let Some(ended) = turn.ended {
        view.insert("completedAt".to_owned(), json!(ended));
    }
    if let Some((digest, bytes)) = &turn.output {
        let output = json!({ "ref": format!("sha256:{digest}"), "sizeBytes": bytes, "final": true });
        view.insert("outputRefs".to_owned(), json!([output]));
    }
    Value::Object(view)
}

/// How a model is chosen: the agent's own is the only candidate, whoever asks.
fn routing() -> Value {
    json!({
        "status": "recorded",
        "mode": "single_candidate",
        "candidateCount": 1,
        "source": "agent",
        "reason": "the node chooses no model: the agent's own is the single candidate",
        "capabilityGap": "unknown",
        "costState": { "status": "unknown", "reason": "what a program says that it cost stands in `usage.cost`" },
        "limitState": { "status": "unknown", "reason": "no limit of a provider is recorded" },
    })
}

fn request(action: &str, pending: &Pending) -> Value {
    json!({
        "actionId": action,
        "actionType": pending.kind,
        "turnId": pending.turn,
        "prompt": pending.prompt,
        "since": pending.since,
        "expiresAt": pending.expires,
    })
}

fn pending_approval(pending: &[Value]) -> bool {
    pending.iter().any(|request| request["actionType"] == "approval")
}

fn incidents(thread: &Thread) -> Vec<Value> {
    let shown = thread.incidents.iter();
    shown
        .map(|incident| {
            json!({
                "at": incident.at,
                "kind": incident.kind,
                "text": incident.text,
                "turnId": incident.turn,
            })
        })
        .collect()
}
