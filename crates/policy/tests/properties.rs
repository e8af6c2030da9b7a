//! What must hold for all rules and all requests, and for text that nobody wrote on purpose.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_policy::{
    AgentLayers, Class, DEFAULT_TEXT, Decision, Decisions, LayerRules, Permit, Problem, Request, RuleFile,
    Rules, Subject, SubjectKind, Target, compile,
};
use edgeplane_types::{
    AgentName, Assurance, Authority, Channel, Ingress, PolicyAction, PolicyLayer, Proof, Risk, SafeLabel,
    Tenant,
};
use proptest::prelude::*;

const ALL: &str = "@id(\"all\") permit (principal, action, resource);";

/// Conditions that hold for some requests and not for others. The last cannot be evaluated for some.
const CONDITIONS: &[&str] = &[
    "true",
    "context.hops < 2",
    "context.rank >= 3",
    "context.channel == Channel::\"peer\"",
    "resource.risk == Risk::\"high\"",
    "principal is Agent && principal.risk == Risk::\"low\"",
    "principal has tenant && principal.tenant == resource.tenant",
    "resource.labels.contains(\"team=a\")",
    "principal == resource",
    "context has topic && context.topic like \"n*\"",
    "context.proof != Proof::\"disagreement\"",
    "context.hops * 4611686018427387904 >= 0",
];

fn limits() -> impl Strategy<Value = String> {
    let authority = prop::option::of(prop::sample::select(Authority::ALL));
    let rate = prop::option::of((1..100_u32, prop::sample::select(vec!["s", "10s", "min", "7min", "h"])));
    let bytes = prop::option::of(1..2_000_u32);
    (authority, rate, bytes).prop_map(|(authority, rate, bytes)| {
        let authority = authority.map(|word| format!("@authority(\"{word}\") ")).unwrap_or_default();
        let rate = rate.map(|(count, span)| format!("@rate(\"{count}/{span}\") ")).unwrap_or_default();
        let bytes = bytes.map(|bytes| format!("@bytes(\"{bytes}\") ")).unwrap_or_default();
        format!("{authority}{rate}{bytes}")
    })
}

/// Permits are more likely than forbids, so that something passes.
fn rule() -> impl Strategy<Value = String> {
    let scope = prop::sample::select(vec!["principal", "principal is Agent", "principal == Agent::\"a\""]);
    let action = prop::sample::select(vec!["action", "action == Action::\"send\""]);
    let condition = prop::sample::select(CONDITIONS);
    (limits(), 0..4, scope, action, condition).prop_map(|(limits, forbids, scope, action, condition)| {
        let (limits, effect) = if forbids == 0 { (String::new(), "forbid") } else { (limits, "permit") };
        format!("{limits}{effect} ({scope}, {action}, resource) when {{ {condition} }};")
    })
}

fn layer(layer: PolicyLayer, rules: std::ops::Range<usize>) -> impl Strategy<Value = LayerRules> {
    prop::collection::vec(rule(), rules).prop_map(move |rules| {
        let rules = rules.into_iter().enumerate();
        let text: String = rules.map(|(index, rule)| format!("@id(\"r{index}\") {rule}\n")).collect();
        compile(layer, &[RuleFile { name: "random", text: &text }]).unwrap()
    })
}

fn agent_layer() -> impl Strategy<Value = Option<LayerRules>> {
    prop::option::of(layer(PolicyLayer::Agent, 0..3))
}

fn name() -> impl Strategy<Value = AgentName> {
    prop::sample::select(vec!["a", "b"]).prop_map(|name| name.parse().unwrap())
}

fn labels() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set(prop::sample::select(vec!["team=a".to_owned(), "team=b".to_owned()]), 0..2)
}

fn risk() -> impl Strategy<Value = Risk> {
    prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High])
}

fn authority() -> impl Strategy<Value = Authority> {
    prop::sample::select(Authority::ALL)
}

fn subject() -> impl Strategy<Value = Subject> {
    let kind = prop::sample::select(vec![SubjectKind::Agent, SubjectKind::Operator, SubjectKind::External]);
    let tenant = prop::sample::select(vec!["local", "abroad"]).prop_map(|tenant| tenant.parse().unwrap());
    (kind, name(), tenant, labels(), risk(), authority()).prop_map(
        |(kind, name, tenant, labels, risk, authority_max)| {
            let name = SafeLabel::from(&name);
            Subject { kind, principal: name.clone(), name, tenant, labels, risk, authority_max }
        },
    )
}

fn target() -> impl Strategy<Value = Target> {
    (name(), labels(), risk()).prop_map(|(name, labels, risk)| Target {
        principal: SafeLabel::from(&name),
        name,
        tenant: Tenant::default(),
        labels,
        risk,
    })
}

