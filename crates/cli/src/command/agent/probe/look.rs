//! The look at a program that runs on a trial's node: when it works, and what it means that it does not.

use std::time::Duration;

use anyhow::Context as _;
use edgeplane_client::CallError;
use edgeplane_manifest::{Driver, Manifest};
use edgeplane_os::wait::Deadline;
use edgeplane_types::{Activity, DeliveryMode, MessageId, Part, Phase, Priority};
use edgeplane_wire::{
    api::{
        agent::{AgentParams, AgentStatus, ApplyParams, Document},
        message::SignalParams,
        report::{Spoken, TRANSCRIPT_MAX, TranscriptEntry, TranscriptParams},
        stream::{ReplayParams, Target},
        terminal::RecordingParams,
    },
    catalogue::{
        AgentApply, AgentGet, AgentSignal, AgentSnapshot, RecordingRead, StreamReplay, TranscriptRead,
    },
};
use serde_json::{Value, json};

use super::{Verdict, scratch::Scratch, seen::Seen};
use crate::{command::recording, progress::Progress, terminal::plain::Plain};

/// Pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Looks at a screen that shows the same before it counts as drawn: a second of silence.
const STILL_LOOKS: u32 = 20;

/// The same for a screen that its adapter does not know: ten seconds, in which some load without a word.
const UNREAD_LOOKS: u32 = 200;

/// The version of the Agent Client Protocol that is asked for.
const VERSION: u64 = 1;

/// What the protocol calls a missing login.
const LOGIN_WANTED: i64 = -32_000;

/// Bytes of output that are looked through for what a program said.
const OUTPUT_BYTES: u64 = 1 << 20;

/// Lines of output that are shown of a program that does not work.
const LAST_LINES: usize = 8;

/// What was found out, and why.
type Found = (Verdict, Option<String>);

pub(super) fn driver_word(manifest: &Manifest) -> String {
    let value = serde_json::to_value(&manifest.spec.driver).unwrap_or_default();
    value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Runs the program of a manifest and looks at it until it is known whether it works.
pub(super) fn try_out(
    scratch: &Scratch,
    manifest: &Manifest,
    say: Option<&str>,
    (deadline, progress): (Deadline, &mut Progress),
) -> anyhow::Result<(Verdict, Option<String>, Seen)> {
    let mut trial = Trial {
        scratch,
        manifest,
        seen: Seen::default(),
        screen: (0, 0),
        message: None,
        entries: Vec::new(),
    };
    let text = bare(manifest).to_string();
    let document = Document { file: "the manifest".to_owned(), text, folder: "/".to_owned() };
    if let Err(error) = scratch.ask::<AgentApply>(&ApplyParams { documents: vec![document], dry_run: false })
    {
        let Some(CallError::Rpc(refused)) = error.downcast_ref::<CallError>() else { return Err(error) };
        return Ok((Verdict::Refused, Some(refused.message.clone()), trial.seen));
    }
    let found = trial.watch(say, deadline, progress)?;
    trial.gather(found.0);
    let (verdict, reason) = trial.judged(found);
    Ok((verdict, reason, trial.seen))
}

/// The manifest without what reaches beyond its program, and with one life only.
fn bare(manifest: &Manifest) -> Value {
    let mut value = manifest.canonical_json();
    let Some(Value::Object(spec)) = value.get_mut("spec") else { return value };
    for key in ["dependsOn", "schedules", "subscriptions", "policy", "health", "prepare", "run"] {
        spec.remove(key);
    }
    spec.insert("restart".to_owned(), json!({ "policy": "never" }));
    if matches!(manifest.spec.driver, Driver::Native { .. }) {
        let ping = json!({ "interval": "1s", "timeout": "1s", "failures": 1_000 });
        spec.insert("health".to_owned(), json!({ "ping": ping, "onFailure": "report" }));
    }
    value
}

struct Trial<'a> {
    scratch: &'a Scratch,
    manifest: &'a Manifest,
    seen: Seen,
    /// Bytes that the screen showed last, and for how many looks.
    screen: (u64, u32),
    /// The message whose turn is waited for.
    message: Option<MessageId>,
    entries: Vec<TranscriptEntry>,
}

