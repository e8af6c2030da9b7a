//! A program that ends with each turn. Its runner speaks the Agent Client Protocol for it, so a turn is a prompt and an
//! answer as with any other; what differs is here.
//!
//! The runner is ready from its first moment and remembers nothing: each prompt says which session it goes on with, by
//! the program's own name for it, which the program says in its output. That name is the record's, so it is the next
//! epoch's too.

use edgeplane_driver::{
    acp::{self, Session},
    exec::{self, Output, Plan, PromptBy, Told, Way},
};
use edgeplane_manifest::{self as manifest, Driver, ExecOutput, Manifest, OneShot, StateKind};
use edgeplane_store::SessionRow;
use edgeplane_types::{Activity, ActivityReport, Continuity, Envelope, Epoch, Evidence, Fact};

use super::{Acp, Actor, Wanted, items::OUTPUT_BYTES_MAX, label};
use crate::record::Origin;

/// What is known of the program behind a runner.
#[derive(Debug, Default)]
pub(super) struct OneShots {
    /// What the program calls its session.
    pub(super) handle: Option<String>,
    /// Whether the running turn is the first of its epoch, and was told what was before.
    pub(super) is_first: bool,
}

/// How the program of a manifest is called for each turn; nothing if it stays.
pub(in crate::agent) fn plan(manifest: &Manifest) -> Option<Plan> {
    let spec = &manifest.spec;
    let shot = OneShot::of(&spec.driver)?;
    Some(Plan {
        program: spec.command.iter().chain(&spec.args).cloned().collect(),
        first: shot.first,
        resume: shot.resume,
        prompt: match shot.prompt {
            manifest::PromptBy::Argument => PromptBy::Argument,
            manifest::PromptBy::Stdin => PromptBy::Stdin,
        },
        output: match shot.output {
            ExecOutput::Text => Output::Text,
            ExecOutput::Json => Output::Json,
            ExecOutput::StreamJson => Output::StreamJson,
        },
        session: shot.session,
        answer: shot.answer,
        lost: shot.lost,
        timeout_ms: shot.timeout.as_millis(),
    })
}

impl Actor {
    pub(super) fn is_exec(&self) -> bool {
        matches!(self.manifest.spec.driver, Driver::Exec { .. })
    }

    /// The session of an epoch whose runner has just begun, or is taken over with this row as what is known of it.
    fn exec_session(&self, epoch: Epoch, row: Option<SessionRow>) -> Acp {
        let remembers = self.manifest.spec.state == StateKind::Stateful;
        let resumes = OneShot::of(&self.manifest.spec.driver).is_some_and(|shot| shot.resume.is_some());
        let is_own = |row: &SessionRow| resumes && (remembers || row.opened_in == Some(epoch));
        // What is over is over for later epochs only.
        let handle = row.filter(is_own).and_then(|row| match row.opened_in == Some(epoch) {
            true => row.native_id,
            false => row.handle().map(str::to_owned),
        });
        let wanted = Wanted {
            cwd: String::new(),
            auth_method: None,
            mode: None,
            model: None,
            servers: Vec::new(),
            former: None,
            files: false,
            commands: false,
        };
        let mut acp = Acp::new(Session::known(wanted, exec::SESSION.to_owned()));
        acp.untold = true;
        acp.one_shots = Some(OneShots { handle, is_first: false });
        acp
    }

