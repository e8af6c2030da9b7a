//! Reading an agent without running it: what it is, what it needs, what of that is missing.
//!
//! The caller looks at the machine: [`requirements`] says at what, [`Found`] carries the answers back, and
//! [`describe`] puts both together. Nothing here needs a daemon, starts a program or installs anything.

use std::collections::BTreeMap;

use edgeplane_types::AgentName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Deployment, Driver, EnvValue, FetchSource, InlineSchedule, Manifest, Metadata, Offers, Port, PrepareStep,
    SecretSource, Skill, StateKind, is_env_passed,
    problem::field,
    relations::all_commands,
    words::{Digest, EnvName, FilePath},
};

/// Something of the machine or beyond it that an agent needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Need {
    /// A program: a bare name in `PATH`, or a path.
    Executable(String),
    /// A variable of the daemon's environment.
    Variable(EnvName),
    /// A file with a secret. Only whether it is there and can be read is asked, never what is in it.
    SecretFile(FilePath),
    /// A file or folder.
    Path(FilePath),
    /// Another agent.
    Agent(AgentName),
    /// A model.
    Model(String),
    /// An MCP server.
    McpServer(String),
    /// Another service.
    Service(String),
}

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It is.
    Present,
    /// It is not.
    Missing,
    /// Nobody looked, or it cannot be seen from here.
    Unknown,
}

/// What the caller found of what the agent needs. What is not in it is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found(BTreeMap<Need, Presence>);

impl Found {
    /// Nothing known yet.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Notes whether something is there.
    pub fn note(&mut self, need: Need, presence: Presence) {
        self.0.insert(need, presence);
    }

    /// What is known of it.
    #[must_use]
    pub fn presence(&self, need: &Need) -> Presence {
        self.0.get(need).copied().unwrap_or(Presence::Unknown)
    }
}

/// Something the agent needs, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// What.
    pub need: Need,
    /// The field of the manifest that asks for it.
    pub field: String,
    /// What it is for, where the manifest says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the agent cannot start without it.
    pub required: bool,
    /// Whether a step of preparation brings it, so that it may be missing before that.
    pub prepared: bool,
}

/// Lists everything outside the manifest that the agent needs, in the order of the manifest's fields.
#[must_use]
pub fn requirements(manifest: &Manifest) -> Vec<Requirement> {
    let spec = &manifest.spec;
    let mut all = List(Vec::new());
    let is_artifact = matches!(spec.deployment, Deployment::Artifact(_));
    let brings = !spec.prepare.is_empty() || is_artifact;
    for (path, command) in all_commands(spec) {
        let Some(program) = command.first() else { continue };
        all.add(Need::Executable(program.clone()), field(&path)).prepared = brings && program.contains('/');
    }
    if let Some(cwd) = &spec.cwd {
        all.add(Need::Path(cwd.clone()), "spec.cwd".to_owned()).prepared = brings;
    }
    for (index, need) in spec.needs.env.iter().enumerate() {
        if spec.inherit_env.contains(&need.name) || is_env_passed(need.name.as_str()) {
            let added = all.add(Need::Variable(need.name.clone()), format!("spec.needs.env[{index}]"));
            added.description.clone_from(&need.description);
            added.required = need.required;
        }
    }
    for name in &spec.inherit_env {
        if !spec.needs.env.iter().any(|need| need.name == *name) {
            all.add(Need::Variable(name.clone()), "spec.inheritEnv".to_owned()).required = false;
        }
    }
    for (index, secret) in spec.secrets.iter().enumerate() {
        let need = match &secret.from {
            SecretSource::File(path) => Need::SecretFile(path.clone()),
            SecretSource::Env(name) => Need::Variable(name.clone()),
        };
        let added = all.add(need, format!("spec.secrets[{index}]"));
        added.description.clone_from(&secret.description);
        added.required = secret.required;
    }
    for name in &spec.depends_on {
        all.add(Need::Agent(name.clone()), "spec.dependsOn".to_owned());
    }
    for (list, names, need) in [
        ("models", &spec.needs.models, Need::Model as fn(String) -> Need),
        ("mcpServers", &spec.needs.mcp_servers, Need::McpServer),
        ("services", &spec.needs.services, Need::Service),
    ] {
        for (index, name) in names.iter().enumerate() {
            all.add(need(name.clone()), format!("spec.needs.{list}[{index}]"));
        }
    }
    if let Deployment::Artifact(artifact) = &spec.deployment {
        all.add(Need::Path(artifact.path.clone()), "spec.deployment.artifact.path".to_owned());
    }
    for (index, step) in spec.prepare.iter().enumerate() {
        match step {
            PrepareStep::Run { .. } => {}
            PrepareStep::Fetch { fetch, .. } => {
                let FetchSource::File(path) = &fetch.from;
                all.add(Need::Path(path.clone()), format!("spec.prepare[{index}].fetch.from.file"));
            }
        }
    }
    all.0
}