impl Trial<'_> {
    fn name(&self) -> String {
        self.manifest.metadata.name.to_string()
    }

    fn watch(
        &mut self,
        say: Option<&str>,
        deadline: Deadline,
        progress: &mut Progress,
    ) -> anyhow::Result<Found> {
        let begun = deadline.remaining();
        loop {
            // Looked at before the record: what is over by then has its reason there.
            let view = self.scratch.ask::<AgentGet>(&AgentParams { agent: self.name() })?;
            self.read()?;
            let status = view.status;
            if let Some(found) = self.ended(&status) {
                return Ok(found);
            }
            let found = match self.message {
                Some(message) => self.turn(message),
                None => self.works(&status)?,
            };
            match found {
                Some((Verdict::Works, _)) if say.is_some() && self.message.is_none() => {
                    self.message = Some(self.say(say.unwrap_or_default())?);
                }
                Some(found) => return Ok(found),
                None if deadline.has_passed() => {
                    let what =
                        if self.message.is_some() { "its turn did not end" } else { "nothing was heard" };
                    return Ok((Verdict::NoAnswer, Some(what.to_owned())));
                }
                None => {}
            }
            if self.seen.ready_after_ms.is_none() && self.message.is_some() {
                self.seen.ready_after_ms = Some(millis(begun.saturating_sub(deadline.remaining())));
            }
            self.scratch.pause(LOOK_EVERY)?;
            progress.waited(LOOK_EVERY);
        }
    }

    fn read(&mut self) -> anyhow::Result<()> {
        let params = TranscriptParams {
            agent: Some(self.name()),
            after: Some(0),
            limit: Some(TRANSCRIPT_MAX),
            ..TranscriptParams::default()
        };
        self.entries = self.scratch.ask::<TranscriptRead>(&params)?.items;
        Ok(())
    }

    fn entry(&self, spoken: Spoken, kind: &str) -> Option<&TranscriptEntry> {
        let is_it = |entry: &&TranscriptEntry| {
            entry.spoken == spoken && entry.kind.as_ref().is_some_and(|of| of.as_str() == kind)
        };
        self.entries.iter().find(is_it)
    }

    /// Whether its program is no more, or never was.
    fn ended(&self, status: &AgentStatus) -> Option<Found> {
        // The node ends a program whose session failed; what failed is the cause.
        if let Some(entry) = self.entry(Spoken::Session, "failed") {
            return Some((Verdict::NoSession, entry.text.clone()));
        }
        if let Some(entry) = self.entry(Spoken::Epoch, "failed") {
            return Some((Verdict::NotStarted, entry.text.clone()));
        }
        if let Some(entry) = self.entry(Spoken::Epoch, "exited") {
            let how = entry.text.as_deref().unwrap_or("for an unknown reason");
            return Some((Verdict::Ended, Some(format!("its program ended with {how}"))));
        }
        let is_over = matches!(status.phase, Phase::Failed | Phase::Stopped | Phase::Quarantined);
        is_over.then(|| (Verdict::NotStarted, status.reason.clone()))
    }

    /// Whether its driver works.
    fn works(&mut self, status: &AgentStatus) -> anyhow::Result<Option<Found>> {
        match &self.manifest.spec.driver {
            Driver::Acp { .. } => Ok(self.entry(Spoken::Session, "opened").map(|_| (Verdict::Works, None))),
            Driver::Native { .. } => {
                let types = vec!["agent.probed".to_owned()];
                let target = Target::agent(self.name());
                let params = ReplayParams { target, types, ..ReplayParams::default() };
                let events = self.scratch.ask::<StreamReplay>(&params)?.items;
                let is_well = |event: &Value| event.pointer("/payload/healthy") == Some(&Value::Bool(true));
                Ok(events.iter().any(|event| is_well(&event.event)).then_some((Verdict::Works, None)))
            }
            // Its program is there, or its epoch would have failed; what it answers only a message shows.
            Driver::Exec { .. } => Ok(self.entry(Spoken::Epoch, "started").map(|_| (Verdict::Works, None))),
            Driver::Terminal { adapter, .. } => {
                let is_read = adapter.is_some();
                let stands = self.screen_stands();
                let (verdict, why) = shown(is_read, status.activity);
                let is_settled = !matches!(status.activity, Activity::Unknown | Activity::Working);
                let stands = stands && (!is_read || is_settled || self.screen.1 >= UNREAD_LOOKS);
                Ok(stands.then_some((verdict, why)))
            }
        }
    }

    /// Whether something is on its screen, and nothing has changed there for a while.
    fn screen_stands(&mut self) -> bool {
        let Ok(screen) = self.scratch.ask::<AgentSnapshot>(&AgentParams { agent: self.name() }) else {
            return false;
        };
        if screen.text.trim().is_empty() {
            return false;
        }
        self.seen.screen = Some(screen.text.trim_end().to_owned());
        let (head, looks) = self.screen;
        self.screen = if head == screen.head { (head, looks.saturating_add(1)) } else { (screen.head, 0) };
        self.screen.1 >= STILL_LOOKS
    }

    fn say(&self, words: &str) -> anyhow::Result<MessageId> {
        let params = json!({ "agent": self.name(), "parts": [Part::Text { text: words.to_owned() }],
            "mode": DeliveryMode::Queue, "priority": Priority::Normal });
        let params: SignalParams = serde_json::from_value(params).context("a message of a trial")?;
        let sent = self.scratch.ask::<AgentSignal>(&params)?;
        sent.message_id.to_string().parse().context("the message's id")
    }

    /// Whether the turn of a message is over.
    fn turn(&mut self, message: MessageId) -> Option<Found> {
        let of_it = |entry: &&TranscriptEntry| entry.message_id == Some(message);
        if matches!(self.manifest.spec.driver, Driver::Terminal { .. }) {
            // What comes of it is on the screen; that it was typed is all that is known.
            let is_given = self.entries.iter().filter(of_it).any(|entry| entry.spoken == Spoken::Message);
            return (is_given && self.screen_stands()).then_some((Verdict::Works, None));
        }
        let turn = self.entries.iter().filter(of_it).find(|entry| entry.spoken == Spoken::Turn)?;
        self.seen.answer = turn.text.clone().filter(|text| !text.is_empty());
        let error = self.entries.iter().filter(of_it).find(|entry| {
            entry.spoken == Spoken::Item && entry.kind.as_ref().is_some_and(|kind| kind.as_str() == "error")
        });
        match error {
            Some(error) => Some((Verdict::TurnFailed, error.text.clone())),
            None => Some((Verdict::Works, None)),
        }
    }

    /// Gathers what the program said of itself.
    fn gather(&mut self, verdict: Verdict) {
        let epoch_began = self.entry(Spoken::Epoch, "started").map(|entry| entry.at);
        let session = self.entry(Spoken::Session, "opened").cloned();
        let output = self.output();
        if let Some(greeting) =
            answer_to(&output, "edgeplane:initialize").and_then(|line| line.get("result").cloned())
        {
            self.seen.greeting(&greeting);
        }
        if let Some(entry) = &session {
            self.seen.session(entry);
            let took = epoch_began.map(|began| entry.at.as_micros().saturating_sub(began.as_micros()));
            self.seen.ready_after_ms = took.and_then(|micros| u64::try_from(micros / 1_000).ok());
        }
        if verdict != Verdict::Works && self.seen.screen.is_none() {
            let lines: Vec<&str> = output.lines().filter(|line| !is_protocol(line)).collect();
            let skipped = lines.len().saturating_sub(LAST_LINES);
            self.seen.last_lines = lines.into_iter().skip(skipped).map(str::to_owned).collect();
        }
    }

    /// What it means that there is no session: what the protocol says decides, and not the words.
    fn judged(&self, (verdict, reason): Found) -> Found {
        if verdict != Verdict::NoSession {
            return (verdict, reason);
        }
        if self.seen.protocol_version.is_some_and(|version| version != VERSION) {
            return (Verdict::WrongVersion, reason);
        }
        let output = self.output();
        let wants_login = ["edgeplane:new", "edgeplane:authenticate"].into_iter().any(|id| {
            let code =
                answer_to(&output, id).and_then(|line| line.pointer("/error/code").and_then(Value::as_i64));
            code == Some(LOGIN_WANTED)
        });
        (if wants_login { Verdict::LoginMissing } else { verdict }, reason)
    }

    /// The beginning of what it printed, as text.
    fn output(&self) -> String {
        let params = RecordingParams {
            agent: self.name(),
            epoch: None,
            offset: 0,
            last_bytes: None,
            limit_bytes: Some(OUTPUT_BYTES),
        };
        // One that never ran has none.
        let Ok(page) = self.scratch.ask::<RecordingRead>(&params) else { return String::new() };
        let (mut plain, mut text) = (Plain::new(), String::new());
        for item in &page.items {
            if let Ok(Some(bytes)) = recording::output(item) {
                plain.feed(&bytes, &mut text);
            }
        }
        plain.finish(&mut text);
        text
    }
}

/// What it means that a terminal shows something and stands still.
fn shown(is_read: bool, activity: Activity) -> Found {
    if !is_read || activity == Activity::Idle {
        return (Verdict::Works, None);
    }
    let how = match activity {
        Activity::Unknown => "its adapter does not know this screen",
        Activity::AwaitingInput | Activity::AwaitingApproval => "it asks something",
        Activity::QuotaPaused => "its quota is used up",
        Activity::Error => "it shows an error",
        Activity::Idle | Activity::Working => "it is busy",
    };
    (Verdict::NotIdle, Some(format!("{how}, so messages would wait")))
}

fn is_protocol(line: &str) -> bool {
    line.trim().is_empty()
        || serde_json::from_str::<Value>(line).is_ok_and(|line| line.get("jsonrpc").is_some())
}

/// The line that answers a request of the driver's.
fn answer_to(output: &str, id: &str) -> Option<Value> {
    let lines = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .into_iter()
        .find(|line| line.get("id").and_then(Value::as_str) == Some(id) && line.get("method").is_none())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
