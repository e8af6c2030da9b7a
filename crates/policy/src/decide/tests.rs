//! How layers meet, and what a refusal names.

use std::sync::Arc;

use edgeplane_types::{Channel, PolicyAction};

use super::*;
use crate::{
    SubjectKind,
    sample::{NO_AGENTS, both, layer, node, permitted, refused, request},
};

const ALL: &str = "@id(\"all\") permit (principal, action, resource);";

fn limited(id: &str, limits: &str) -> String {
    format!("@id(\"{id}\") {limits} permit (principal, action, resource);\n")
}

fn rule_of<T>(limit: Option<&Limit<T>>) -> (PolicyLayer, &str) {
    limit.map(|limit| (limit.layer, limit.rule.as_str())).unwrap()
}

/// Proves POL-001.
#[test]
fn every_layer_lowers_and_each_limit_names_its_rule() {
    let rules = both(
        &limited("org", "@authority(\"delegated\") @rate(\"60/min\") @bytes(\"4MiB\")"),
        &limited("node", "@authority(\"advisory\") @rate(\"600/min\") @bytes(\"64KiB\")"),
    );
    let target = layer(PolicyLayer::Agent, &limited("own", "@rate(\"100/h\")"));
    let sender = layer(PolicyLayer::Agent, &limited("mine", "@authority(\"external\") @bytes(\"1KiB\")"));

    let permit = permitted(rules.decide(&request(), NO_AGENTS));
    assert_eq!(permit.authority, Authority::Advisory);
    assert_eq!(rule_of(permit.rate.as_ref()), (PolicyLayer::Organisation, "org"));
    assert_eq!(rule_of(permit.bytes_max.as_ref()), (PolicyLayer::Node, "node"));

    let agents = AgentLayers { target: Some(&target), sender: Some(&sender) };
    let permit = permitted(rules.decide(&request(), agents));
    assert_eq!(permit.authority, Authority::External);
    assert_eq!(rule_of(permit.rate.as_ref()), (PolicyLayer::Agent, "own"));
    assert_eq!(permit.rate.unwrap().value.to_string(), "60/36min", "60 at once, and 100 each hour");
    assert_eq!(rule_of(permit.bytes_max.as_ref()), (PolicyLayer::Agent, "mine"));
    let named: Vec<(&str, &str)> =
        permit.rules.iter().map(|by| (by.layer.as_str(), by.rule.as_str())).collect();
    assert_eq!(named, [("organisation", "org"), ("node", "node"), ("agent", "own"), ("agent", "mine")]);
}

/// Proves POL-007.
#[test]
fn the_first_layer_that_refuses_is_named() {
    let no = "@id(\"no\") @reason(\"not on Sundays\") forbid (principal, action, resource);";
    let forbid = "@id(\"quiet\") forbid (principal, action, resource);";
    let sender = layer(PolicyLayer::Agent, &format!("{ALL}{forbid}"));
    let agents = AgentLayers { target: None, sender: Some(&sender) };

    let refusal = refused(both(ALL, ALL).decide(&request(), agents));
    assert_eq!((refusal.layer, refusal.rule.as_str()), (PolicyLayer::Agent, "quiet"));
    let expected =
        "rule quiet of the sending agent forbids agent alpha to send to agent beta on channel peer";
    assert_eq!(refusal.reason, expected);

    let refusal = refused(both(ALL, &format!("{ALL}{forbid}{no}")).decide(&request(), agents));
    assert_eq!((refusal.layer, refusal.rule.as_str()), (PolicyLayer::Node, "quiet"), "the first in the text");

    let refusal = refused(both(&format!("{ALL}{no}"), forbid).decide(&request(), agents));
    assert_eq!((refusal.layer, refusal.rule.as_str()), (PolicyLayer::Organisation, "no"));
    assert_eq!(refusal.reason, "not on Sundays");
}

/// Proves POL-008.
#[test]
fn what_no_rule_permits_is_refused() {
    let operators = "@id(\"operators\") permit (principal is Operator, action, resource);";
    for (rules, layer) in [
        (node(""), PolicyLayer::Node),
        (node(operators), PolicyLayer::Node),
        (both("", ""), PolicyLayer::Node),
        (both(operators, ALL), PolicyLayer::Organisation),
    ] {
        let refusal = refused(rules.decide(&request(), NO_AGENTS));
        assert_eq!((refusal.layer, refusal.rule.as_str()), (layer, NO_PERMIT));
        assert!(refusal.reason.ends_with("permits agent alpha to send to agent beta on channel peer"));
    }
    let empty = layer(PolicyLayer::Agent, "// nothing yet");
    let agents = AgentLayers { target: Some(&empty), sender: Some(&empty) };
    let permit = permitted(both("// nothing", ALL).decide(&request(), agents));
    assert_eq!(permit.rules.len(), 1, "only layers with rules have a say, and the node");
}

/// Proves POL-009.
#[test]
fn a_rule_that_cannot_be_evaluated_refuses() {
    let broken = "@id(\"broken\") EFFECT (principal, action, resource) when { context.hops * 9223372036854775807 < 3 };";
    for effect in ["permit", "forbid"] {
        let rules = node(&format!("{ALL}{}", broken.replace("EFFECT", effect)));
        permitted(rules.decide(&request(), NO_AGENTS));
        let mut request = request();
        request.class.hops = 2;
        let refusal = refused(rules.decide(&request, NO_AGENTS));
        assert_eq!((refusal.layer, refusal.rule.as_str()), (PolicyLayer::Node, RULE_ERROR));
        assert!(
            refusal.reason.starts_with("rule broken of the node could not be evaluated: "),
            "{refusal:?}"
        );
        assert!(refusal.reason.contains("overflow"), "{refusal:?}");
    }
}

