//! Packs of evidence, made from the record: what is in one, and what is kept out of it.
//!
//! Owns the choice of streams, stretches and bodies. The form of a pack and its verification are `proof`'s. Everything
//! here reads; on a worker, because a pack may be large.

pub(crate) mod gaps;
pub(crate) mod holds;
pub(crate) mod replay;

use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
};

use edgeplane_manifest::{Manifest as AgentManifest, SecretSource};
use edgeplane_proof::{Digest, SigningKey, chain, digest, pack};
use edgeplane_store::{AgentFilter, AgentRow, ReadError, Reader, StoredBody, StoredEvent};
use edgeplane_types::{
    AgentId, CheckpointId, Epoch, ErrorName, MessageId, NodeId, NodeName, Phase, RunId, StreamName, TaskId,
    ThreadId, Timestamp, TurnId,
};
use edgeplane_wire::{
    api::evidence::{PackBodies, PackParams, PackScope},
    rpc::RpcError,
};
use serde_json::{Value, json, value::RawValue};

use crate::{record::chain as text_of, recordings};

/// Most events in a pack; more are asked for in several.
const EVENTS_MAX: u64 = 200_000;

/// Most bytes in a pack.
const BYTES_MAX: usize = 256 << 20;

/// Events that are read at once.
const PAGE: usize = 1_000;

/// A secret shorter than this is not looked for: it would be found everywhere.
const SECRET_BYTES_MIN: usize = 4;

/// What a pack is made from, beside the record.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) node: NodeId,
    pub(crate) name: NodeName,
    pub(crate) agents_dir: PathBuf,
    pub(crate) environment: HashMap<String, String>,
    pub(crate) pack_id: String,
    pub(crate) made_at: Timestamp,
    /// What belongs to the pack beside what its scope says.
    pub(crate) beside: Beside,
}

/// What belongs to a pack beside what its scope says.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The task that it is about: the whole stream of its graph, and the run that it is joined to.
    pub(crate) task: Option<(TaskId, RunId)>,
    /// Files that were made of the record.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// A pack with all its files.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) events: u64,
    pub(crate) digest: Digest,
    /// The checkpoints that its events name.
    pub(crate) checkpoints: Vec<CheckpointId>,
}

/// What is asked for, found in the record.
#[derive(Debug, Default)]
struct Selection {
    agents: Vec<AgentRow>,
    streams: Vec<StreamName>,
    focus: Option<Focus>,
}

/// One message, and where it was accepted.
#[derive(Debug)]
struct Focus {
    message_id: MessageId,
    pos: u64,
    traceparent: Option<String>,
}

/// A pack in the making.
#[derive(Default)]
struct Making {
    files: Vec<(String, Vec<u8>)>,
    bytes: usize,
    events: u64,
    streams: Vec<pack::StreamPart>,
    referenced: BTreeSet<Digest>,
    manifests: BTreeSet<Digest>,
    recordings: Vec<pack::RecordingRef>,
    kinds: BTreeSet<String>,
    checkpoints: BTreeSet<CheckpointId>,
    /// Digests of what workspaces hold.
    of_workspaces: BTreeSet<Digest>,
    has_trace: bool,
}

pub(crate) fn unread(error: &ReadError) -> RpcError {
    RpcError::new(ErrorName::Unavailable, format!("cannot read the record: {}", text_of(error)))
}

