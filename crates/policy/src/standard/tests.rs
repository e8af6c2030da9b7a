//! Who may do what where nobody wrote rules.

use std::sync::{Arc, LazyLock};

use edgeplane_types::{Authority, Channel, PolicyAction, Proof, Risk};

use super::*;
use crate::{
    Class, Decision, Request, Rules, SubjectKind,
    sample::{self, NO_AGENTS},
};

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(None, default_rules().unwrap()));

/// What becomes of a request: the rule, and the authority where it passes.
fn outcome(class: &Class) -> (String, Option<Authority>) {
    match RULES.decide(&Request { class: class.clone(), bytes: 10 }, NO_AGENTS) {
        Decision::Permit(permit) => (permit.rules[0].rule.to_string(), Some(permit.authority)),
        Decision::Refuse(refusal) => (refusal.rule.to_string(), None),
    }
}

#[track_caller]
fn check(class: &Class, rule: &str, authority: Option<Authority>) {
    assert_eq!(outcome(class), (rule.to_owned(), authority), "{class:?}");
}

/// A message that could weigh everything.
fn message(kind: SubjectKind, channel: Channel) -> Class {
    sample::class(kind, channel)
}

/// Proves POL-018.
#[test]
fn operators_may_do_everything() {
    for action in PolicyAction::ALL {
        for authority in Authority::ALL {
            let mut class = message(SubjectKind::Operator, Channel::Operator);
            (class.action, class.authority, class.proof) = (*action, *authority, Proof::Uid);
            check(&class, "operators", Some(*authority));
        }
    }
}

/// Proves POL-019.
#[test]
fn agents_may_send_to_agents_of_their_tenant_and_nothing_else() {
    let class = message(SubjectKind::Agent, Channel::Peer);
    check(&class, "agents-to-agents", Some(Authority::Delegated));
    check(&Class { hops: 16, ..class.clone() }, "agents-to-agents", Some(Authority::Delegated));
    check(&Class { hops: 17, ..class.clone() }, "hop-limit", None);
    let light = Class { authority: Authority::Untrusted, ..class.clone() };
    check(&light, "agents-to-agents", Some(Authority::Untrusted));
    let Decision::Permit(permit) = RULES.judge(&class, NO_AGENTS) else { panic!("refused") };
    assert_eq!(permit.rate.unwrap().value.to_string(), "600/min");
    assert_eq!(permit.bytes_max.unwrap().value, 4 << 20);

    let mut abroad = class.clone();
    Arc::make_mut(&mut abroad.subject).tenant = "abroad".parse().unwrap();
    check(&abroad, "no-permit", None);
    for channel in
        [Channel::Operator, Channel::System, Channel::Scheduler, Channel::Workflow, Channel::External]
    {
        check(&Class { channel, ..class.clone() }, "no-permit", None);
    }
    for action in PolicyAction::ALL.iter().filter(|action| **action != PolicyAction::Send) {
        check(&Class { action: *action, ..class.clone() }, "no-permit", None);
        let mut itself = Class { action: *action, ..class.clone() };
        Arc::make_mut(&mut itself.subject).name = "beta".parse().unwrap();
        let (rule, authority) = match action {
            PolicyAction::Run => ("agents-run-commands", Some(Authority::Delegated)),
            PolicyAction::Invoke => ("agents-call-capabilities", Some(Authority::Delegated)),
            PolicyAction::Spawn => ("agents-start-subagents", Some(Authority::Delegated)),
            _ => ("no-permit", None),
        };
        let (found, granted) = outcome(&itself);
        assert_eq!((found.as_str(), granted.is_some()), (rule, authority.is_some()), "{itself:?}");
    }
}

/// Proves POL-019.
#[test]
fn agents_may_send_to_themselves() {
    for channel in [Channel::Peer, Channel::Scheduler] {
        let mut class = message(SubjectKind::Agent, channel);
        Arc::make_mut(&mut class.subject).name = "beta".parse().unwrap();
        let (_, authority) = outcome(&class);
        assert_eq!(authority, Some(Authority::Delegated), "{channel}");
        check(&Class { hops: 17, ..class }, "hop-limit", None);
    }
    check(&message(SubjectKind::Agent, Channel::Scheduler), "no-permit", None);
}

