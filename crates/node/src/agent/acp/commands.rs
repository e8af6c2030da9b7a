//! Commands that a program has the node run: inside the agent, by the agent's own shim, recorded.
//!
//! What is asked of the shim and what is answered have ids made of the asking line's place, like every answer, so a daemon
//! that hears a line again runs nothing twice. What became of a command stands in its file, which outlives daemon and
//! shim; who waits for its end is noted beside it.

use std::collections::BTreeMap;

use edgeplane_driver::acp::{self, Create, Heard, Reason, RequestId, Terminal, TerminalAsk};
use edgeplane_manifest::Driver;
use edgeplane_types::{
    Authority, Epoch, Fact, Ingress, MessageId, PolicyAction, ProcessId, life::ExitStatus,
};
use edgeplane_wire::{
    command::{CommandSpec, CommandState, KEPT_BYTES_MAX, OUTPUT_BYTES_MAX, RUNNING_MAX},
    shim::{COMMANDS_SINCE, OUTPUT_KEPT_SINCE, ToShim},
};
use serde_json::{Value, json};

use super::Actor;
use crate::{
    agent::native::last_line,
    caller::{Caller, CallingAgent, Living as _},
    commands::{self, Asked, Part, Seen},
    gate,
    record::{Draft, Origin, chain},
};

mod input;
mod terminate;
mod wanted;

/// Bytes of output that a program is shown where it does not say how many.
const OUTPUT_BYTES_STANDARD: u64 = 1 << 20;

/// What is said of an end of which nothing is known.
const UNKNOWN: &str = "nothing is known of its end";

/// What is said of a command whose end was that of its epoch.
const UNSEEN: &str = "its end was not seen: it ended with the epoch";

/// Whether this reason of a recorded end says that nobody saw it, and not that the command could not be run.
pub(crate) fn is_unseen(reason: &str) -> bool {
    reason == UNKNOWN || reason == UNSEEN
}

/// By which rule of the node what happens to commands is recorded.
const RULE: &str = "commands";

/// The code that shells give for a program that cannot be run.
const CANNOT_RUN: i32 = 127;

/// The commands of an epoch that its program may ask about, or that have not ended.
#[derive(Debug, Default)]
pub(super) struct Commands {
    open: BTreeMap<ProcessId, Open>,
    /// Who waits for what becomes of an input.
    writes: input::Writes,
}

pub(crate) use input::WantedInput;

#[derive(Debug, Default)]
struct Open {
    message_id: Option<MessageId>,
    /// Who waits for its end: the place of the line, and its id.
    waits: Vec<(u64, RequestId)>,
    is_released: bool,
    has_input: bool,
    /// Bytes of its output that the program is shown: the last ones, or all that are kept.
    shown: Option<usize>,
    end: Option<End>,
}

/// How a command ended.
#[derive(Debug, Clone)]
struct End {
    status: ExitStatus,
    /// Why it could not be run, or why nothing is known.
    reason: Option<String>,
    has_run: bool,
}

impl End {
    /// One of which nothing is known.
    fn unseen(reason: &str) -> Self {
        Self { status: ExitStatus::Unknown, reason: Some(reason.to_owned()), has_run: true }
    }

    fn failed(reason: String) -> Self {
        Self { status: ExitStatus::Unknown, reason: Some(reason), has_run: false }
    }

    fn value(&self) -> Value {
        match self.status {
            ExitStatus::Code(code) if code >= 0 => json!({ "exitCode": code, "signal": null }),
            ExitStatus::Signal(signal) => json!({ "exitCode": null, "signal": signal_name(signal) }),
            _ if !self.has_run => json!({ "exitCode": CANNOT_RUN, "signal": null }),
            _ => json!({ "exitCode": null, "signal": null }),
        }
    }