/// Makes a pack and signs it.
pub(crate) fn build(
    reader: &Reader,
    sources: &mut Sources,
    params: &PackParams,
    agent: Option<AgentId>,
    key: &SigningKey,
) -> Result<Built, RpcError> {
    let mut making = Making::default();
    for (path, bytes) in std::mem::take(&mut sources.beside.files) {
        making.grow(bytes.len())?;
        making.files.push((path, bytes));
    }
    let sources = &*sources;
    let selection = match select(reader, &params.scope, agent) {
        // A run that nobody was told of yet has a task and no turn.
        Err(error) if error.name() == ErrorName::NotFound && sources.beside.task.is_some() => {
            Selection::default()
        }
        selection => selection?,
    };
    for stream in &selection.streams {
        making.stream(reader, sources, *stream, (params, selection.focus.as_ref()))?;
    }
    if let Some((task, _)) = sources.beside.task {
        making.stream(reader, sources, StreamName::Task(task), (params, None))?;
    }
    if making.streams.is_empty() {
        return Err(RpcError::new(ErrorName::NotFound, "the record has no event of that"));
    }
    let secrets = secrets(reader, sources, &selection.agents)?;
    let bodies = making.bodies(reader, params.bodies, &secrets)?;
    let keys = reader.keys().map_err(|error| unread(&error))?;
    let mut known_gaps = Vec::new();
    for row in &selection.agents {
        let found = gaps::of_agent(reader, &sources.agents_dir, row).map_err(|error| unread(&error))?;
        known_gaps.extend(found.iter().filter_map(|gap| serde_json::to_value(gap).ok()));
    }
    let manifest = pack::Manifest {
        format: pack::FORMAT.to_owned(),
        pack_id: sources.pack_id.clone(),
        made_at: sources.made_at,
        node: json!({ "node_id": sources.node, "name": sources.name, "version": env!("CARGO_PKG_VERSION") }),
        scope: json!({ "scope": params.scope, "from": params.from, "to": params.to, "bodies": params.bodies }),
        correlation: correlation(sources, &selection),
        agents: selection.agents.iter().map(summary).collect(),
        signals: making.signals(),
        parts: making
            .files
            .iter()
            .map(|(path, bytes)| pack::Part {
                path: path.clone(),
                digest: digest(bytes),
                bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            })
            .collect(),
        streams: making.streams,
        bodies,
        recordings: making.recordings,
        keys: keys
            .into_iter()
            .map(|row| pack::Key {
                key_id: row.id,
                public_key: row.public_key,
                created_at: row.created_at,
                retired_at: row.retired_at,
            })
            .collect(),
        known_gaps,
    };
    let bytes = pack::manifest_bytes(&manifest)
        .map_err(|error| RpcError::new(ErrorName::Internal, format!("it has no one spelling: {error}")))?;
    let signature = key.sign_pack(&bytes);
    let (mut files, digest) = (making.files, digest(&bytes));
    files.push((pack::MANIFEST.to_owned(), bytes));
    files.push((pack::SIGNATURE.to_owned(), signature.into_bytes()));
    let checkpoints = making.checkpoints.into_iter().collect();
    Ok(Built { files, events: making.events, digest, checkpoints })
}

fn summary(row: &AgentRow) -> Value {
    json!({
        "agent_id": row.id, "name": row.name, "session_id": row.session_id, "phase": row.phase,
        "desired": row.desired, "epoch": row.epoch, "restarts": row.restarts, "declared_at": row.declared_at,
    })
}

fn correlation(sources: &Sources, selection: &Selection) -> Value {
    let only = match selection.agents.as_slice() {
        [one] => Some(one),
        _ => None,
    };
    let thread = only.map(|row| ThreadId::from_bytes(*row.session_id.as_bytes()));
    let focus = selection.focus.as_ref();
    json!({
        "runtime": sources.node, "agent_id": only.map(|row| row.id), "session_id": only.map(|row| row.session_id),
        "thread_id": thread,
        "turn_id": focus.map(|focus| TurnId::from_bytes(*focus.message_id.as_bytes())),
        "message_id": focus.map(|focus| focus.message_id),
        "task_id": sources.beside.task.map(|(task, _)| task), "run_id": sources.beside.task.map(|(_, run)| run),
        "trace": focus.and_then(|focus| focus.traceparent.clone()),
    })
}

fn select(reader: &Reader, scope: &PackScope, agent: Option<AgentId>) -> Result<Selection, RpcError> {
    let read = |error: ReadError| unread(&error);
    let row_of = |id: AgentId| {
        let row = reader.agent_by_id(&id).map_err(read)?;
        row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no agent {id}")))
    };
    let all = || reader.agents(&AgentFilter { tenant: None, phases: Phase::ALL.to_vec() }).map_err(read);
    match scope {
        PackScope::Agent(name) => {
            let id = agent.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no agent `{name}`")))?;
            Ok(of_agents(vec![row_of(id)?], None))
        }
        PackScope::ThreadId(thread) => {
            let found = reader.thread(thread).map_err(read)?;
            let found =
                found.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no thread {thread}")))?;
            Ok(of_agents(vec![row_of(found.agent)?], None))
        }
        PackScope::TurnId(turn) => {
            let id = replay::message_of(reader, *turn)?;
            focused(reader, id, &row_of)
        }
        PackScope::MessageId(id) => focused(reader, *id, &row_of),
        PackScope::Node(false) => {
            Err(RpcError::new(ErrorName::InvalidParams, "`scope`: `node` can only be true"))
        }
        PackScope::Node(true) => {
            // Whatever has a history on this node, so that nothing that its events lead to is left out.
            Ok(Selection { agents: all()?, streams: reader.streams().map_err(read)?, focus: None })
        }
    }
}

