//! `edgeplane capability serve`: a program that answers calls, as a capability of the agent that runs it.
//!
//! Owns the way from a call to a run of the program and back. What is to be answered is read from the agent's own
//! stream, behind the registration, so that neither a daemon's death nor a call that came meanwhile loses anything.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use edgeplane_client::CallError;
use edgeplane_os::{Signal, poll, signals::SignalFd};
use edgeplane_types::{Fact, InvocationId, InvocationState, fact::OfferedBy};
use edgeplane_wire::{
    api::{
        capability::{
            CompleteInvocationParams, InvocationParams, OUTPUT_BYTES_MAX, RegistrationView,
            WithdrawCapabilityParams,
        },
        stream::{DAEMON_ENDS, LOG, StreamEvent, StreamState, SubscribeParams, Target},
    },
    catalogue::{
        Call as _, CapabilityRegister, CapabilityWithdraw, InvocationComplete, InvocationGet, StreamSubscribe,
    },
};
use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value, json};

use super::{Outcome, offer::DescriptionArgs};
use crate::{
    context::Context,
    failure::Failure,
    lasting::{Lasting, Loss, Pauses, is_nobody_there},
    node::{Node, Patience},
    output,
};

/// Calls that are worked on at a time; further ones wait. A program that takes long is not run hundreds of times at once.
const PARALLEL_MAX: usize = 16;

/// How often it is looked whether this program is to end, and whether a run has ended.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long an answer may take to be taken. After that the call is the node's to end.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How much of what a program says on standard error is told as the reason of its failure, in bytes.
const REASON_BYTES_MAX: usize = 2 << 10;

/// Offer a program as a capability
///
/// Registers the capability for the agent that this runs in, and runs the program for each call: what the call is given
/// stands on its standard input as JSON, what it prints is what came of the call, as JSON or as text. A program that ends
/// with anything but 0 has failed, and the end of its standard error says why. A call that is taken back or takes too
/// long ends its program. This goes on until it is ended itself; then the capability is withdrawn.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability serve count-words -- wc -w
  edgeplane capability serve lookup --file lookup.json -- python3 lookup.py")]
