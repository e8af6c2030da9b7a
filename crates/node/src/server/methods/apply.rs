//! Declaring agents, their schedules and resources: parsed, checked against the node, and taken whole or not at all.

mod replicas;
mod resources;
mod schedules;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use edgeplane_lifecycle as lifecycle;
use edgeplane_manifest::{
    AutomationManifest, ConnectorManifest, Driver, FilePath, Manifest, OpenTurn, Problem, RunState,
    ScheduleManifest, SecretForm, Set, SourceFile, Sourced, StateKind, WorkflowManifest, parse_set,
};
use edgeplane_types::{AgentName, Desired, ErrorName, Generation, Phase, StreamName, Tenant, fact::Cause};
use edgeplane_wire::{
    api::agent::{Applied, ApplyParams, ApplyResult, Change, Document},
    rpc::RpcError,
};

use self::{resources::ResourcePlan, schedules::SchedulePlan};
use super::{Session, agents::reached};
use crate::{
    agent::{self, AgentHandle, AgentIdentity, Birth, Command, LifeRequest},
    artifact,
    profile::own_rules,
    record::{Draft, Origin, refused},
    schedule::Declared,
    shared::Shared,
};

/// How long an agent waits for those that it depends on before it is started without them.
const DEPENDENCY_TIME_MAX: Duration = Duration::from_secs(60);

/// What is to be done about one manifest.
struct Plan {
    manifest: Arc<Manifest>,
    known: Option<(AgentHandle, Generation)>,
    change: Change,
    /// Whether more changes than its schedules, which need no restart.
    concerns_program: bool,
}

pub(in crate::server) async fn apply(
    session: &Session,
    params: ApplyParams,
) -> Result<ApplyResult, RpcError> {
    let Documents { manifests, schedules, of_resources } = read(session, &params)?;
    let plans = plan(session, manifests).await?;
    let schedules = schedules::plan(session, &plans, schedules)?;
    let resources = resources::check(session, &params, of_resources)?;
    let described = schedules.iter().flat_map(SchedulePlan::describe).collect();
    if params.dry_run {
        let resources = resources::plan(session, resources)?.iter().map(ResourcePlan::describe).collect();
        return Ok(ApplyResult {
            items: plans.iter().map(describe).collect(),
            schedules: described,
            resources,
        });
    }
    let origin = Origin::actor(session.caller.actor());
    let mut items: BTreeMap<usize, Applied> = BTreeMap::new();
    // What is planned of resources must be so still when it is durable.
    let changing = session.shared.resources.changing.lock().await;
    let resources = resources::plan(session, resources)?;
    let mut draft = Draft::default();
    resources::draft(session, &mut draft, &resources, &origin)?;
    let created = create(session, (&plans, &schedules), &origin, draft).await?;
    drop(changing);
    session.shared.automations.wake();
    let mut started = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        let mut applied = describe(plan);
        match (&plan.known, plan.change) {
            (Some(_), Change::Updated) => {
                let generation = update(&schedules, plan, &origin).await?;
                applied.generation = generation.unwrap_or(applied.generation);
                applied.note = plan.note();
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
            (Some(_), Change::Created | Change::Unchanged | Change::Removed) => {}
        }
        items.insert(index, applied);
    }
    update_schedules(&plans, &schedules, &origin).await?;
    for (handle, manifest) in started {
        start_when_ready(&session.shared, handle, &manifest, Cause::Manifest);
    }
    let resources = resources.iter().map(ResourcePlan::describe).collect();
    Ok(ApplyResult { items: items.into_values().collect(), schedules: described, resources })
}

/// Hands schedules of their own documents to agents that are not updated otherwise.
async fn update_schedules(
    plans: &[Plan],
    schedules: &[SchedulePlan],
    origin: &Origin,
) -> Result<(), RpcError> {
    for others in schedules.iter().filter(|others| !others.is_unchanged()) {
        let is_updated = plans
            .iter()
            .any(|plan| plan.change == Change::Updated && plan.manifest.metadata.name == others.agent);
        if let (Some(handle), false) = (&others.known, is_updated) {
            let declared = Declared { manifest: None, schedules: others.alone.clone() };
            let origin = origin.clone();
            handle.ask(|reply| Command::Update(declared, origin, reply)).await??;
        }
    }
    Ok(())
}

