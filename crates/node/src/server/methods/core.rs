//! The node about itself.

use std::collections::BTreeMap;

use edgeplane_store::Health;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{
        Empty,
        core::{
            Check, DescribeParams, DescribeResult, HealthResult, InitializeParams, InitializeResult,
            PROTOCOL_VERSIONS,
        },
        node::NodeStatus,
    },
    catalogue::{METHODS, describe},
    rpc::RpcError,
};

use super::Session;
use crate::agent::by_name;

pub(in crate::server) fn initialize(
    session: &Session,
    params: &InitializeParams,
) -> Result<InitializeResult, RpcError> {
    let offered = &params.versions;
    let version =
        PROTOCOL_VERSIONS.iter().find(|ours| offered.is_empty() || offered.iter().any(|v| v == *ours));
    let Some(version) = version else {
        return Err(RpcError::new(
            ErrorName::Unsupported,
            format!("none of the versions {offered:?} is spoken here; these are: {PROTOCOL_VERSIONS:?}"),
        ));
    };
    let mut profiles: Vec<String> = METHODS
        .iter()
        .filter_map(|m| m.name.split_once('/'))
        .map(|(profile, _)| profile.to_owned())
        .collect();
    profiles.sort_unstable();
    profiles.dedup();
    Ok(InitializeResult {
        version: (*version).to_owned(),
        server: env!("CARGO_PKG_VERSION").to_owned(),
        node_id: session.shared.identity.id,
        node: session.shared.identity.name.clone(),
        caller: session.caller.view(),
        profiles,
    })
}

pub(in crate::server) fn describe(params: &DescribeParams) -> DescribeResult {
    describe::describe(params.profile.as_deref())
}

fn record_check(session: &Session) -> (Check, &'static str) {
    let (status, word, detail, hint) = match session.shared.record.store().health() {
        Health::Serving => ("ok", "ok", "takes new events".to_owned(), None),
        Health::Degraded { held_events } => (
            "fail",
            "storage_full",
            format!("no space: {held_events} events wait in the reserve"),
            Some("free space where the state directory is".to_owned()),
        ),
        Health::Damaged(damage) => {
            ("fail", "damaged", damage.to_string(), Some("run `edgeplane audit verify`".to_owned()))
        }
    };
    (Check { name: "record".to_owned(), status: status.to_owned(), detail, hint }, word)
}

pub(in crate::server) fn health(session: &Session) -> HealthResult {
    let (check, word) = record_check(session);
    let status = if word == "ok" { "ok" } else { "degraded" };
    HealthResult { status: status.to_owned(), checks: vec![check] }
}

pub(in crate::server) async fn status(session: &Session) -> Result<NodeStatus, RpcError> {
    let shared = &session.shared;
    let (check, record) = record_check(session);
    let mut agents = BTreeMap::new();
    for agent in shared.agents() {
        let count: &mut u64 = agents.entry(agent.summary.borrow().phase.as_str().to_owned()).or_default();
        *count = count.saturating_add(1);
    }
    let read = shared.record.read(|reader| Ok((reader.head_pos()?, reader.counts(None)?, reader.tokens()?)));
    let (events, messages, tokens) = read.await?;
    let now = shared.record.now();
    let security = [shared.keys.check(), super::security::check(&tokens, now)];
    Ok(NodeStatus {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_seconds: now.millis_since(shared.started_at) / 1_000,
        started_at: shared.started_at,
        node_id: shared.identity.id,
        node: shared.identity.name.clone(),
        state_dir: shared.dirs.state.to_string_lossy().into_owned(),
        runtime_dir: shared.dirs.runtime.to_string_lossy().into_owned(),
        socket: shared.dirs.socket.to_string_lossy().into_owned(),
        agents,
        messages: by_name(&messages),
        events,
        record: record.to_owned(),
        open_files: edgeplane_os::limits::files_open_now().unwrap_or(0),
        overrides: shared.overrides.all().iter().map(|row| crate::overrides::mark(row)).collect(),
        checks: std::iter::once(check)
            .chain(shared.checks.iter().cloned())
            .chain(security)
            .chain([shared.overrides.check()])
            .collect(),
    })
}

/// Ends the daemon; the answer goes out before the connection ends.
pub(in crate::server) fn stop(session: &Session, nothing: Empty) -> Empty {
    let stopping = session.shared.stopping.clone();
    tracing::info!(by = %session.caller.principal, "asked to end");
    tokio::spawn(async move {
        // sleep: the answer to this very request must leave first.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        stopping.cancel();
    });
    nothing
}
