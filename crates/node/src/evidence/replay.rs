//! What is needed to run a turn again: its input, what was before it and what came of it, by reference.

use edgeplane_proof::{canonical, digest};
use edgeplane_store::{MessageRow, Reader, StoredBody};
use edgeplane_types::fact::{FileWritten, MemoryPut, UsageReported};
use edgeplane_types::{ErrorName, Fact, MessageId, StreamName, TurnId};
use edgeplane_wire::{
    api::evidence::{CaseExportResult, SignalView},
    rpc::RpcError,
};
use serde_json::{Value, json};

use super::{Sources, gaps, unread};

/// Events that are read at once.
const PAGE: usize = 1_000;

/// The message that began a turn: by its own id, or as the end of the turn tells it.
pub(crate) fn message_of(reader: &Reader, turn: TurnId) -> Result<MessageId, RpcError> {
    let same = MessageId::from_bytes(*turn.as_bytes());
    if reader.message(&same).map_err(|error| unread(&error))?.is_some() {
        return Ok(same);
    }
    let mut pos = 1;
    loop {
        let page = reader.events_from_pos(pos, PAGE, &["turn.completed"]).map_err(|error| unread(&error))?;
        for committed in &page {
            pos = committed.pos.saturating_add(1);
            if let Fact::TurnCompleted { turn_id, message_id: Some(message_id), .. } = &committed.event.fact
                && *turn_id == turn
            {
                return Ok(*message_id);
            }
        }
        if page.len() < PAGE {
            return Err(RpcError::new(ErrorName::NotFound, format!("no turn {turn}")));
        }
    }
}

/// What happened in a turn, as its agent's stream tells it.
#[derive(Default)]
struct Told {
    seqs: Option<(u64, u64)>,
    expected: Value,
    manifest: String,
    session: Value,
    actions: Vec<String>,
    processes: Vec<String>,
    files: Vec<Value>,
    memory: u64,
}

pub(crate) fn case(reader: &Reader, sources: &Sources, turn: TurnId) -> Result<CaseExportResult, RpcError> {
    let id = message_of(reader, turn)?;
    let read = |error| unread(&error);
    let row = reader.message(&id).map_err(read)?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no message {id}")))?;
    let agent = reader.agent_by_id(&row.envelope.target).map_err(read)?;
    let agent =
        agent.ok_or_else(|| RpcError::new(ErrorName::NotFound, "the agent of the turn is unknown"))?;
    let told = told(reader, &row)?;
    let (content, content_status) = match row.envelope.content_digest.parse() {
        Ok(digest) => match reader.body(&digest).map_err(read)? {
            Some(StoredBody::Bytes(bytes)) => {
                (serde_json::from_slice::<Value>(&bytes).unwrap_or_default(), "exported")
            }
            Some(StoredBody::Erased { .. }) => (Value::Null, "unsupported"),
            None => (Value::Null, "missing_correlation"),
        },
        Err(_) => (Value::Null, "missing_correlation"),
    };
    let manifest = manifest_of(reader, &told.manifest);
    let word = |path: &str| manifest.pointer(path).cloned().unwrap_or(json!("unknown"));
    let mut known_gaps = gaps::of_agent(reader, &sources.agents_dir, &agent).map_err(read)?;
    known_gaps.retain(|gap| gap.epoch.is_some() && gap.epoch == row.epoch);
    let is_over = !told.expected.is_null();
    let trace = if row.envelope.traceparent.is_some() { "exported" } else { "missing_correlation" };
    let signal = |name: &str, status: &str| SignalView { name: name.to_owned(), status: status.to_owned() };
    let stream = StreamName::Agent(agent.id).to_string();
    let mut case = CaseExportResult {
        format: "edgeplane-replay/1".to_owned(),
        turn_id: turn,
        message_id: id,
        agent: agent.name.to_string(),
        agent_id: agent.id,
        input: json!({ "envelope": row.envelope, "content": content }),
        options: json!({
            "mode": row.envelope.mode, "priority": row.envelope.priority, "driver": word("/spec/driver/type"),
            "command": word("/spec/command"), "cwd": word("/spec/cwd"),
        }),
        context: json!({
            "manifest_digest": told.manifest, "session": told.session, "epoch": row.epoch,
            "memory": { "store": format!("memory/{}", agent.id), "writes_before": told.memory },
            "recording": row.epoch.map(|epoch| format!("{}/{}", agent.id, epoch)),
        }),
        inventory: json!({
            "mcp_servers": "unavailable", "commands": word("/spec/driver/commands"),
            "skills": word("/spec/skills"),
        }),
        expected: if is_over { told.expected } else { json!({ "status": "unknown" }) },
        evidence: json!({
            "stream": stream, "from_seq": told.seqs.map(|seqs| seqs.0), "to_seq": told.seqs.map(|seqs| seqs.1),
            "actions": told.actions, "processes": told.processes, "files": told.files,
        }),
        grader_notes: Vec::new(),
        signals: vec![
            signal("input", content_status),
            signal("expected_output", if is_over { "exported" } else { "missing_correlation" }),
            signal("context", "exported"),
            signal("inventory", "unsupported"),
            signal("trace", trace),
            signal("grader_notes", "not_applicable"),
        ],
        known_gaps,
        digest: String::new(),
    };
    case.digest = digest_of(&case)?;
    Ok(case)
}

