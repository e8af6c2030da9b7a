//! Facts that make a state, and facts that cannot be.

use super::*;

fn opening(quorum: u32) -> Fact {
    Fact::ActionOpened { action: Box::new(approval(quorum).action) }
}

fn voted(principal: &str, verdict: Verdict) -> Fact {
    Fact::ActionVoted { action_id: id(), principal: label(principal), digest: digest(), verdict }
}

fn resolved(outcome: ActionOutcome, by: &[&str]) -> Fact {
    Fact::ActionResolved {
        action_id: id(),
        outcome,
        answer: None,
        by: labels(by),
        reason: "r".into(),
        told_by: None,
    }
}

const DENY: Verdict = Verdict::DENY;

#[track_caller]
fn check_corrupt(facts: &[Fact], expected: Corrupt) {
    assert_eq!(State::fold(id(), facts), Err(expected));
}

/// Proves ACT-014.
#[test]
fn facts_of_others_are_passed_over() {
    let stranger = ActionId::from_parts(9, [9; 10]);
    let facts = [
        Fact::AgentStopped {},
        opening(2),
        Fact::ActionVoted { action_id: stranger, principal: label("ben"), digest: digest(), verdict: DENY },
        voted("ada", Verdict::APPROVE),
        Fact::ActionResolved {
            action_id: stranger,
            outcome: ActionOutcome::Expired,
            answer: None,
            by: Vec::new(),
            reason: String::new(),
            told_by: None,
        },
    ];
    let state = State::fold(id(), &facts).unwrap().unwrap();
    assert_eq!(state, step(&approval(2), approve("ada")).state);
    assert_eq!(State::fold(stranger, &facts[..2]), Ok(None));
    // What the words of a reason were, the record says.
    let facts = [opening(1), voted("ada", Verdict::APPROVE), resolved(ActionOutcome::Approved, &["ada"])];
    assert_eq!(State::fold(id(), &facts).unwrap().unwrap().resolution().unwrap().reason, "r");
}

/// Proves ACT-009 and ACT-014.
#[test]
fn record_that_breaks_the_rules_is_not_believed() {
    let yes = |principal| voted(principal, Verdict::APPROVE);
    let approved = |by| resolved(ActionOutcome::Approved, by);
    let id = id();

    check_corrupt(&[opening(1), opening(1)], Corrupt::OpenedTwice { id });
    check_corrupt(&[yes("ada"), opening(1)], Corrupt::NotOpened { id });
    check_corrupt(&[resolved(ActionOutcome::Expired, &[])], Corrupt::NotOpened { id });

    let done = [opening(1), yes("ada"), approved(&["ada"])];
    let after = |fact| [&done[..], &[fact]].concat();
    check_corrupt(&after(approved(&["ada"])), Corrupt::AfterResolution { id });
    check_corrupt(&after(resolved(ActionOutcome::Denied, &["ben"])), Corrupt::AfterResolution { id });
    check_corrupt(&after(yes("ben")), Corrupt::AfterResolution { id });
    check_corrupt(&after(opening(1)), Corrupt::OpenedTwice { id });
    check_corrupt(&[opening(1), yes("ada"), yes("ben")], Corrupt::AfterResolution { id });

    let other = Fact::ActionVoted {
        action_id: id,
        principal: label("ada"),
        digest: "cd".repeat(32),
        verdict: Verdict::APPROVE,
    };
    check_corrupt(&[opening(1), other], Corrupt::Vote { id });
    check_corrupt(&[opening(1), yes("alpha")], Corrupt::Vote { id });
    check_corrupt(&[opening(3), yes("ada"), yes("ada")], Corrupt::Vote { id });
    // Who has approved may still deny, and it says so.
    let denied = resolved(ActionOutcome::Denied, &["ada"]);
    assert!(State::fold(id, &[opening(2), yes("ada"), voted("ada", DENY), denied]).is_ok());
    check_corrupt(&[opening(2), yes("ada"), voted("ada", DENY)], Corrupt::Unfounded { id });
    let words = Verdict::Answer { value: json!("yes") };
    check_corrupt(&[opening(1), voted("ada", words)], Corrupt::Vote { id });

    check_corrupt(&[opening(1), yes("ada")], Corrupt::Unfounded { id });
    check_corrupt(&[opening(1), approved(&["ada"])], Corrupt::Unfounded { id });
    check_corrupt(&[opening(2), yes("ada"), approved(&["ada"])], Corrupt::Unfounded { id });
    check_corrupt(&[opening(1), yes("ada"), approved(&["ben"])], Corrupt::Unfounded { id });
    check_corrupt(&[opening(1), voted("ada", DENY), approved(&["ada"])], Corrupt::Unfounded { id });
    let expired = resolved(ActionOutcome::Expired, &[]);
    check_corrupt(&[opening(1), voted("ada", DENY), expired.clone()], Corrupt::Unfounded { id });
    assert!(State::fold(id, &[opening(1), expired]).is_ok());
}
