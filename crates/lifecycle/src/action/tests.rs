//! Whose vote counts, what follows from it, and what is refused.

mod opening;
mod records;
mod sequences;

use edgeplane_types::{Epoch, decision::Choice};
use serde_json::json;

use super::*;

const OPENED_MS: u64 = 1_000;
const LASTS_MS: u64 = 60_000;
const END_MS: u64 = OPENED_MS + LASTS_MS;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_micros(0).plus_millis(ms)
}

fn label(text: &str) -> SafeLabel {
    text.parse().unwrap()
}

fn labels(texts: &[&str]) -> Vec<SafeLabel> {
    texts.iter().map(|text| label(text)).collect()
}

fn id() -> ActionId {
    ActionId::from_parts(1, [1; 10])
}

fn asking() -> AgentId {
    AgentId::from_parts(2, [2; 10])
}

fn digest() -> String {
    "ab".repeat(32)
}

fn request(kind: ActionKind) -> Request {
    Request {
        id: id(),
        kind,
        agent_id: asking(),
        epoch: Epoch(3),
        principal: label("alpha"),
        prompt: "Delete the build folder?".into(),
        choices: Vec::new(),
        schema: None,
        digest: digest(),
        subject_digest: None,
        roles: Vec::new(),
        quorum: 1,
        lasts_ms: Some(LASTS_MS),
        causation: None,
        idempotency_key: None,
    }
}

fn opened(request: Request) -> State {
    State::opened(open(request, at(OPENED_MS)).unwrap())
}

fn approval(quorum: u32) -> State {
    opened(Request { quorum, ..request(ActionKind::Approval) })
}

fn question() -> State {
    opened(request(ActionKind::Question))
}

fn vote(principal: &str, verdict: Verdict) -> Vote {
    Vote {
        principal: label(principal),
        agent: None,
        roles: Vec::new(),
        digest: digest(),
        verdict,
        now: at(OPENED_MS + 1),
    }
}

fn approve(principal: &str) -> Vote {
    vote(principal, Verdict::APPROVE)
}

fn deny(principal: &str) -> Vote {
    vote(principal, Verdict::DENY)
}

fn answer(value: Value) -> Vote {
    vote("ada", Verdict::Answer { value })
}

fn step(state: &State, vote: Vote) -> Step {
    state.step(&Input::Vote(vote)).unwrap()
}

#[track_caller]
fn check_refused(state: &State, vote: Vote, name: &str) {
    let refused = state.step(&Input::Vote(vote)).unwrap_err();
    assert_eq!(refused.name(), name, "{refused}");
}

/// Takes a vote that decides, and gives back how.
#[track_caller]
fn decided(state: &State, vote: Vote) -> Resolution {
    let step = step(state, vote.clone());
    let resolution = step.state.resolution().unwrap().clone();
    let voted = Output::Voted { principal: vote.principal, digest: vote.digest, verdict: vote.verdict };
    assert_eq!(step.outputs, [voted, Output::Resolved(resolution.clone())]);
    resolution
}

/// Proves ACT-003.
#[test]
fn vote_on_anything_else_counts_nothing() {
    let other = "cd".repeat(32);
    for wrong in [other.as_str(), "", &digest().to_uppercase(), &digest()[..63], &format!("{} ", digest())] {
        for verdict in [Verdict::APPROVE, Verdict::DENY] {
            let wrong = Vote { digest: wrong.to_owned(), ..vote("ada", verdict) };
            check_refused(&approval(1), wrong, "digest_mismatch");
        }
    }
    // It left nothing behind: the quorum still needs two.
    let state = step(&approval(2), approve("ada")).state;
    check_refused(&state, Vote { digest: other, ..approve("ben") }, "digest_mismatch");
    assert_eq!(state.standing(), &Standing::Waiting { approvals: labels(&["ada"]) });
}

/// Proves ACT-004.
#[test]
fn only_an_approval_approves() {
    assert_eq!(decided(&approval(1), approve("ada")).outcome, ActionOutcome::Approved);
    for value in [json!("yes"), json!("approve"), json!(true), json!(null)] {
        check_refused(&approval(1), answer(value), "wrong_verdict");
    }
    check_refused(&question(), approve("ada"), "wrong_verdict");
    for input in [Input::Tick { now: at(END_MS) }, Input::Cancel { by: label("alpha") }] {
        let step = approval(1).step(&input).unwrap();
        assert_ne!(step.state.resolution().unwrap().outcome, ActionOutcome::Approved);
    }
}

