//! Schedules as manifests declare them: what a set of manifests changes about an agent's, and which facts say so.
//!
//! When one is due and what becomes of it the lifecycle decides; its agent's engine does what follows.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_lifecycle::schedule::{
    self as machine, CatchUp, Overlap, Plan, PlanError, Schedule, State, When,
};
use edgeplane_manifest as manifest;
use edgeplane_manifest::{Due, InlineSchedule, Manifest, ScheduleBody, Timing};
use edgeplane_store::{Reader, ScheduleRow, StoredBody};
use edgeplane_types::{AgentId, AgentName, ErrorName, Fact, StreamName, Timestamp};
use edgeplane_wire::{api::agent::Change, rpc::RpcError};

use crate::record::{Draft, Origin, Record};

/// Most schedules of one agent: its engine goes through all of them.
const SCHEDULES_MAX: usize = 1_000;

/// What a set of manifests says of one agent.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// Its manifest, if that is new.
    pub(crate) manifest: Option<Arc<Manifest>>,
    /// Those of its schedules that stand in documents of their own.
    pub(crate) schedules: Vec<(AgentName, ScheduleBody)>,
}

impl Declared {
    /// A manifest and nothing beside it.
    pub(crate) fn manifest(manifest: Arc<Manifest>) -> Self {
        Self { manifest: Some(manifest), schedules: Vec::new() }
    }
}

/// A schedule that is in force, as far as a declaration is compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InForce {
    pub(crate) name: AgentName,
    pub(crate) digest: String,
    pub(crate) in_manifest: bool,
}

impl From<ScheduleRow> for InForce {
    fn from(row: ScheduleRow) -> Self {
        Self { name: row.name, digest: row.spec_digest, in_manifest: row.in_manifest }
    }
}

/// What becomes of one schedule.
#[derive(Debug, Clone)]
pub(crate) struct Changed {
    pub(crate) name: AgentName,
    pub(crate) change: Change,
    pub(crate) in_manifest: bool,
    /// What it says; nothing of one that is removed.
    pub(crate) body: Option<ScheduleBody>,
}

/// What a declaration changes: first what is removed, so that its name is free for what is new.
///
/// `inline` is what the agent's manifest says, if that is given anew; `alone` are documents of their own. A name that
/// is in force in the other place is refused: nobody should change a schedule where somebody else looks for it.
pub(crate) fn changes(
    agent: &AgentName,
    in_force: &[InForce],
    inline: Option<&[InlineSchedule]>,
    alone: &[(AgentName, ScheduleBody)],
) -> Result<Vec<Changed>, RpcError> {
    let kept: BTreeSet<&AgentName> = inline.unwrap_or_default().iter().map(|one| &one.name).collect();
    let is_removed = |known: &InForce| inline.is_some() && known.in_manifest && !kept.contains(&known.name);
    let gone = in_force.iter().filter(|known| is_removed(known));
    let mut all: Vec<Changed> = gone
        .map(|known| Changed {
            name: known.name.clone(),
            change: Change::Removed,
            in_manifest: true,
            body: None,
        })
        .collect();
    let inline = inline.unwrap_or_default().iter().map(|one| (&one.name, &one.body, true));
    let wanted = inline.chain(alone.iter().map(|(name, body)| (name, body, false)));
    for (name, body, in_manifest) in wanted {
        let known = in_force.iter().find(|known| known.name == *name && !is_removed(known));
        let change = match known {
            None => Change::Created,
            Some(known) if known.in_manifest != in_manifest => {
                return Err(stands_elsewhere(agent, name, in_manifest));
            }
            Some(known) if known.digest == digest(body) => Change::Unchanged,
            Some(_) => Change::Updated,
        };
        all.push(Changed { name: name.clone(), change, in_manifest, body: Some(body.clone()) });
    }
    let count = |change| all.iter().filter(|one| one.change == change).count();
    let after = in_force.len().saturating_add(count(Change::Created)).saturating_sub(count(Change::Removed));
    if after > SCHEDULES_MAX {
        let what = format!("agent `{agent}` would have {after} schedules, more than {SCHEDULES_MAX}");
        return Err(RpcError::new(ErrorName::QuotaExhausted, what));
    }
    Ok(all)
}

fn stands_elsewhere(agent: &AgentName, name: &AgentName, in_manifest: bool) -> RpcError {
    let (place, hint) = if in_manifest {
        ("a document of its own", format!("`edgeplane schedule remove {agent}/{name}` frees the name"))
    } else {
        ("the manifest of the agent", "take it out of that manifest, or choose another name".to_owned())
    };
    let what = format!("agent `{agent}`: found schedule `{name}` a second time, the first in {place}");
    RpcError::new(ErrorName::InvalidManifest, what).hint(hint)
}

fn digest(body: &ScheduleBody) -> String {
    edgeplane_proof::digest(body.canonical_text().as_bytes()).to_string()
}

/// A schedule that is about to be in force.
pub(crate) struct Declaring<'a> {
    pub(crate) agent: AgentId,
    pub(crate) name: &'a AgentName,
    pub(crate) body: &'a ScheduleBody,
    pub(crate) in_manifest: bool,
    /// What was in force under this name.
    pub(crate) before: Option<(&'a State, &'a ScheduleBody)>,
}