impl Plan {
    /// What an update means for a program that runs.
    fn note(&self) -> Option<String> {
        let (handle, _) = self.known.as_ref()?;
        let runs = matches!(handle.summary.borrow().phase, Phase::Running | Phase::Frozen);
        if handle.profile().replicas.is_some() {
            let note = "each replica takes it up with its next epoch".to_owned();
            return (runs && self.concerns_program).then_some(note);
        }
        (runs && self.concerns_program)
            .then(|| format!("takes effect with `edgeplane agent restart {}`", handle.name))
    }
}

/// Hands a manifest that is new to an agent that is known, with all of its schedules.
async fn update(
    schedules: &[SchedulePlan],
    plan: &Plan,
    origin: &Origin,
) -> Result<Option<Generation>, RpcError> {
    let Some((handle, _)) = &plan.known else { return Ok(None) };
    let alone = schedules.iter().find(|schedules| schedules.agent == handle.name);
    let declared = Declared {
        manifest: Some(Arc::clone(&plan.manifest)),
        schedules: alone.map(|plan| plan.alone.clone()).unwrap_or_default(),
    };
    let origin = origin.clone();
    handle.ask(|reply| Command::Update(declared, origin, reply)).await?.map(Some)
}

/// What the documents declare.
struct Documents {
    manifests: Vec<Manifest>,
    schedules: Vec<Sourced<ScheduleManifest>>,
    of_resources: OfResources,
}

/// The documents that are resources.
struct OfResources {
    connectors: Vec<Sourced<ConnectorManifest>>,
    automations: Vec<Sourced<AutomationManifest>>,
    workflows: Vec<Sourced<WorkflowManifest>>,
}

/// Reads the documents; everything that is wrong comes back at once.
fn read(session: &Session, params: &ApplyParams) -> Result<Documents, RpcError> {
    if params.documents.is_empty() {
        return Err(RpcError::new(ErrorName::InvalidParams, "nothing to apply"));
    }
    let files: Vec<SourceFile<'_>> = params
        .documents
        .iter()
        .map(|document| SourceFile { name: &document.file, text: &document.text })
        .collect();
    let set = parse_set(&files).map_err(|problems| wrong(&problems))?;
    let mut manifests = Vec::new();
    for found in set.agents {
        let folder = folder_of(params, &found.file)?;
        let resolved = found.manifest.resolved_from(&folder).map_err(|error| {
            RpcError::new(ErrorName::InvalidManifest, format!("{}:{}: {error}", found.file, found.line))
        })?;
        if let Err(problems) = own_rules(&resolved) {
            let lines: Vec<String> =
                problems.iter().map(|problem| format!("{}:{}: {problem}", found.file, found.line)).collect();
            return Err(RpcError::new(ErrorName::InvalidManifest, lines.join("\n"))
                .hint("nothing was changed; lines and columns are those of the rules' own text"));
        }
        if let Driver::Terminal { adapter: Some(name), .. } = &resolved.spec.driver
            && session.shared.adapters.get(name.as_str()).is_none()
        {
            let error = format!("{}:{}: there is no adapter `{name}`", found.file, found.line);
            return Err(RpcError::new(ErrorName::InvalidManifest, error)
                .hint("`edgeplane adapter list` shows those there are"));
        }
        if let Some(what) = crate::agent::runner_problem(&resolved, &session.shared.runner) {
            let error = format!("{}:{}: spec.user: {what}", found.file, found.line);
            return Err(RpcError::new(ErrorName::InvalidManifest, error));
        }
        if let Some(what) = not_served(&resolved) {
            let error = format!("{}:{}: {what} is not served by this version", found.file, found.line);
            return Err(RpcError::new(ErrorName::InvalidManifest, error));
        }
        manifests.push(resolved);
    }
    let Set { schedules, connectors, automations, workflows, .. } = set;
    let of_resources = OfResources { connectors, automations, workflows };
    Ok(Documents { manifests, schedules, of_resources })
}

