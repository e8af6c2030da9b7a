//! An agent's key-value memory: versions, compare-and-set, expiry, bounds. Each change is a fact of its stream.

use edgeplane_store::{MemoryRow, StoredBody};
use edgeplane_types::fact::MemoryPut;
use edgeplane_types::{AgentId, ErrorName, Fact, MemoryIsolation, Timestamp, fact::Actor as FactActor};
use edgeplane_wire::{
    api::memory::{DeleteParams, EntriesResult, Entry, KeyParams, KeysParams, PutParams},
    catalogue::Request,
    rpc::RpcError,
};
use serde_json::Value;

use super::{Actor, MemoryAnswer};
use crate::{
    caller::Caller,
    record::{Draft, Origin, Record, refused},
};

/// Longest key in bytes.
const KEY_BYTES_MAX: usize = 256;

/// Longest value in bytes of JSON.
const VALUE_BYTES_MAX: usize = 1 << 20;

/// Most keys or versions in one answer.
const LIST_MAX: usize = 10_000;

/// What is asked of a memory.
#[derive(Debug, Clone)]
pub(crate) enum MemoryRequest {
    Get(KeyParams),
    Put(PutParams),
    List(KeysParams),
    Delete(DeleteParams),
    History(KeyParams),
}

impl MemoryRequest {
    /// The agent that is named, if one is.
    pub(crate) fn agent(&self) -> Option<&str> {
        match self {
            Self::Get(params) | Self::History(params) => params.agent.as_deref(),
            Self::Put(params) => params.agent.as_deref(),
            Self::List(params) => params.agent.as_deref(),
            Self::Delete(params) => params.agent.as_deref(),
        }
    }
}

fn check_key(key: &str) -> Result<(), RpcError> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX || key.chars().any(char::is_control) {
        return Err(RpcError::new(
            ErrorName::InvalidParams,
            "a key has 1 to 256 bytes and no control characters",
        ));
    }
    Ok(())
}

fn missing(key: &str) -> RpcError {
    let shown = edgeplane_driver::render::clean(key);
    RpcError::new(ErrorName::NotFound, format!("no key `{shown}` in the memory"))
        .hint("`edgeplane memory list NAME` shows the keys there are")
}

impl Actor {
    /// A request for the caller's own memory, if it is one for a memory at all and not somebody else's.
    pub(super) fn own_memory_request(
        &self,
        method: &str,
        params: &Value,
        caller: &Caller,
    ) -> Option<Result<MemoryRequest, RpcError>> {
        if !method.starts_with("memory/") {
            return None;
        }
        let request = match Request::read(method, params.clone()) {
            Ok(Request::MemoryGet(params)) => MemoryRequest::Get(params),
            Ok(Request::MemoryPut(params)) => MemoryRequest::Put(params),
            Ok(Request::MemoryList(params)) => MemoryRequest::List(params),
            Ok(Request::MemoryDelete(params)) => MemoryRequest::Delete(params),
            Ok(Request::MemoryHistory(params)) => MemoryRequest::History(params),
            Ok(_) => return None,
            Err(error) => return Some(Err(error)),
        };
        let own = [self.identity.name.to_string(), self.identity.id.to_string()];
        if self.shares_memory() {
            return None;
        }
        let is_own = request.agent().is_none_or(|named| own.iter().any(|name| name == named));
        (is_own && caller.is_agent(self.identity.id)).then_some(Ok(request))
    }

    /// Whether its memory is its parent's.
    fn shares_memory(&self) -> bool {
        let id = self.identity.id;
        self.identity.parent.is_some()
            && self.shared.record.look_up(|reader| reader.subagent(&id)).is_ok_and(|row| {
                row.is_some_and(|row| row.spawned.isolation.memory == MemoryIsolation::Shared)
            })
    }

