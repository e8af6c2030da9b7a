//! Overrides: an operator's standing decisions over agents.

use std::time::Duration;

use edgeplane_lifecycle::overrides as rule;
use edgeplane_store::OverrideRow;
use edgeplane_types::{ErrorName, OverrideKind, OverrideScope};
use edgeplane_wire::{
    api::overrides::{
        ApplyOverrideParams, LiftOverrideParams, LiftView, ListOverridesParams, OverrideParams,
        OverrideResult, OverrideView, OverridesResult, WantedKind,
    },
    rpc::RpcError,
};

use super::{Session, agent};
use crate::{
    overrides::{self, Wanted},
    record::Origin,
};

/// Longest reason, in bytes: it stands in every list of who is held.
const REASON_BYTES_MAX: usize = 1_024;

/// How long an answer waits for agents to come to rest, where nobody says.
const WAIT_STANDARD: Duration = Duration::from_secs(5);

/// Longest wait for agents to come to rest in milliseconds.
const WAIT_MS_MAX: u64 = 10 * 60 * 1_000;

/// Longest time after which an override lifts itself in milliseconds: a year.
const EXPIRY_MS_MAX: u64 = 366 * 24 * 60 * 60 * 1_000;

pub(in crate::server) async fn apply(
    session: &Session,
    params: ApplyOverrideParams,
) -> Result<OverrideResult, RpcError> {
    let shared = &session.shared;
    let kind = match params.kind {
        WantedKind::Stop => OverrideKind::Stop,
        WantedKind::Pause => OverrideKind::Pause,
        WantedKind::Rollback | WantedKind::Modify => {
            let word = if params.kind == WantedKind::Rollback { "rollback" } else { "modify" };
            let what = format!("overrides of kind `{word}` are not served");
            return Err(RpcError::new(ErrorName::Unsupported, what).hint("`stop` and `pause` are"));
        }
    };
    let reason = reason(params.reason)?;
    if let Some(problem) = rule::problem(&params.scope) {
        return Err(RpcError::new(ErrorName::InvalidParams, format!("`scope`: {problem}")));
    }
    if let OverrideScope::Agents(names) = &params.scope {
        for name in names {
            drop(agent(session, name.as_str())?);
        }
    }
    let expires_at = match params.expires_in_ms {
        None => None,
        Some(ms) if (1..=EXPIRY_MS_MAX).contains(&ms) => Some(shared.record.now().plus_millis(ms)),
        Some(ms) => {
            let what = format!("`expires_in_ms`: {ms} is not between 1 and {EXPIRY_MS_MAX}");
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
    };
    let wanted = Wanted { scope: params.scope, kind, reason, expires_at };
    let wait = wait(params.wait_ms);
    let (override_id, affected) = overrides::apply(shared, wanted, session.caller.actor(), wait).await?;
    Ok(OverrideResult { override_id, affected })
}

pub(in crate::server) async fn lift(
    session: &Session,
    params: LiftOverrideParams,
) -> Result<OverrideResult, RpcError> {
    let (id, reason) = (params.override_id, reason(params.reason)?);
    let origin = Origin::actor(session.caller.actor());
    let affected = overrides::lift(&session.shared, id, reason, origin, wait(params.wait_ms)).await?;
    Ok(OverrideResult { override_id: id, affected })
}

pub(in crate::server) async fn list(
    session: &Session,
    params: ListOverridesParams,
) -> Result<OverridesResult, RpcError> {
    let shared = &session.shared;
    let mut rows: Vec<OverrideRow> = shared.overrides.all().iter().map(|row| (**row).clone()).collect();
    if params.lifted {
        let recorded = shared.record.read(|reader| reader.overrides(true)).await?;
        rows.extend(recorded.into_iter().filter(|row| row.lifted.is_some()));
        rows.sort_by_key(|row| std::cmp::Reverse(row.applied_at));
    }
    let mut items: Vec<OverrideView> = rows.into_iter().map(|row| view(session, row)).collect();
    if let Some(name) = &params.agent {
        let name = agent(session, name)?.name.to_string();
        items.retain(|item| item.agents.contains(&name));
    }
    Ok(OverridesResult { items })
}

pub(in crate::server) fn get(session: &Session, params: &OverrideParams) -> Result<OverrideView, RpcError> {
    overrides::find(&session.shared, params.override_id).map(|row| view(session, row))
}

fn view(session: &Session, row: OverrideRow) -> OverrideView {
    let agents = match row.lifted {
        Some(_) => Vec::new(),
        None => {
            let covered = overrides::covered(&session.shared, &row);
            covered.into_iter().map(|agent| agent.name.to_string()).collect()
        }
    };
    OverrideView {
        override_id: row.id,
        kind: row.kind,
        by: overrides::word(&row.by),
        applied_at: row.applied_at,
        expires_at: row.expires_at,
        lifted: row.lifted.map(|lift| LiftView {
            reason: lift.reason,
            by: overrides::word(&lift.by),
            at: lift.at,
        }),
        scope: row.scope,
        reason: row.reason,
        agents,
    }
}

fn reason(text: String) -> Result<String, RpcError> {
    let problem = match text.trim().len() {
        0 => "`reason` is empty: whoever finds an agent held must learn why".to_owned(),
        _ if text.len() > REASON_BYTES_MAX => format!("`reason` is longer than {REASON_BYTES_MAX} bytes"),
        _ => return Ok(text),
    };
    Err(RpcError::new(ErrorName::InvalidParams, problem))
}

fn wait(ms: Option<u64>) -> Duration {
    ms.map_or(WAIT_STANDARD, |ms| Duration::from_millis(ms.min(WAIT_MS_MAX)))
}