/// The paths that say whether steps of preparation have been done, by the index of the step.
#[must_use]
pub fn prepared_paths(manifest: &Manifest) -> Vec<(usize, Need)> {
    let product = |step: &PrepareStep| match step {
        PrepareStep::Run { creates, .. } => creates.clone(),
        PrepareStep::Fetch { fetch, .. } => Some(fetch.to.clone()),
    };
    let steps = manifest.spec.prepare.iter().enumerate();
    steps.filter_map(|(index, step)| Some((index, Need::Path(product(step)?)))).collect()
}

struct List(Vec<Requirement>);

impl List {
    /// Adds a requirement that is necessary and not prepared; the caller may change both.
    fn add(&mut self, need: Need, field: String) -> &mut Requirement {
        self.0.push(Requirement { need, field, description: None, required: true, prepared: false });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

/// A requirement and whether it is met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// What is needed.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// Whether it is there.
    pub presence: Presence,
}

/// A step of preparation and whether it has been done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Preparation {
    /// The step as the manifest has it.
    pub step: PrepareStep,
    /// Whether what it makes is there; unknown where it does not say what it makes.
    pub done: Presence,
}

/// An agent as it can be read without running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// Name, description, version, licence, author, labels, annotations.
    pub metadata: Metadata,
    /// What it is good at.
    pub skills: Vec<Skill>,
    /// What it takes in a turn.
    pub inputs: Vec<Port>,
    /// What it gives back.
    pub outputs: Vec<Port>,
    /// What it can do beyond taking messages and answering.
    pub offers: Offers,
    /// Whether it remembers.
    pub state: StateKind,
    /// How messages reach its program.
    pub driver: Driver,
    /// The program and all its arguments.
    pub command: Vec<String>,
    /// Variables that the manifest itself sets, without their values.
    pub variables: Vec<EnvName>,
    /// Whether its program is barred from gaining rights.
    pub no_new_privs: bool,
    /// What it needs, and what of that is there.
    pub configuration: Vec<Configuration>,
    /// Agents that are started before it.
    pub depends_on: Vec<AgentName>,
    /// Messages that come to it by the clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<InlineSchedule>,
    /// In which form it is brought.
    pub deployment: Deployment,
    /// What makes it ready to run, and what of that has been done.
    pub prepare: Vec<Preparation>,
    /// Whether anything is in the way of its start, as far as can be seen from here.
    pub readiness: Readiness,
    /// Digest of the manifest's canonical form.
    pub digest: Digest,
}

/// Whether anything is in the way of an agent's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// Nothing that is required is known to be missing.
    Ready,
    /// Only what preparation brings is missing: it has to be installed.
    NeedsInstall,
    /// Something required is missing that only a person can bring.
    Incomplete,
}

impl Description {
    /// What is required and missing and not brought by preparation.
    pub fn missing(&self) -> impl Iterator<Item = &Requirement> {
        self.configuration.iter().filter(|item| is_in_the_way(item)).map(|item| &item.requirement)
    }
}

fn is_in_the_way(item: &Configuration) -> bool {
    item.requirement.required && !item.requirement.prepared && item.presence == Presence::Missing
}

/// Describes an agent by its manifest and by what the caller found of what it needs.
#[must_use]
pub fn describe(manifest: &Manifest, found: &Found) -> Description {
    let spec = &manifest.spec;
    let configuration: Vec<_> = requirements(manifest)
        .into_iter()
        .map(|requirement| Configuration { presence: found.presence(&requirement.need), requirement })
        .collect();
    let products: BTreeMap<usize, Need> = prepared_paths(manifest).into_iter().collect();
    let prepare: Vec<_> = spec
        .prepare
        .iter()
        .enumerate()
        .map(|(index, step)| Preparation {
            step: step.clone(),
            done: products.get(&index).map_or(Presence::Unknown, |need| found.presence(need)),
        })
        .collect();
    let awaits_install = prepare.iter().any(|step| step.done == Presence::Missing)
        || configuration.iter().any(|item| {
            item.requirement.required && item.requirement.prepared && item.presence == Presence::Missing
        });
    let readiness = if configuration.iter().any(is_in_the_way) {
        Readiness::Incomplete
    } else if awaits_install {
        Readiness::NeedsInstall
    } else {
        Readiness::Ready
    };
    let set_here = spec.env.iter().filter(|(_, value)| matches!(value, EnvValue::Text(_)));
    Description {
        metadata: manifest.metadata.clone(),
        skills: spec.skills.clone(),
        inputs: spec.inputs.clone(),
        outputs: spec.outputs.clone(),
        offers: spec.offers.clone(),
        state: spec.state,
        driver: spec.driver.clone(),
        command: spec.command.iter().chain(&spec.args).cloned().collect(),
        variables: set_here.map(|(name, _)| name.clone()).collect(),
        no_new_privs: spec.no_new_privs,
        configuration,
        depends_on: spec.depends_on.iter().cloned().collect(),
        schedules: spec.schedules.clone(),
        deployment: spec.deployment.clone(),
        prepare,
        readiness,
        digest: manifest.digest(),
    }
}
