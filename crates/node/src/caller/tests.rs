//! Agents are named whatever they do; doubt never makes an operator.

use std::os::unix::net::UnixStream;

use super::*;

#[derive(Default)]
struct Table {
    group: Option<CallingAgent>,
    shim: Option<CallingAgent>,
}

impl Living for Table {
    fn by_shim(&self, pid: u32, _: u64) -> Option<CallingAgent> {
        self.shim.clone().filter(|_| pid == std::process::id())
    }

    fn by_group(&self, _: u64, _: Option<u32>) -> Option<CallingAgent> {
        self.group.clone()
    }

    fn assurance(&self) -> Assurance {
        Assurance::Open
    }
}

fn agent(name: &str) -> CallingAgent {
    let seed = name.bytes().next().unwrap();
    CallingAgent { id: AgentId::from_parts(1, [seed; 10]), name: name.parse().unwrap(), epoch: Epoch(1) }
}

fn check(group: Option<&str>, shim: Option<&str>, own: Option<&str>, expected: (&str, Proof, Authority)) {
    let (one, _other) = UnixStream::pair().unwrap();
    let table = Table { group: group.map(agent), shim: shim.map(agent) };
    let caller = identify(&one, own.map(agent).as_ref(), &table);
    let found = (caller.principal.as_str(), caller.proof, caller.authority());
    assert_eq!(found, expected, "group {group:?}, shim {shim:?}, own {own:?}");
    assert_eq!(caller.is_operator(), caller.proof == Proof::Uid);
}

/// Proves ID-001, ID-002, ID-004.
#[test]
fn either_sign_names_the_agent_and_disagreement_is_untrusted() {
    let uid = format!("uid-{}", proc::uid(std::process::id()).unwrap());
    check(None, None, None, (&uid, Proof::Uid, Authority::Trusted));
    check(None, Some("a"), None, ("a", Proof::Ancestry, Authority::Delegated));
    check(Some("a"), Some("a"), None, ("a", Proof::CgroupAndAncestry, Authority::Delegated));
    check(Some("a"), None, None, ("a", Proof::Cgroup, Authority::Delegated));
    check(Some("b"), Some("a"), None, ("a", Proof::Disagreement, Authority::Untrusted));
}

/// Proves ID-002, ID-006.
#[test]
fn who_may_be_somebody_else_has_nothing_of_the_agent() {
    let known = Caller::driver(agent("a"), Assurance::Open);
    let id = agent("a").id;
    assert!(known.is_agent(id) && known.is_source(&known.source(None)));
    for proof in [Proof::Disagreement, Proof::CgroupAfterExit] {
        let doubted = Caller { proof, ..known.clone() };
        assert!(!doubted.is_agent(id), "{proof}");
        assert!(
            !doubted.is_source(&known.source(None)) && !known.is_source(&doubted.source(None)),
            "{proof}"
        );
        assert!(doubted.is_source(&doubted.source(None)), "{proof}");
    }
    let socket = Caller { proof: Proof::EpochSocket, ..known.clone() };
    assert!(known.is_source(&socket.source(None)), "an agent is the same on its lines and on its socket");
    let program = Caller { agent: None, proof: Proof::ServiceToken, ..known.clone() };
    let person = Caller { proof: Proof::OperatorToken, ..program.clone() };
    assert!(!person.is_source(&program.source(None)) && !program.is_source(&known.source(None)));
}

/// Proves ID-002, ID-003.
#[test]
fn own_socket_names_at_most_its_agent() {
    check(None, None, Some("a"), ("a", Proof::EpochSocket, Authority::Delegated));
    check(Some("a"), Some("a"), Some("a"), ("a", Proof::EpochSocket, Authority::Delegated));
    check(Some("b"), Some("a"), Some("a"), ("a", Proof::Disagreement, Authority::Untrusted));
    check(None, Some("b"), Some("a"), ("a", Proof::Disagreement, Authority::Untrusted));
}
