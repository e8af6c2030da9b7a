//! What an explanation shows.

use serde_json::json;

use super::*;
use crate::sample::{NO_AGENTS, both, layer, node, request};

/// Proves POL-017.
#[test]
fn an_explanation_names_every_rule_that_matches_and_where_it_stands() {
    let rules = both(
        "@id(\"org\") permit (principal, action, resource);",
        "@id(\"one\") @authority(\"advisory\") @rate(\"1/s\") @bytes(\"1KiB\")
permit (principal, action, resource);
@id(\"other\") permit (principal is Operator, action, resource);

@id(\"no\") @reason(\"closed\") forbid (principal, action, resource);
@id(\"broken\") permit (principal, action, resource) when { context.hops * 9223372036854775807 < 3 };",
    );
    let own = layer(PolicyLayer::Agent, "@id(\"own\") permit (principal, action, resource);");
    let mut request = request();
    request.class.hops = 2;
    let agents = AgentLayers { target: Some(&own), sender: Some(&own) };
    let explanation = serde_json::to_value(rules.explain(&request, agents)).unwrap();
    let refused = json!({"decision": "refuse", "layer": "node", "rule": "no", "reason": "closed"});
    assert_eq!(explanation["decision"], refused);
    let node = &explanation["layers"][1];
    assert_eq!(node["decision"], refused);
    assert_eq!(
        node["matched"],
        json!([
            {"rule": "no", "effect": "forbid", "reason": "closed", "file": "rules.cedar", "line": 5},
            {"rule": "one", "effect": "permit", "authority": "advisory", "bytes_max": 1024,
             "rate": {"count": 1, "window_ms": 1000}, "file": "rules.cedar", "line": 1},
        ])
    );
    assert_eq!(node["failures"][0]["rule"], "broken");
    assert_eq!(node["failures"][0]["line"], 6);
    let whose: Vec<(&str, Option<&str>)> = explanation["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| (layer["layer"].as_str().unwrap(), layer.get("owner").and_then(|owner| owner.as_str())))
        .collect();
    let expected =
        [("organisation", None), ("node", None), ("agent", Some("target")), ("agent", Some("sender"))];
    assert_eq!(whose, expected, "also those behind the one that refuses");
}

#[test]
fn an_explanation_decides_as_the_rules_do() {
    let rules = node("@id(\"small\") @bytes(\"1KiB\") permit (principal, action, resource);");
    for bytes in [10, 2_000] {
        let request = Request { bytes, ..request() };
        let explanation = rules.explain(&request, NO_AGENTS);
        assert_eq!(explanation.decision, rules.decide(&request, NO_AGENTS));
        assert_eq!(explanation.layers[0].decision, explanation.decision);
    }
}
