//! Who calls: decided by what the kernel says of the peer, never by what the peer says.
//!
//! On an epoch's own socket a caller is at most that agent. On the node's socket the caller's cgroup and its
//! descent under a live shim are both looked at: either one that names an agent makes it that agent, and where
//! they name different ones its word counts for nothing. `operator` is what remains. Whoever shows a token afterwards
//! is its bearer instead (see [`crate::tokens`]), unless they are an agent.

use std::os::fd::AsFd;

use edgeplane_os::{
    peer::{self, Peer},
    proc,
};
use edgeplane_types::{
    AgentId, AgentName, Assurance, Authority, Channel, Epoch, Proof, SafeLabel, Scope, Source, Timestamp,
    TokenId, fact::Actor,
};
use edgeplane_wire::api::core::CallerView;

/// An agent as a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallingAgent {
    pub(crate) id: AgentId,
    pub(crate) name: AgentName,
    pub(crate) epoch: Epoch,
}

/// Who calls, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) agent: Option<CallingAgent>,
    pub(crate) principal: SafeLabel,
    pub(crate) proof: Proof,
    pub(crate) assurance: Assurance,
    /// What the caller's messages can weigh at most.
    pub(crate) authority_max: Authority,
    /// What is doubtful about it; of the node, the rule by which it speaks.
    pub(crate) note: Option<String>,
    /// The roles in which it decides actions, as its token says.
    pub(crate) roles: Vec<SafeLabel>,
    /// What its token allows; without a token, whatever such a caller may do.
    pub(crate) scopes: Option<Vec<Scope>>,
    /// The token that it speaks by. It counts as long as the token does.
    pub(crate) bears: Option<Bears>,
    /// For whom it speaks in this request.
    pub(crate) speaks_for: Option<SpeaksFor>,
    /// The automation by which it acts, if it does not ask itself.
    pub(crate) automation: Option<ByAutomation>,
}

/// An automation by which somebody acts who declared it: they do not speak themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByAutomation {
    pub(crate) name: AgentName,
    /// The channel of what it says; that of whoever declared it, if absent.
    pub(crate) channel: Option<Channel>,
    /// How many automations caused each other before.
    pub(crate) hops: u32,
}

/// A user for whom a service speaks, by its grant to delegate. Who calls is still the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpeaksFor {
    pub(crate) user_id: SafeLabel,
    /// For whom the user speaks, nearest first.
    pub(crate) on_behalf_of: Vec<SafeLabel>,
}

/// Whether it may be somebody else than the agent that it is named as.
fn is_in_doubt(proof: Proof) -> bool {
    matches!(proof, Proof::Disagreement | Proof::CgroupAfterExit)
}

/// A token that a caller has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bears {
    /// One that the record knows.
    Named(TokenId),
    /// One of the caller's epoch, and when it ends.
    Epoch(Timestamp),
    /// One that an identity provider signed, by which of them, and when it ends.
    Issued(u64, Timestamp),
}

/// What tells agents from one another: live shims and their groups.
pub(crate) trait Living {
    /// The agent whose live shim this process is.
    fn by_shim(&self, pid: u32, start_time: u64) -> Option<CallingAgent>;
    /// The agent whose epoch's group has this id; `pid` is in it, if it is alive.
    fn by_group(&self, group_id: u64, pid: Option<u32>) -> Option<CallingAgent>;
    /// What separates agents from the node.
    fn assurance(&self) -> Assurance;
}

/// Most authority that an agent's word carries.
pub(crate) const AGENT_AUTHORITY_MAX: Authority = Authority::Delegated;

/// The rule by which a schedule speaks.
const SCHEDULER: &str = "scheduler";

impl Caller {
    /// An agent that speaks through its own driver: its shim read the words.
    pub(crate) fn driver(agent: CallingAgent, assurance: Assurance) -> Self {
        Self {
            principal: SafeLabel::from(&agent.name),
            agent: Some(agent),
            proof: Proof::Driver,
            assurance,
            authority_max: AGENT_AUTHORITY_MAX,
            note: None,
            roles: Vec::new(),
            scopes: None,
            bears: None,
            speaks_for: None,
            automation: None,
        }
    }

