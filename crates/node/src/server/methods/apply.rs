//! Declaring agents: parsed, checked against the node, and taken whole or not at all.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use edgeplane_lifecycle as lifecycle;
use edgeplane_manifest::{
    FilePath, Manifest, OpenTurn, Problem, RunState, SecretForm, SourceFile, parse_set,
};
use edgeplane_types::{
    AgentName, Desired, ErrorName, Fact, Generation, Phase, StreamName, Tenant, fact::Cause,
};
use edgeplane_wire::{
    api::agent::{Applied, ApplyParams, ApplyResult, Change},
    rpc::RpcError,
};

use super::{Session, agents::reached};
use crate::{
    agent::{self, AgentHandle, AgentIdentity, Birth, Command, LifeRequest},
    artifact,
    profile::own_rules,
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// How long an agent waits for those that it depends on before it is started without them.
const DEPENDENCY_TIME_MAX: Duration = Duration::from_secs(60);

/// What is to be done about one manifest.
struct Plan {
    manifest: Arc<Manifest>,
    known: Option<(AgentHandle, Generation)>,
    change: Change,
}

pub(in crate::server) async fn apply(
    session: &Session,
    params: ApplyParams,
) -> Result<ApplyResult, RpcError> {
    let manifests = read(&params)?;
    let plans = plan(session, manifests).await?;
    if params.dry_run {
        return Ok(ApplyResult { items: plans.iter().map(describe).collect() });
    }
    let origin = Origin::actor(session.caller.actor());
    let mut items: BTreeMap<usize, Applied> = BTreeMap::new();
    let created = create(session, &plans, &origin).await?;
    let mut started = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        let mut applied = describe(plan);
        match (&plan.known, plan.change) {
            (Some((handle, _)), Change::Updated) => {
                let manifest = Arc::clone(&plan.manifest);
                let origin = origin.clone();
                applied.generation = handle.ask(|reply| Command::Update(manifest, origin, reply)).await??;
                if matches!(handle.summary.borrow().phase, Phase::Running | Phase::Frozen) {
                    let hint = format!("takes effect with `edgeplane agent restart {}`", handle.name);
                    applied.note = Some(hint);
                }
            }
            (None, _) => {
                if let Some(handle) = created.iter().find(|handle| handle.name == plan.manifest.metadata.name)
                {
                    applied.agent_id = Some(handle.id);
                    if plan.manifest.spec.run == RunState::Running {
                        started.push((handle.clone(), Arc::clone(&plan.manifest)));
                    }
                }
            }
            (Some(_), Change::Created | Change::Unchanged) => {}
        }
        items.insert(index, applied);
    }
    for (handle, manifest) in started {
        start_when_ready(&session.shared, handle, &manifest, Cause::Manifest);
    }
    Ok(ApplyResult { items: items.into_values().collect() })
}

/// Reads the documents; everything that is wrong comes back at once.
fn read(params: &ApplyParams) -> Result<Vec<Manifest>, RpcError> {
    if params.documents.is_empty() {
        return Err(RpcError::new(ErrorName::InvalidParams, "nothing to apply"));
    }
    let files: Vec<SourceFile<'_>> = params
        .documents
        .iter()
        .map(|document| SourceFile { name: &document.file, text: &document.text })
        .collect();
    let set = parse_set(&files).map_err(|problems| wrong(&problems))?;
    if let Some(found) = set.schedules.first() {
        let error = format!("{}:{}: kind Schedule is not served by this version", found.file, found.line);
        return Err(RpcError::new(ErrorName::InvalidManifest, error));
    }
    let mut manifests = Vec::new();
    for found in set.agents {
        let document = params.documents.iter().find(|document| document.file == found.file);
        let folder = document.map_or("/", |document| document.folder.as_str());
        let folder: FilePath = folder.parse().map_err(|error| {
            RpcError::new(ErrorName::InvalidParams, format!("`folder` of {}: {error}", found.file))
        })?;
        let resolved = found.manifest.resolved_from(&folder).map_err(|error| {
            RpcError::new(ErrorName::InvalidManifest, format!("{}:{}: {error}", found.file, found.line))
        })?;
        if let Err(problems) = own_rules(&resolved) {
            let lines: Vec<String> =
                problems.iter().map(|problem| format!("{}:{}: {problem}", found.file, found.line)).collect();
            return Err(RpcError::new(ErrorName::InvalidManifest, lines.join("\n"))
                .hint("nothing was changed; lines and columns are those of the rules' own text"));
        }
        if let Some(what) = not_served(&resolved) {
            let error = format!("{}:{}: {what} is not served by this version", found.file, found.line);
            return Err(RpcError::new(ErrorName::InvalidManifest, error));
        }
        manifests.push(resolved);
    }
    Ok(manifests)
}

/// What a manifest may say and this node does not do: it is refused instead of passed over.
fn not_served(manifest: &Manifest) -> Option<&'static str> {
    let spec = &manifest.spec;
    if spec.delivery.open_turn != OpenTurn::Drop {
        return Some("spec.delivery.openTurn other than drop");
    }
    if spec.secrets.iter().any(|secret| secret.form == SecretForm::Fd) {
        return Some("spec.secrets[].as: fd");
    }
    if !spec.schedules.is_empty() {
        return Some("spec.schedules");
    }
    None
}

