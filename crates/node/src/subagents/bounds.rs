//! What a child may be: made of its parent's manifest, and never more than that.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_manifest::{EnvValue, Limits, Manifest, RunState, Subagents};
use edgeplane_types::{
    AgentName, ErrorName, Isolation, PermissionIsolation, Risk, SafeLabel, WorkspaceIsolation,
};
use edgeplane_wire::{api::subagent::SubagentLimits, rpc::RpcError};
use serde_json::Value;

/// The rule that a narrowed child gets besides those of its parent.
const NARROWED: &str = r#"
@id("narrowed-subagent")
@reason("this subagent calls no capabilities")
forbid (principal is Agent, action == Action::"invoke", resource);
"#;

/// What is to be different from the parent.
#[derive(Debug, Default)]
pub(crate) struct Overrides<'a> {
    pub(crate) command: Option<&'a [String]>,
    pub(crate) environment: Option<&'a BTreeSet<String>>,
    pub(crate) labels: Option<&'a BTreeMap<String, SafeLabel>>,
    pub(crate) limits: Option<&'a SubagentLimits>,
}

fn wrong(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidManifest, what).hint("nothing was started")
}

/// A parent's manifest as that of a child: under its own name, without what comes to the parent's name.
pub(crate) fn derived(
    parent: &Manifest,
    name: AgentName,
    overrides: &Overrides<'_>,
) -> Result<Manifest, RpcError> {
    let mut manifest = parent.clone();
    manifest.metadata.name = name;
    let spec = &mut manifest.spec;
    spec.cwd = None;
    if let Some([program, args @ ..]) = overrides.command {
        (spec.command, spec.args) = (vec![program.clone()], args.to_vec());
    }
    if let Some(named) = overrides.environment {
        spec.env.retain(|name, _| named.contains(name.as_str()));
        spec.inherit_env.retain(|name| named.contains(name.as_str()));
    }
    keep_used_secrets(&mut manifest);
    manifest.spec.depends_on.clear();
    manifest.spec.schedules.clear();
    manifest.spec.subscriptions.clear();
    // Through the schema, so that what is said here is held to the rules of any manifest.
    let mut text = serde_json::to_value(&manifest).map_err(|error| {
        RpcError::new(ErrorName::Internal, format!("the manifest cannot be made: {error}"))
    })?;
    if let Some(labels) = overrides.labels {
        text["metadata"]["labels"] = serde_json::to_value(labels).unwrap_or(Value::Null);
    }
    if let Some(SubagentLimits { memory, pids, cpu, open_files }) = overrides.limits {
        let limits = &mut text["spec"]["limits"];
        let given = [
            ("memory", memory.clone().map(Value::from)),
            ("pids", pids.map(Value::from)),
            ("cpu", cpu.clone().map(Value::from)),
            ("openFiles", open_files.map(Value::from)),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                limits[key] = value;
            }
        }
    }
    Manifest::from_json(&text).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        wrong(lines.join("\n"))
    })
}

/// Leaves no secret to a child that none of its variables speaks of.
fn keep_used_secrets(manifest: &mut Manifest) {
    let spec = &mut manifest.spec;
    let used: BTreeSet<&SafeLabel> = spec
        .env
        .values()
        .filter_map(|value| match value {
            EnvValue::Secret { secret } => Some(secret),
            EnvValue::Text(_) => None,
        })
        .collect();
    spec.secrets.retain(|secret| used.contains(&secret.name));
}

