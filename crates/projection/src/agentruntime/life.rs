//! The life of the agent, its program, its recordings, and whoever watches or wakes it.

use edgeplane_types::{
    Continuity, Epoch, Fact, HookDecision, HookPoint, InvocationId, ItemId, SafeLabel, life::ExitStatus,
};

use super::{export::Telling, names, turn::process_end};
use crate::{entry::Ids, fold::Step, json::Object};

impl Telling<'_> {
    pub(super) fn life(&self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::AgentStarting { .. }
            | Fact::AgentStarted { .. }
            | Fact::AgentStartFailed { .. }
            | Fact::AgentAdopted { .. }
            | Fact::AgentUnobservable { .. }
            | Fact::AgentExited { .. }
            | Fact::AgentBackedOff { .. }
            | Fact::AgentFailed { .. }
            | Fact::AgentStopping { .. }
            | Fact::AgentStopped { .. }
            | Fact::AgentFrozen { .. }
            | Fact::AgentThawed { .. }
            | Fact::AgentQuarantined { .. } => self.epoch(step),
            Fact::AgentUpdated { .. }
            | Fact::AgentDesired { .. }
            | Fact::AgentInstalled { .. }
            | Fact::AgentInstallFailed { .. }
            | Fact::AgentRetired { .. }
            | Fact::AgentRemovalPlanned { .. }
            | Fact::AgentRemoved { .. }
            | Fact::AgentHookRan { .. }
            | Fact::AgentProbed { .. } => self.agent(step),
            Fact::SessionOpened { .. }
            | Fact::SessionFailed { .. }
            | Fact::SessionClosing { .. }
            | Fact::SessionClosed { .. } => self.session(step),
            Fact::RecordingSealed { .. } | Fact::RecordingPruned { .. } | Fact::RecordingGap { .. } => {
                self.recording(step);
            }
            Fact::AttachOpened { .. } | Fact::AttachClosed { .. } => self.attachment(step),
            Fact::HookStarted(_) | Fact::HookCompleted(_) | Fact::HookFailed(_) => self.call_hook(step),
            _ => self.schedule(step),
        }
    }

    fn process(&self, step: &Step<'_>, epoch: Epoch) -> String {
        let agent = self.ids(step).agent_id.map(|agent| agent.to_string()).unwrap_or_default();
        format!("{agent}/epoch/{epoch}")
    }

    fn ids(&self, _: &Step<'_>) -> Ids {
        self.export.model.turns.ids(None)
    }

    /// How the agent is, in the standard's words and in ours.
    fn run(&self, step: &mut Step<'_>, status: &str, payload: Object) {
        let native = self.export.model.life.phase.as_str();
        let draft = self.of_session(step, names::RUN_STATUS).slot("status", status).slot("phase", native);
        let because = step.fact().type_name();
        draft.say(step, payload.put("because", because));
    }

    fn trouble(&self, step: &mut Step<'_>, kind: &'static str, reason: &str) {
        let because = step.fact().type_name();
        let payload = Object::new().put("because", because).put("reason", reason);
        self.of_session(step, kind).say(step, payload);
    }

    fn epoch(&self, step: &mut Step<'_>) {
        let none = Object::new;
        match step.fact() {
            Fact::AgentStarting { epoch, cause } => {
                self.run(step, "preparing", none().put("epoch", epoch).put("cause", cause));
            }
            Fact::AgentStarted { epoch, process, continuity, .. } => {
                let draft = self.of_session(step, names::PROCESS_STARTED).slot("status", "running");
                let payload = none().put("epoch", epoch).put("process", process).put("program", &true);
                draft.slot("processId", &self.process(step, *epoch)).say(step, payload);
                self.run(step, "running", none().put("epoch", epoch).put("continuity", continuity));
            }
            Fact::AgentStartFailed { epoch, reason } => {
                let draft = self.of_session(step, names::PROCESS_FAILED).slot("status", "failed");
                let payload = none().put("epoch", epoch).put("reason", reason);
                draft.slot("processId", &self.process(step, *epoch)).say(step, payload);
                self.run(step, "failed", none().put("epoch", epoch));
            }
            Fact::AgentAdopted { epoch, frozen, .. } => {
                let status = if *frozen { "blocked" } else { "running" };
                self.run(step, status, none().put("epoch", epoch).put("recovery", "adopted"));
                // A daemon was gone, and what is known of the session was put together again.
                let payload = none().put("because", "agent.adopted").put("epoch", epoch);
                let payload = payload.put("recovery", "record").put("program", "went on meanwhile");
                self.of_session(step, names::SNAPSHOT_REPAIRED).say(step, payload);
            }
            Fact::AgentUnobservable { epoch, reason } => {
                self.trouble(step, names::RUNTIME_WARNING, reason);
                self.run(step, "unknown", none().put("epoch", epoch));
            }
            Fact::AgentExited { epoch, status, ran_ms, tree, .. } => {
                self.exited(step, *epoch, *status, none().put("ranMs", ran_ms).put("evidence", tree));
            }
            Fact::AgentBackedOff { delay_ms, restarts } => {
                self.run(step, "retrying", none().put("delayMs", delay_ms).put("restarts", restarts));
            }
            Fact::AgentFailed { reason } => {
                self.trouble(step, names::RUNTIME_ERROR, reason);
                self.run(step, "failed", none());
            }
            Fact::AgentQuarantined { epoch, reason } => {
                self.trouble(step, names::RUNTIME_ERROR, reason);
                self.run(step, "failed", none().put("epoch", epoch));
            }
            Fact::AgentStopping { epoch, cause, .. } => {
                self.run(step, "running", none().put("epoch", epoch).put("cause", cause));
            }
            Fact::AgentStopped {} => self.run(step, "idle", none()),
            Fact::AgentFrozen { epoch } => self.run(step, "blocked", none().put("epoch", epoch)),
            Fact::AgentThawed { epoch } => self.run(step, "running", none().put("epoch", epoch)),
            _ => {}
        }
    }

    fn exited(&self, step: &mut Step<'_>, epoch: Epoch, status: ExitStatus, payload: Object) {
        let (kind, word) = process_end(status);
        let draft = self.of_session(step, kind).slot("status", word);
        let payload = payload.put("epoch", &epoch).put("exit", &status).put("program", &true);
        draft.slot("processId", &self.process(step, epoch)).say(step, payload);
        let run = if status.is_success() { "completed" } else { "failed" };
        self.run(step, run, Object::new().put("epoch", &epoch));
    }

    /// What changed of the agent itself.
    fn agent(&self, step: &mut Step<'_>) {
        let none = Object::new;
        let because = step.fact().type_name();
        let payload = match step.fact() {
            Fact::AgentInstallFailed { reason, .. } => {
                return self.trouble(step, names::RUNTIME_ERROR, reason);
            }
            Fact::AgentProbed { healthy: false, reason } => {
                return self.trouble(step, names::RUNTIME_WARNING, reason);
            }
            Fact::AgentHookRan { .. } => return self.hook(step),
            Fact::AgentRetired { reason } => {
                let draft = self.of_session(step, names::THREAD_UPDATED).thread(self.main());
                draft.slot("status", "completed").say(step, none().put("because", because));
                none().put("archived", &true).put("reason", reason)
            }
            Fact::AgentUpdated { generation, manifest_digest } => {
                none().put("generation", generation).put("manifest", manifest_digest)
            }
            Fact::AgentDesired { desired, generation, reason } => {
                none().put("desired", desired).put("generation", generation).put("reason", reason)
            }
            Fact::AgentInstalled { generation, steps } => {
                none().put("generation", generation).put("steps", steps)
            }
            Fact::AgentProbed { healthy, .. } => none().put("healthy", healthy),
            _ => none(),
        };
        self.of_session(step, names::SESSION_UPDATED).say(step, payload.put("because", because));
    }

    fn hook(&self, step: &mut Step<'_>) {
        let Fact::AgentHookRan { hook, status, took_ms } = step.fact() else { return };
        let (kind, word) = match status.is_success() {
            true => (names::HOOK_COMPLETED, "completed"),
            false => (names::HOOK_FAILED, "failed"),
        };
        let run = Object::new().put("point", hook).put("durationMs", took_ms).put("exit", status);
        let draft = self.of_turn(step, kind, None).slot("status", word).object("hookRun", run);
        // When it began is not recorded, only how long it took.
        draft.say(step, Object::new().put("systemTurn", &true).put("gaps", &["hook.started"]));
    }

    /// A hook around a call.
    fn call_hook(&self, step: &mut Step<'_>) {
        let none = Object::new;
        let run = |hook: &SafeLabel, point: &HookPoint, id: &InvocationId| {
            none().put("hook", hook).put("point", point).put("invocation", id)
        };
        let (kind, word, message, run) = match step.fact() {
            Fact::HookStarted(hook) => {
                let run = run(&hook.hook, &hook.point, &hook.invocation_id);
                (names::HOOK_STARTED, "running", hook.causation, run)
            }
            Fact::HookCompleted(hook) => {
                let updated = hook.updated_digest.as_ref().map(|digest| format!("sha256:{digest}"));
                let stops = matches!(hook.decision, HookDecision::Deny | HookDecision::Block);
                let why = hook.reason.clone().unwrap_or_else(|| "it gave no reason".to_owned());
                let run = run(&hook.hook, &hook.point, &hook.invocation_id)
                    .put("decision", &hook.decision)
                    .put("inputRef", &format!("sha256:{}", hook.input_digest))
                    .put("durationMs", &hook.took_ms)
                    .maybe("updatedInputRef", updated)
                    .maybe("blockReason", stops.then_some(why));
                (names::HOOK_COMPLETED, "completed", hook.causation, run)
            }
            Fact::HookFailed(hook) => {
                let run = run(&hook.hook, &hook.point, &hook.invocation_id)
                    .put("reason", &hook.reason)
                    .put("failOpen", &hook.passed_over)
                    .put("durationMs", &hook.took_ms);
                (names::HOOK_FAILED, "failed", hook.causation, run)
            }
            _ => return,
        };
        let draft = self.of_turn(step, kind, message).slot("status", word).object("hookRun", run);
        draft.say(step, none().put("systemTurn", &message.is_none()));
    }

    fn session(&self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::SessionOpened {
                epoch,
                native_id,
                continuity,
                program,
                lost,
                details_digest,
                details_bytes,
                ..
            } => {
                let payload = Object::new()
                    .put("because", "session.opened")
                    .put("epoch", epoch)
                    .put("nativeId", native_id)
                    .put("continuity", continuity)
                    .maybe("program", program.as_ref())
                    .maybe("lost", lost.as_ref());
                let draft = self.of_session(step, names::SESSION_UPDATED);
                draft.body("details", details_digest, *details_bytes).say(step, payload);
                if *continuity == Continuity::Partial {
                    let payload = Object::new().put("recovery", "degraded").maybe("lost", lost.as_ref());
                    self.of_session(step, names::HISTORY_RECONSTRUCTED).say(step, payload);
                } else if let Some(lost) = lost {
                    self.trouble(step, names::RUNTIME_WARNING, lost);
                }
                self.catalog(step);
            }
            Fact::SessionFailed { reason, .. } => self.trouble(step, names::RUNTIME_ERROR, reason),
            Fact::SessionClosing { epoch, reason, grace_ms, .. } => {
                let payload = Object::new()
                    .put("because", "session.closing")
                    .put("epoch", epoch)
                    .put("reason", reason.as_str())
                    .put("graceMs", grace_ms);
                self.of_session(step, names::SESSION_UPDATED).say(step, payload);
            }
            Fact::SessionClosed { epoch, answered } => {
                let payload = Object::new()
                    .put("because", "session.closed")
                    .put("epoch", epoch)
                    .put("answered", answered);
                self.of_session(step, names::SESSION_UPDATED).say(step, payload);
            }
            _ => {}
        }
    }

    /// Which tools the program has, nobody told. The standard wants a step and a call for that, which are made of the
    /// event's own id.
    fn catalog(&self, step: &mut Step<'_>) {
        let item = ItemId::from_bytes(*step.event().id.as_bytes());
        let draft = self.of_turn(step, names::TOOL_CATALOG_RESOLVED, None).tool(item);
        let payload = Object::new().put("tools", "not_recorded").put("systemTurn", &true);
        draft.slot("status", "unavailable").say(step, payload);
    }

    fn recording(&self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::RecordingSealed { epoch, segment, from_offset, to_offset, file_bytes, digest } => {
                let id = format!("{}/segment/{segment}", self.process(step, *epoch));
                let payload = Object::new()
                    .put("kind", "recording")
                    .put("ref", &format!("sha256:{digest}"))
                    .put("fromOffset", from_offset)
                    .put("toOffset", to_offset)
                    .put("sizeBytes", file_bytes);
                let draft = self.of_session(step, names::EVIDENCE_CHANGED).slot("evidenceId", &id);
                draft.slot("status", "exported").say(step, payload);
                let payload = Object::new().put("fromOffset", from_offset).put("toOffset", to_offset);
                let draft = self.of_session(step, names::PROCESS_OUTPUT);
                let draft = draft.slot("processId", &self.process(step, *epoch));
                let payload = payload.put("program", &true).put("sizeBytes", file_bytes);
                draft.slot("outputRef", &format!("sha256:{digest}")).say(step, payload);
            }
            Fact::RecordingPruned { epoch, through_segment, file_bytes, reason } => {
                let output =
                    Object::new().put("throughSegment", through_segment).put("sizeBytes", file_bytes);
                let draft = self.of_session(step, names::OUTPUT_EXPIRED).object("output", output);
                let draft = draft.slot("processId", &self.process(step, *epoch));
                draft.say(step, Object::new().put("reason", reason));
            }
            Fact::RecordingGap { epoch, from_offset, to_offset, reason } => {
                let output = Object::new().put("truncation", "middle").put("fromOffset", from_offset);
                let draft = self.of_session(step, names::OUTPUT_TRUNCATED);
                let draft = draft.object("output", output.put("toOffset", to_offset));
                let draft = draft.slot("processId", &self.process(step, *epoch));
                draft.say(step, Object::new().put("reason", reason));
            }
            _ => {}
        }
    }

    fn attachment(&self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::AttachOpened { attachment, control, epoch, takeover } => {
                let channel = Object::new()
                    .put("transport", "terminal")
                    .put("peerRole", "client")
                    .put("control", control);
                let draft = self.of_session(step, names::CHANNEL_CONNECTED).slot("channelId", attachment);
                let payload = Object::new().put("epoch", epoch).put("takeover", takeover);
                draft.object("channel", channel).say(step, payload);
            }
            Fact::AttachClosed { attachment, reason } => {
                let draft = self.of_session(step, names::CHANNEL_DISCONNECTED).slot("channelId", attachment);
                draft.say(step, Object::new().put("reason", reason));
            }
            _ => {}
        }
    }

    /// A schedule is a job, each time that it came due one of its items.
    fn schedule(&self, step: &mut Step<'_>) {
        let because = step.fact().type_name();
        let none = || Object::new().put("because", because);
        let (kind, name, item, status, payload) = match step.fact() {
            Fact::ScheduleDeclared { name, in_manifest, .. } => {
                (names::JOB_CREATED, name, None, "pending", none().put("inManifest", in_manifest))
            }
            Fact::ScheduleRemoved { name, reason } => {
                (names::JOB_CANCELLED, name, None, "cancelled", none().put("reason", reason))
            }
            Fact::SchedulePaused { name } => (names::JOB_PROGRESS, name, None, "pending", none()),
            Fact::ScheduleResumed { name } => (names::JOB_PROGRESS, name, None, "pending", none()),
            Fact::ScheduleRan { name, due_at, message_id, cause } => {
                let payload = none().put("cause", cause).put("messageId", message_id);
                (names::JOB_ITEM_STARTED, name, Some(due_at), "running", payload)
            }
            Fact::ScheduleSkipped { name, due_at, reason, detail } => {
                let payload = none().put("reason", reason).put("detail", detail);
                (names::JOB_ITEM_FAILED, name, Some(due_at), "failed", payload)
            }
            Fact::ScheduleMissed { name, from, to, count, reason } => {
                let payload = none().put("reason", reason).put("count", count).put("to", to);
                (names::JOB_ITEM_FAILED, name, Some(from), "failed", payload)
            }
            _ => return,
        };
        let agent = self.ids(step).agent_id.map(|agent| agent.to_string()).unwrap_or_default();
        let job = format!("{agent}/schedule/{name}");
        let item = item.map(|due| format!("{job}/{due}"));
        let draft = self.of_session(step, kind).slot("jobId", &job).maybe("jobItemId", item.as_deref());
        draft.slot("status", status).say(step, payload);
    }
}
