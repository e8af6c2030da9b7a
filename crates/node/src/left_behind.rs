//! What waits for agents that are deleted: given up in steps, the first together with the deletion, the rest here.
//!
//! An inbox may hold very many messages, and one commit for all of them would hold up everybody else's. No engine
//! knows such an agent any more, so this is the only writer of its stream. What a daemon leaves undone the next one does.

use std::{sync::Arc, time::Duration};

use edgeplane_store::{ReadError, Reader, WaitingRow};
use edgeplane_types::{AgentId, Fact, Phase, StreamName};

use crate::{
    record::{Draft, Origin, chain},
    removal,
    shared::Shared,
};

/// Messages that are given up in one commit.
pub(crate) const AT_ONCE: usize = 256;

/// How long what cannot be read or recorded is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// The rule by which the rest is given up.
const RULE: &str = "deleted-agent";

/// What becomes of a message that nobody will ever take.
pub(crate) fn given_up(row: &WaitingRow) -> Fact {
    Fact::MessageDeadLettered { message_id: row.message_id, reason: "the agent was deleted".to_owned() }
}

/// Goes on with what a former daemon left.
pub(crate) async fn take_up(shared: Arc<Shared>) {
    let found = shared.record.read(Reader::retired_with_waiting).await;
    let found = found.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot look for what waits for deleted agents; the next start does");
        Vec::new()
    });
    for agent in found {
        settle(Arc::clone(&shared), agent).await;
    }
    removal::take_up(shared).await;
}

/// Gives up what waits for a deleted agent, until nothing does or the daemon ends.
pub(crate) async fn settle(shared: Arc<Shared>, agent: AgentId) {
    while !shared.stopping.is_cancelled() {
        match step(&shared, agent).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%agent, error, "what waits for a deleted agent cannot be given up yet");
                tokio::select! {
                    () = shared.stopping.cancelled() => {}
                    () = tokio::time::sleep(RETRY) => {}
                }
            }
        }
    }
}

/// Gives up some; says whether that was all.
async fn step(shared: &Shared, agent: AgentId) -> Result<bool, String> {
    let page = shared.record.read(move |reader| page(reader, agent)).await.map_err(|error| error.message)?;
    let page = page.ok_or("its deletion is not in the record yet")?;
    if page.is_empty() {
        return Ok(true);
    }
    let (mut draft, origin) = (Draft::default(), Origin::node(RULE));
    for row in &page {
        shared.record.add(&mut draft, StreamName::Agent(agent), &origin, given_up(row));
    }
    shared.record.commit(draft).await.map_err(|error| chain(&error))?;
    Ok(page.len() < AT_ONCE)
}

/// The next messages, or none if the deletion still stands in the reserve: then what was given up with it does, too,
/// and seems to wait.
fn page(reader: &Reader, agent: AgentId) -> Result<Option<Vec<WaitingRow>>, ReadError> {
    let row = reader.agent_by_id(&agent)?;
    if row.is_none_or(|row| row.phase != Phase::Retired) {
        return Ok(None);
    }
    reader.waiting_page(&agent, 0, AT_ONCE).map(Some)
}
