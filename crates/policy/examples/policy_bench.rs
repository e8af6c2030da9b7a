//! Measures how long a decision takes, made anew and remembered. Prints one line of JSON.
//!
//! Argument: the number of rules of the node (default: 100). A third of them are the kinds that people write most: by
//! name, by label, and by circumstances; beside them the shipped rules, so that requests pass.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the line is the result")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock itself")]

use std::{collections::BTreeSet, error::Error, hint::black_box, sync::Arc, time::Instant};

use edgeplane_policy::{
    AgentLayers, Class, DEFAULT_NAME, DEFAULT_TEXT, Decision, Decisions, Request, RuleFile, Rules, Subject,
    SubjectKind, Target, compile,
};
use edgeplane_types::{
    Assurance, Authority, Channel, Ingress, PolicyAction, PolicyLayer, Proof, Risk, Tenant,
};

/// Requests of each measurement; enough for a steady 99th percentile.
const REQUESTS: usize = 20_000;

/// Pairs of sender and receiver, each a class of its own.
const PAIRS: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(100), |text| text.parse::<usize>())?;
    let shipped = DEFAULT_TEXT.matches("@id(").count();
    let own: String = (0..count.saturating_sub(shipped)).map(rule).collect();
    let files =
        [RuleFile { name: DEFAULT_NAME, text: DEFAULT_TEXT }, RuleFile { name: "own.cedar", text: &own }];
    let node = compile(PolicyLayer::Node, &files).map_err(|problems| format!("{problems:#?}"))?;
    let rules_count = node.rules().len();
    let rules = Rules::new(None, node);
    let requests = (0..PAIRS).map(request).collect::<Result<Vec<_>, _>>()?;

    let uncached = measure(&requests, |request| rules.decide(request, AgentLayers::default()));
    let mut decisions = Decisions::new();
    for request in &requests {
        decisions.decide(&rules, request, AgentLayers::default());
    }
    let cached = measure(&requests, |request| decisions.decide(&rules, request, AgentLayers::default()));
    println!("{{\"uncached_us\":{uncached},\"cached_us\":{cached},\"rules\":{rules_count}}}");
    Ok(())
}

fn rule(index: usize) -> String {
    let body = match index % 3 {
        0 => format!("permit (principal == Agent::\"a{index}\", action == Action::\"send\", resource == Agent::\"b\");"),
        1 => format!(
            "forbid (principal is Agent, action == Action::\"send\", resource)
             when {{ resource.labels.contains(\"team=t{index}\") && context.rank < 3 }};"
        ),
        _ => format!(
            "permit (principal, action == Action::\"send\", resource)
             when {{ context.channel == Channel::\"workflow\" && context.hops < 4 && principal.name == \"w{index}\" }};"
        ),
    };
    format!("@id(\"own-{index}\") {body}\n")
}

fn request(index: usize) -> Result<Request, Box<dyn Error>> {
    let labels =
        BTreeSet::from(["team=harbour".to_owned(), "role=crane".to_owned(), "site=north".to_owned()]);
    let (sender, receiver) = (format!("sender-{index}"), format!("receiver-{index}"));
    let subject = Subject {
        kind: SubjectKind::Agent,
        name: sender.parse()?,
        tenant: Tenant::default(),
        labels: labels.clone(),
        risk: Risk::Medium,
        principal: sender.parse()?,
        authority_max: Authority::Delegated,
    };
    let target = Target {
        name: receiver.parse()?,
        tenant: Tenant::default(),
        labels,
        risk: Risk::High,
        principal: receiver.parse()?,
    };
    let class = Class {
        action: PolicyAction::Send,
        subject: Arc::new(subject),
        target: Arc::new(target),
        channel: Channel::Peer,
        ingress: Ingress::Signal,
        authority: Authority::Delegated,
        proof: Proof::CgroupAndAncestry,
        assurance: Assurance::Open,
        hops: 1,
        topic: None,
        capability: None,
        user: None,
    };
    Ok(Request { class, bytes: 512 })
}

/// The 50th and the 99th percentile of one decision in microseconds, and all in nanoseconds, as JSON.
fn measure(requests: &[Request], mut decide: impl FnMut(&Request) -> Decision) -> String {
    let mut nanos: Vec<u128> = Vec::with_capacity(REQUESTS);
    for request in requests.iter().cycle().take(REQUESTS) {
        let begun = Instant::now();
        let decision = black_box(decide(black_box(request)));
        nanos.push(begun.elapsed().as_nanos());
        assert!(matches!(decision, Decision::Permit(_)), "{decision:?}");
    }
    nanos.sort_unstable();
    let at = |percent: usize| {
        let nanos = nanos.get(nanos.len() * percent / 100).copied().unwrap_or_default();
        format!("{}.{:03}", nanos / 1_000, nanos % 1_000)
    };
    // All of them, so that whoever reads this can look at any percentile.
    format!("{{\"p50\":{},\"p99\":{},\"nanos\":{nanos:?}}}", at(50), at(99))
}