/// A message's agents: whom it was addressed to, and the replica that has it.
fn focused(
    reader: &Reader,
    id: MessageId,
    row_of: &dyn Fn(AgentId) -> Result<AgentRow, RpcError>,
) -> Result<Selection, RpcError> {
    let row = reader.message(&id).map_err(|error| unread(&error))?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no message {id}")))?;
    let mut agents = vec![row_of(row.addressed)?];
    if row.envelope.target != row.addressed {
        agents.push(row_of(row.envelope.target)?);
    }
    let traceparent = row.envelope.traceparent;
    let focus = Some(Focus { message_id: id, pos: row.accepted_pos, traceparent });
    Ok(of_agents(agents, focus))
}

fn of_agents(agents: Vec<AgentRow>, focus: Option<Focus>) -> Selection {
    let streams = agents.iter().map(|row| StreamName::Agent(row.id)).collect();
    Selection { agents, streams, focus }
}

fn moment(event: &Value) -> Option<Timestamp> {
    serde_json::from_value(event.get("ts")?.clone()).ok()
}

/// Visits the events of a stream from a number on.
fn visit(
    reader: &Reader,
    stream: &StreamName,
    (from, to): (u64, u64),
    mut each: impl FnMut(StoredEvent) -> Result<(), RpcError>,
) -> Result<(), RpcError> {
    let mut next = from;
    while next <= to {
        let page = reader.stored_events(stream, next, PAGE).map_err(|error| unread(&error))?;
        if page.is_empty() {
            return Ok(());
        }
        for event in page {
            if event.seq > to {
                return Ok(());
            }
            next = event.seq.saturating_add(1);
            each(event)?;
        }
    }
    Ok(())
}

