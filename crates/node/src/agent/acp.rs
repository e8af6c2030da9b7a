//! A program that speaks the Agent Client Protocol: how its session comes about, and what becomes of its lines.
//!
//! Every line that is sent because of one that was heard has an id made of that line's place, and is sent before the facts
//! of the line are durable. So a daemon that takes over hears what its predecessor had not made durable once more, comes
//! to the same lines, and the shim writes none of them twice. Facts of lines that come together become durable together.

pub(crate) mod commands;
mod exec;
mod files;
mod items;
mod permission;
mod turn;

pub(super) use exec::plan;
pub(super) use permission::asked_by_line;
pub(crate) use permission::is_asked_by_program;

use std::{collections::BTreeMap, time::Duration};

use edgeplane_driver::acp::{self, Act, Heard, Opened, Session, Wanted, Way};
use edgeplane_lifecycle::Input;
use edgeplane_manifest::{Driver, StateKind};
use edgeplane_types::{
    Activity, ActivityReport, Continuity, Envelope, Epoch, Evidence, Fact, SafeLabel, fact::Cause,
};
use edgeplane_wire::shim::{InputKind, ToShim};
use tokio::time::Instant;

use super::{Actor, native};
use crate::record::{Draft, Origin};

/// How long a program may take from its start until its session takes messages. Some load a runtime, ask a network and
/// say a former session again.
const OPENING_TIME_MAX: Duration = Duration::from_secs(120);

/// Lines of an epoch that cannot be used before the program counts as sick.
const OFFENCES_MAX: u32 = 100;

/// The name under which a session has EdgePlane's own tools.
const OWN_TOOLS: &str = "edgeplane";

/// Answers to one line; the number stands in the highest byte of what the input's id is made of.
const ANSWER_SHIFT: u32 = 56;

/// The session of one epoch.
#[derive(Debug)]
pub(super) struct Acp {
    session: Session,
    /// Until when the session must take messages.
    deadline: Option<Instant>,
    /// What lines said and is not durable yet.
    batch: Draft,
    /// The running turn.
    turn: turn::Turn,
    /// Whether the session is new and was told nothing yet.
    untold: bool,
    /// Whether the session is a former one in which nothing was asked yet: some say its history behind their answer.
    is_replayed: bool,
    /// Whether another epoch could go on with the session.
    is_resumable: bool,
    /// Whether the program can be asked to close its session.
    is_closable: bool,
    /// Questions for leave that wait, by the place of their line.
    asked: BTreeMap<u64, acp::Permission>,
    /// Lines that could not be used.
    offences: u32,
    /// The program and its version, as it says them.
    program: Option<String>,
    /// The program behind a runner, if its own process ends with each turn.
    one_shots: Option<exec::OneShots>,
    /// The commands that its program has the node run.
    commands: commands::Commands,
}

impl Acp {
    fn new(session: Session) -> Self {
        Self {
            session,
            deadline: None,
            batch: Draft::default(),
            turn: turn::Turn::default(),
            untold: false,
            is_replayed: false,
            is_resumable: false,
            is_closable: false,
            asked: BTreeMap::new(),
            offences: 0,
            program: None,
            one_shots: None,
            commands: commands::Commands::default(),
        }
    }

    /// Whether it takes messages.
    pub(super) fn is_ready(&self) -> bool {
        self.session.name().is_some()
    }

    /// Why there is no session, if there will be none.
    pub(super) fn failure(&self) -> Option<&str> {
        self.session.failure()
    }

    /// Whether another epoch of the program could go on with the session.
    pub(super) fn can_go_on(&self) -> bool {
        // A runner keeps nothing that could be lost.
        self.one_shots.is_some() || (self.is_ready() && self.is_resumable)
    }

    /// The line that asks its program to close the session, if it can be asked.
    pub(super) fn closing_line(&self) -> Option<Vec<u8>> {
        self.session.name().filter(|_| self.is_closable).map(acp::close)
    }

    /// The program's own name for its session.
    pub(super) fn resume_handle(&self) -> Option<&str> {
        match &self.one_shots {
            Some(of) => of.handle.as_deref(),
            None => self.session.name(),
        }
    }
}

impl Actor {
    /// Whether its program, or the runner of it, speaks this protocol.
    pub(super) fn is_acp(&self) -> bool {
        matches!(self.manifest.spec.driver, Driver::Acp { .. } | Driver::Exec { .. })
    }