    /// The node itself, by one of its rules.
    pub(crate) fn node(name: SafeLabel, rule: &str, assurance: Assurance) -> Self {
        Self {
            agent: None,
            principal: name,
            proof: Proof::Node,
            assurance,
            authority_max: Authority::Trusted,
            note: Some(rule.to_owned()),
            roles: Vec::new(),
            scopes: None,
            bears: None,
            speaks_for: None,
            automation: None,
        }
    }

    /// A schedule that came due. Operators declared it, so its word weighs as much as theirs.
    pub(crate) fn scheduler(schedule: &AgentName, assurance: Assurance) -> Self {
        Self {
            agent: None,
            principal: SafeLabel::from(schedule),
            proof: Proof::Node,
            assurance,
            authority_max: Authority::Trusted,
            note: Some(SCHEDULER.to_owned()),
            roles: Vec::new(),
            scopes: None,
            bears: None,
            speaks_for: None,
            automation: None,
        }
    }

    /// A caller that nothing is known of.
    pub(crate) fn unknown(note: String) -> Self {
        Self {
            agent: None,
            principal: SafeLabel::sanitized("unknown"),
            proof: Proof::None,
            assurance: Assurance::Open,
            authority_max: Authority::Untrusted,
            note: Some(note),
            roles: Vec::new(),
            scopes: None,
            bears: None,
            speaks_for: None,
            automation: None,
        }
    }

    /// Whether it may do what only operators may. One that bears a token may do of that what its scopes allow.
    pub(crate) fn is_operator(&self) -> bool {
        self.agent.is_none() && matches!(self.proof, Proof::Uid | Proof::OperatorToken)
    }

    /// Whether the kernel itself names it as this agent, without a contradiction: nothing that it brought along.
    pub(crate) fn is_seen_as_agent(&self) -> bool {
        use Proof::{Ancestry, Cgroup, CgroupAndAncestry, EpochSocket};
        self.agent.is_some() && matches!(self.proof, Ancestry | Cgroup | CgroupAndAncestry | EpochSocket)
    }

