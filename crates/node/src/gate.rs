//! The gate: whether a caller may do something to an agent, and by which rule.
//!
//! Owns the rules in force, the decisions that were made, what rates count and what refusals are noted. What a rule
//! says is the business of `policy`; who calls is decided before.

mod files;
mod rates;
mod refusals;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use edgeplane_policy::{
    AgentLayers, Class, Decision, Explanation, Permit, PolicyEngine, Refusal, Request, Rules, Subject,
    SubjectKind,
};
use edgeplane_types::{
    Authority, Channel, ErrorName, Ingress, MessageId, PolicyAction, PolicyLayer, Proof, Risk, SafeLabel,
    Tenant, Timestamp,
};
use edgeplane_wire::rpc::RpcError;

use crate::{agent::AgentHandle, caller::Caller, profile::Profile, shared::Shared};

pub(crate) use files::{reload, watch};

/// What is wanted.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) action: PolicyAction,
    pub(crate) caller: &'a Caller,
    pub(crate) target: &'a AgentHandle,
    pub(crate) channel: Channel,
    pub(crate) ingress: Ingress,
    /// What the words weigh by what is proven of the caller and of what led to them.
    pub(crate) authority: Authority,
    pub(crate) hops: u32,
    pub(crate) topic: Option<&'a SafeLabel>,
    /// What is called, as `CONNECTOR/NAME`.
    pub(crate) capability: Option<&'a str>,
    /// The message in whose turn a call is wanted.
    pub(crate) causation: Option<MessageId>,
    pub(crate) bytes: u64,
}

impl<'a> Asked<'a> {
    /// Something that is no message.
    pub(crate) fn act(action: PolicyAction, caller: &'a Caller, target: &'a AgentHandle) -> Self {
        Self {
            action,
            caller,
            target,
            channel: caller.channel(),
            ingress: Ingress::Signal,
            authority: caller.authority(),
            hops: 0,
            topic: None,
            capability: None,
            causation: None,
            bytes: 0,
        }
    }
}

/// What is granted.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) authority: Authority,
    /// The rule that let it pass: that of the lowest layer that had a say.
    pub(crate) rule: SafeLabel,
}

/// The rules in force and what they count.
#[derive(Debug)]
pub(crate) struct Gate {
    in_force: RwLock<Arc<InForce>>,
    engine: Arc<dyn PolicyEngine>,
    rates: Mutex<rates::Rates>,
    refusals: Mutex<refusals::Refusals>,
    /// The folder with those of the organisation and of the node.
    dir: PathBuf,
}

/// Rules, and since when they hold.
#[derive(Debug)]
pub(crate) struct InForce {
    pub(crate) rules: Rules,
    pub(crate) since: Timestamp,
    /// What is wrong with files that are there and not in force.
    pub(crate) rejected: Vec<String>,
}

impl Gate {
    /// The rules in force.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Decides, counts, and notes a refusal.
    ///
    /// # Errors
    /// `policy_blocked` or `rate_limited`, with the rule's name.
    pub(crate) fn decide(&self, shared: &Arc<Shared>, asked: &Asked<'_>) -> Result<Granted, RpcError> {
        let outcome = match self.would(shared, asked) {
            Decision::Permit(permit) => self.counted(shared, asked, permit),
            Decision::Refuse(refusal) => Err((refusal, None)),
        };
        outcome.map_err(|(refusal, retry_after_ms)| {
            self.note(shared, asked, &refusal);
            let Refusal { layer, rule, reason } = refusal;
            let text = format!("{reason}: rule {rule} of {}", owner(layer));
            if let Some(millis) = retry_after_ms {
                let error = RpcError::new(ErrorName::RateLimited, text).retry_after(millis);
                return error.hint("wait and send less often");
            }
            RpcError::new(ErrorName::PolicyBlocked, text).hint(format!(
                "`edgeplane policy explain --from {} --to {}` shows every rule that matched",
                asked.caller.principal, asked.target.name
            ))
        })
    }

    /// What would be decided, without counting it or noting a refusal.
    pub(crate) fn would(&self, shared: &Shared, asked: &Asked<'_>) -> Decision {
        let (target, sender) = (asked.target.profile(), sender_profile(shared, asked.caller));
        let request = request(asked, &target, sender.as_deref());
        let layers = AgentLayers {
            target: target.rules.as_deref(),
            sender: sender.as_ref().and_then(|sender| sender.rules.as_deref()),
        };
        let in_force = self.in_force();
        self.engine.decide(&in_force.rules, &request, layers)
    }