/// Proves POL-010.
#[test]
fn content_over_a_limit_is_refused_by_the_rule_of_the_limit() {
    let rules = both(&limited("org", "@bytes(\"2KiB\")"), &limited("node", "@bytes(\"1KiB\")"));
    for (bytes, passes) in [(0, true), (1_024, true), (1_025, false), (u64::MAX, false)] {
        let decision = rules.decide(&Request { bytes, ..request() }, NO_AGENTS);
        assert_eq!(matches!(decision, Decision::Permit(_)), passes, "{bytes}");
    }
    let refusal = refused(rules.decide(&Request { bytes: 2_000, ..request() }, NO_AGENTS));
    assert_eq!((refusal.layer, refusal.rule.as_str()), (PolicyLayer::Node, "node"));
    assert_eq!(refusal.reason, "2000 bytes, and rule node grants at most 1024");
}

/// Proves POL-006.
#[test]
fn within_a_layer_the_most_generous_permit_holds() {
    let one = limited("one", "@authority(\"external\") @rate(\"60/min\") @bytes(\"1KiB\")");
    let two = limited("two", "@authority(\"delegated\") @rate(\"1/min\") @bytes(\"2KiB\")");
    let permit = permitted(node(&format!("{one}{two}")).decide(&request(), NO_AGENTS));
    assert_eq!((permit.authority, permit.rules[0].rule.as_str()), (Authority::Delegated, "two"));
    assert_eq!(rule_of(permit.rate.as_ref()), (PolicyLayer::Node, "one"));
    assert_eq!(permit.rate.unwrap().value.to_string(), "60/min");
    assert_eq!(permit.bytes_max.unwrap().value, 2_048);

    let permit = permitted(node(&format!("{one}{two}{ALL}")).decide(&request(), NO_AGENTS));
    assert_eq!((permit.authority, &permit.rate, &permit.bytes_max), (Authority::Trusted, &None, &None));
    assert_eq!(permit.rules[0].rule.as_str(), "all");
}

/// Proves POL-003.
#[test]
fn neither_proof_nor_ceiling_is_exceeded() {
    let rules = node(&limited("all", "@authority(\"trusted\")"));
    for proven in Authority::ALL {
        for ceiling in Authority::ALL {
            let mut request = request();
            request.class.authority = *proven;
            Arc::make_mut(&mut request.class.subject).authority_max = *ceiling;
            let permit = permitted(rules.decide(&request, NO_AGENTS));
            assert_eq!(permit.authority, proven.at_most(*ceiling), "{proven} {ceiling}");
        }
    }
}

#[test]
fn rules_see_what_the_words_weigh_and_each_action() {
    let text = "@id(\"heavy\") permit (principal, action == Action::\"control\", resource)
        when { context.rank >= 3 && context.authority == Authority::\"delegated\" };";
    let rules = node(text);
    let mut request = request();
    request.class.action = PolicyAction::Control;
    Arc::make_mut(&mut request.class.subject).authority_max = Authority::Delegated;
    permitted(rules.decide(&request, NO_AGENTS));
    for action in PolicyAction::ALL {
        request.class.action = *action;
        let passes = matches!(rules.decide(&request, NO_AGENTS), Decision::Permit(_));
        assert_eq!(passes, *action == PolicyAction::Control, "{}", action.as_str());
    }
}

/// Proves POL-022.
#[test]
fn an_agent_of_another_tenant_is_another_agent() {
    let rules = node(
        "@id(\"friend\") permit (principal == Agent::\"alpha\", action, resource);
         @id(\"self\") permit (principal, action, resource) when { principal == resource };
         @id(\"abroad\") @authority(\"untrusted\") permit (principal == Agent::\"abroad/alpha\", action, resource);",
    );
    let mut request = request();
    assert_eq!(permitted(rules.decide(&request, NO_AGENTS)).rules[0].rule.as_str(), "friend");
    Arc::make_mut(&mut request.class.subject).tenant = "abroad".parse().unwrap();
    assert_eq!(permitted(rules.decide(&request, NO_AGENTS)).rules[0].rule.as_str(), "abroad");
    Arc::make_mut(&mut request.class.subject).name = "beta".parse().unwrap();
    assert_eq!(refused(rules.decide(&request, NO_AGENTS)).rule.as_str(), NO_PERMIT);
    Arc::make_mut(&mut request.class.subject).tenant = request.class.target.tenant.clone();
    assert_eq!(permitted(rules.decide(&request, NO_AGENTS)).rules[0].rule.as_str(), "self");
}

#[test]
fn a_decision_is_written_as_programs_read_it() {
    let rules = node(&limited("all", "@rate(\"1/s\")"));
    let permit = serde_json::to_value(rules.decide(&request(), NO_AGENTS)).unwrap();
    assert_eq!(
        permit,
        serde_json::json!({
            "decision": "permit", "authority": "trusted", "bytes_max": null,
            "rate": {"value": {"count": 1, "window_ms": 1000}, "layer": "node", "rule": "all"},
            "rules": [{"layer": "node", "rule": "all"}],
        })
    );
    let mut other = request();
    other.class.channel = Channel::Web;
    other.class.subject = Arc::new(crate::sample::subject(SubjectKind::External, "unknown"));
    let refusal = serde_json::to_value(node("").decide(&other, NO_AGENTS)).unwrap();
    assert_eq!(refusal["decision"], "refuse");
    assert_eq!(
        refusal["reason"],
        "no rule of the node permits external unknown to send to agent beta on channel web"
    );
}