/// Proves POL-020.
#[test]
fn services_and_node_speak_on_their_channels() {
    for channel in Channel::ALL {
        let (rule, authority) = outcome(&message(SubjectKind::Service, *channel));
        match channel {
            Channel::Workflow => assert_eq!(authority, Some(Authority::Delegated)),
            Channel::Web => assert_eq!(rule, "submitted-pages"),
            Channel::Tool | Channel::Document => assert_eq!(rule, "submitted-content"),
            _ => assert_eq!(authority, None, "{channel}"),
        }
        let (_, authority) = outcome(&message(SubjectKind::Node, *channel));
        let speaks = [Channel::System, Channel::Scheduler, Channel::Workflow].contains(channel);
        assert_eq!(authority, speaks.then_some(Authority::Trusted), "{channel}");
    }
    for action in PolicyAction::ALL.iter().filter(|action| **action != PolicyAction::Send) {
        for kind in [SubjectKind::Service, SubjectKind::Node, SubjectKind::External] {
            let class = Class { action: *action, ..message(kind, Channel::Workflow) };
            check(&class, "no-permit", None);
        }
    }
}

/// Proves POL-021.
#[test]
fn submitted_content_weighs_little_whoever_brings_it() {
    for kind in SubjectKind::ALL {
        for (channel, rule, authority) in [
            (Channel::Web, "submitted-pages", Authority::Untrusted),
            (Channel::Tool, "submitted-content", Authority::External),
            (Channel::Document, "submitted-content", Authority::External),
        ] {
            match kind {
                SubjectKind::Operator | SubjectKind::Agent | SubjectKind::Service => {
                    check(&message(*kind, channel), rule, Some(authority));
                }
                SubjectKind::Node | SubjectKind::External => {
                    check(&message(*kind, channel), "no-permit", None);
                }
            }
        }
    }
}

/// Proves POL-020.
#[test]
fn the_unproven_are_heard_a_little_and_not_by_agents_of_high_risk() {
    let mut class = message(SubjectKind::External, Channel::External);
    class.proof = Proof::None;
    check(&class, "external", Some(Authority::External));
    let Decision::Permit(permit) = RULES.judge(&class, NO_AGENTS) else { panic!("refused") };
    assert_eq!(permit.rate.unwrap().value.to_string(), "60/min");
    assert_eq!(permit.bytes_max.unwrap().value, 64 << 10);
    for channel in Channel::ALL.iter().filter(|channel| **channel != Channel::External) {
        check(&Class { channel: *channel, ..class.clone() }, "no-permit", None);
    }
    Arc::make_mut(&mut class.target).risk = Risk::High;
    for proof in Proof::ALL {
        check(&Class { proof: *proof, ..class.clone() }, "high-risk-needs-proof", None);
    }

    let mut class = message(SubjectKind::Agent, Channel::Peer);
    Arc::make_mut(&mut class.target).risk = Risk::High;
    check(&class, "agents-to-agents", Some(Authority::Delegated));
    for proof in [Proof::None, Proof::Disagreement] {
        check(&Class { proof, ..class.clone() }, "high-risk-needs-proof", None);
    }
}

/// Proves POL-020.
#[test]
fn contradictory_proof_is_never_followed() {
    for kind in SubjectKind::ALL {
        for channel in Channel::ALL {
            for action in PolicyAction::ALL {
                let class = Class { proof: Proof::Disagreement, action: *action, ..message(*kind, *channel) };
                let (rule, authority) = outcome(&class);
                assert!(matches!(authority, None | Some(Authority::Untrusted)), "{class:?}: {rule}");
            }
        }
    }
    let class = Class { proof: Proof::Disagreement, ..message(SubjectKind::Agent, Channel::Peer) };
    check(&class, "contradictory-proof", Some(Authority::Untrusted));
}