/// Proves ACT-005.
#[test]
fn quorum_counts_different_principals() {
    let one = step(&approval(3), approve("ada"));
    assert_eq!(one.state.resolution(), None);
    assert_eq!(one.outputs.len(), 1);

    // Twice the same says nothing new, however often, from wherever and whenever.
    let again = step(&one.state, Vote { now: at(OPENED_MS + 9), roles: labels(&["x"]), ..approve("ada") });
    assert_eq!(again, Step { state: one.state.clone(), outputs: Vec::new() });

    let two = step(&one.state, approve("ben"));
    assert_eq!(two.state.resolution(), None);
    let resolution = decided(&two.state, approve("cyd"));
    assert_eq!(resolution.outcome, ActionOutcome::Approved);
    assert_eq!(resolution.by, labels(&["ada", "ben", "cyd"]));
    assert_eq!(resolution.reason, "approved by 3 of 3");
}

/// Proves ACT-006.
#[test]
fn one_denial_denies() {
    let one = step(&approval(3), approve("ada")).state;
    let reason = Some("not on a Friday".to_owned());
    let resolution = decided(&one, vote("ben", Verdict::Deny { reason: reason.clone(), option: None }));
    assert_eq!(resolution.outcome, ActionOutcome::Denied);
    assert_eq!(resolution.by, labels(&["ben"]));
    assert_eq!(Some(resolution.reason), reason);
    let resolution = decided(&question(), deny("ben"));
    assert_eq!((resolution.outcome, resolution.answer), (ActionOutcome::Denied, None));

    let long = "x".repeat(REASON_BYTES_MAX + 1);
    check_refused(
        &approval(1),
        vote("ben", Verdict::Deny { reason: Some(long), option: None }),
        "long_reason",
    );
    let longest = "x".repeat(REASON_BYTES_MAX);
    decided(&approval(1), vote("ben", Verdict::Deny { reason: Some(longest), option: None }));
}

/// Proves ACT-005 and ACT-006.
#[test]
fn who_has_approved_may_still_deny() {
    let one = step(&approval(3), approve("ada")).state;
    let resolution = decided(&one, deny("ada"));
    assert_eq!((resolution.outcome, resolution.by), (ActionOutcome::Denied, labels(&["ada"])));
    let two = step(&one, approve("ben")).state;
    assert_eq!(decided(&two, deny("ada")).outcome, ActionOutcome::Denied);
    // Once it is decided, nobody takes anything back.
    let three = step(&two, approve("cyd")).state;
    check_refused(&three, deny("ada"), "already_resolved");
}

/// Proves ACT-007.
#[test]
fn agents_do_not_decide() {
    let other = AgentId::from_parts(5, [5; 10]);
    let agent = |id, permitted_by| Some(AgentVoter { id, permitted_by });
    let rule = Some(label("reviewers-decide"));
    let state = approval(1);

    check_refused(&state, Vote { agent: agent(other, None), ..approve("beta") }, "agent_vote");
    check_refused(&state, Vote { agent: agent(other, None), ..deny("beta") }, "agent_vote");
    // Its own, as whomever it speaks, and whatever a rule permits.
    check_refused(&state, Vote { agent: agent(asking(), rule.clone()), ..approve("beta") }, "own_action");
    check_refused(&state, Vote { agent: agent(asking(), None), ..approve("beta") }, "own_action");
    // The same principal: of another agent, and of a person.
    check_refused(&state, Vote { agent: agent(other, rule.clone()), ..approve("alpha") }, "own_action");
    check_refused(&state, approve("alpha"), "own_action");
    check_refused(&state, deny("alpha"), "own_action");

    let resolution = decided(&state, Vote { agent: agent(other, rule), ..approve("beta") });
    assert_eq!(resolution.outcome, ActionOutcome::Approved);
}

/// Proves ACT-008.
#[test]
fn one_of_the_roles_is_needed() {
    let state = opened(Request { roles: labels(&["ops", "legal"]), ..request(ActionKind::Approval) });
    for roles in [&[][..], &["op"], &["OPS"], &["dev", "web"]] {
        check_refused(&state, Vote { roles: labels(roles), ..approve("ada") }, "wrong_role");
        check_refused(&state, Vote { roles: labels(roles), ..deny("ada") }, "wrong_role");
    }
    for roles in [&["ops"][..], &["dev", "legal"], &["legal", "ops"]] {
        decided(&state, Vote { roles: labels(roles), ..approve("ada") });
    }
    let refused = state.step(&Input::Vote(approve("ada"))).unwrap_err();
    assert_eq!(refused.to_string(), "`ada` has none of the roles that may decide: ops, legal");
    decided(&approval(1), approve("ada"));
}

