//! A remembered decision is the one that would be made anew.

use edgeplane_types::PolicyLayer;

use super::*;
use crate::sample::{NO_AGENTS, layer, node, permitted, refused, request};

const ALL: &str = "@id(\"all\") @bytes(\"1KiB\") permit (principal, action, resource);";
const NONE: &str = "@id(\"none\") forbid (principal, action, resource);";

/// Proves POL-016.
#[test]
fn a_remembered_decision_is_the_one_that_the_rules_would_make() {
    let mut decisions = Decisions::new();
    let rules = node(ALL);
    for _ in 0..2 {
        let decided = decisions.decide(&rules, &request(), NO_AGENTS);
        assert_eq!(decided, rules.decide(&request(), NO_AGENTS));
        let large = Request { bytes: 2_000, ..request() };
        assert_eq!(refused(decisions.decide(&rules, &large, NO_AGENTS)).rule.as_str(), "all");
        assert_eq!(decisions.len(), 1, "of one class, whatever its size");
    }
    let mut other = request();
    other.class.hops = 2;
    permitted(decisions.decide(&rules, &other, NO_AGENTS));
    assert_eq!(decisions.len(), 2);

    let own = layer(PolicyLayer::Agent, NONE);
    for agents in
        [AgentLayers { target: Some(&own), sender: None }, AgentLayers { target: None, sender: Some(&own) }]
    {
        assert_eq!(refused(decisions.decide(&rules, &request(), agents)).rule.as_str(), "none");
        permitted(decisions.decide(&rules, &request(), NO_AGENTS));
    }

    refused(decisions.decide(&node(NONE), &request(), NO_AGENTS));
    assert_eq!(decisions.len(), 1, "those of other rules are forgotten");
    permitted(decisions.decide(&rules, &request(), NO_AGENTS));
}

/// Proves POL-016.
#[test]
fn a_flood_of_classes_does_not_fill_the_memory() {
    let mut decisions = Decisions::new();
    // Filled by hand: to decide so often takes long.
    let rules = node(ALL);
    let decision = decisions.decide(&rules, &request(), NO_AGENTS);
    for hops in 2.. {
        if decisions.len() == DECISIONS_MAX {
            break;
        }
        let class = Class { hops, ..request().class };
        decisions.entries.insert(class, Entry { target: None, sender: None, decision: decision.clone() });
    }
    permitted(decisions.decide(&rules, &request(), NO_AGENTS));
    assert_eq!(decisions.len(), DECISIONS_MAX, "what is known needs no room");
    let mut new = request();
    new.class.hops = u32::MAX;
    permitted(decisions.decide(&rules, &new, NO_AGENTS));
    assert_eq!(decisions.len(), 1);
    assert!(!decisions.is_empty());
}