    /// A refusal comes with the time after which the rate lets one pass again.
    fn counted(
        &self,
        shared: &Shared,
        asked: &Asked<'_>,
        permit: Permit,
    ) -> Result<Granted, (Refusal, Option<u64>)> {
        if let Some(limit) = permit.rate {
            let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
            let pair = (asked.caller.principal.clone(), asked.caller.proof, asked.target.id);
            if let Err(millis) = rates.take(pair, limit.value, shared.record.monotonic_ms()) {
                let reason = format!(
                    "`{}` may send to agent `{}` {} times, not more often",
                    asked.caller.principal, asked.target.name, limit.value
                );
                return Err((Refusal { layer: limit.layer, rule: limit.rule, reason }, Some(millis)));
            }
        }
        let rule = permit.rules.last().map(|deciding| deciding.rule.clone());
        Ok(Granted {
            authority: permit.authority,
            rule: rule.unwrap_or_else(|| SafeLabel::sanitized("no-rule")),
        })
    }

    /// Refuses what is beyond a limit of the node that no rule lifts, and notes that like what a rule refuses.
    pub(crate) fn beyond(
        &self,
        shared: &Arc<Shared>,
        asked: &Asked<'_>,
        limit: &'static str,
        reason: String,
    ) -> RpcError {
        let error = RpcError::new(ErrorName::PolicyBlocked, format!("{reason}: rule {limit}"));
        let rule = SafeLabel::sanitized(limit);
        self.note(shared, asked, &Refusal { layer: PolicyLayer::Node, rule, reason });
        error
    }

    fn note(&self, shared: &Arc<Shared>, asked: &Asked<'_>, refusal: &Refusal) {
        let kind = refusals::Kind {
            action: asked.action,
            agent: asked.target.id,
            principal: asked.caller.principal.clone(),
            channel: (asked.action == PolicyAction::Send).then_some(asked.channel),
            capability: asked.capability.map(refusals::named),
            causation: asked.causation,
            layer: refusal.layer,
            rule: refusal.rule.clone(),
        };
        refusals::note(shared, kind, &refusal.reason);
    }

    /// What the rules would say, with every rule that matched.
    pub(crate) fn explain(&self, shared: &Shared, asked: &Asked<'_>, rules: &Rules) -> Explanation {
        let (target, sender) = (asked.target.profile(), sender_profile(shared, asked.caller));
        let request = request(asked, &target, sender.as_deref());
        let layers = AgentLayers {
            target: target.rules.as_deref(),
            sender: sender.as_ref().and_then(|sender| sender.rules.as_deref()),
        };
        self.engine.explain(rules, &request, layers)
    }
}

/// Whose rules those of a layer are, for people.
fn owner(layer: PolicyLayer) -> &'static str {
    match layer {
        PolicyLayer::Organisation => "the organisation",
        PolicyLayer::Node => "the node",
        PolicyLayer::Agent => "the agent's manifest",
    }
}

fn sender_profile(shared: &Shared, caller: &Caller) -> Option<Arc<Profile>> {
    let id = caller.agent.as_ref()?.id;
    Some(shared.agent_by_id(id)?.profile())
}

fn request(asked: &Asked<'_>, target: &Profile, sender: Option<&Profile>) -> Request {
    let caller = asked.caller;
    let subject = match sender {
        Some(sender) => Arc::clone(&sender.subject),
        None => Arc::new(Subject {
            kind: kind(caller),
            name: caller.principal.clone(),
            tenant: Tenant::default(),
            labels: BTreeSet::new(),
            risk: Risk::default(),
            principal: caller.principal.clone(),
            authority_max: caller.authority(),
        }),
    };
    let class = Class {
        action: asked.action,
        subject,
        target: Arc::clone(&target.target),
        channel: asked.channel,
        ingress: asked.ingress,
        authority: asked.authority,
        proof: caller.proof,
        assurance: caller.assurance,
        hops: asked.hops,
        topic: asked.topic.cloned(),
        capability: asked.capability.map(str::to_owned),
        user: caller.user_id().cloned(),
    };
    Request { class, bytes: asked.bytes }
}

fn kind(caller: &Caller) -> SubjectKind {
    match (&caller.agent, caller.proof) {
        (Some(_), _) => SubjectKind::Agent,
        (None, Proof::Uid | Proof::OperatorToken) => SubjectKind::Operator,
        (None, Proof::ServiceToken) => SubjectKind::Service,
        (None, Proof::Node) => SubjectKind::Node,
        (None, _) => SubjectKind::External,
    }
}
