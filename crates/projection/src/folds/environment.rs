//! `environment`: in what an agent's program runs, epoch by epoch, and who ran it.

use edgeplane_types::Fact;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, Step},
    json::Object,
    recent::Recent,
    subject::Subject,
    telling::agent_of,
};

pub(crate) fn takes(kind: &str) -> bool {
    match kind.split_once('.') {
        Some(("agent", name)) => matches!(
            name,
            "declared"
                | "updated"
                | "installed"
                | "install_failed"
                | "started"
                | "exited"
                | "frozen"
                | "thawed"
                | "hook_ran"
        ),
        Some(("session", name)) => matches!(name, "opened" | "failed"),
        _ => false,
    }
}

/// What is not recorded of an environment, said as such.
const GAPS: [&str; 3] = ["sandbox", "network", "limits"];

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Environment {
    manifest: Option<Value>,
    installed: Option<Value>,
    running: Option<Value>,
    session: Option<Value>,
    hooks_ran: u64,
    hooks_failed: u64,
    recent: Recent,
}

impl Environment {
    fn prepared(&mut self, step: &mut Step<'_>) -> Option<(&'static str, Object)> {
        Some(match step.fact() {
            Fact::AgentDeclared { manifest_digest, generation, .. } => {
                self.manifest = Some(json!({ "digest": manifest_digest, "generation": generation }));
                let payload = Object::new().put("manifest", manifest_digest).put("generation", generation);
                ("environment.declared", payload)
            }
            Fact::AgentUpdated { manifest_digest, generation } => {
                self.manifest = Some(json!({ "digest": manifest_digest, "generation": generation }));
                let payload = Object::new().put("manifest", manifest_digest).put("generation", generation);
                ("environment.updated", payload)
            }
            Fact::AgentInstalled { generation, steps } => {
                self.installed = Some(json!({ "generation": generation, "steps": steps, "ok": true }));
                ("environment.installed", Object::new().put("generation", generation).put("steps", steps))
            }
            Fact::AgentInstallFailed { generation, step, reason } => {
                self.installed = Some(json!({ "generation": generation, "ok": false, "reason": reason }));
                let payload =
                    Object::new().put("generation", generation).put("step", step).put("reason", reason);
                ("environment.install_failed", payload)
            }
            Fact::AgentHookRan { hook, status, took_ms } => {
                self.hooks_ran += 1;
                self.hooks_failed += u64::from(!status.is_success());
                let payload = Object::new().put("hook", hook).put("status", status).put("took_ms", took_ms);
                ("hook.ran", payload)
            }
            _ => return None,
        })
    }

    fn lived(&mut self, step: &mut Step<'_>) {
        let (kind, epoch, payload) = match step.fact() {
            Fact::AgentStarted { epoch, process, shim, cgroup, continuity } => {
                self.running = Some(json!({
                    "epoch": epoch, "process": process, "shim": shim, "cgroup": cgroup, "frozen": false,
                }));
                let payload = Object::new()
                    .put("process", process)
                    .put("shim", shim)
                    .maybe("cgroup", cgroup.as_ref())
                    .put("continuity", continuity)
                    .put("not_recorded", &GAPS);
                ("environment.started", epoch, payload)
            }
            Fact::AgentExited { epoch, status, tree, .. } => {
                self.running = None;
                ("environment.ended", epoch, Object::new().put("status", status).put("tree", tree))
            }
            Fact::AgentFrozen { epoch } | Fact::AgentThawed { epoch } => {
                let frozen = matches!(step.fact(), Fact::AgentFrozen { .. });
                if let Some(running) = self.running.as_mut().and_then(Value::as_object_mut) {
                    drop(running.insert("frozen".to_owned(), Value::Bool(frozen)));
                }
                let kind = if frozen { "environment.frozen" } else { "environment.thawed" };
                (kind, epoch, Object::new())
            }
            Fact::SessionOpened { epoch, native_id, program, continuity, resumable, .. } => {
                self.session = Some(
                    json!({ "epoch": epoch, "native_id": native_id, "program": program, "resumable": resumable }),
                );
                let payload = Object::new()
                    .put("native_id", native_id)
                    .maybe("program", program.as_ref())
                    .put("continuity", continuity)
                    .put("resumable", resumable);
                ("session.opened", epoch, payload)
            }
            Fact::SessionFailed { epoch, reason } => {
                self.session = Some(json!({ "epoch": epoch, "failed": reason }));
                ("session.failed", epoch, Object::new().put("reason", reason))
            }
            _ => return,
        };
        let ids = Ids { agent_id: agent_of(step), epoch: Some(*epoch), ..Ids::default() };
        let fact = step.fact();
        let entry = step.say(kind, ids, payload.done());
        if let Fact::SessionOpened { details_digest, details_bytes, .. } = fact {
            entry.with("details", details_digest, *details_bytes);
        }
    }
}

impl Fold for Environment {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        match self.prepared(step) {
            Some((kind, payload)) => {
                let ids = Ids { agent_id: agent_of(step), ..Ids::default() };
                step.say(kind, ids, payload.done());
            }
            None => self.lived(step),
        }
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        json!({
            "manifest": self.manifest,
            "installed": self.installed,
            "running": self.running,
            "session": self.session,
            "hooks": { "ran": self.hooks_ran, "failed": self.hooks_failed },
            "not_recorded": GAPS,
            "history": self.recent.state(),
        })
    }
}