    /// What the file says of a command's end, if it says one.
    fn of(seen: &Seen) -> Option<Self> {
        match seen.state {
            CommandState::Running => None,
            CommandState::Ended(status) => Some(Self { status, reason: None, has_run: true }),
            CommandState::Failed => Some(Self::failed(String::from_utf8_lossy(&seen.output).into_owned())),
        }
    }
}

fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        6 => "SIGABRT",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("SIG{other}"),
    };
    name.to_owned()
}

/// Serves what a program asks about a command that it had run before.
type Serve = fn(&mut Actor, (Epoch, u64), &RequestId, ProcessId);

impl Actor {
    /// Whether its program may have commands run: the manifest, the rules and the epoch's shim allow it.
    pub(super) fn serves_commands(&self) -> bool {
        let is_wanted = matches!(self.manifest.spec.driver, Driver::Acp { commands: true, .. });
        let can = self.live.as_ref().is_some_and(|live| live.shim_version >= COMMANDS_SINCE);
        is_wanted && can
    }

    /// Whether it is offered: a program that was told that it may would be stuck if every command were refused.
    pub(super) fn offers_commands(&self) -> bool {
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return false };
        let Some(handle) = self.shared.agent_by_id(self.identity.id) else { return false };
        let caller = self.as_caller(epoch);
        let asked = asked(&caller, &handle, Authority::Delegated);
        let rules = self.shared.gate.in_force();
        let explained = self.shared.gate.explain(&self.shared, &asked, &rules.rules);
        self.serves_commands() && matches!(explained.decision, edgeplane_policy::Decision::Permit(_))
    }

    fn as_caller(&self, epoch: Epoch) -> Caller {
        let agent = CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch };
        Caller::driver(agent, self.shared.assurance())
    }

    /// It asks for a command, or about one.
    pub(super) async fn acp_terminal(
        &mut self,
        (epoch, end): (Epoch, u64),
        id: RequestId,
        terminal: Terminal,
    ) {
        let Terminal { session, ask } = terminal;
        if !self.serves_commands() {
            let text = "EdgePlane does not serve terminal/* to this agent";
            return self.acp_send(end, 0, &acp::failed(&id, Reason::NoMethod, text));
        }
        if self.acp().is_none_or(|acp| acp.session.name() != Some(session.as_str())) {
            let text = "that is not the name of this session";
            self.acp_send(end, 0, &acp::failed(&id, Reason::Params, text));
            return self.acp_offence("a command of another session").await;
        }
        let (name, serve): (_, Serve) = match ask {
            TerminalAsk::Create(create) => return self.command_create((epoch, end), &id, create),
            TerminalAsk::Output(name) => (name, Self::command_output),
            TerminalAsk::WaitForExit(name) => (name, Self::command_wait),
            TerminalAsk::Kill(name) => (name, Self::command_kill),
            TerminalAsk::Release(name) => (name, Self::command_release),
        };
        let known =
            name.parse().ok().filter(|id| self.open_command(*id).is_some_and(|open| !open.is_released));
        match known {
            Some(command) => serve(self, (epoch, end), &id, command),
            None => {
                let text =
                    format!("no terminal `{}` of this session", edgeplane_driver::render::clean(&name));
                self.acp_send(end, 0, &acp::failed(&id, Reason::NotFound, &text));
            }
        }
    }

    fn open_command(&self, id: ProcessId) -> Option<&Open> {
        self.acp().and_then(|acp| acp.commands.open.get(&id))
    }

    fn open_command_mut(&mut self, id: ProcessId) -> Option<&mut Open> {
        self.acp_mut().and_then(|acp| acp.commands.open.get_mut(&id))
    }

    fn command_create(&mut self, (epoch, end): (Epoch, u64), id: &RequestId, create: Create) {
        let limit = create.output_byte_limit.unwrap_or(OUTPUT_BYTES_STANDARD).min(OUTPUT_BYTES_MAX);
        let authority = self.weight_of_words(epoch);
        let keeps = self.live.as_ref().is_some_and(|live| live.shim_version >= OUTPUT_KEPT_SINCE);
        let kept = if keeps { KEPT_BYTES_MAX } else { limit };
        let prepared = self.may_run(epoch, authority).and_then(|()| self.prepared(epoch, create, kept));
        let (spec, details) = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                let text = format!("cannot run it: {why}");
                return self.acp_send(end, 0, &acp::failed(id, Reason::Params, &text));
            }
        };
        let has_input = spec.has_input;
        let (ms, chance) = self.id_parts(epoch, &format!("command {end}"));
        let process_id = ProcessId::from_parts(ms, chance);
        self.note_asked(process_id, &format!("show {limit}"));
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::Run { id: *process_id.as_bytes(), spec: &spec.encode() });
        }
        let answer = acp::succeeded(id, &json!({ "terminalId": process_id.to_string() }));
        self.acp_send(end, 0, &answer);
        let origin = self.native_origin(epoch, end);
        self.acp_observed(&origin, epoch);
        let message_id = self.acp_turn_of_piece();
        let Some(acp) = self.acp_mut() else { return };
        let shown = usize::try_from(limit).ok();
        acp.commands.open.insert(process_id, Open { message_id, has_input, shown, ..Open::default() });
        let (details_digest, details_bytes) = acp.batch.body(details.to_string().into_bytes());
        let fact =
            Fact::CommandStarted { process_id, epoch, message_id, authority, details_digest, details_bytes };
        self.acp_note(&origin, fact);
    }

    /// Whether it may run one more, by the rules and by how many it has.
    fn may_run(&self, epoch: Epoch, authority: Authority) -> Result<(), String> {
        if self.acp().is_some_and(|acp| acp.commands.open.len() >= RUNNING_MAX) {
            return Err(format!("{RUNNING_MAX} terminals are open: release some"));
        }
        let handle = self.shared.agent_by_id(self.identity.id).ok_or("the agent is gone")?;
        let caller = self.as_caller(epoch);
        let granted = self.shared.gate.decide(&self.shared, &asked(&caller, &handle, authority));
        granted.map(drop).map_err(|error| error.message)
    }

    fn command_output(&mut self, (_, end): (Epoch, u64), id: &RequestId, command: ProcessId) {
        let Some(dir) = self.live.as_ref().map(|live| live.place.dir.clone()) else { return };
        let shown = self.open_command(command).and_then(|open| open.shown);
        let line = match commands::look(&dir, command, shown.map_or(Part::Kept, Part::Last)) {
            Ok(seen) => {
                let (text, is_cut) = match &seen {
                    Some(seen) => {
                        (acp::output_text(&seen.output, shown.unwrap_or(seen.limit)), seen.is_cut())
                    }
                    None => (String::new(), false),
                };
                let ended = seen.as_ref().and_then(End::of);
                let ended = ended.or_else(|| self.open_command(command).and_then(|open| open.end.clone()));
                // Where there could be no file, the reason stands in place of the output.
                let reason = ended.as_ref().filter(|_| seen.is_none()).and_then(|end| end.reason.clone());
                let status = ended.map_or(Value::Null, |end| end.value());
                let output = reason.unwrap_or(text);
                acp::succeeded(id, &json!({ "output": output, "truncated": is_cut, "exitStatus": status }))
            }
            Err(error) => acp::failed(id, Reason::Internal, &chain(&error)),
        };
        self.acp_send(end, 0, &line);
    }

    fn command_wait(&mut self, (_, end): (Epoch, u64), id: &RequestId, command: ProcessId) {
        let ended = self.open_command(command).and_then(|open| open.end.clone());
        if let Some(ended) = ended {
            return self.acp_send(end, 0, &acp::succeeded(id, &ended.value()));
        }
        let waiting = self.open_command(command).map_or(0, |open| open.waits.len());
        if waiting >= RUNNING_MAX {
            let text = "too many requests wait for this terminal";
            return self.acp_send(end, 0, &acp::failed(id, Reason::Internal, text));
        }
        self.note_asked(command, &format!("wait {end}"));
        if let Some(open) = self.open_command_mut(command) {
            open.waits.push((end, id.clone()));
        }
    }

    fn command_kill(&mut self, (_, end): (Epoch, u64), id: &RequestId, command: ProcessId) {
        self.end_command(command);
        self.acp_send(end, 0, &acp::succeeded(id, &json!({})));
    }

    fn command_release(&mut self, (_, end): (Epoch, u64), id: &RequestId, command: ProcessId) {
        self.end_command(command);
        self.note_asked(command, "release");
        if let Some(open) = self.open_command_mut(command) {
            open.is_released = true;
        }
        self.acp_send(end, 0, &acp::succeeded(id, &json!({})));
        self.forget_command(command);
    }

    fn end_command(&mut self, command: ProcessId) {
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::EndCommand { id: *command.as_bytes() });
        }
    }

    /// Notes what a daemon that takes over must know.
    fn note_asked(&self, command: ProcessId, line: &str) {
        let Some(dir) = self.live.as_ref().map(|live| &live.place.dir) else { return };
        if let Err(error) = Asked::note(dir, command, line) {
            tracing::warn!(agent = %self.identity.name, %command, %error, "what is asked of it cannot be noted");
        }
    }

    /// Forgets a command that has ended, whose end is recorded, and that nobody may ask about.
    fn forget_command(&mut self, command: ProcessId) {
        if self.open_command(command).is_none_or(|open| !open.is_released || open.end.is_none()) {
            return;
        }
        if let Some(acp) = self.acp_mut() {
            acp.commands.open.remove(&command);
        }
        if let Some(live) = &self.live {
            commands::forget(&live.place.dir, command);
        }
    }

    /// The shim says that a command has ended, or that there is none and why.
    pub(in crate::agent) async fn command_told(&mut self, id: [u8; 16], why: String) {
        let command = ProcessId::from_bytes(id);
        if self.open_command(command).is_none_or(|open| open.end.is_some()) {
            return;
        }
        let Some(dir) = self.live.as_ref().map(|live| live.place.dir.clone()) else { return };
        // What came of the program before is recorded before; it holds the command's beginning.
        self.acp_flush().await;
        let seen = commands::look(&dir, command, Part::Kept).unwrap_or_else(|error| {
            tracing::warn!(agent = %self.identity.name, %command, %error, "a command's file cannot be read");
            None
        });
        let end = seen.as_ref().and_then(End::of).unwrap_or_else(|| match why.is_empty() {
            true => End::unseen(UNKNOWN),
            false => End::failed(why),
        });
        let Some(open) = self.open_command_mut(command) else { return };
        open.end = Some(end.clone());
        let (waits, message_id) = (std::mem::take(&mut open.waits), open.message_id);
        for (place, id) in waits {
            self.acp_send(place, 0, &acp::succeeded(&id, &end.value()));
        }
        self.record_command_end(command, message_id, &end, seen).await;
        self.forget_command(command);
    }

    async fn record_command_end(
        &mut self,
        process_id: ProcessId,
        message_id: Option<MessageId>,
        end: &End,
        seen: Option<Seen>,
    ) {
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return };
        let mut draft = Draft::default();
        let fact = ended_fact((process_id, epoch), message_id, end, seen, &mut draft);
        self.shared.record.add(&mut draft, self.stream(), &Origin::node(RULE), fact);
        self.pending(draft).await;
    }

    /// Finds again what a former daemon knew of an epoch's commands.
    pub(super) async fn recall_commands(&mut self, epoch: Epoch) {
        let Some(dir) = self.live.as_ref().map(|live| live.place.dir.clone()) else { return };
        for id in commands::ids(&dir) {
            let row = self.shared.record.look_up(|reader| reader.command(&id)).ok().flatten();
            // Of one whose beginning is not recorded the asking line is heard again.
            let Some(row) = row.filter(|row| row.epoch == epoch) else { continue };
            let asked = Asked::read(&dir, id);
            let end = commands::look(&dir, id, Part::Kept).ok().flatten().as_ref().and_then(End::of);
            let waits = asked.waits.iter().filter_map(|place| match acp::hear(&last_line(&dir, *place)?) {
                Heard::Terminal { id, .. } => Some((*place, id)),
                _ => None,
            });
            let waits: Vec<(u64, RequestId)> = waits.collect();
            // Whoever was to end it after its grace is gone, and with it how much of that is left.
            let is_to_end = asked.is_released || row.is_terminating;
            let (message_id, is_released) = (row.message_id, asked.is_released);
            let has_input = self.had_input(id);
            let Some(acp) = self.acp_mut() else { return };
            let open = Open {
                message_id,
                waits: waits.clone(),
                is_released,
                has_input,
                shown: asked.shown,
                end: end.filter(|_| row.is_over),
            };
            let known_end = open.end.clone();
            acp.commands.open.insert(id, open);
            match known_end {
                Some(end) => {
                    for (place, request) in waits {
                        self.acp_send(place, 0, &acp::succeeded(&request, &end.value()));
                    }
                    self.forget_command(id);
                }
                None if commands::look(&dir, id, Part::Kept)
                    .is_ok_and(|seen| seen.as_ref().and_then(End::of).is_some()) =>
                {
                    self.command_told(*id.as_bytes(), String::new()).await;
                }
                None if is_to_end => self.end_command(id),
                None => {}
            }
        }
    }

    /// An epoch is over: the ends of its commands that nobody recorded are, as far as they are known.
    pub(in crate::agent) async fn settle_commands(&mut self, epoch: Epoch) {
        let id = self.identity.id;
        let open = self.shared.record.look_up(|reader| reader.open_commands(&id, epoch)).unwrap_or_default();
        let dir = self.shared.place(id, &self.identity.name, epoch).dir;
        let mut draft = Draft::default();
        for row in open {
            let seen = commands::look(&dir, row.id, Part::Kept).ok().flatten();
            let end = seen.as_ref().and_then(End::of);
            let end = end.unwrap_or_else(|| End::unseen(UNSEEN));
            let fact = ended_fact((row.id, epoch), row.message_id, &end, seen, &mut draft);
            self.shared.record.add(&mut draft, self.stream(), &Origin::node(RULE), fact);
        }
        if !draft.is_empty() {
            self.pending(draft).await;
        }
        // Whatever could be told of them is in the record.
        drop(std::fs::remove_dir_all(commands::folder(&dir)));
    }
}

/// The end of a command as it is recorded, with the end of its output as a body of the draft.
fn ended_fact(
    (process_id, epoch): (ProcessId, Epoch),
    message_id: Option<MessageId>,
    end: &End,
    seen: Option<Seen>,
    draft: &mut Draft,
) -> Fact {
    // Of one that could not be run there is no output but the reason.
    let seen = seen.filter(|_| end.has_run);
    let written_bytes = seen.as_ref().map_or(0, |seen| seen.written);
    let (output_digest, output_bytes) = draft.body(seen.map(|seen| seen.output).unwrap_or_default());
    Fact::CommandEnded {
        process_id,
        epoch,
        message_id,
        status: end.status,
        output_digest,
        output_bytes,
        written_bytes,
        reason: end.reason.clone(),
    }
}

/// What the gate is asked when a command is to be run.
fn asked<'a>(
    caller: &'a Caller,
    handle: &'a crate::agent::AgentHandle,
    authority: Authority,
) -> gate::Asked<'a> {
    gate::Asked { ingress: Ingress::Driver, authority, ..gate::Asked::act(PolicyAction::Run, caller, handle) }
}

/// What a shim is told of a command, and what is recorded of it.
type Prepared = (CommandSpec, Value);
