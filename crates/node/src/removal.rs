//! What a retired agent owned is removed, step by step, by whichever daemon: memory, dead letters, recordings, its folder.
//!
//! That it is to be removed is durable with the retirement; each step can be done again; the last one says that all is
//! gone. No engine knows such an agent any more, so this is the only writer of its stream. The record itself stays.

use std::{fs, io, path::Path, sync::Arc, time::Duration};

use edgeplane_store::Reader;
use edgeplane_types::{AgentId, Epoch, Fact, StreamName};

use crate::{
    record::{Draft, Origin, chain},
    recordings,
    shared::Shared,
};

/// Facts of one commit.
const AT_ONCE: usize = 256;

/// How long what cannot be read, recorded or removed is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// The rule by which it is removed.
const RULE: &str = "retirement";

/// Why a dead letter is dropped and a recording gone.
const REASON: &str = "its agent was retired with all that it owned";

/// What was removed.
#[derive(Debug, Default)]
struct Removed {
    recordings_bytes: u64,
    memory_keys: u64,
    messages: u64,
}

/// Goes on with what a former daemon left.
pub(crate) async fn take_up(shared: Arc<Shared>) {
    let found = shared.record.read(Reader::retired_with_removal).await;
    let found = found.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot look for what retired agents leave; the next start does");
        Vec::new()
    });
    for agent in found {
        settle(Arc::clone(&shared), agent).await;
    }
}

/// Removes what an agent owned, if that is planned, until all is gone or the daemon ends.
pub(crate) async fn settle(shared: Arc<Shared>, agent: AgentId) {
    let mut removed = Removed::default();
    while !shared.stopping.is_cancelled() {
        match is_planned(&shared, agent).await {
            Ok(false) => return,
            Ok(true) => {}
            Err(error) => tracing::warn!(%agent, error, "a removal cannot be looked up yet"),
        }
        match remove(&shared, agent, &mut removed).await {
            Ok(()) => return,
            Err(error) => {
                tracing::warn!(%agent, error, "what a retired agent owned cannot be removed yet");
                tokio::select! {
                    () = shared.stopping.cancelled() => {}
                    () = tokio::time::sleep(RETRY) => {}
                }
            }
        }
    }
}

async fn is_planned(shared: &Shared, agent: AgentId) -> Result<bool, String> {
    let row = shared.record.read(move |reader| reader.agent_by_id(&agent)).await;
    Ok(row.map_err(|error| error.message)?.is_some_and(|row| row.removal.is_some()))
}

async fn remove(shared: &Arc<Shared>, agent: AgentId, removed: &mut Removed) -> Result<(), String> {
    shared.failpoint("remove.memory");
    forget(shared, agent, removed).await?;
    shared.failpoint("remove.letters");
    drop_letters(shared, agent, removed).await?;
    shared.failpoint("remove.recordings");
    let folder = shared.agents_dir().join(agent.to_string());
    prune(shared, agent, &folder, removed).await?;
    shared.failpoint("remove.files");
    let runtime = shared.dirs.runtime.clone();
    let work = tokio::task::spawn_blocking(move || {
        clear(&folder)?;
        ["agents", "shims"].iter().try_for_each(|of| unlink(&runtime.join(of), agent))
    });
    let cleared = work.await.map_err(|_cut| "the removal was cut off".to_owned())?;
    cleared.map_err(|error| error.to_string())?;
    shared.failpoint("remove.done");
    let Removed { recordings_bytes, memory_keys, messages } = *removed;
    let fact = Fact::AgentRemoved { recordings_bytes, memory_keys, messages };
    note(shared, agent, vec![fact]).await
}

async fn note(shared: &Shared, agent: AgentId, facts: Vec<Fact>) -> Result<(), String> {
    let (mut draft, origin) = (Draft::default(), Origin::node(RULE));
    for fact in facts {
        shared.record.add(&mut draft, StreamName::Agent(agent), &origin, fact);
    }
    shared.record.commit(draft).await.map(drop).map_err(|error| chain(&error))
}

async fn forget(shared: &Shared, agent: AgentId, removed: &mut Removed) -> Result<(), String> {
    loop {
        let rows = shared.record.read(move |reader| reader.memory_list(&agent, "", "", AT_ONCE)).await;
        let rows = rows.map_err(|error| error.message)?;
        if rows.is_empty() {
            return Ok(());
        }
        removed.memory_keys = removed.memory_keys.saturating_add(count(rows.len()));
        let facts = rows
            .into_iter()
            .map(|row| Fact::MemoryDeleted { key: row.key, version: row.version.saturating_add(1) });
        note(shared, agent, facts.collect()).await?;
    }
}

async fn drop_letters(shared: &Shared, agent: AgentId, removed: &mut Removed) -> Result<(), String> {
    loop {
        let rows = shared.record.read(move |reader| reader.dead_letters(Some(&agent), AT_ONCE, 0)).await;
        let rows = rows.map_err(|error| error.message)?;
        if rows.is_empty() {
            return Ok(());
        }
        removed.messages = removed.messages.saturating_add(count(rows.len()));
        let facts = rows
            .into_iter()
            .map(|row| Fact::MessageDropped { message_id: row.envelope.id, reason: REASON.to_owned() });
        note(shared, agent, facts.collect()).await?;
    }
}

/// Says of each recording that is there that it goes.
async fn prune(shared: &Shared, agent: AgentId, folder: &Path, removed: &mut Removed) -> Result<(), String> {
    let folder = folder.to_owned();
    let found = tokio::task::spawn_blocking(move || found_recordings(&folder)).await;
    let found = found.map_err(|_cut| "the search for recordings was cut off".to_owned())?;
    let mut facts = Vec::with_capacity(found.len());
    for (epoch, through_segment, file_bytes) in found {
        removed.recordings_bytes = removed.recordings_bytes.saturating_add(file_bytes);
        facts.push(Fact::RecordingPruned { epoch, through_segment, file_bytes, reason: REASON.to_owned() });
    }
    while !facts.is_empty() {
        let rest = facts.split_off(facts.len().min(AT_ONCE));
        note(shared, agent, facts).await?;
        facts = rest;
    }
    Ok(())
}

/// The recordings in an agent's folder: epoch, newest segment, bytes.
fn found_recordings(folder: &Path) -> Vec<(Epoch, u32, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut epochs: Vec<Epoch> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Epoch)).collect();
    epochs.sort_unstable();
    let of = |epoch: Epoch| {
        let dir = folder.join(epoch.to_string());
        let segments = recordings::segments(&dir).unwrap_or_default();
        let size =
            |segment: &u32| fs::metadata(recordings::segment_path(&dir, *segment)).map_or(0, |m| m.len());
        Some((epoch, *segments.last()?, segments.iter().map(size).sum()))
    };
    epochs.into_iter().filter_map(of).collect()
}

/// Removes a folder with all that is in it. A link in it is removed, not what it points at.
fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes the sockets of all epochs of an agent from a folder.
fn unlink(folder: &Path, agent: AgentId) -> io::Result<()> {
    let prefix = format!("{agent}.");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