pub(super) struct ServeArgs {
    #[command(flatten)]
    described: DescriptionArgs,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

/// A run of the program for one call.
#[derive(Debug, Default)]
struct Run {
    /// Its process group; none before it is started and once it has ended.
    group: Mutex<Option<Pid>>,
}

impl Run {
    /// Ends it with all that it started, if it runs.
    fn end(&self) {
        if let Some(group) = *self.group.lock().unwrap_or_else(PoisonError::into_inner) {
            // One that has ended by itself is not reaped before its group is forgotten.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }

    fn is(&self, group: Option<Pid>) {
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = group;
    }
}

/// What is worked on and what waits.
struct Serving<'a> {
    program: &'a [String],
    offered: OfferedBy,
    socket: PathBuf,
    runs: HashMap<InvocationId, Arc<Run>>,
    waiting: VecDeque<(InvocationId, Value)>,
    ended: (mpsc::Sender<InvocationId>, mpsc::Receiver<InvocationId>),
}

pub(super) fn run(args: &ServeArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let signals = SignalFd::open(&[Signal::TERM, Signal::INT, Signal::HUP])?;
    let params = args.described.params()?;
    let offered = context.ask::<CapabilityRegister>(&params)?.read()?;
    context.out.note(&format!("{} is offered, digest {}", offered.name, offered.digest));
    context.out.flush()?;
    let mut serving = Serving {
        program: &args.program,
        offered: OfferedBy { agent_id: offered.agent_id, epoch: offered.epoch },
        socket: context.socket()?,
        runs: HashMap::new(),
        waiting: VecDeque::new(),
        ended: mpsc::channel(),
    };
    let served = serving.follow(&offered, &signals, context);
    serving.runs.values().for_each(|run| run.end());
    let capability = WithdrawCapabilityParams { capability: offered.name };
    match served {
        Ok(()) => context.ask::<CapabilityWithdraw>(&capability).map(|_| Outcome::Done),
        Err(error) => {
            // Why it ended says more than that it could not be taken back either.
            drop(context.ask::<CapabilityWithdraw>(&capability));
            Err(error)
        }
    }
}

impl Serving<'_> {
    /// Works on calls until this program is to end.
    fn follow(
        &mut self,
        offered: &RegistrationView,
        signals: &SignalFd,
        context: &Context,
    ) -> anyhow::Result<()> {
        let mut params = SubscribeParams {
            target: Target::agent(offered.agent_id.to_string()),
            projection: LOG.to_owned(),
            types: vec!["capability.called".to_owned(), "capability.settled".to_owned()],
            after: Some(offered.seq),
            ..SubscribeParams::default()
        };
        let mut node = Lasting::open(context, Loss::Waits)?;
        loop {
            let subscribed = node.ask::<StreamSubscribe>(&params, context)?.read()?;
            (params.after, params.cursor) = (None, Some(subscribed.cursor));
            loop {
                if signals.next()?.is_some() {
                    return Ok(());
                }
                self.go_on(context);
                let notification = match node.node.next_notification(Some(LOOK_EVERY)) {
                    Ok(Some(notification)) => notification,
                    Ok(None) => continue,
                    Err(lost) => {
                        node.survive(lost.into(), context)?;
                        break;
                    }
                };
                match notification.method.as_str() {
                    "stream/event" => {
                        let event: StreamEvent = serde_json::from_value(notification.params)?;
                        params.cursor = Some(event.cursor);
                        self.heard(event.event, &mut node, context)?;
                    }
                    "stream/state" => {
                        let state: StreamState = serde_json::from_value(notification.params)?;
                        if state.state != "ended" {
                            continue;
                        }
                        let reason = state.reason.unwrap_or_else(|| "no reason given".to_owned());
                        if reason != DAEMON_ENDS {
                            let message = format!("the node ended the subscription: {reason}");
                            let failure = Failure::new(edgeplane_types::ErrorName::Unavailable, message);
                            return Err(failure.into());
                        }
                        let lost = CallError::Closed { method: StreamSubscribe::NAME.to_owned() };
                        node.survive(lost.into(), context)?;
                        break;
                    }
                    _ => {}
                }
            }
        }
    }

