//! What matches is what Cedar's own authorizer says.

use std::{collections::BTreeSet, sync::Arc};

use cedar_policy::{Authorizer, Policy, PolicyId, PolicySet};
use edgeplane_types::{Channel, PolicyAction, PolicyLayer, Proof};

use crate::{DEFAULT_TEXT, SubjectKind, sample, schema::Query, statement};

/// Scopes of every kind.
const SCOPES: &str = "
@id(\"eq\") permit (principal == Agent::\"alpha\", action == Action::\"send\", resource == Agent::\"beta\");
@id(\"other\") permit (principal == Agent::\"gamma\", action, resource);
@id(\"other-kind\") permit (principal == Operator::\"alpha\", action, resource);
@id(\"other-target\") permit (principal, action, resource == Agent::\"gamma\");
@id(\"in\") permit (principal in Agent::\"alpha\", action in [Action::\"attach\", Action::\"send\"], resource in Agent::\"beta\");
@id(\"in-other\") permit (principal in Agent::\"gamma\", action in Action::\"send\", resource);
@id(\"is\") forbid (principal is Agent, action in Action::\"approve\", resource is Agent);
@id(\"is-in\") forbid (principal is Agent in Agent::\"alpha\", action, resource is Agent in Agent::\"gamma\");
@id(\"bundled\") permit (principal is Agent, action, resource) when { context.hops == 2 };
@id(\"bundled-too\") permit (principal is Agent, action, resource) when { context.channel == Channel::\"system\" };
@id(\"bundled-elsewhere\") forbid (principal, action, resource is Agent) when { context.hops == 1 };
@id(\"bundled-there\") forbid (principal, action, resource is Agent) when { resource.labels.contains(\"a\") };
@id(\"fails\") permit (principal is Agent, action, resource) when { context.hops * 9223372036854775807 > 1 };
";

#[test]
fn what_matches_is_what_the_authorizer_says() {
    let text = format!("{DEFAULT_TEXT}{SCOPES}");
    let layer = sample::layer(PolicyLayer::Node, &text);
    for kind in SubjectKind::ALL {
        for action in PolicyAction::ALL {
            for (channel, proof, hops) in [
                (Channel::Peer, Proof::Driver, 1),
                (Channel::Web, Proof::Disagreement, 2),
                (Channel::System, Proof::None, 20),
            ] {
                let mut class = sample::class(*kind, channel);
                (class.action, class.proof, class.hops) = (*action, proof, hops);
                check(&layer, &text, &class);
                Arc::make_mut(&mut class.subject).name = "beta".parse().unwrap();
                check(&layer, &text, &class);
            }
        }
    }
}

fn check(layer: &super::LayerRules, text: &str, class: &crate::Class) {
    let query = Query::new(class, None).unwrap();
    let found = layer.matches(&query);
    let names = |rules: &[&super::Rule]| -> BTreeSet<String> {
        rules.iter().map(|rule| rule.id.to_string()).collect()
    };
    let failures: Vec<&super::Rule> = found.failures.iter().map(|failure| failure.rule).collect();
    for (rules, effect) in [
        (names(&found.permits), cedar_policy::Effect::Permit),
        (names(&found.forbids), cedar_policy::Effect::Forbid),
    ] {
        let policies = policies(text, effect);
        let answer = Authorizer::new().is_authorized(&query.request, &policies, &query.entities);
        let expected: BTreeSet<String> = answer.diagnostics().reason().map(ToString::to_string).collect();
        assert_eq!(rules, expected, "{class:?}");
        let failed: BTreeSet<String> = answer
            .diagnostics()
            .errors()
            .map(|cedar_policy::AuthorizationError::PolicyEvaluationError(error)| {
                error.policy_id().to_string()
            })
            .collect();
        let expected =
            if effect == cedar_policy::Effect::Permit { names(&failures) } else { BTreeSet::new() };
        assert_eq!(failed, expected, "{class:?}");
    }
}

/// The rules of one effect, because Cedar names no permits where a forbid matches.
fn policies(text: &str, effect: cedar_policy::Effect) -> PolicySet {
    let policies = statement::split(text).unwrap().into_iter().map(|statement| {
        let policy = Policy::parse(None, statement.unwrap().text).unwrap();
        let id = PolicyId::new(policy.annotation("id").unwrap());
        policy.new_id(id)
    });
    PolicySet::from_policies(policies.filter(|policy| policy.effect() == effect)).unwrap()
}