    /// Whether it is this agent, beyond a doubt.
    pub(crate) fn is_agent(&self, id: AgentId) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.id == id) && !is_in_doubt(self.proof)
    }

    /// Whether it is beyond a doubt who said something as this source. Names alone do not tell senders apart: an agent
    /// and those who speak over its socket have the same, and so may a person and a program with a token.
    pub(crate) fn is_source(&self, source: &Source) -> bool {
        let own = self.source(None);
        own.principal == source.principal
            && own.agent_id == source.agent_id
            && is_in_doubt(own.proof) == is_in_doubt(source.proof)
            && (own.agent_id.is_some() || own.proof == source.proof)
    }

    /// As whom its messages are from: of an automation that acts for a person, the automation.
    pub(crate) fn speaker(&self) -> SafeLabel {
        match (&self.automation, &self.agent) {
            (Some(by), None) => SafeLabel::from(&by.name),
            (Some(_), Some(_)) | (None, _) => self.principal.clone(),
        }
    }

    /// For whom it speaks, if it is not for itself.
    pub(crate) fn user_id(&self) -> Option<&SafeLabel> {
        self.speaks_for.as_ref().map(|user| &user.user_id)
    }

    /// In whose name what it asks for happens: that of the user for whom it speaks, else its own.
    pub(crate) fn in_name_of(&self) -> &SafeLabel {
        self.user_id().unwrap_or(&self.principal)
    }

    /// What tells its calls from those of others: the same on every connection and under the next daemon. None for those
    /// of whom it is not proven who they are.
    pub(crate) fn scope_of_keys(&self) -> Option<String> {
        if let Some(by) = &self.automation {
            return Some(format!("automation/{}", by.name));
        }
        let who = match (&self.agent, self.proof, self.bears) {
            (_, proof, _) if is_in_doubt(proof) => return None,
            (Some(agent), _, _) => format!("agent/{}", agent.id),
            (None, proof, Some(Bears::Issued(by, _))) => {
                format!("{}/{by:016x}/{}", proof.as_str(), self.principal)
            }
            (None, Proof::Uid | Proof::OperatorToken | Proof::ServiceToken, _) => {
                format!("{}/{}", self.proof.as_str(), self.principal)
            }
            (None, _, _) => return None,
        };
        Some(match self.user_id() {
            Some(user_id) => format!("{who}/for/{user_id}"),
            None => who,
        })
    }

    /// The channel its messages come in on.
    pub(crate) fn channel(&self) -> Channel {
        if let Some(channel) = self.automation.as_ref().and_then(|by| by.channel) {
            return channel;
        }
        match (&self.agent, self.proof) {
            (Some(_), _) => Channel::Peer,
            (None, Proof::Uid | Proof::OperatorToken) => Channel::Operator,
            (None, Proof::ServiceToken) => Channel::Workflow,
            (None, Proof::Node) if self.note.as_deref() == Some(SCHEDULER) => Channel::Scheduler,
            (None, Proof::Node) => Channel::System,
            (None, _) => Channel::External,
        }
    }

    /// What its messages weigh.
    pub(crate) fn authority(&self) -> Authority {
        self.authority_max
    }

    pub(crate) fn actor(&self) -> Actor {
        if let (Some(by), None) = (&self.automation, &self.agent) {
            return Actor::Node { rule: SafeLabel::sanitized(&format!("automation.{}", by.name)) };
        }
        let (name, user_id) = (self.principal.clone(), self.user_id().cloned());
        match (&self.agent, self.proof) {
            (Some(agent), _) => Actor::Agent { agent_id: agent.id, name: SafeLabel::from(&agent.name) },
            (None, Proof::Node) => {
                Actor::Node { rule: SafeLabel::sanitized(self.note.as_deref().unwrap_or("node")) }
            }
            (None, Proof::ServiceToken) => Actor::Service { name, user_id },
            (None, _) if self.is_operator() => Actor::Operator { name, user_id },
            (None, _) => Actor::Unproven { name },
        }
    }

    pub(crate) fn source(&self, display_name: Option<String>) -> Source {
        // What an automation says, the node vouches for: nobody else was there.
        let proof = if self.automation.is_some() { Proof::Node } else { self.proof };
        Source {
            principal: self.speaker(),
            agent_id: self.agent.as_ref().map(|agent| agent.id),
            display_name,
            proof,
            assurance: self.assurance,
        }
    }

    pub(crate) fn view(&self) -> CallerView {
        CallerView {
            principal: self.principal.clone(),
            agent_id: self.agent.as_ref().map(|agent| agent.id),
            proof: self.proof,
            assurance: self.assurance,
            note: self.note.clone(),
        }
    }
}

/// Who is at the other end of a socket. `own` is the epoch whose socket it came in on, if it is one's.
pub(crate) fn identify(socket: &impl AsFd, own: Option<&CallingAgent>, living: &dyn Living) -> Caller {
    let peer = match peer::peer_of(socket) {
        Ok(peer) => peer,
        Err(error) => return Caller::unknown(error.to_string()),
    };
    // Where the kernel does not tell the group, the path of a live process does; zero is no group's number.
    let is_told = peer.cgroup_id.is_some() || peer.alive;
    let group_of = |id| living.by_group(id, peer.alive.then_some(peer.pid));
    let by_group = is_told.then(|| group_of(peer.cgroup_id.unwrap_or(0))).flatten();
    let by_descent = if peer.alive { descent(&peer, living) } else { Descent::Unseen };
    let assurance = living.assurance();
    if let Some(own) = own {
        return on_own_socket(own, by_group.as_ref(), &by_descent, assurance);
    }
    on_node_socket(&peer, by_group, by_descent, assurance)
}

