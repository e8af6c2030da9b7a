//! Methods of the node as capabilities: those that agents use, named `edgeplane:METHOD`.
//!
//! Owns which methods these are. What each takes, gives and does is said by the catalogue; who may is decided as if
//! whoever calls had called the method itself, with no more scope and no more authority.

use std::sync::Arc;

use edgeplane_connector::sorted;
use edgeplane_proof::digest;
use edgeplane_types::{
    BackingKind, CapabilityId, CapabilityKind, EffectClass, ErrorName, InvocationId, InvocationState,
    Permission, StreamName, error::Effect, fact::InvocationEnded,
};
use edgeplane_wire::{
    catalogue::{self, Method, MethodEffect},
    rpc::RpcError,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    By, automation,
    ending::{end_as, ending},
    offered::{Backing, Found, Offer, Unfound, id_from, no_capability},
};
use crate::{record::Origin, server::Prepared, shared::Shared};

/// The methods that are capabilities. Not those that wait, that open something on a connection, or that only operators
/// may call; nor those of capabilities, which would lead in a circle.
const OFFERED: &[&str] = &[
    "memory/entry.delete",
    "memory/entry.get",
    "memory/entry.list",
    "memory/entry.put",
    "runtime/agent.get",
    "runtime/agent.list",
    "runtime/agent.signal",
    "runtime/message.get",
    "runtime/run.get",
    "runtime/run.list",
    "runtime/task.cancel",
    "runtime/task.complete",
    "runtime/task.create",
    "runtime/task.fail",
    "runtime/task.get",
    "runtime/task.graph",
    "runtime/task.list",
    "runtime/task.progress",
    "runtime/task.retry",
    "runtime/task.start",
    "workspace/checkpoint.create",
    "workspace/checkpoint.diff",
    "workspace/checkpoint.get",
    "workspace/checkpoint.list",
    "workspace/file.delete",
    "workspace/file.list",
    "workspace/file.move",
    "workspace/file.read",
    "workspace/file.search",
    "workspace/file.stat",
    "workspace/file.write",
    "workspace/get",
    "workspace/list",
];

/// What holds for their calls: whoever may call the method may call it so.
pub(super) const RULE: &str = "builtin";

/// Longest time that a call may take, in milliseconds. None of them waits for anything.
pub(super) const TIMEOUT_MS: u64 = 60_000;

/// What the node itself offers.
pub(super) fn all(shared: &Shared) -> &[Found] {
    shared.capabilities.builtins.get_or_init(|| OFFERED.iter().filter_map(|name| found(name)).collect())
}