/// Proves ACT-009.
#[test]
fn decided_action_stays_as_it_is() {
    let ends = [
        (step(&approval(1), approve("ada")).state, "approved"),
        (step(&approval(1), deny("ada")).state, "denied"),
        (step(&question(), answer(json!("red"))).state, "answered"),
        (approval(1).step(&Input::Tick { now: at(END_MS) }).unwrap().state, "expired"),
        (approval(1).step(&Input::Cancel { by: label("alpha") }).unwrap().state, "cancelled"),
    ];
    for (state, word) in ends {
        let late = Vote { now: at(END_MS + 1), ..approve("ben") };
        // Whoever votes, first of all the one who has decided it.
        for vote in [approve("ada"), approve("ben"), deny("ada"), deny("ben"), approve("alpha"), late] {
            let refused = state.step(&Input::Vote(vote)).unwrap_err();
            assert_eq!(refused.name(), "already_resolved");
            assert_eq!(refused.to_string(), format!("action is already {word}"));
        }
        let refused = state.step(&Input::Cancel { by: label("alpha") }).unwrap_err();
        assert_eq!(refused.name(), "already_resolved");
        for now in [at(0), at(END_MS), at(END_MS * 2)] {
            let step = state.step(&Input::Tick { now }).unwrap();
            assert_eq!(step, Step { state: state.clone(), outputs: Vec::new() });
        }
    }
}

/// Proves ACT-010.
#[test]
fn silence_denies_at_the_very_end() {
    let state = step(&approval(2), approve("ada")).state;
    let last = Timestamp::from_micros(at(END_MS).as_micros() - 1);
    for now in [at(0), at(OPENED_MS), last] {
        let step = state.step(&Input::Tick { now }).unwrap();
        assert_eq!(step, Step { state: state.clone(), outputs: vec![Output::WakeAt(at(END_MS))] });
    }
    let step = state.step(&Input::Tick { now: at(END_MS) }).unwrap();
    let expected = Resolution {
        outcome: ActionOutcome::Expired,
        answer: None,
        by: Vec::new(),
        reason: "1 of 2 had approved by 1970-01-01T00:01:01.000000Z".into(),
    };
    assert_eq!(step.outputs, [Output::Resolved(expected)]);

    decided(&state, Vote { now: last, ..approve("ben") });
    // A vote that comes at the end, or before the timer: it finds the action expired and is not counted.
    for now in [at(END_MS), at(END_MS + 5)] {
        for vote in [approve("ben"), deny("ben"), approve("alpha")] {
            let late = state.step(&Input::Vote(Vote { now, ..vote })).unwrap();
            assert_eq!(late, step);
        }
    }
}

/// Proves ACT-011.
#[test]
fn answer_is_one_of_those_that_may_be_given() {
    let choice = |value: &str| Choice { value: label(value), label: format!("The {value} one") };
    let state =
        opened(Request { choices: vec![choice("red"), choice("blue")], ..request(ActionKind::Question) });
    let resolution = decided(&state, answer(json!("blue")));
    assert_eq!(resolution.outcome, ActionOutcome::Answered);
    assert_eq!(resolution.answer, Some(json!("blue")));
    assert_eq!(resolution.by, labels(&["ada"]));
    for bad in [json!("The red one"), json!("Red"), json!(""), json!(["red"]), json!(0), json!(null)] {
        check_refused(&state, answer(bad), "wrong_answer");
    }

    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let state = opened(Request { schema: Some(schema), ..request(ActionKind::Question) });
    assert_eq!(decided(&state, answer(json!({ "n": 7 }))).answer, Some(json!({ "n": 7 })));
    let refused = state.step(&Input::Vote(answer(json!({ "n": "7" })))).unwrap_err();
    let source = std::error::Error::source(&refused).unwrap();
    assert_eq!(source.to_string(), "it is not what the schema asks for: `#/n` should be of the type integer");
    // What the record cannot hold as it is, also where the schema says nothing of it.
    for bad in [json!({ "n": 7, "x": 0.5 }), json!({ "n": 7, "x": [1_u64 << 53] }), json!({ "n": 7.0 })] {
        check_refused(&state, answer(bad), "wrong_answer");
    }

    decided(&question(), answer(json!("Whatever you like.")));
    decided(&question(), answer(json!("")));
    for bad in [json!(1), json!(true), json!({}), json!(null), json!("x".repeat(ANSWER_BYTES_MAX - 1))] {
        check_refused(&question(), answer(bad), "wrong_answer");
    }
    decided(&question(), answer(json!("x".repeat(ANSWER_BYTES_MAX - 2))));
}

/// Proves ACT-013.
#[test]
fn what_is_taken_back_is_over() {
    for state in [approval(2), step(&approval(2), approve("ada")).state, question()] {
        let step = state.step(&Input::Cancel { by: label("alpha") }).unwrap();
        let expected = Resolution {
            outcome: ActionOutcome::Cancelled,
            answer: None,
            by: labels(&["alpha"]),
            reason: "taken back by alpha".into(),
        };
        assert_eq!(step.outputs, [Output::Resolved(expected)]);
    }
}