/// The one agent that a text declares, held to all that is checked of agents that are applied.
pub(super) fn read_one(session: &Session, text: &str, folder: &str) -> Result<Manifest, RpcError> {
    let (file, text, folder) = ("manifest".to_owned(), text.to_owned(), folder.to_owned());
    let params = ApplyParams { documents: vec![Document { file, text, folder }], dry_run: true };
    let Documents { mut manifests, schedules, of_resources } = read(session, &params)?;
    let OfResources { connectors, automations, workflows } = of_resources;
    let others = schedules.len() + connectors.len() + automations.len() + workflows.len();
    match manifests.pop() {
        Some(manifest) if manifests.is_empty() && others == 0 => Ok(manifest),
        _ => Err(RpcError::new(
            ErrorName::InvalidManifest,
            "the text is to declare one agent and nothing else",
        )),
    }
}

/// The folder of a file.
fn folder_of(params: &ApplyParams, file: &str) -> Result<FilePath, RpcError> {
    let document = params.documents.iter().find(|document| document.file == file);
    let folder = document.map_or("/", |document| document.folder.as_str());
    folder
        .parse()
        .map_err(|error| RpcError::new(ErrorName::InvalidParams, format!("`folder` of {file}: {error}")))
}

/// What a manifest may say and this node does not do: it is refused instead of passed over.
fn not_served(manifest: &Manifest) -> Option<&'static str> {
    let spec = &manifest.spec;
    if spec.state == StateKind::Stateless && matches!(spec.driver, Driver::Terminal { .. }) {
        // Nothing on a screen says for certain that a task is over.
        return Some("spec.state: stateless with a terminal, which says no end of a task,");
    }
    if spec.delivery.open_turn == OpenTurn::Ask {
        return Some("spec.delivery.openTurn: ask");
    }
    if spec.secrets.iter().any(|secret| secret.form == SecretForm::Fd) {
        return Some("spec.secrets[].as: fd");
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
        replicas::check(session, &manifest, known.as_ref(), &in_set)?;
        let plan = match known {
            None => Plan {
                manifest: Arc::new(manifest),
                known: None,
                change: Change::Created,
                concerns_program: true,
            },
            Some(handle) => {
                let (current, generation) = handle.ask(Command::Manifest).await?;
                let manifest = artifact::resolved(&session.shared.agents_dir(), handle.id, manifest);
                let change = if *current == manifest { Change::Unchanged } else { Change::Updated };
                let concerns_program = !differ_in_schedules_only(&current, &manifest);
                Plan {
                    manifest: Arc::new(manifest),
                    known: Some((handle, generation)),
                    change,
                    concerns_program,
                }
            }
        };
        plans.push(plan);
    }
    Ok(plans)
}

fn differ_in_schedules_only(current: &Manifest, wanted: &Manifest) -> bool {
    let mut same = current.clone();
    same.spec.schedules.clone_from(&wanted.spec.schedules);
    same == *wanted
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

/// Makes every new agent of the set durable in one step with what is drafted, then brings up their engines.
async fn create(
    session: &Session,
    (plans, schedules): (&[Plan], &[SchedulePlan]),
    origin: &Origin,
    mut draft: Draft,
) -> Result<Vec<AgentHandle>, RpcError> {
    let shared = &session.shared;
    let mut births = Vec::new();
    for plan in plans.iter().filter(|plan| plan.known.is_none()) {
        let identity = AgentIdentity {
            id: shared.record.mint().id(),
            name: plan.manifest.metadata.name.clone(),
            tenant: Tenant::default(),
            session_id: shared.record.mint().id(),
            declared_at: shared.record.now(),
            set: None,
            parent: None,
        };
        let desired = match plan.manifest.spec.run {
            RunState::Running => Desired::Running,
            RunState::Stopped => Desired::Stopped,
        };
        let (manifest_digest, _) = draft.body(plan.manifest.canonical_text().into_bytes());
        let fact = identity.declared(manifest_digest, desired);
        shared.record.add(&mut draft, StreamName::Agent(identity.id), origin, fact);
        if let Some(schedules) = schedules.iter().find(|schedules| schedules.agent == identity.name) {
            schedules::draft(shared, &mut draft, origin, identity.id, schedules)?;
        }
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