/// Adds the facts that put a schedule in force.
pub(crate) fn draft_declared(
    record: &Record,
    draft: &mut Draft,
    origin: &Origin,
    declaring: &Declaring<'_>,
) -> Result<(), RpcError> {
    let Declaring { agent, name, body, in_manifest, before } = declaring;
    let now = record.now();
    let compiled = compile(*agent, name, body, now)
        .map_err(|error| RpcError::new(ErrorName::InvalidManifest, format!("schedule `{name}`: {error}")))?;
    let stream = StreamName::Agent(*agent);
    let (spec_digest, spec_bytes) = draft.body(body.canonical_text().into_bytes());
    let name = (*name).clone();
    let fact =
        Fact::ScheduleDeclared { name: name.clone(), spec_digest, spec_bytes, in_manifest: *in_manifest };
    record.add(draft, stream, origin, fact);
    for output in machine::declare(&compiled, before.map(|(state, _)| state), now).outputs {
        if let machine::Output::Miss { from, to, count, reason } = output {
            let fact = Fact::ScheduleMissed { name: name.clone(), from, to, count, reason };
            record.add(draft, stream, origin, fact);
        }
    }
    // Only a word that changed counts: what somebody paused by hand stays so when its text is mended.
    let was_paused = before.is_some_and(|(state, _)| state.is_paused());
    let word_changed = before.is_none_or(|(_, before)| before.paused != body.paused);
    match (was_paused, body.paused) {
        (false, true) if word_changed => {
            record.add(draft, stream, origin, Fact::SchedulePaused { name });
        }
        (true, false) if word_changed => {
            record.add(draft, stream, origin, Fact::ScheduleResumed { name });
        }
        _ => {}
    }
    Ok(())
}

/// Makes a schedule that can be asked when it is due. `declared_at` is where `every` counts from if it says nothing.
pub(crate) fn compile(
    agent: AgentId,
    name: &AgentName,
    body: &ScheduleBody,
    declared_at: Timestamp,
) -> Result<Schedule, PlanError> {
    let mut seed = agent.as_bytes().to_vec();
    seed.extend_from_slice(name.as_str().as_bytes());
    let overlap = match body.overlap {
        manifest::Overlap::Allow => Overlap::Allow,
        manifest::Overlap::Skip => Overlap::Skip,
    };
    compile_timing(Timed { timing: &body.timing, overlap, seed }, declared_at)
}

/// Times, with what sets them apart from those of others.
pub(crate) struct Timed<'a> {
    pub(crate) timing: &'a Timing,
    pub(crate) overlap: Overlap,
    pub(crate) seed: Vec<u8>,
}

/// The same of times alone, whatever is done then.
pub(crate) fn compile_timing(timed: Timed<'_>, declared_at: Timestamp) -> Result<Schedule, PlanError> {
    let Timed { timing, overlap, seed } = timed;
    let when = match timing.due() {
        Some(Due::Cron(cron)) => When::Cron(cron.to_string()),
        Some(Due::Every(span, from)) => {
            let from = from.map_or(declared_at, manifest::Moment::timestamp);
            When::Every { span_ms: span.as_millis(), from }
        }
        Some(Due::At(at)) => When::At(at.to_string()),
        // No manifest that was taken says nothing of it.
        None => When::At(String::new()),
    };
    Schedule::compile(&Plan {
        when,
        zone: timing.time_zone.to_string(),
        catch_up: match timing.catch_up {
            manifest::CatchUp::None => CatchUp::None,
            manifest::CatchUp::Last => CatchUp::Last,
            manifest::CatchUp::All => CatchUp::All { max: timing.catch_up_max },
        },
        overlap,
        jitter_ms: timing.jitter.as_millis(),
        deadline_ms: timing.deadline.map(manifest::DurationMs::as_millis),
        seed,
    })
}

/// Reads from the record what a schedule says.
pub(crate) fn body(reader: &Reader, row: &ScheduleRow) -> Result<ScheduleBody, String> {
    let digest = row.spec_digest.parse().map_err(|_bad| "its digest is damaged".to_owned())?;
    match reader.body(&digest).map_err(|error| crate::record::chain(&error))? {
        Some(StoredBody::Bytes(bytes)) => {
            serde_json::from_slice(&bytes).map_err(|error| format!("it cannot be read: {error}"))
        }
        Some(StoredBody::Erased { reason }) => Err(format!("it was erased: {reason}")),
        None => Err("it is missing".to_owned()),
    }
}

/// Where a schedule stands, from its row; `new` is one that was declared while this daemon serves.
pub(crate) fn state(row: &ScheduleRow, new: Option<&Schedule>) -> Option<State> {
    let paused = Fact::SchedulePaused { name: row.name.clone() };
    let at = row.accounted_until;
    let begun = state_at(at, &row.name, new);
    if row.paused { State::after(begun, at, &paused) } else { begun }
}

/// The state of one that is accounted for up to this moment, and not paused.
pub(crate) fn state_at(at: Timestamp, name: &AgentName, new: Option<&Schedule>) -> Option<State> {
    let declared = Fact::ScheduleDeclared {
        name: name.clone(),
        spec_digest: String::new(),
        spec_bytes: 0,
        in_manifest: false,
    };
    match new {
        Some(schedule) => Some(machine::declare(schedule, None, at).state),
        None => State::after(None, at, &declared),
    }
}