fn found(name: &str) -> Option<Found> {
    let method = catalogue::find(name)?;
    let (profile, native_id) = name.split_once('/')?;
    let input_schema = object(method.params_schema());
    let output_schema = object(method.result_schema());
    let said = json!({
        "name": name, "summary": method.summary, "effect": method.effect.as_str(),
        "input": input_schema, "output": output_schema,
    });
    let offer = Offer {
        kind: CapabilityKind::Operation,
        native_id: native_id.to_owned(),
        title: None,
        description: Some(method.summary.trim().to_owned()),
        input_schema,
        output_schema: Some(output_schema),
        annotations: None,
        digest: digest(sorted(&said).to_string().as_bytes()).to_string(),
    };
    Some(Found { backing: Backing::Builtin(method, profile.parse().ok()?), offer })
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

/// What a method does at most, as the catalogue says.
pub(super) fn effect(method: &Method) -> EffectClass {
    match method.effect {
        MethodEffect::Read => EffectClass::Read,
        MethodEffect::Write => EffectClass::Write,
    }
}

/// What holds for a call, before the rules are asked.
pub(super) fn holds() -> (Permission, &'static str, String) {
    (Permission::Allow, RULE, "the node".to_owned())
}

/// The id of a method as a capability.
pub(super) fn id(method: &Method) -> CapabilityId {
    id_from(&format!("{}{}", BackingKind::Builtin.prefix(), method.name))
}

/// What the node offers by this name or id; nothing if it is nothing of the node.
pub(super) fn find(
    shared: &Shared,
    (text, wanted): (&str, Option<CapabilityId>),
) -> Result<Option<Found>, Unfound> {
    let Some(name) = text.strip_prefix(BackingKind::Builtin.prefix()) else {
        let by_id = |wanted| all(shared).iter().find(|found| found.id() == wanted).cloned();
        return Ok(wanted.and_then(by_id));
    };
    let is_it = |found: &&Found| matches!(&found.backing, Backing::Builtin(method, _) if method.name == name);
    all(shared).iter().find(is_it).cloned().map(Some).ok_or_else(|| no_capability(text).into())
}

/// Reads a call of a method as whoever calls; nothing if it is none.
///
/// # Errors
/// What the method itself would answer to a caller that may not call it, or gives what it does not take.
pub(super) fn prepared(
    shared: &Arc<Shared>,
    by: &By<'_>,
    found: &Found,
    input: &Value,
) -> Result<Option<Prepared>, RpcError> {
    let (method, params) = match &found.backing {
        Backing::Builtin(method, _) => (method.name, input.clone()),
        Backing::Automation(of) => (automation::METHOD, automation::params(by, of, input)?),
        Backing::Connector(_) | Backing::Agent(_) | Backing::Workflow(_) => return Ok(None),
    };
    Prepared::new(shared, by.caller, method, params).map(Some)
}

/// Makes a call whose intent is durable, and tells the record what came of it, whoever waits.
pub(super) fn make(
    shared: &Arc<Shared>,
    (id, prepared): (InvocationId, Prepared),
    (stream, origin): (StreamName, Origin),
    (timeout_ms, stop): (u64, CancellationToken),
) {
    let of_task = Arc::clone(shared);
    shared.tasks.spawn(async move {
        let shared = of_task;
        let time = std::time::Duration::from_millis(timeout_ms);
        shared.failpoint("invocation.begun");
        // Cancel-safe: what a method had done when it is dropped is not known, and said so.
        let how = tokio::select! {
            answer = prepared.serve() => ended(id, answer),
            () = tokio::time::sleep(time) => {
                ending(id, InvocationState::OutcomeUnknown, "it was not done in time".to_owned())
            }
            () = stop.cancelled() => ending(id, InvocationState::Cancelled, "it was taken back".to_owned()),
            () = shared.stopping.cancelled() => return,
        };
        end_as(&shared, (stream, origin), id, how).await;
    });
}

fn ended(id: InvocationId, answer: Result<Value, RpcError>) -> (InvocationEnded, Vec<u8>) {
    match answer {
        Ok(output) => {
            let (ended, _) = ending(id, InvocationState::Succeeded, String::new());
            (InvocationEnded { reason: None, ..ended }, serde_json::to_vec(&output).unwrap_or_default())
        }
        Err(error) => {
            let state = match error.data.effect {
                Effect::Unknown => InvocationState::OutcomeUnknown,
                Effect::None | Effect::Applied => InvocationState::Failed,
            };
            let name = error.name();
            ending(id, state, format!("{}: {}", ErrorName::as_str(name), error.message))
        }
    }
}

#[cfg(test)]
mod tests {
    use edgeplane_wire::catalogue::{Audience, opening::is_opening};

    use super::*;

    /// Proves CAP-036.
    #[test]
    fn what_is_offered_is_in_the_catalogue_and_for_agents() {
        for name in OFFERED {
            let found = found(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"));
            let Backing::Builtin(method, _) = &found.backing else { panic!("{name}") };
            assert!(method.audience != Audience::Operator && !is_opening(name), "{name}");
            assert!(!name.starts_with("capability/"), "{name}");
            assert_eq!(found.name(), format!("edgeplane:{name}"));
            assert_eq!(found.offer.input_schema["type"], "object", "{name}");
            assert_eq!(found.effect().class.as_str(), method.effect.as_str(), "{name}");
        }
        let mut sorted = OFFERED.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted, OFFERED);
    }
}