    fn heard(&mut self, event: Value, node: &mut Lasting, context: &Context) -> anyhow::Result<()> {
        // What a newer node says and this program does not know is nothing to answer.
        let Ok(fact) = serde_json::from_value::<Fact>(event) else { return Ok(()) };
        match fact {
            Fact::CapabilityCalled(called) if called.epoch == self.offered.epoch => {
                let id = called.invocation_id;
                if self.runs.contains_key(&id) || self.waiting.iter().any(|(waiting, _)| *waiting == id) {
                    return Ok(());
                }
                let view =
                    node.ask::<InvocationGet>(&InvocationParams { invocation_id: id }, context)?.read()?;
                if view.status != InvocationState::Running {
                    return Ok(());
                }
                match view.input {
                    Some(input) => self.waiting.push_back((id, input)),
                    None => {
                        let why =
                            "what it was given held a secret, which is not kept over the end of a daemon";
                        self.answer(id, Err(why.to_owned()));
                    }
                }
            }
            Fact::CapabilitySettled(settled) => {
                self.waiting.retain(|(id, _)| *id != settled.invocation_id);
                if let Some(run) = self.runs.get(&settled.invocation_id) {
                    run.end();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Forgets runs that have ended and begins those that there is room for.
    fn go_on(&mut self, context: &Context) {
        while let Ok(id) = self.ended.1.try_recv() {
            self.runs.remove(&id);
        }
        while self.runs.len() < PARALLEL_MAX {
            let Some((id, input)) = self.waiting.pop_front() else { return };
            let run = Arc::new(Run::default());
            self.runs.insert(id, Arc::clone(&run));
            let (program, socket, ended) = (self.program.to_vec(), self.socket.clone(), self.ended.0.clone());
            let is_quiet = context.out.manner.quiet;
            thread::spawn(move || {
                let answer = answer_of(&program, &input, &run).map_err(|error| format!("{error:#}"));
                tell(&socket, id, answer, is_quiet);
                // Nobody listens any more once this program ends.
                let _nobody = ended.send(id);
            });
        }
    }

    fn answer(&self, id: InvocationId, answer: Result<Value, String>) {
        let socket = self.socket.clone();
        thread::spawn(move || tell(&socket, id, answer, true));
    }
}

/// Runs the program with what a call is given, and gives what it prints.
fn answer_of(program: &[String], input: &Value, run: &Run) -> anyhow::Result<Value> {
    let (name, arguments) = program.split_first().context("no program is named")?;
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().with_context(|| format!("cannot run `{name}`"))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("the program has no number")?;
    run.is(Some(pid));
    let said = spoken(&mut child, input);
    if said.is_err() {
        run.end();
    }
    // Not reaped yet, so that its number is nobody else's while its group may be ended.
    let waited = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    run.is(None);
    let status = child.wait().context("cannot learn how the program ended")?;
    waited.context("cannot wait for the program")?;
    let (out, err) = said?;
    if !status.success() {
        let text = String::from_utf8_lossy(&err);
        let from = text.len().saturating_sub(REASON_BYTES_MAX);
        let end = text.get(text.ceil_char_boundary(from)..).unwrap_or_default().trim();
        anyhow::bail!("the program ended with {status}: {end}");
    }
    Ok(match serde_json::from_slice(&out) {
        Ok(value) => value,
        Err(_no_json) => {
            let text = String::from_utf8_lossy(&out);
            json!({ "content": [{ "type": "text", "text": text.trim_end_matches('\n') }] })
        }
    })
}

/// Hands a program its input and reads what it says, each to its bound.
fn spoken(child: &mut Child, input: &Value) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
    let given = serde_json::to_vec(input)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writer = thread::spawn(move || {
        // A program that does not read what it is given need not.
        stdin.map(|mut stdin| stdin.write_all(&given))
    });
    let errors = thread::spawn(move || {
        let mut kept = Vec::new();
        let Some(mut stderr) = stderr else { return kept };
        let mut bytes = [0; 8 << 10];
        while let Ok(count @ 1..) = stderr.read(&mut bytes) {
            kept.extend_from_slice(bytes.get(..count).unwrap_or_default());
            let surplus = kept.len().saturating_sub(2 * REASON_BYTES_MAX);
            kept.drain(..surplus);
        }
        kept
    });
    let mut out = Vec::new();
    let most = u64::try_from(OUTPUT_BYTES_MAX).unwrap_or(u64::MAX);
    if let Some(stdout) = stdout {
        stdout.take(most.saturating_add(1)).read_to_end(&mut out).context("cannot read what it says")?;
    }
    anyhow::ensure!(out.len() <= OUTPUT_BYTES_MAX, "it says more than {OUTPUT_BYTES_MAX} bytes");
    // Neither can wait for ever: what the program left behind is ended with its group.
    drop(writer.join());
    Ok((out, errors.join().unwrap_or_default()))
}

/// Hands an answer to the node, or to the next one. One that it does not take is nobody's any more.
fn tell(socket: &std::path::Path, id: InvocationId, answer: Result<Value, String>, is_quiet: bool) {
    let (output, error) = match answer {
        Ok(output) => (Some(output), None),
        Err(error) => (None, Some(error)),
    };
    let params = CompleteInvocationParams { invocation_id: id, output, error };
    let mut pauses = Pauses::new();
    loop {
        match tell_once(socket, &params) {
            Ok(()) => return,
            Err(error) if is_lost(&error) => {
                if poll::wait(&mut [], Some(pauses.take_next())).is_err() {
                    return;
                }
            }
            Err(error) => {
                if !is_quiet {
                    output::complain(&format!("edgeplane capability serve: {id}: {error:#}"));
                }
                return;
            }
        }
    }
}

fn tell_once(socket: &std::path::Path, params: &CompleteInvocationParams) -> anyhow::Result<()> {
    let stream = edgeplane_os::sock::connect(socket)?;
    let mut node = Node::over(stream, false)?;
    node.call(InvocationComplete::NAME, params, Patience::within(ANSWER_TIME))?;
    Ok(())
}

fn is_lost(error: &anyhow::Error) -> bool {
    is_nobody_there(error)
        || matches!(error.downcast_ref::<CallError>(), Some(CallError::Closed { .. }))
        || error.downcast_ref::<io::Error>().is_some()
}