fn class() -> impl Strategy<Value = Class> {
    let action = prop::sample::select(vec![PolicyAction::Send, PolicyAction::Send, PolicyAction::Attach]);
    let topic = prop::option::of(prop::sample::select(vec!["news", "old"]));
    let way = (prop::sample::select(Channel::ALL), prop::sample::select(Ingress::ALL));
    let proof = (authority(), prop::sample::select(Proof::ALL), prop::sample::select(Assurance::ALL));
    (action, subject(), target(), way, proof, (0..4_u32, topic)).prop_map(
        |(action, subject, target, (channel, ingress), (authority, proof, assurance), (hops, topic))| Class {
            action,
            subject: Arc::new(subject),
            target: Arc::new(target),
            channel,
            ingress,
            authority,
            proof,
            assurance,
            hops,
            topic: topic.map(|topic| topic.parse().unwrap()),
            capability: None,
            user: topic.map(|user| user.parse().unwrap()),
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    (class(), 0..2_500_u64).prop_map(|(class, bytes)| Request { class, bytes })
}

/// Whether `after` lets nothing pass, and grants nothing, that `before` does not.
fn is_tighter(before: &Decision, after: &Decision) -> bool {
    let (Decision::Permit(before), Decision::Permit(after)) = (before, after) else {
        return matches!(after, Decision::Refuse(_));
    };
    let rate = |permit: &Permit| permit.rate.as_ref().map(|limit| limit.value);
    let bytes = |permit: &Permit| permit.bytes_max.as_ref().map(|limit| limit.value);
    after.authority >= before.authority
        && rate(before).is_none_or(|most| rate(after).is_some_and(|rate| rate.is_within(most)))
        && bytes(before).is_none_or(|most| bytes(after).is_some_and(|bytes| bytes <= most))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves POL-001, POL-002, POL-003 and POL-016.
    #[test]
    fn a_lower_layer_only_tightens(
        organisation in layer(PolicyLayer::Organisation, 1..4),
        node in layer(PolicyLayer::Node, 1..4),
        target in agent_layer(),
        sender in agent_layer(),
        requests in prop::collection::vec(request(), 1..12),
    ) {
        let all = compile(PolicyLayer::Node, &[RuleFile { name: "all", text: ALL }]).unwrap();
        let above = Rules::new(Some(organisation.clone()), all);
        let alone = Rules::new(None, node.clone());
        let both = Rules::new(Some(organisation), node);
        let mut decisions = Decisions::new();
        for request in requests {
            let first = above.decide(&request, AgentLayers::default());
            let second = both.decide(&request, AgentLayers::default());
            prop_assert!(is_tighter(&first, &second), "{request:?}\n{first:?}\n{second:?}");
            let own = alone.decide(&request, AgentLayers::default());
            prop_assert!(is_tighter(&own, &second), "{request:?}\n{own:?}\n{second:?}");
            prop_assert_eq!(
                matches!(second, Decision::Permit(_)),
                matches!(first, Decision::Permit(_)) && matches!(own, Decision::Permit(_)),
                "it passes if every layer permits it"
            );
            let third = both.decide(&request, AgentLayers { target: target.as_ref(), sender: None });
            prop_assert!(is_tighter(&second, &third), "{request:?}\n{second:?}\n{third:?}");
            let agents = AgentLayers { target: target.as_ref(), sender: sender.as_ref() };
            let fourth = both.decide(&request, agents);
            prop_assert!(is_tighter(&third, &fourth), "{request:?}\n{third:?}\n{fourth:?}");
            for decision in [&first, &second, &third, &fourth] {
                let Decision::Permit(permit) = decision else { continue };
                prop_assert!(permit.authority >= request.class.authority_claimed());
            }
            let explained = both.explain(&request, agents);
            prop_assert_eq!(&explained.decision, &fourth);
            for layer in &explained.layers {
                prop_assert!(is_tighter(&layer.decision, &fourth), "{layer:?}\n{fourth:?}");
            }
            for _ in 0..2 {
                prop_assert_eq!(&decisions.decide(&both, &request, agents), &fourth);
            }
        }
    }

    /// Agents pass on what they hear, each by its own rules and ceiling. What was heard is what is proven of the next.
    ///
    /// Proves POL-004.
    #[test]
    fn authority_never_rises_along_a_chain(
        node in layer(PolicyLayer::Node, 1..4),
        agents in prop::collection::vec((subject(), agent_layer()), 2..6),
        path in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        first in class(),
    ) {
        let node_text = format!("{ALL}{}", DEFAULT_TEXT);
        let open = compile(PolicyLayer::Node, &[RuleFile { name: "open", text: &node_text }]).unwrap();
        for rules in [Rules::new(None, node), Rules::new(None, open)] {
            let mut weight = first.authority;
            let mut chain = vec![weight];
            for hop in path.windows(2) {
                let (sender, own) = hop[0].get(&agents);
                let (receiver, theirs) = hop[1].get(&agents);
                let target = Target {
                    name: receiver.name.as_str().parse().unwrap(),
                    tenant: receiver.tenant.clone(),
                    labels: receiver.labels.clone(),
                    risk: receiver.risk,
                    principal: receiver.principal.clone(),
                };
                let class = Class {
                    subject: Arc::new(sender.clone()),
                    target: Arc::new(target),
                    authority: weight,
                    hops: u32::try_from(chain.len()).unwrap(),
                    ..first.clone()
                };
                let layers = AgentLayers { target: theirs.as_ref(), sender: own.as_ref() };
                let Decision::Permit(permit) = rules.judge(&class, layers) else { break };
                prop_assert!(permit.authority >= weight, "{chain:?} then {}", permit.authority);
                prop_assert!(permit.authority >= sender.authority_max);
                weight = permit.authority;
                chain.push(weight);
            }
            prop_assert!(chain.is_sorted(), "weightiest is least: {chain:?}");
        }
    }
}

fn check_problems(text: &str, result: Result<LayerRules, Vec<Problem>>) {
    let Err(problems) = result else { return };
    assert!(!problems.is_empty());
    let lines = text.matches('\n').count() + 1;
    for problem in problems {
        assert!((1..=lines).contains(&usize::try_from(problem.line).unwrap()), "{problem} of {lines}");
        assert!(problem.column >= 1);
        assert!(!problem.found.is_empty() && !problem.expected.is_empty());
        assert!(!problem.to_string().chars().any(char::is_control), "{problem:?}");
    }
}

/// Pieces that rules are made of, and some that they are not.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "@id(\"a\") ",
        "@rate(\"60/min\") ",
        "@x ",
        "permit ",
        "forbid ",
        "(principal, action, resource)",
        "when ",
        "unless ",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ".",
        "::",
        ":",
        "==",
        "=",
        "<",
        "&&",
        "||",
        "!",
        "-",
        "+",
        "if ",
        "then ",
        "else ",
        "in ",
        "has ",
        "like ",
        "is ",
        "principal",
        "action",
        "resource",
        "context",
        "context.hops",
        "Agent",
        "Agent::\"a\"",
        "?principal",
        "\"",
        "\"*\"",
        "\\",
        "//",
        "/*",
        "\n",
        "\r",
        "\t",
        " ",
        "1",
        "9223372036854775808",
        "true",
        "\u{0}",
        "é",
        "\u{2028}",
        "𝄞",
        "\u{202e}",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves POL-012 and POL-015.
    #[test]
    fn any_pieces_are_rules_or_problems(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        check_problems(&text, compile(PolicyLayer::Node, &[RuleFile { name: "random", text: &text }]));
    }

    /// Proves POL-012 and POL-015.
    #[test]
    fn damaged_rules_are_rules_or_problems(
        edits in prop::collection::vec((any::<prop::sample::Index>(), piece(), any::<bool>()), 1..4),
    ) {
        let mut chars: Vec<char> = DEFAULT_TEXT.chars().collect();
        for (at, piece, replaces) in edits {
            let at = at.index(chars.len());
            chars.splice(at..at + usize::from(replaces), piece.chars());
        }
        let text: String = chars.into_iter().collect();
        check_problems(&text, compile(PolicyLayer::Node, &[RuleFile { name: "damaged", text: &text }]));
    }

    /// Proves POL-015.
    #[test]
    fn no_depth_overflows_the_stack(
        pieces in prop::collection::vec(
            (prop::sample::select(vec![
                "(", "[", "{a: ", "!", "-", "if ", "if true then true else ", "true && ", "1 + ", "[1].contains(",
                "principal has a.", "context.", "! (", "true || (", "Agent::", "when {", "x in ", "x is A in ",
            ]), 1..400_usize),
            1..6,
        ),
        closes in 0..400_usize,
    ) {
        let body: String = pieces.iter().map(|(piece, times)| piece.repeat(*times)).collect();
        for close in ["", ")", "]", "}"] {
            let text = format!("permit (principal, action, resource) when {{ {body} 1 {} }};", close.repeat(closes));
            check_problems(&text, compile(PolicyLayer::Node, &[RuleFile { name: "deep", text: &text }]));
        }
    }
}