    /// Serves a request for this agent's memory.
    pub(super) async fn memory(
        &mut self,
        request: MemoryRequest,
        origin: &Origin,
    ) -> Result<MemoryAnswer, RpcError> {
        let id = self.identity.id;
        let is_own = matches!(origin.actor, edgeplane_types::fact::Actor::Agent { .. });
        if self.manifest.spec.state == edgeplane_manifest::StateKind::Stateless
            && (is_own || matches!(request, MemoryRequest::Put(_)))
        {
            let what = format!("agent `{}` is stateless: nothing of it is kept", self.identity.name);
            let error = RpcError::new(ErrorName::InvalidState, what);
            return Err(error.hint("declare it with `spec.state: stateful`, and apply that"));
        }
        match request {
            MemoryRequest::Get(params) => self.get(&params.key).map(MemoryAnswer::Entry),
            MemoryRequest::Put(params) => self.put(params, origin).await.map(MemoryAnswer::Entry),
            MemoryRequest::Delete(params) => self.delete(&params, origin).await.map(MemoryAnswer::Entry),
            MemoryRequest::List(params) => {
                let prefix = params.prefix.unwrap_or_default();
                let now = self.shared.record.now();
                let rows =
                    self.shared.record.look_up(|reader| reader.memory_list(&id, &prefix, "", LIST_MAX))?;
                let items =
                    rows.into_iter().filter(|row| is_live(row, now)).map(|row| entry(row, None)).collect();
                Ok(MemoryAnswer::Entries(EntriesResult { items }))
            }
            MemoryRequest::History(params) => {
                let record = &self.shared.record;
                let mut rows = record.look_up(|reader| reader.memory_history(&id, &params.key, LIST_MAX))?;
                rows.sort_by_key(|row| row.version);
                if rows.is_empty() {
                    return Err(missing(&params.key));
                }
                let with_values = rows.into_iter().map(|row| {
                    let value = row.digest.as_deref().and_then(|digest| value_of(record, digest).ok());
                    entry(row, value)
                });
                Ok(MemoryAnswer::Entries(EntriesResult { items: with_values.collect() }))
            }
        }
    }

    fn newest(&self, id: AgentId, key: &str) -> Result<Option<MemoryRow>, RpcError> {
        self.shared.record.look_up(|reader| reader.memory_get(&id, key))
    }

    fn get(&self, key: &str) -> Result<Entry, RpcError> {
        let now = self.shared.record.now();
        let row = self.newest(self.identity.id, key)?.filter(|row| is_live(row, now));
        let row = row.ok_or_else(|| missing(key))?;
        let digest = row.digest.clone().ok_or_else(|| missing(key))?;
        let value = value_of(&self.shared.record, &digest)?;
        Ok(entry(row, Some(value)))
    }

    /// What a change of a key that has been made came to; nothing for a request that changes nothing.
    pub(super) fn written_entry(
        &self,
        request: &MemoryRequest,
        epoch: edgeplane_types::Epoch,
    ) -> Result<Option<Entry>, RpcError> {
        let (key, epoch) = match request {
            MemoryRequest::Put(params) => (&params.key, Some(epoch)),
            MemoryRequest::Delete(params) => (&params.key, None),
            MemoryRequest::Get(_) | MemoryRequest::List(_) | MemoryRequest::History(_) => return Ok(None),
        };
        let row = self.newest(self.identity.id, key)?;
        Ok(row.map(|row| Entry { epoch, ..entry(row, None) }))
    }

    async fn put(&mut self, params: PutParams, origin: &Origin) -> Result<Entry, RpcError> {
        check_key(&params.key)?;
        let now = self.shared.record.now();
        let newest = self.newest(self.identity.id, &params.key)?;
        let live = newest.as_ref().filter(|row| is_live(row, now));
        check_version(params.if_version, live)?;
        // A value is any JSON, floats too, so its bytes are what serde makes of it, not the canonical form.
        let bytes = serde_json::to_vec(&params.value).map_err(|error| {
            RpcError::new(ErrorName::InvalidParams, format!("the value cannot be kept: {error}"))
        })?;
        let replaced = newest.as_ref().filter(|row| row.digest.is_some());
        if self.check_bounds(bytes.len(), replaced).is_err() {
            self.forget_expired(now).await?;
        }
        let newest = self.newest(self.identity.id, &params.key)?;
        self.check_bounds(bytes.len(), newest.as_ref().filter(|row| row.digest.is_some()))?;
        let version = newest.as_ref().map_or(0, |row| row.version).saturating_add(1);
        let expires_at = params.ttl_ms.map(|ms| now.plus_millis(ms));
        let mut draft = Draft::default();
        let (value_digest, value_bytes) = draft.body(bytes);
        let fact = Fact::MemoryPut(MemoryPut {
            key: params.key.clone(),
            version,
            value_digest: value_digest.clone(),
            value_bytes,
            expires_at,
        });
        self.commit_memory(draft, fact, origin).await?;
        let digest = Some(value_digest);
        let row = MemoryRow { key: params.key, version, digest, value_bytes, expires_at, at: now };
        Ok(Entry { epoch: written_by(origin, self.last_epoch), ..entry(row, None) })
    }

