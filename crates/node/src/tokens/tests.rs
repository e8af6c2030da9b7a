//! A token makes nobody of an agent, and doubt makes no operator.

use edgeplane_types::{AgentId, Assurance, Epoch};

use super::*;

fn agent(seed: u8, epoch: u64) -> CallingAgent {
    let name = format!("agent-{seed}").parse().unwrap();
    CallingAgent { id: AgentId::from_parts(1, [seed; 10]), name, epoch: Epoch(epoch) }
}

fn of(agent: Option<CallingAgent>, proof: Proof, authority_max: Authority) -> Caller {
    let principal = agent.as_ref().map_or_else(|| "somebody".parse().unwrap(), |agent| (&agent.name).into());
    let driver = Caller::driver(self::agent(1, 1), Assurance::Open);
    Caller { agent, principal, proof, authority_max, ..driver }
}

/// Proves SEC-020, SEC-021, SEC-022, SEC-033.
#[test]
fn kernel_comes_before_every_token() {
    use Authority::{Delegated, Trusted, Untrusted};
    let operator = || of(None, Proof::OperatorToken, Trusted);
    let service = || of(None, Proof::ServiceToken, Delegated);
    let epoch = |seed, number| of(Some(agent(seed, number)), Proof::EpochToken, Delegated);
    for shown in [operator(), service(), epoch(1, 1)] {
        assert_eq!(meet(&of(None, Proof::Uid, Trusted), shown.clone(), false).unwrap(), shown);
    }
    let unknown = of(None, Proof::None, Untrusted);
    assert_eq!(meet(&unknown, service(), false).unwrap(), service());
    assert_eq!(meet(&unknown, epoch(1, 1), false).unwrap(), epoch(1, 1));
    assert_eq!(meet(&unknown, operator(), false).unwrap_err().name(), ErrorName::Unauthenticated);
    // Whoever made it for that has decided so.
    assert_eq!(meet(&unknown, operator(), true).unwrap(), operator());

    let agents = [
        (Proof::EpochSocket, Delegated),
        (Proof::Cgroup, Delegated),
        (Proof::Ancestry, Delegated),
        (Proof::CgroupAndAncestry, Delegated),
        (Proof::Disagreement, Untrusted),
        (Proof::CgroupAfterExit, Untrusted),
        (Proof::Driver, Delegated),
    ];
    for (proof, authority) in agents {
        let seen = of(Some(agent(1, 2)), proof, authority);
        for shown in [operator(), service(), epoch(2, 2), epoch(1, 1), epoch(1, 3)] {
            let met = meet(&seen, shown.clone(), true).unwrap();
            assert!(met.note.as_ref().is_some_and(|note| note.contains(shown.principal.as_str())), "{met:?}");
            assert_eq!(Caller { note: None, ..met }, seen, "{proof:?} {shown:?}");
        }
        let met = meet(&seen, epoch(1, 2), false).unwrap();
        let doubtful = matches!(proof, Proof::Disagreement | Proof::CgroupAfterExit | Proof::Driver);
        assert_eq!(met.proof, if doubtful { proof } else { Proof::EpochToken });
        assert!(met.authority_max >= authority, "{met:?}");
    }
}

/// Proves SEC-024.
#[test]
fn every_scope_has_the_word_that_programs_read() {
    use edgeplane_types::Scope::{Approve, Attach, Control, Read, Signal, Supervise};
    for scope in [Read, Signal, Attach, Control, Supervise, Approve] {
        assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
    }
}