impl Making {
    fn grow(&mut self, bytes: usize) -> Result<(), RpcError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES_MAX || self.events > EVENTS_MAX {
            let what = format!("more than {EVENTS_MAX} events or {} MiB", BYTES_MAX >> 20);
            return Err(RpcError::new(ErrorName::TooLarge, what)
                .hint("ask for a stretch of time with `from` and `to`, or without bodies"));
        }
        Ok(())
    }

    fn stream(
        &mut self,
        reader: &Reader,
        sources: &Sources,
        stream: StreamName,
        (params, focus): (&PackParams, Option<&Focus>),
    ) -> Result<(), RpcError> {
        let newest = reader.stream_head(&stream).map_err(|error| unread(&error))?;
        let Some(newest) = newest else { return Ok(()) };
        let Some((from, to)) = bounds(reader, &stream, newest.seq, (params, focus))? else { return Ok(()) };
        let before = match from {
            0 | 1 => chain::genesis(&stream),
            _ => {
                let found = reader.stored_events(&stream, from.saturating_sub(1), 1);
                let found = found.map_err(|error| unread(&error))?;
                found.first().map_or_else(|| chain::genesis(&stream), |event| event.hash)
            }
        };
        let (mut lines, mut hash) = (Vec::new(), before);
        visit(reader, &stream, (from, to), |event| {
            self.events = self.events.saturating_add(1);
            let start = lines.len();
            line(&event, hash, &mut lines)?;
            hash = event.hash;
            self.note(sources, &stream, &event);
            self.grow(lines.len().saturating_sub(start))
        })?;
        let path = format!("events/{}.jsonl", stream.to_string().replace('/', "-"));
        self.streams.push(pack::StreamPart {
            stream,
            path: path.clone(),
            from_seq: from,
            to_seq: to,
            before,
            head: hash,
            newest_seq: newest.seq,
        });
        self.files.push((path, lines));
        Ok(())
    }

    /// Notes what an event names.
    fn note(&mut self, sources: &Sources, stream: &StreamName, event: &StoredEvent) {
        let Ok(value) = serde_json::from_slice::<Value>(&event.bytes) else { return };
        self.referenced.extend(pack::referenced(&value));
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        self.kinds.insert(kind.to_owned());
        let payload = value.get("payload").unwrap_or(&Value::Null);
        let text = |name: &str| payload.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| payload.get(name).and_then(Value::as_u64).unwrap_or(0);
        self.manifests.extend(text("manifest_digest").parse::<Digest>().ok());
        self.checkpoints.extend(text("checkpoint_id").parse::<CheckpointId>().ok());
        if let StreamName::Workspace(_) = stream {
            self.of_workspaces.extend(pack::referenced(&value));
        }
        self.has_trace |= payload.pointer("/envelope/traceparent").is_some();
        if kind == "recording.sealed"
            && let StreamName::Agent(agent) = stream
        {
            let (epoch, segment) = (number("epoch"), u32::try_from(number("segment")).unwrap_or(0));
            let dir = recordings::epoch_dir(&sources.agents_dir, &agent.to_string(), Epoch(epoch));
            self.recordings.push(pack::RecordingRef {
                stream: *stream,
                epoch,
                segment,
                digest: text("digest").to_owned(),
                file_bytes: number("file_bytes"),
                present: recordings::segment_path(&dir, segment).is_file(),
            });
        }
    }

    fn bodies(
        &mut self,
        reader: &Reader,
        wanted: PackBodies,
        secrets: &[Vec<u8>],
    ) -> Result<Vec<pack::BodyRef>, RpcError> {
        let mut refs = Vec::new();
        for digest in std::mem::take(&mut self.referenced) {
            let (status, reason) = match reader.body(&digest) {
                Ok(None) if self.of_workspaces.contains(&digest) => {
                    ("not_kept", Some("it is kept with the workspaces, not in the record".to_owned()))
                }
                Ok(None) => ("not_kept", None),
                Ok(Some(StoredBody::Erased { reason })) => ("erased", Some(reason)),
                Ok(Some(StoredBody::Bytes(bytes))) => {
                    match (wanted, self.why_withheld(&digest, &bytes, secrets)) {
                        (PackBodies::Refs, _) => ("ref", None),
                        (PackBodies::Inline, Some(why)) => ("withheld", Some(why.to_owned())),
                        (PackBodies::Inline, None) => {
                            self.grow(bytes.len())?;
                            self.files.push((pack::body_path(&digest), bytes));
                            ("inline", None)
                        }
                    }
                }
                Err(ReadError::BodyDamaged(_)) => ("not_kept", Some("what is kept is damaged".to_owned())),
                Err(error) => return Err(unread(&error)),
            };
            refs.push(pack::BodyRef { digest, status: status.to_owned(), reason });
        }
        Ok(refs)
    }

    /// Why a body is not given away, if it is not.
    fn why_withheld(&self, digest: &Digest, bytes: &[u8], secrets: &[Vec<u8>]) -> Option<&'static str> {
        let holds = |secret: &Vec<u8>| bytes.windows(secret.len()).any(|window| window == secret.as_slice());
        if secrets.iter().any(holds) {
            return Some("it holds the value of a secret of the agent");
        }
        let sets_variables = || {
            let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
            let env = value.pointer("/spec/env").and_then(Value::as_object);
            env.is_some_and(|env| env.values().any(Value::is_string))
        };
        (self.manifests.contains(digest) && sets_variables())
            .then_some("it is a manifest that sets variables to values")
    }

    fn signals(&self) -> Vec<pack::Signal> {
        let has = |prefix: &str| self.kinds.iter().any(|kind| kind.starts_with(prefix));
        let found = |is_there: bool| if is_there { "exported" } else { "not_applicable" };
        let trace = match (has("message.accepted"), self.has_trace) {
            (_, true) => "exported",
            (true, false) => "missing_correlation",
            (false, false) => "not_applicable",
        };
        let all = [
            ("runtime_summary", "exported"),
            ("timeline", "exported"),
            ("messages", found(has("message."))),
            ("turns", found(has("turn."))),
            ("tool_calls", found(has("item.") || has("invocation."))),
            ("artifacts", found(has("file.") || has("artifact."))),
            ("permissions", found(has("action.") || has("request."))),
            ("processes", found(has("command."))),
            ("hooks", found(has("agent.hook_ran") || has("hook."))),
            ("usage", found(has("usage."))),
            ("recordings", found(has("recording."))),
            ("overrides", found(has("override.") || has("agent.held"))),
            ("trace", trace),
            ("context_boundaries", "unsupported"),
            ("routing", "unsupported"),
            ("sandbox", "unsupported"),
            ("review_notes", "unsupported"),
        ];
        let signal =
            |(name, status): (&str, &str)| pack::Signal { name: name.to_owned(), status: status.to_owned() };
        all.map(signal).into()
    }
}

