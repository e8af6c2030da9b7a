//! What is asked: who wants to do what to which agent, and how that came in.
//!
//! Holds what the caller has proven; proves nothing itself.

use std::{collections::BTreeSet, fmt, sync::Arc};

use edgeplane_types::{
    AgentName, Assurance, Authority, Channel, Ingress, PolicyAction, Proof, Risk, SafeLabel, Tenant,
};
use serde::Serialize;

/// What kind of speaker somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A person who runs the node.
    Operator,
    /// An agent.
    Agent,
    /// A program with a token, such as a workflow engine.
    Service,
    /// The node itself.
    Node,
    /// Whoever could not be proven to be one of these.
    External,
}

impl SubjectKind {
    /// Every kind.
    pub const ALL: &'static [Self] =
        &[Self::Operator, Self::Agent, Self::Service, Self::Node, Self::External];

    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Agent => "agent",
            Self::Service => "service",
            Self::Node => "node",
            Self::External => "external",
        }
    }
}

/// Who wants to do something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// What kind of speaker it is.
    pub kind: SubjectKind,
    /// Its proven name.
    pub name: SafeLabel,
    /// Where it belongs. Rules do not see that of an external one: nothing is proven of it.
    pub tenant: Tenant,
    /// Its labels, each as `key=value`.
    pub labels: BTreeSet<String>,
    /// What can go wrong when it does what it is told. Rules see that of an agent.
    pub risk: Risk,
    /// As whom it acts. Rules see that of an agent.
    pub principal: SafeLabel,
    /// The most that its words can weigh, whatever was proven and whatever rules grant.
    pub authority_max: Authority,
}

/// The agent to which something is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Its name.
    pub name: AgentName,
    /// Where it belongs.
    pub tenant: Tenant,
    /// Its labels, each as `key=value`.
    pub labels: BTreeSet<String>,
    /// What can go wrong when it does what it is told.
    pub risk: Risk,
    /// As whom it acts.
    pub principal: SafeLabel,
}

/// Everything of a request that a rule can see. Requests of one class are decided alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Class {
    /// What is wanted.
    pub action: PolicyAction,
    /// By whom. Shared, so that whoever remembers decisions does not copy it.
    pub subject: Arc<Subject>,
    /// Of which agent.
    pub target: Arc<Target>,
    /// The kind of the message; for an action without one, that of the subject's messages.
    pub channel: Channel,
    /// The way it comes in.
    pub ingress: Ingress,
    /// What the subject's words weigh by what is proven of it.
    pub authority: Authority,
    /// By what the node knows who speaks.
    pub proof: Proof,
    /// What that proof is worth.
    pub assurance: Assurance,
    /// How many agents the message has passed through.
    pub hops: u32,
    /// The topic it is published on.
    pub topic: Option<SafeLabel>,
    /// What is called, as `CONNECTOR/NAME`.
    pub capability: Option<String>,
    /// For whom the subject speaks, by a grant to delegate.
    pub user: Option<SafeLabel>,
}

impl Class {
    /// What the words weigh before any rule: what was proven, and no more than the subject's own ceiling.
    #[must_use]
    pub fn authority_claimed(&self) -> Authority {
        self.authority.at_most(self.subject.authority_max)
    }
}

/// For the reasons of refusals: `agent alpha to send to agent beta on channel peer`.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (subject, target) = (&self.subject, &self.target.name);
        let verb = match self.action {
            PolicyAction::Send => "send to",
            PolicyAction::Attach => "attach to",
            PolicyAction::Control => "control",
            PolicyAction::Supervise => "supervise",
            PolicyAction::Approve => "decide for",
            PolicyAction::Run => "run commands in",
            PolicyAction::Invoke => "call capabilities for",
            PolicyAction::Spawn => "start agents under",
        };
        write!(f, "{} {} to {verb} agent {target}", subject.kind.as_str(), subject.name)?;
        match self.action {
            PolicyAction::Send => write!(f, " on channel {}", self.channel),
            PolicyAction::Attach
            | PolicyAction::Control
            | PolicyAction::Supervise
            | PolicyAction::Approve
            | PolicyAction::Run
            | PolicyAction::Spawn => Ok(()),
            PolicyAction::Invoke => match &self.capability {
                Some(capability) => write!(f, ": `{capability}`"),
                None => Ok(()),
            },
        }
    }
}

/// What somebody wants to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// All that rules see.
    pub class: Class,
    /// Size of the content in bytes; 0 where there is none.
    pub bytes: u64,
}
