//! Agents that are retired: no engine knows them any more, the record does.
//!
//! Owns their view, which has the form of a living agent's with nothing in it that only a living one has.

use std::collections::BTreeMap;

use edgeplane_store::{AgentFilter, AgentRow, MemoryTotals, ReadError, Reader, StoredBody, StreamHead};
use edgeplane_types::{
    ActivityReport, Continuity, Phase, Rung, StreamName,
    identity::{
        AuditView, AuthorityView, Identities, MemoryView, NetworkView, PrincipalView, ProcessView,
        SessionView,
    },
};
use edgeplane_wire::{
    api::agent::{AgentStatus, RETIRED_MAX},
    rpc::RpcError,
};
use serde_json::{Value, json};

use super::Session;
use crate::{
    agent::{Shown, by_name},
    caller::{AGENT_AUTHORITY_MAX, Living as _},
    users,
};

/// What the record has of a retired agent.
struct Remains {
    row: AgentRow,
    /// Null if it was erased.
    manifest: Value,
    head: Option<StreamHead>,
    memory: MemoryTotals,
    waiting: u64,
    messages: BTreeMap<Rung, u64>,
}

/// The retired agents, those that were declared last.
pub(super) async fn list(session: &Session) -> Result<Vec<Shown>, RpcError> {
    let found = session.shared.record.read(read).await?;
    found.into_iter().map(|remains| view(session, remains)).collect()
}

fn read(reader: &Reader) -> Result<Vec<Remains>, ReadError> {
    let filter = AgentFilter { tenant: None, phases: vec![Phase::Retired] };
    let mut rows = reader.agents(&filter)?;
    rows.sort_by_key(|row| std::cmp::Reverse(row.declared_at));
    rows.truncate(RETIRED_MAX);
    rows.into_iter().map(|row| remains(reader, row)).collect()
}

fn remains(reader: &Reader, row: AgentRow) -> Result<Remains, ReadError> {
    let body = match row.manifest_digest.parse() {
        Ok(digest) => reader.body(&digest)?,
        Err(_damaged) => None,
    };
    let manifest = match body {
        Some(StoredBody::Bytes(bytes)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Some(StoredBody::Erased { .. }) | None => Value::Null,
    };
    Ok(Remains {
        manifest,
        head: reader.stream_head(&StreamName::Agent(row.id))?,
        memory: reader.memory_totals(&row.id)?,
        waiting: reader.waiting_count(&row.id)?,
        messages: reader.counts(Some(&row.id))?,
        row,
    })
}

fn view(session: &Session, mut remains: Remains) -> Result<Shown, RpcError> {
    let mut metadata = remains.manifest.get_mut("metadata").map(Value::take).unwrap_or_else(|| json!({}));
    let row = &remains.row;
    if let Some(fields) = metadata.as_object_mut() {
        fields.insert("name".to_owned(), Value::String(row.name.to_string()));
        fields.insert("id".to_owned(), Value::String(row.id.to_string()));
        fields.insert("tenant".to_owned(), Value::String(row.tenant.to_string()));
    }
    let status = status(session, &remains);
    Shown::new(metadata, &remains.manifest.get("spec"), status)
}

fn status(session: &Session, remains: &Remains) -> AgentStatus {
    let row = &remains.row;
    AgentStatus {
        phase: row.phase,
        desired: row.desired,
        generation: row.generation.max(row.desired_generation),
        observed_generation: row.generation,
        activity: ActivityReport::UNKNOWN.state,
        activity_evidence: ActivityReport::UNKNOWN.evidence,
        epoch: row.epoch,
        restarts: u32::try_from(row.restarts).unwrap_or(u32::MAX),
        continuity: row.continuity.unwrap_or(Continuity::None),
        reason: row.last_reason.clone(),
        process: None,
        started_at: row.started_at,
        next_start_at: None,
        waiting_messages: remains.waiting,
        messages: by_name(&remains.messages),
        output_bytes: row.output_bytes,
        healthy: None,
        hooks: None,
        overrides: Vec::new(),
        identities: identities(session, remains),
        replicas: None,
        set: None,
        parent: row.parent,
    }
}

fn identities(session: &Session, remains: &Remains) -> Identities {
    let (row, shared) = (&remains.row, &session.shared);
    let node = shared.identity.name.clone();
    let word = |path: &str| remains.manifest.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let uid = match word("/spec/user") {
        Some(user) => users::look_up(&user).map_or(u32::MAX, |found| found.uid),
        None => edgeplane_os::proc::own_uid(),
    };
    let workspace = word("/spec/cwd").unwrap_or_else(|| {
        shared.agents_dir().join(row.id.to_string()).join("workspace").to_string_lossy().into_owned()
    });
    Identities {
        process: ProcessView {
            epoch: row.epoch,
            executable: word("/spec/command/0").unwrap_or_default(),
            process: None,
            shim: None,
            cgroup: None,
            node: shared.identity.id,
        },
        session: SessionView { session_id: row.session_id, resume_handle: None },
        network: NetworkView {
            address: format!("{}@{node}", row.name),
            name: row.name.clone(),
            node,
            tenant: row.tenant.clone(),
            socket: None,
        },
        principal: PrincipalView {
            name: word("/spec/principal").unwrap_or_else(|| row.name.to_string()),
            uid,
            on_behalf_of: Vec::new(),
        },
        memory: MemoryView { store: format!("memory/{}", row.id), keys: remains.memory.keys, workspace },
        authority: AuthorityView {
            as_sender: AGENT_AUTHORITY_MAX,
            assurance: shared.assurance(),
            decided_by: "channel and proof of origin".to_owned(),
        },
        audit: AuditView {
            agent_id: row.id,
            stream: StreamName::Agent(row.id),
            events: remains.head.as_ref().map_or(0, |head| head.seq),
            head: remains.head.as_ref().map(|head| head.hash.to_string()).unwrap_or_default(),
            declared_at: row.declared_at,
        },
    }
}