    async fn delete(&mut self, params: &DeleteParams, origin: &Origin) -> Result<Entry, RpcError> {
        let now = self.shared.record.now();
        // What has expired is there until it is removed, and may be removed.
        let newest = self.newest(self.identity.id, &params.key)?.filter(|row| row.digest.is_some());
        let newest = newest.ok_or_else(|| missing(&params.key))?;
        check_version(params.if_version, Some(&newest))?;
        let version = newest.version.saturating_add(1);
        let fact = Fact::MemoryDeleted { key: params.key.clone(), version };
        self.commit_memory(Draft::default(), fact, origin).await?;
        let row = MemoryRow {
            key: params.key.clone(),
            version,
            digest: None,
            value_bytes: 0,
            expires_at: None,
            at: now,
        };
        Ok(entry(row, None))
    }

    /// Removes every key whose time is over, so that it no longer counts.
    async fn forget_expired(&mut self, now: Timestamp) -> Result<(), RpcError> {
        let id = self.identity.id;
        let rows = self.shared.record.look_up(|reader| reader.memory_list(&id, "", "", LIST_MAX))?;
        let mut draft = Draft::default();
        for row in rows.into_iter().filter(|row| row.digest.is_some() && !is_live(row, now)) {
            let fact = Fact::MemoryDeleted { key: row.key, version: row.version.saturating_add(1) };
            self.shared.record.add(&mut draft, self.stream(), &Origin::node("expiry"), fact);
        }
        if draft.is_empty() {
            return Ok(());
        }
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    async fn commit_memory(&mut self, mut draft: Draft, fact: Fact, origin: &Origin) -> Result<(), RpcError> {
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    fn check_bounds(&self, bytes: usize, replaced: Option<&MemoryRow>) -> Result<(), RpcError> {
        if bytes > VALUE_BYTES_MAX {
            let error = RpcError::new(
                ErrorName::TooLarge,
                format!("the value has {bytes} bytes, more than {VALUE_BYTES_MAX}"),
            );
            return Err(error.hint("keep large things in files and remember where they are"));
        }
        let id = self.identity.id;
        let totals = self.shared.record.look_up(|reader| reader.memory_totals(&id))?;
        let bounds = &self.manifest.spec.memory;
        let freed = replaced.map_or(0, |row| row.value_bytes);
        let keys = totals.keys.saturating_add(u64::from(replaced.is_none()));
        let total =
            totals.value_bytes.saturating_sub(freed).saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if keys > u64::from(bounds.max_keys) || total > bounds.max_bytes.bytes() {
            let error = RpcError::new(
                ErrorName::QuotaExhausted,
                format!("the memory would hold {keys} keys and {total} bytes, more than its manifest allows"),
            );
            return Err(error.hint("remove keys, or raise `spec.memory`"));
        }
        Ok(())
    }
}

fn written_by(origin: &Origin, epoch: edgeplane_types::Epoch) -> Option<edgeplane_types::Epoch> {
    matches!(origin.actor, FactActor::Agent { .. }).then_some(epoch)
}

fn is_live(row: &MemoryRow, now: Timestamp) -> bool {
    row.digest.is_some() && row.expires_at.is_none_or(|at| at > now)
}

fn check_version(wanted: Option<u64>, live: Option<&MemoryRow>) -> Result<(), RpcError> {
    let found = live.map_or(0, |row| row.version);
    match wanted {
        Some(wanted) if wanted != found => {
            let what = format!("the key is at version {found}, not {wanted}");
            Err(RpcError::new(ErrorName::VersionConflict, what).hint("read it again, then decide"))
        }
        _ => Ok(()),
    }
}

fn value_of(record: &Record, digest: &str) -> Result<Value, RpcError> {
    let broken = |what: String| RpcError::new(ErrorName::RecordDamaged, what);
    let digest = digest.parse().map_err(|_bad| broken("the digest of a value is damaged".to_owned()))?;
    match record.look_up(|reader| reader.body(&digest))? {
        Some(StoredBody::Bytes(bytes)) => {
            serde_json::from_slice(&bytes).map_err(|error| broken(format!("a value cannot be read: {error}")))
        }
        Some(StoredBody::Erased { reason }) => {
            Err(RpcError::new(ErrorName::NotFound, format!("the value was erased: {reason}")))
        }
        None => Err(broken("a value is missing".to_owned())),
    }
}

fn entry(row: MemoryRow, value: Option<Value>) -> Entry {
    Entry {
        deleted: row.digest.is_none(),
        key: row.key,
        version: row.version,
        value,
        digest: row.digest,
        bytes: row.value_bytes,
        at: row.at,
        expires_at: row.expires_at,
        epoch: None,
    }
}