    /// The session of the live epoch, if its program speaks this protocol.
    pub(super) fn acp(&self) -> Option<&Acp> {
        self.live.as_ref().and_then(|live| live.acp.as_deref())
    }

    fn acp_mut(&mut self) -> Option<&mut Acp> {
        self.live.as_mut().and_then(|live| live.acp.as_deref_mut())
    }

    /// Whether its program could take a message now, as far as its session goes.
    pub(super) fn session_takes_messages(&self) -> bool {
        !self.is_acp() || self.acp().is_some_and(Acp::is_ready)
    }

    /// Begins the way to a session. The first line has the same id whoever sends it.
    pub(super) fn greet_acp(&mut self) {
        if self.is_exec() {
            return self.greet_exec();
        }
        let Some(wanted) = self.wanted_session() else { return };
        let (session, line) = Session::begin(wanted);
        let Some(live) = &mut self.live else { return };
        let mut acp = Acp::new(session);
        acp.deadline = Some(Instant::now() + OPENING_TIME_MAX);
        live.acp = Some(Box::new(acp));
        self.acp_send(0, 0, &line);
    }

    fn wanted_session(&self) -> Option<Wanted> {
        let Driver::Acp { mode, model, auth_method, mcp_servers, tools, files, .. } =
            &self.manifest.spec.driver
        else {
            return None;
        };
        let id = self.identity.id;
        let remembers = self.manifest.spec.state == StateKind::Stateful;
        let former = self.shared.record.look_up(|reader| reader.session(&id)).ok().flatten();
        let servers = mcp_servers.iter().map(|server| match &server.url {
            Some(url) => acp::McpServer::Http {
                name: server.name.to_string(),
                url: url.clone(),
                headers: server.headers.iter().map(|(key, value)| (key.to_string(), value.clone())).collect(),
            },
            None => acp::McpServer::Stdio {
                name: server.name.to_string(),
                command: server.command.first().cloned().unwrap_or_default(),
                args: server.command.iter().skip(1).cloned().collect(),
                env: server.env.iter().map(|(key, value)| (key.as_str().to_owned(), value.clone())).collect(),
            },
        });
        Some(Wanted {
            cwd: self.workspace().to_string_lossy().into_owned(),
            auth_method: auth_method.clone(),
            mode: mode.clone(),
            model: model.clone(),
            servers: self.own_tools().filter(|_| *tools).into_iter().chain(servers).collect(),
            former: former.and_then(|row| row.handle().map(str::to_owned)).filter(|_| remembers),
            // What the node writes would belong to the node's user.
            files: *files && self.manifest.spec.user.is_none(),
            commands: self.offers_commands(),
        })
    }

    /// EdgePlane's own tools, as a program that the agent's program starts. Its node knows it by where it runs.
    fn own_tools(&self) -> Option<acp::McpServer> {
        let command = self.shared.cli.as_ref()?.to_str()?.to_owned();
        let socket = self.shared.epoch_socket(self.identity.id, self.live.as_ref()?.place.epoch);
        let (name, args) = (OWN_TOOLS.to_owned(), vec!["mcp".to_owned()]);
        Some(acp::McpServer::Stdio { name, command, args, env: self.own_variables(&socket) })
    }

    /// Finds out where a former daemon left the session of an epoch that lives on.
    pub(super) async fn recall_acp(&mut self, epoch: Epoch) {
        if self.is_exec() {
            return self.recall_exec(epoch).await;
        }
        let id = self.identity.id;
        let row = self.shared.record.look_up(|reader| reader.session(&id)).ok().flatten();
        let known = row.filter(|row| row.epoch == epoch);
        let Some(wanted) = self.wanted_session() else { return };
        let was = self.continuity;
        self.gather_past(epoch).await;
        if known.is_some() {
            // What is gathered is for a session that is to begin; of this one it is known how it began.
            self.continuity = was;
        }
        let is_resumable = known.as_ref().is_some_and(|row| row.resumable);
        let is_closable = known.as_ref().is_some_and(|row| row.closable);
        let session = match known {
            Some(row) => match (row.failure, row.native_id.filter(|_| row.opened_in == Some(epoch))) {
                (Some(why), _) => Session::hopeless(wanted, why),
                (None, Some(name)) => Session::known(wanted, name),
                (None, None) => return self.greet_acp(),
            },
            // Its lines are read from their beginning, and lead to the same lines again.
            None => return self.greet_acp(),
        };
        if let Some(live) = &mut self.live {
            live.acp = Some(Box::new(Acp { is_resumable, is_closable, ..Acp::new(session) }));
        }
        self.recall_acp_turn(epoch).await;
        self.recall_commands(epoch).await;
        self.answer_permissions_again(epoch);
    }