/// Makes a manifest that of a child: as whom it acts, where it works, what it may do and start.
pub(crate) fn as_child(
    parent: &Manifest,
    mut manifest: Manifest,
    isolation: Isolation,
    folder_of_parent: &str,
) -> Result<Manifest, RpcError> {
    let own = SafeLabel::from(&parent.metadata.name);
    let spec = &mut manifest.spec;
    spec.run = RunState::Running;
    spec.principal = Some(parent.spec.principal.clone().unwrap_or(own));
    match isolation.workspace {
        WorkspaceIsolation::Shared => {
            let folder = folder_of_parent.parse();
            spec.cwd = Some(folder.map_err(|error| wrong(format!("the folder of the parent: {error}")))?);
        }
        WorkspaceIsolation::Own | WorkspaceIsolation::Forked => {}
    }
    spec.subagents = narrower(parent.spec.subagents, spec.subagents);
    if isolation.permission == PermissionIsolation::Narrowed {
        spec.env.retain(|_, value| matches!(value, EnvValue::Text(_)));
        spec.secrets.clear();
        spec.inherit_env.clear();
        spec.subagents = None;
        let rules = spec.policy.take().unwrap_or_default();
        spec.policy = Some(format!("{}\n{NARROWED}", rules.trim_end()).trim_start().to_owned());
    }
    Ok(manifest)
}

/// What a child may start under itself: one generation less than its parent, and no more of them.
fn narrower(parent: Option<Subagents>, wanted: Option<Subagents>) -> Option<Subagents> {
    let parent = parent.filter(|parent| parent.depth > 1)?;
    let most = Subagents { max: parent.max, depth: parent.depth.saturating_sub(1) };
    let wanted = wanted?;
    Some(Subagents { max: wanted.max.min(most.max), depth: wanted.depth.min(most.depth) })
}

/// Refuses a child that would have more than its parent, and names what.
pub(crate) fn check_within(parent: &Manifest, child: &Manifest) -> Result<(), RpcError> {
    let (of_parent, of_child) = (&parent.spec, &child.spec);
    let more = |what: &str| {
        let name = &child.metadata.name;
        let text =
            format!("subagent `{name}` would have more than its parent `{}`: {what}", parent.metadata.name);
        Err(wrong(text))
    };
    if of_child.user != of_parent.user {
        return more("spec.user is another one");
    }
    if of_parent.no_new_privs && !of_child.no_new_privs {
        return more("spec.noNewPrivs is off");
    }
    if let Some(secret) = of_child.secrets.iter().find(|secret| {
        !of_parent.secrets.iter().any(|known| known.name == secret.name && known.from == secret.from)
    }) {
        return more(&format!("spec.secrets names `{}`", secret.name));
    }
    if let Some(name) = of_child.inherit_env.iter().find(|name| !of_parent.inherit_env.contains(*name)) {
        return more(&format!("spec.inheritEnv names `{name}`"));
    }
    if let Some(what) = beyond(&of_parent.limits, &of_child.limits) {
        return more(&format!("spec.limits.{what}"));
    }
    if let Some(rules) = &of_parent.policy
        && !of_child.policy.as_ref().is_some_and(|own| own.starts_with(rules.trim()))
    {
        return more("spec.policy lacks its parent's rules, which come first");
    }
    if rank(of_child.risk) < rank(of_parent.risk) {
        return more("spec.risk is lower, and rules look at it");
    }
    Ok(())
}

fn rank(risk: Risk) -> u8 {
    match risk {
        Risk::Low => 0,
        Risk::Medium => 1,
        Risk::High => 2,
    }
}

/// Which limit of a parent its child would be beyond.
fn beyond(parent: &Limits, child: &Limits) -> Option<&'static str> {
    fn is_beyond<T: PartialOrd>(parent: Option<T>, child: Option<T>) -> bool {
        parent.is_some_and(|most| child.is_none_or(|own| own > most))
    }
    let all = [
        ("memory", is_beyond(parent.memory, child.memory)),
        ("pids", is_beyond(parent.pids, child.pids)),
        ("cpu", is_beyond(parent.cpu, child.cpu)),
        ("openFiles", is_beyond(parent.open_files, child.open_files)),
        ("bestEffort", child.best_effort && !parent.best_effort),
    ];
    all.into_iter().find(|(_, is_beyond)| *is_beyond).map(|(name, _)| name)
}

#[cfg(test)]
#[path = "bounds/tests.rs"]
mod tests;