    /// Begins an epoch: with the session that is handed on, if there is one.
    pub(super) fn greet_exec(&mut self) {
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return };
        let id = self.identity.id;
        let row = self.shared.record.look_up(|reader| reader.session(&id)).ok().flatten();
        let acp = self.exec_session(epoch, row);
        let handle = acp.resume_handle().map(str::to_owned);
        if let Some(live) = &mut self.live {
            live.acp = Some(Box::new(acp));
        }
        self.activity = ActivityReport { state: Activity::Idle, evidence: Evidence::Protocol };
        if let Some(handle) = handle {
            self.continuity = Continuity::Full;
            self.exec_opened(&Origin::node("session"), epoch, (handle, None));
        }
    }

    /// Finds out where a former daemon left an epoch that lives on.
    pub(super) async fn recall_exec(&mut self, epoch: Epoch) {
        let id = self.identity.id;
        let row = self.shared.record.look_up(|reader| reader.session(&id)).ok().flatten();
        let was = self.continuity;
        self.gather_past(epoch).await;
        if row.as_ref().is_some_and(|row| row.opened_in == Some(epoch)) {
            self.continuity = was;
            let acp = self.exec_session(epoch, row);
            if let Some(live) = &mut self.live {
                live.acp = Some(Box::new(acp));
            }
            self.activity = ActivityReport { state: Activity::Idle, evidence: Evidence::Protocol };
        } else {
            self.greet_exec();
            self.acp_flush().await;
        }
        self.recall_acp_turn(epoch).await;
    }

    /// A line that only a runner says; tells whether it was one.
    pub(super) fn exec_line(&mut self, line: &[u8], (epoch, end): (Epoch, u64)) -> bool {
        if !self.is_exec() {
            return false;
        }
        let Some(told) = exec::told(line) else { return false };
        let origin = self.native_origin(epoch, end);
        match told {
            Told::Session { name, way, lost } => self.exec_named(&origin, epoch, (name, way, lost)),
            Told::Report { kind, text } => {
                let authority = Some(self.weight_of_words(epoch));
                let message_id = self.acp_turn_of_piece();
                let Some(acp) = self.acp_mut() else { return true };
                let (body_digest, body_bytes) = acp.batch.body(bounded(text).into_bytes());
                let kind = label(&kind);
                let fact = Fact::ItemReported { epoch, kind, body_digest, body_bytes, message_id, authority };
                self.acp_note(&origin, fact);
            }
        }
        true
    }

    fn exec_named(
        &mut self,
        origin: &Origin,
        epoch: Epoch,
        (name, way, lost): (String, Way, Option<String>),
    ) {
        let has_past = self.live.as_ref().is_some_and(|live| !live.past.is_empty());
        let Some(of) = self.acp_mut().and_then(|acp| acp.one_shots.as_mut()) else { return };
        if of.handle.as_deref() == Some(&name) && lost.is_none() {
            return;
        }
        let was_told = has_past && (of.is_first || of.handle.is_none());
        of.handle = Some(name.clone());
        self.continuity = match way {
            Way::Former => Continuity::Full,
            Way::New if was_told => Continuity::Partial,
            Way::New => Continuity::None,
        };
        if let Some(why) = &lost {
            tracing::warn!(agent = %self.identity.name, why, "its former session is not gone on with");
        }
        self.exec_opened(origin, epoch, (name, lost));
    }

    fn exec_opened(&mut self, origin: &Origin, epoch: Epoch, (native_id, lost): (String, Option<String>)) {
        let continuity = self.continuity;
        let Some(acp) = self.acp_mut() else { return };
        let (details_digest, details_bytes) = acp.batch.body(b"{}".to_vec());
        let fact = Fact::SessionOpened {
            epoch,
            native_id,
            continuity,
            program: None,
            lost,
            resumable: true,
            closable: false,
            details_digest,
            details_bytes,
        };
        self.acp_note(origin, fact);
    }

    /// The line that begins a message's turn. What is before the message's text is for a session that begins anew.
    pub(super) fn exec_prompt(
        &self,
        of: &OneShots,
        envelope: &Envelope,
        (history, text): (Option<&str>, &str),
    ) -> Vec<u8> {
        let is_told_past = of.handle.is_none() || self.acp().is_some_and(|acp| acp.untold);
        let past = self.live.as_ref().and_then(|live| live.past.first()).filter(|_| is_told_past);
        let past = past.map(edgeplane_driver::render::Rendered::text);
        let mut texts = vec![edgeplane_driver::notice::NOTICE];
        texts.extend(past.as_deref());
        texts.extend(history);
        texts.push(text);
        let former = of.handle.as_deref().unwrap_or_default();
        acp::traced_prompt(former, envelope.id, &texts, envelope.handed_on())
    }
}

/// What a runner says is the answer of a turn, where that is not simply all text.
pub(super) fn answer(value: &serde_json::Value) -> Option<String> {
    value.get("answer").and_then(serde_json::Value::as_str).map(|text| bounded(text.to_owned()))
}

fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(OUTPUT_BYTES_MAX));
    text
}