fn line(event: &StoredEvent, prev_hash: Digest, lines: &mut Vec<u8>) -> Result<(), RpcError> {
    let damaged = |what: String| {
        RpcError::new(ErrorName::RecordDamaged, format!("event {} of its stream: {what}", event.seq))
    };
    let text = String::from_utf8(event.bytes.clone()).map_err(|error| damaged(error.to_string()))?;
    let raw = RawValue::from_string(text).map_err(|error| damaged(error.to_string()))?;
    let line = pack::EventLine { seq: event.seq, pos: event.pos, prev_hash, hash: event.hash, event: raw };
    serde_json::to_writer(&mut *lines, &line).map_err(|error| damaged(error.to_string()))?;
    lines.push(b'\n');
    Ok(())
}

/// The first and the last event of a stream that belong to what is asked for; what lies between them belongs to it, too.
fn bounds(
    reader: &Reader,
    stream: &StreamName,
    newest: u64,
    (params, focus): (&PackParams, Option<&Focus>),
) -> Result<Option<(u64, u64)>, RpcError> {
    if focus.is_none() && params.from.is_none() && params.to.is_none() {
        return Ok(Some((1, newest)));
    }
    let mut found: Option<(u64, u64)> = None;
    let id = focus.map(|focus| focus.message_id.to_string());
    visit(reader, stream, (1, newest), |event| {
        let names = |id: &String| event.bytes.windows(id.len()).any(|window| window == id.as_bytes());
        if focus.is_some_and(|focus| event.pos < focus.pos) || id.as_ref().is_some_and(|id| !names(id)) {
            return Ok(());
        }
        let value: Value = serde_json::from_slice(&event.bytes).unwrap_or_default();
        let at = moment(&value);
        let is_early = params.from.is_some_and(|from| at.is_none_or(|at| at < from));
        let is_late = params.to.is_some_and(|to| at.is_none_or(|at| at > to));
        if !is_early && !is_late {
            let (first, _) = found.unwrap_or((event.seq, event.seq));
            found = Some((first, event.seq));
        }
        Ok(())
    })?;
    Ok(found)
}

/// The values of the agents' secrets, as far as they can be had: what is looked for in whatever leaves the node.
pub(crate) fn secrets(
    reader: &Reader,
    sources: &Sources,
    agents: &[AgentRow],
) -> Result<Vec<Vec<u8>>, RpcError> {
    let mut found = Vec::new();
    for row in agents {
        let Ok(digest) = row.manifest_digest.parse() else { continue };
        let Some(StoredBody::Bytes(bytes)) = reader.body(&digest).map_err(|error| unread(&error))? else {
            continue;
        };
        let manifest = serde_json::from_slice::<Value>(&bytes).ok();
        let Some(Ok(manifest)) = manifest.map(|value| AgentManifest::from_json(&value)) else { continue };
        for secret in &manifest.spec.secrets {
            let value = match &secret.from {
                SecretSource::File(path) => std::fs::read_to_string(path.as_str()).ok(),
                SecretSource::Env(name) => sources.environment.get(name.as_str()).cloned(),
            };
            found.extend(value.map(|value| value.trim_end_matches('\n').as_bytes().to_vec()));
        }
    }
    found.retain(|value| value.len() >= SECRET_BYTES_MIN);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves CALL-060.
    #[test]
    fn pack_that_would_be_too_large_is_refused_before_it_is_made() {
        let mut making = Making::default();
        assert!(making.grow(BYTES_MAX).is_ok());
        assert_eq!(making.grow(1).unwrap_err().name(), ErrorName::TooLarge);
        let mut making = Making { events: EVENTS_MAX, ..Making::default() };
        assert!(making.grow(0).is_ok());
        making.events += 1;
        assert_eq!(making.grow(0).unwrap_err().name(), ErrorName::TooLarge);
    }
}
