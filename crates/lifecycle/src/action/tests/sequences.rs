//! Random sequences of inputs against a model that knows the rules in other words.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const PRINCIPALS: [&str; 5] = ["alpha", "ada", "ben", "cyd", "dan"];
const ROLES: [&str; 2] = ["ops", "legal"];

fn verdicts() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        12 => Just(Verdict::APPROVE),
        1 => Just(Verdict::DENY),
        1 => Just(Verdict::Answer { value: json!("yes") }),
        1 => Just(Verdict::Answer { value: json!(7) }),
    ]
}

fn agents() -> impl Strategy<Value = Option<AgentVoter>> {
    let other = AgentId::from_parts(5, [5; 10]);
    let voter = |id, permitted_by| Some(AgentVoter { id, permitted_by });
    prop_oneof![
        8 => Just(None),
        1 => Just(voter(other, None)),
        1 => Just(voter(other, Some(label("rule")))),
        1 => Just(voter(asking(), Some(label("rule")))),
    ]
}

fn votes() -> impl Strategy<Value = Vote> {
    let digests = prop_oneof![8 => Just(digest()), 1 => Just("cd".repeat(32))];
    let roles = proptest::sample::subsequence(ROLES.to_vec(), 0..=2);
    (0..PRINCIPALS.len(), agents(), roles, digests, verdicts(), times()).prop_map(
        |(who, agent, roles, digest, verdict, now)| Vote {
            principal: label(PRINCIPALS[who]),
            agent,
            roles: labels(&roles),
            digest,
            verdict,
            now,
        },
    )
}

/// Mostly within its time, now and then at its end; not in order, because clocks are set back.
fn times() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        30 => (OPENED_MS..END_MS).prop_map(at),
        1 => Just(at(END_MS - 1)),
        1 => Just(at(END_MS)),
        1 => Just(at(END_MS + 1)),
    ]
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let input = prop_oneof![
        20 => votes().prop_map(Input::Vote),
        2 => times().prop_map(|now| Input::Tick { now }),
        1 => Just(Input::Cancel { by: label("alpha") }),
    ];
    proptest::collection::vec(input, 0..24)
}

/// The rules in other words: who has approved so far, and how it ended.
struct Model {
    kind: ActionKind,
    quorum: usize,
    is_restricted: bool,
    approved: BTreeSet<SafeLabel>,
    ended: Option<ActionOutcome>,
}

impl Model {
    fn of(action: &Action) -> Self {
        Self {
            kind: action.kind,
            quorum: usize::try_from(action.quorum).unwrap(),
            is_restricted: !action.roles.is_empty(),
            approved: BTreeSet::new(),
            ended: None,
        }
    }

    fn take(&mut self, input: &Input) {
        if self.ended.is_some() {
            return;
        }
        let now = match input {
            Input::Vote(vote) => Some(vote.now),
            Input::Tick { now } => Some(*now),
            Input::Cancel { .. } => None,
        };
        if now.is_some_and(|now| now >= at(END_MS)) {
            self.ended = Some(ActionOutcome::Expired);
            return;
        }
        match input {
            Input::Vote(vote) if self.counts(vote) => self.count(vote),
            Input::Cancel { .. } => self.ended = Some(ActionOutcome::Cancelled),
            Input::Vote(_) | Input::Tick { .. } => {}
        }
    }

    fn counts(&self, vote: &Vote) -> bool {
        let may =
            vote.agent.as_ref().is_none_or(|voter| voter.id != asking() && voter.permitted_by.is_some());
        may && vote.principal.as_str() != "alpha"
            && vote.digest == digest()
            && (!self.is_restricted || vote.roles.contains(&label("ops")))
    }

    fn count(&mut self, vote: &Vote) {
        match (&vote.verdict, self.kind) {
            (Verdict::Approve { .. }, ActionKind::Approval) => {
                self.approved.insert(vote.principal.clone());
                if self.approved.len() >= self.quorum {
                    self.ended = Some(ActionOutcome::Approved);
                }
            }
            (Verdict::Deny { .. }, _) => self.ended = Some(ActionOutcome::Denied),
            (Verdict::Answer { value: Value::String(_) }, ActionKind::Question) => {
                self.ended = Some(ActionOutcome::Answered);
            }
            _ => {}
        }
    }
}

fn requests() -> impl Strategy<Value = Request> {
    (1..=4_u32, any::<bool>(), prop_oneof![3 => Just(ActionKind::Approval), 1 => Just(ActionKind::Question)])
        .prop_map(|(quorum, is_restricted, kind)| Request {
            quorum: if kind == ActionKind::Question { 1 } else { quorum },
            roles: if is_restricted { labels(&["ops"]) } else { Vec::new() },
            ..request(kind)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Proves ACT-004, ACT-005, ACT-006, ACT-007, ACT-008, ACT-009, ACT-010 and ACT-014.
    #[test]
    fn every_sequence_keeps_the_rules(request in requests(), inputs in inputs()) {
        let mut state = opened(request);
        let mut model = Model::of(state.action());
        let mut facts = vec![Fact::ActionOpened { action: Box::new(state.action().clone()) }];
        let mut resolutions = 0;
        for input in &inputs {
            model.take(input);
            // A refusal changes nothing, in the model neither.
            if let Ok(step) = state.step(input) {
                let resolved = step.outputs.iter().filter(|output| matches!(output, Output::Resolved(_)));
                resolutions += resolved.count();
                facts.extend(step.outputs.iter().filter_map(|output| output.fact(id(), None)));
                // What was decided is not touched.
                prop_assert!(state.resolution().is_none() || step.state == state);
                state = step.state;
            }
            prop_assert_eq!(state.resolution().map(|made| made.outcome), model.ended);
            prop_assert!(resolutions == usize::from(state.resolution().is_some()));
            prop_assert_eq!(State::fold(id(), &facts), Ok(Some(state.clone())));
        }
        if let Some(Resolution { outcome: ActionOutcome::Approved, by, .. }) = state.resolution() {
            let distinct: BTreeSet<_> = by.iter().cloned().collect();
            prop_assert_eq!(distinct.len(), by.len());
            prop_assert!(by.len() >= model.quorum);
            prop_assert_eq!(distinct, model.approved);
        }
    }

    /// Proves ACT-007.
    #[test]
    fn without_a_rule_only_persons_approve(inputs in inputs()) {
        let mut state = approval(2);
        let mut persons = BTreeSet::new();
        for mut input in inputs {
            if let Input::Vote(vote) = &mut input {
                match &mut vote.agent {
                    Some(agent) => agent.permitted_by = None,
                    None => {
                        persons.insert(vote.principal.clone());
                    }
                }
            }
            if let Ok(step) = state.step(&input) {
                state = step.state;
            }
        }
        if let Some(Resolution { outcome: ActionOutcome::Approved, by, .. }) = state.resolution() {
            prop_assert!(by.iter().all(|principal| persons.contains(principal)));
        }
    }
}