/// The digest of a case in its one spelling, without the field that is to hold it.
fn digest_of(case: &CaseExportResult) -> Result<String, RpcError> {
    let mut value = serde_json::to_value(case).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("digest");
    }
    let bytes = canonical::to_vec(&value)
        .map_err(|error| RpcError::new(ErrorName::Internal, format!("it has no one spelling: {error}")))?;
    Ok(digest(&bytes).to_string())
}

/// A manifest without what its variables are set to.
fn manifest_of(reader: &Reader, digest: &str) -> Value {
    let Ok(digest) = digest.parse() else { return Value::Null };
    match reader.body(&digest) {
        Ok(Some(StoredBody::Bytes(bytes))) => serde_json::from_slice(&bytes).unwrap_or_default(),
        _ => Value::Null,
    }
}

fn told(reader: &Reader, row: &MessageRow) -> Result<Told, RpcError> {
    let stream = StreamName::Agent(row.envelope.target);
    let id = row.envelope.id;
    let mut told = Told::default();
    let mut next = 1;
    loop {
        let page = reader.events(&stream, next, PAGE).map_err(|error| unread(&error))?;
        for committed in &page {
            let event = &committed.event;
            next = event.seq.saturating_add(1);
            if told.take(&event.fact, id) {
                let (first, _) = told.seqs.unwrap_or((event.seq, event.seq));
                told.seqs = Some((first, event.seq));
            }
        }
        if page.len() < PAGE {
            return Ok(told);
        }
    }
}

impl Told {
    /// Takes a fact in; says whether it is about the message.
    fn take(&mut self, fact: &Fact, id: MessageId) -> bool {
        let is_before = self.seqs.is_none();
        match fact {
            Fact::AgentDeclared { manifest_digest, .. } | Fact::AgentUpdated { manifest_digest, .. }
                if is_before =>
            {
                manifest_digest.clone_into(&mut self.manifest);
                false
            }
            Fact::SessionOpened { native_id, continuity, program, .. } if is_before => {
                self.session =
                    json!({ "native_id": native_id, "continuity": continuity, "program": program });
                false
            }
            Fact::MemoryPut(MemoryPut { .. }) | Fact::MemoryDeleted { .. } if is_before => {
                self.memory = self.memory.saturating_add(1);
                false
            }
            Fact::MessageAccepted { envelope } => envelope.id == id,
            Fact::MessageInjected { message_id, .. }
            | Fact::MessageObserved { message_id, .. }
            | Fact::MessageTurnEnded { message_id, .. } => *message_id == id,
            Fact::CommandStarted { process_id, message_id, .. } if *message_id == Some(id) => {
                self.processes.push(process_id.to_string());
                true
            }
            Fact::FileWritten(FileWritten { path, digest, message_id, .. }) if *message_id == Some(id) => {
                self.files.push(json!({ "path": path, "digest": digest }));
                true
            }
            Fact::TurnCompleted {
                turn_id,
                message_id,
                output_digest,
                output_bytes,
                authority,
                outcome,
                ..
            } if *message_id == Some(id) => {
                self.expected = json!({
                    "status": "ended", "turn_id": turn_id, "output_digest": output_digest,
                    "output_bytes": output_bytes, "authority": authority, "outcome": outcome,
                });
                true
            }
            Fact::ActionOpened { action } => {
                let is_its = serde_json::to_string(action).is_ok_and(|text| text.contains(&id.to_string()));
                if is_its {
                    self.actions.push(action.id.to_string());
                }
                is_its
            }
            Fact::ItemUpdated { message_id, .. }
            | Fact::ItemReported { message_id, .. }
            | Fact::UsageReported(UsageReported { message_id, .. })
            | Fact::CommandEnded { message_id, .. } => *message_id == Some(id),
            _ => false,
        }
    }
}