enum Descent {
    From(CallingAgent),
    FromNone,
    /// Not from a live agent of this node, and not from an operator either: this is why.
    Doubtful(&'static str),
    Unseen,
}

const STARTED_BY_NODE: &str = "the node itself started the caller, for an agent";

const UNKNOWN_SHIM: &str = "the caller stands under a shim that is no live agent's of this node";

/// Under which live shim a process stands.
fn descent(peer: &Peer, living: &dyn Living) -> Descent {
    let chain = peer::ancestry(peer.pid, |_| false);
    // The number may have been given to another process meanwhile: then the line is not the caller's.
    if chain.chain.first().map(|first| first.start_time) != peer.start_time {
        return Descent::Unseen;
    }
    for ancestor in &chain.chain {
        if let Some(agent) = living.by_shim(ancestor.pid, ancestor.start_time) {
            return Descent::From(agent);
        }
    }
    let same = peer.start_time.is_some_and(|start| proc::is_same(peer.pid, start));
    match chain.end {
        peer::AncestryEnd::Root | peer::AncestryEnd::Stopped if same => {}
        _ => return Descent::Unseen,
    }
    let mut above = chain.chain.iter().skip(1).map(|ancestor| ancestor.pid);
    match above.find_map(|pid| if pid == std::process::id() { Some(STARTED_BY_NODE) } else { shim_note(pid) })
    {
        Some(why) => Descent::Doubtful(why),
        None => Descent::FromNone,
    }
}

/// What is to be said of a process that calls itself a shim, as every shim does. It can only lower what a caller is.
fn shim_note(pid: u32) -> Option<&'static str> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    line.starts_with(b"edgeplane-shim\0run\0").then_some(UNKNOWN_SHIM)
}

fn agent_caller(agent: CallingAgent, proof: Proof, assurance: Assurance) -> Caller {
    Caller { proof, ..Caller::driver(agent, assurance) }
}

fn disagreement(agent: CallingAgent, other: &str, assurance: Assurance) -> Caller {
    Caller {
        authority_max: Authority::Untrusted,
        note: Some(format!("its cgroup or descent also names {other}")),
        ..agent_caller(agent, Proof::Disagreement, assurance)
    }
}

/// What arrives on an epoch's own socket is at most that agent, whoever sent it.
fn on_own_socket(
    own: &CallingAgent,
    by_group: Option<&CallingAgent>,
    by_descent: &Descent,
    assurance: Assurance,
) -> Caller {
    let by_descent = match by_descent {
        Descent::From(agent) => Some(agent),
        Descent::FromNone | Descent::Doubtful(_) | Descent::Unseen => None,
    };
    let stranger = by_group.into_iter().chain(by_descent).find(|agent| agent.id != own.id);
    match stranger {
        Some(stranger) => disagreement(own.clone(), stranger.name.as_str(), assurance),
        None => agent_caller(own.clone(), Proof::EpochSocket, assurance),
    }
}

fn on_node_socket(
    peer: &Peer,
    by_group: Option<CallingAgent>,
    by_descent: Descent,
    assurance: Assurance,
) -> Caller {
    match (by_group, by_descent) {
        (Some(group), Descent::From(descent)) if group.id == descent.id => {
            agent_caller(descent, Proof::CgroupAndAncestry, assurance)
        }
        // A process can be moved to another cgroup by one who may write there; its descent it keeps.
        (Some(group), Descent::From(descent)) => disagreement(descent, group.name.as_str(), assurance),
        (Some(group), Descent::FromNone | Descent::Doubtful(_)) => {
            agent_caller(group, Proof::Cgroup, assurance)
        }
        (Some(group), Descent::Unseen) => Caller {
            authority_max: Authority::Untrusted,
            note: Some("the caller had ended before it could be looked at".to_owned()),
            ..agent_caller(group, Proof::CgroupAfterExit, assurance)
        },
        (None, Descent::From(descent)) => agent_caller(descent, Proof::Ancestry, assurance),
        (None, Descent::FromNone) => operator(peer),
        (None, Descent::Doubtful(why)) => Caller::unknown(why.to_owned()),
        (None, Descent::Unseen) if peer.cgroup_id.is_some() => Caller {
            // The kernel kept the group of a process that has ended, and it is no agent's. Its descent is gone.
            authority_max: Authority::Untrusted,
            ..Caller::unknown("the caller had ended before it could be looked at".to_owned())
        },
        (None, Descent::Unseen) => {
            Caller::unknown("the caller had ended, and nothing is known of it".to_owned())
        }
    }
}

fn operator(peer: &Peer) -> Caller {
    Caller {
        agent: None,
        principal: SafeLabel::sanitized(&format!("uid-{}", peer.uid)),
        proof: Proof::Uid,
        assurance: Assurance::Open,
        authority_max: Authority::Trusted,
        note: None,
        roles: Vec::new(),
        scopes: None,
        bears: None,
        speaks_for: None,
        automation: None,
    }
}

#[cfg(test)]
#[path = "caller/tests.rs"]
mod tests;
