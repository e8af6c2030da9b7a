//! Automations as capabilities: a call of one has it fire, by hand.
//!
//! Owns what of an automation is offered and to whom. What firing does, and as whom, is the business of
//! [`crate::automations`]; a call is the method's own call by whoever calls, as with those of the node.

use edgeplane_connector::sorted;
use edgeplane_proof::digest;
use edgeplane_types::{AgentName, BackingKind, CapabilityId, CapabilityKind, ErrorName, Permission};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Map, Value, json};

use super::{
    By,
    offered::{Backing, Found, Offer, Unfound, id_from, no_capability},
};
use crate::{
    automations::{self, InForce},
    caller::Caller,
    shared::Shared,
};

/// The method that a call is.
pub(super) const METHOD: &str = "capability/automation.fire";

/// What is called of an automation.
const FIRE: &str = "fire";

/// What holds for calls: whoever sees it may have it fire.
pub(super) const RULE: &str = "automation";

/// The rule by which an automation has no other one fire.
const NO_CIRCLES: &str = "automations-fire-none";

fn name_of(name: &str) -> String {
    format!("{}{name}/{FIRE}", BackingKind::Automation.prefix())
}

/// The id of an automation as a capability.
pub(super) fn id_of(name: &AgentName) -> CapabilityId {
    id_from(&name_of(name.as_str()))
}

/// Every automation that is declared.
pub(super) async fn all(shared: &Shared) -> Result<Vec<Found>, RpcError> {
    Ok(automations::all(shared).await?.into_iter().map(found).collect())
}

/// The automation of this name or id; nothing if it is none of one.
pub(super) async fn find(
    shared: &Shared,
    (text, wanted): (&str, Option<CapabilityId>),
) -> Result<Option<Found>, Unfound> {
    if let Some(rest) = text.strip_prefix(BackingKind::Automation.prefix()) {
        let name = rest.strip_suffix(&format!("/{FIRE}"));
        let one = name.map(|name| automations::one(shared, name)).transpose()?.flatten();
        return one.map(|one| Some(found(one))).ok_or_else(|| no_capability(text).into());
    }
    let Some(wanted) = wanted else { return Ok(None) };
    Ok(all(shared).await?.into_iter().find(|found| found.id() == wanted))
}

fn found(automation: InForce) -> Found {
    let input_schema = object(json!({
        "type": "object",
        "properties": { "event": {
            "description": "What is found below `event` in its placeholders; whole numbers only.",
        } },
        "additionalProperties": false,
    }));
    let spec = &*automation.spec;
    let said = json!({ "name": automation.name, "spec": spec, "input": input_schema });
    let offer = Offer {
        kind: CapabilityKind::Automation,
        native_id: FIRE.to_owned(),
        title: None,
        description: spec.description.clone(),
        input_schema,
        output_schema: None,
        annotations: None,
        digest: digest(sorted(&said).to_string().as_bytes()).to_string(),
    };
    Found { backing: Backing::Automation(Box::new(automation)), offer }
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

/// Whether somebody may know of it: of an automation, whom it concerns.
pub(super) fn is_seen_by(found: &Found, caller: &Caller) -> bool {
    match &found.backing {
        Backing::Automation(automation) => automation.concerns(caller),
        Backing::Connector(_) | Backing::Agent(_) | Backing::Builtin(..) | Backing::Workflow(_) => true,
    }
}

/// What holds for a call, before the rules are asked.
pub(super) fn holds(automation: &InForce) -> (Permission, &'static str, String) {
    (Permission::Allow, RULE, format!("automation `{}`", automation.name))
}

/// What the method is given for a call.
///
/// # Errors
/// When an automation calls: circles of them end by their hops, and a call of one has none. When another is named.
pub(super) fn params(by: &By<'_>, automation: &InForce, input: &Value) -> Result<Value, RpcError> {
    if by.caller.automation.is_some() {
        let what = format!("an automation has no other one fire: rule {NO_CIRCLES}");
        return Err(RpcError::new(ErrorName::PermissionDenied, what)
            .hint("have the other one fire for an event that this one causes"));
    }
    let mut params = match input {
        Value::Object(entries) => entries.clone(),
        _ => Map::new(),
    };
    match params.insert("name".to_owned(), json!(automation.name)) {
        None => Ok(Value::Object(params)),
        Some(_) => Err(RpcError::new(ErrorName::InvalidParams, "`input` has `event`, and no `name`")),
    }
}