fn wrong(problems: &[Problem]) -> RpcError {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let mut error = RpcError::new(ErrorName::InvalidManifest, "")
        .hint("nothing was changed; mend the file and apply it again");
    // A line for each; what they repeat of the file is printable already.
    error.message = lines.join("\n");
    error.data.violations = problems
        .iter()
        .map(|problem| {
            serde_json::json!({
                "file": problem.file, "line": problem.line, "column": problem.column, "field": problem.field,
                "found": problem.found, "expected": problem.expected, "hint": problem.hint,
            })
        })
        .collect();
    error
}

async fn plan(session: &Session, manifests: Vec<Manifest>) -> Result<Vec<Plan>, RpcError> {
    let in_set: Vec<AgentName> = manifests.iter().map(|manifest| manifest.metadata.name.clone()).collect();
    let mut plans = Vec::new();
    for manifest in manifests {
        for needed in &manifest.spec.depends_on {
            if !in_set.contains(needed) && session.shared.agent(&Tenant::default(), needed.as_str()).is_err()
            {
                let what = format!(
                    "agent `{}`: spec.dependsOn: found `{needed}`, expected an agent of the same files or of this node",
                    manifest.metadata.name
                );
                return Err(RpcError::new(ErrorName::InvalidManifest, what)
                    .hint("apply that agent first, or together"));
            }
        }
        let known = session.shared.agent(&Tenant::default(), manifest.metadata.name.as_str()).ok();
        let plan = match known {
            None => Plan { manifest: Arc::new(manifest), known: None, change: Change::Created },
            Some(handle) => {
                let (current, generation) = handle.ask(Command::Manifest).await?;
                let manifest = artifact::resolved(&session.shared.agents_dir(), handle.id, manifest);
                let change = if *current == manifest { Change::Unchanged } else { Change::Updated };
                Plan { manifest: Arc::new(manifest), known: Some((handle, generation)), change }
            }
        };
        plans.push(plan);
    }
    Ok(plans)
}

fn describe(plan: &Plan) -> Applied {
    Applied {
        name: plan.manifest.metadata.name.to_string(),
        agent_id: plan.known.as_ref().map(|(handle, _)| handle.id),
        change: plan.change,
        generation: plan.known.as_ref().map_or(Generation(1), |(_, generation)| *generation),
        note: None,
    }
}

/// Makes every new agent of the set durable in one step, then brings up their engines.
async fn create(session: &Session, plans: &[Plan], origin: &Origin) -> Result<Vec<AgentHandle>, RpcError> {
    let shared = &session.shared;
    let mut draft = Draft::default();
    let mut births = Vec::new();
    for plan in plans.iter().filter(|plan| plan.known.is_none()) {
        let identity = AgentIdentity {
            id: shared.record.mint().id(),
            name: plan.manifest.metadata.name.clone(),
            tenant: Tenant::default(),
            session_id: shared.record.mint().id(),
            declared_at: shared.record.now(),
        };
        let desired = match plan.manifest.spec.run {
            RunState::Running => Desired::Running,
            RunState::Stopped => Desired::Stopped,
        };
        let (manifest_digest, _) = draft.body(plan.manifest.canonical_text().into_bytes());
        let fact = Fact::AgentDeclared {
            agent_id: identity.id,
            session_id: identity.session_id,
            tenant: identity.tenant.clone(),
            name: identity.name.clone(),
            generation: Generation(1),
            manifest_digest,
            desired,
        };
        shared.record.add(&mut draft, StreamName::Agent(identity.id), origin, fact);
        let life = lifecycle::Agent::declared(desired, agent::policy(&plan.manifest));
        let manifest = Arc::clone(&plan.manifest);
        births.push(Birth { identity, manifest, generation: Generation(1), life, left: None });
    }
    if draft.is_empty() {
        return Ok(Vec::new());
    }
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    let handles = births.into_iter().map(|birth| {
        let tenant = birth.identity.tenant.clone();
        let handle = agent::start(shared, birth);
        shared.register(tenant, handle.clone());
        handle
    });
    Ok(handles.collect())
}

/// Starts an agent once those that it depends on run.
pub(crate) fn start_when_ready(shared: &Arc<Shared>, handle: AgentHandle, manifest: &Manifest, cause: Cause) {
    let needed: Vec<AgentName> = manifest.spec.depends_on.iter().cloned().collect();
    let work = {
        let shared = Arc::clone(shared);
        async move {
            for name in needed {
                let Ok(other) = shared.agent(&Tenant::default(), name.as_str()) else { continue };
                let wait = reached(&other, &[Phase::Running]);
                if tokio::time::timeout(DEPENDENCY_TIME_MAX, wait).await.is_err() {
                    tracing::warn!(agent = %handle.name, dependency = %name, "starts without a dependency");
                }
            }
            let request = LifeRequest::new(lifecycle::Input::Start(cause), None);
            let origin = Origin::node("reconcile");
            let started = handle.ask(|reply| Command::Life(request, origin, reply)).await;
            if let Ok(Err(error)) | Err(error) = started {
                tracing::warn!(agent = %handle.name, %error, "cannot start");
            }
        }
    };
    shared.tasks.spawn(work);
}