    /// Sends a line that follows from the one that ends at `end`, as the `number`th of those.
    fn acp_send(&mut self, end: u64, number: u8, line: &[u8]) {
        let Some(live) = &mut self.live else { return };
        let Some(link) = &mut live.link else { return };
        if link.waiting() > super::link::WAITING_BYTES_MAX {
            tracing::warn!(agent = %self.identity.name, "it does not read its input; an answer is dropped");
            return;
        }
        let place = end | (u64::from(number) << ANSWER_SHIFT);
        let id = native::input_id(live.place.epoch, place);
        link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: line });
    }

    /// One line of its program.
    pub(super) async fn acp_line(&mut self, line: &[u8], end: u64) {
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return };
        if self.exec_line(line, (epoch, end)) {
            return;
        }
        match acp::hear(line) {
            Heard::Text => {}
            Heard::Answer(acp::Asked::Prompt(message_id), result) => {
                self.acp_turn_over((epoch, end), message_id, result).await;
            }
            Heard::Answer(acp::Asked::Close, _) => self.program_closed(Some((epoch, end))).await,
            Heard::Answer(asked, result) => {
                let Some(acp) = self.acp_mut() else { return };
                let acts = acp.session.answered(asked, result);
                for (number, act) in acts.into_iter().enumerate() {
                    self.acp_act((epoch, end), u8::try_from(number).unwrap_or(u8::MAX), act).await;
                }
            }
            Heard::Update(update) => self.acp_update((epoch, end), update),
            Heard::Permission(permission) => self.acp_permission((epoch, end), permission).await,
            Heard::ReadFile { id, path, line, limit } => {
                self.acp_read_file(end, &id, path, (line, limit)).await
            }
            Heard::WriteFile { id, path, content } => {
                self.acp_write_file((epoch, end), &id, path, content).await;
            }
            Heard::Terminal { id, terminal } => self.acp_terminal((epoch, end), id, terminal).await,
            Heard::Unserved { id, method } => {
                let text = format!("EdgePlane does not serve {method}");
                self.acp_send(end, 0, &acp::failed(&id, acp::Reason::NoMethod, &text));
            }
            Heard::Unknown { method } => {
                tracing::debug!(agent = %self.identity.name, method, "a notification that means nothing here");
            }
            Heard::Refused { id, reason } => {
                if let Some(id) = id {
                    self.acp_send(end, 0, &acp::failed(&id, acp::Reason::Params, &reason));
                }
                self.acp_offence(&reason).await;
            }
        }
    }

    async fn acp_act(&mut self, (epoch, end): (Epoch, u64), number: u8, act: Act) {
        match act {
            Act::Send(line) => self.acp_send(end, number, &line),
            Act::Opened(opened) => self.acp_opened((epoch, end), *opened).await,
            Act::Failed { why, may_pass } => self.acp_failed((epoch, end), why, may_pass).await,
        }
    }

    async fn acp_opened(&mut self, (epoch, end): (Epoch, u64), opened: Opened) {
        let will_be_told = self.live.as_ref().is_some_and(|live| !live.past.is_empty());
        self.continuity = match (opened.way, will_be_told) {
            (Way::Former, _) => Continuity::Full,
            (Way::New, true) => Continuity::Partial,
            (Way::New, false) => Continuity::None,
        };
        if let Some(why) = &opened.lost {
            tracing::warn!(agent = %self.identity.name, why, "its former session is not gone on with");
        }
        let continuity = self.continuity;
        let origin = self.native_origin(epoch, end);
        let stream = self.stream();
        let shared = std::sync::Arc::clone(&self.shared);
        let Some(acp) = self.acp_mut() else { return };
        acp.deadline = None;
        acp.untold = opened.way == Way::New;
        acp.is_replayed = opened.way == Way::Former;
        (acp.is_resumable, acp.is_closable) = (opened.resumable, opened.closable);
        acp.program.clone_from(&opened.program);
        let (details_digest, details_bytes) = acp.batch.body(opened.details.to_string().into_bytes());
        let fact = Fact::SessionOpened {
            epoch,
            native_id: opened.session,
            continuity,
            program: opened.program,
            lost: opened.lost,
            resumable: opened.resumable,
            closable: opened.closable,
            details_digest,
            details_bytes,
        };
        shared.record.add(&mut acp.batch, stream, &origin, fact);
        self.activity = ActivityReport { state: Activity::Idle, evidence: Evidence::Protocol };
        self.acp_flush().await;
        self.pump().await;
    }

    async fn acp_failed(&mut self, (epoch, end): (Epoch, u64), why: String, may_pass: bool) {
        tracing::warn!(agent = %self.identity.name, why, "it has no session");
        if let Some(acp) = self.acp_mut() {
            acp.deadline = None;
        }
        let origin = self.native_origin(epoch, end);
        self.acp_note(&origin, Fact::SessionFailed { epoch, reason: why.clone() });
        self.acp_flush().await;
        self.activity = ActivityReport { state: Activity::Unknown, evidence: Evidence::Protocol };
        if may_pass {
            self.input_because(Input::Restart(Cause::Probe), &Origin::node("session"), &why).await;
        }
    }

    /// A line that cannot be used. Some happen; a program that goes on with them is sick.
    pub(super) async fn acp_offence(&mut self, reason: &str) {
        tracing::info!(agent = %self.identity.name, reason, "a line of its protocol cannot be used");
        let Some(acp) = self.acp_mut() else { return };
        acp.offences = acp.offences.saturating_add(1);
        if acp.offences != OFFENCES_MAX {
            return;
        }
        let reason = format!("{OFFENCES_MAX} lines of it could not be used, the last: {reason}");
        self.acp_flush().await;
        self.healthy = Some(false);
        let origin = Origin::node("session");
        self.note_fact(Fact::AgentProbed { healthy: false, reason: reason.clone() }, &origin).await;
        self.input_because(Input::Restart(Cause::Probe), &origin, &reason).await;
    }

    fn acp_note(&mut self, origin: &Origin, fact: Fact) {
        let (stream, shared) = (self.stream(), std::sync::Arc::clone(&self.shared));
        if let Some(acp) = self.acp_mut() {
            shared.record.add(&mut acp.batch, stream, origin, fact);
        }
    }

    /// Makes durable what lines have said until now.
    pub(super) async fn acp_flush(&mut self) {
        let Some(acp) = self.acp_mut() else { return };
        let draft = std::mem::take(&mut acp.batch);
        if !draft.is_empty() {
            self.pending(draft).await;
        }
    }

    pub(super) fn acp_timer(&self) -> Option<Instant> {
        let acp = self.acp()?;
        [acp.deadline, acp.turn.cancel_until()].into_iter().flatten().min()
    }

    pub(super) async fn acp_due(&mut self, now: Instant) {
        if self.acp().and_then(|acp| acp.deadline).is_some_and(|at| at <= now) {
            let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return };
            let why = format!("it had no session {} s after its start", OPENING_TIME_MAX.as_secs());
            let head = self.live.as_ref().map_or(0, |live| live.head);
            self.acp_failed((epoch, head), why, true).await;
        }
        self.acp_cancel_due(now).await;
    }

    /// What a first prompt begins with: the contract, and what was before.
    fn first_words(&self) -> Vec<String> {
        let Some(live) = &self.live else { return Vec::new() };
        if live.acp.as_ref().is_none_or(|acp| !acp.untold) {
            return Vec::new();
        }
        let past = live.past.first().map(edgeplane_driver::render::Rendered::text);
        [edgeplane_driver::notice::NOTICE.to_owned()].into_iter().chain(past).collect()
    }

    /// The line that begins a message's turn; nothing where no session takes it.
    pub(super) fn acp_prompt(
        &self,
        envelope: &Envelope,
        history: Option<&str>,
        text: &str,
    ) -> Option<Vec<u8>> {
        let acp = self.acp()?;
        if let Some(of) = &acp.one_shots {
            return Some(self.exec_prompt(of, envelope, (history, text)));
        }
        let session = acp.session.name()?;
        let first = self.first_words();
        let texts: Vec<&str> = first.iter().map(String::as_str).chain(history).chain([text]).collect();
        Some(acp::traced_prompt(session, envelope.id, &texts, envelope.handed_on()))
    }
}

fn label(text: &str) -> SafeLabel {
    SafeLabel::sanitized(text)
}
