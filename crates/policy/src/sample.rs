//! Requests and rules for tests: an agent `alpha` that sends to an agent `beta`.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_types::{
    Assurance, Authority, Channel, Ingress, PolicyAction, PolicyLayer, Proof, Risk, Tenant,
};

use crate::{
    AgentLayers, Class, Decision, LayerRules, Permit, Refusal, Request, RuleFile, Rules, Subject,
    SubjectKind, Target, compile,
};

/// One who speaks, with nothing against it.
pub(crate) fn subject(kind: SubjectKind, name: &str) -> Subject {
    Subject {
        kind,
        name: name.parse().unwrap(),
        tenant: Tenant::default(),
        labels: BTreeSet::new(),
        risk: Risk::Medium,
        principal: name.parse().unwrap(),
        authority_max: Authority::Trusted,
    }
}

pub(crate) fn target(name: &str) -> Target {
    Target {
        name: name.parse().unwrap(),
        tenant: Tenant::default(),
        labels: BTreeSet::new(),
        risk: Risk::Medium,
        principal: name.parse().unwrap(),
    }
}

pub(crate) fn class(kind: SubjectKind, channel: Channel) -> Class {
    Class {
        action: PolicyAction::Send,
        subject: Arc::new(subject(kind, "alpha")),
        target: Arc::new(target("beta")),
        channel,
        ingress: Ingress::Signal,
        authority: Authority::Trusted,
        proof: Proof::CgroupAndAncestry,
        assurance: Assurance::Open,
        hops: 1,
        topic: None,
        capability: None,
        user: None,
    }
}

/// A message of an agent to another.
pub(crate) fn request() -> Request {
    Request { class: class(SubjectKind::Agent, Channel::Peer), bytes: 100 }
}

pub(crate) fn layer(layer: PolicyLayer, text: &str) -> LayerRules {
    compile(layer, &[RuleFile { name: "rules.cedar", text }])
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// Rules of the node alone.
pub(crate) fn node(text: &str) -> Rules {
    Rules::new(None, layer(PolicyLayer::Node, text))
}

/// Rules of organisation and node.
pub(crate) fn both(organisation: &str, node: &str) -> Rules {
    Rules::new(Some(layer(PolicyLayer::Organisation, organisation)), layer(PolicyLayer::Node, node))
}

pub(crate) const NO_AGENTS: AgentLayers<'static> = AgentLayers { target: None, sender: None };

#[track_caller]
pub(crate) fn permitted(decision: Decision) -> Permit {
    match decision {
        Decision::Permit(permit) => permit,
        Decision::Refuse(refusal) => panic!("refused: {refusal:?}"),
    }
}

#[track_caller]
pub(crate) fn refused(decision: Decision) -> Refusal {
    match decision {
        Decision::Permit(permit) => panic!("permitted: {permit:?}"),
        Decision::Refuse(refusal) => refusal,
    }
}
