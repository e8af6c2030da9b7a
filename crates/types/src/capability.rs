//! The words of capabilities: what can be called, what may come of it, and where a call of it is.

use crate::words::words;

words! {
    /// What a capability is.
    CapabilityKind {
        /// Something that is called.
        Tool => "tool",
        /// Something that is read.
        Resource => "resource",
        /// A text with places to fill.
        Prompt => "prompt",
        /// Something that is done by the node or an agent.
        Operation => "operation",
        /// Tasks that are joined, begun and ended together.
        Workflow => "workflow",
        /// Something that is done when something happens, and can be had done by hand.
        Automation => "automation",
    }
}

words! {
    /// What is behind a capability.
    BackingKind {
        /// A server that the node speaks to.
        Connector => "connector",
        /// An agent that registered it.
        Agent => "agent",
        /// A method of the node itself.
        Builtin => "builtin",
        /// Tasks, as a resource says them.
        Workflow => "workflow",
        /// A task or a method, as a resource says it.
        Automation => "automation",
    }
}

impl Default for BackingKind {
    /// What was called before there was anything else.
    fn default() -> Self {
        Self::Connector
    }
}

words! {
    /// What a call may do at most.
    EffectClass {
        /// Nothing: it computes.
        None => "none",
        /// It looks at something.
        Read => "read",
        /// It changes something, and what it changed can be found.
        Write => "write",
        /// It reaches beyond this machine. What nobody vouches for is taken to.
        External => "external",
        /// What it does cannot be undone.
        Destructive => "destructive",
    }
}

words! {
    /// What holds for a call.
    Permission {
        /// It is made.
        Allow => "allow",
        /// A person is asked first.
        Ask => "ask",
        /// It is refused.
        Deny => "deny",
    }
}

words! {
    /// Where an invocation is.
    InvocationState {
        /// It waits for leave.
        Waiting => "waiting",
        /// It is being made.
        Running => "running",
        /// It was made, and the server says that it went well.
        Succeeded => "succeeded",
        /// It was not made, or the server says that it went wrong.
        Failed => "failed",
        /// Leave was refused, or nobody gave it in time.
        Denied => "denied",
        /// It was taken back. What the server did until then cannot be known.
        Cancelled => "cancelled",
        /// Whether it was made, or what came of it, cannot be known.
        OutcomeUnknown => "outcome_unknown",
    }
}

words! {
    /// What had an invocation end without being done.
    InvocationCause {
        /// Its server does not accept what it is shown.
        Credentials => "credentials",
        /// A hook stopped it, or keeps back what came of it.
        Hook => "hook",
        /// No checkpoint could be made before it.
        Checkpoint => "checkpoint",
    }
}

words! {
    /// When a hook around a call is asked.
    HookPoint {
        /// Before a call is made, or a person is asked about it.
        PreToolUse => "pre_tool_use",
        /// Before a person is asked.
        PermissionRequest => "permission_request",
        /// After a call that went well.
        PostToolUse => "post_tool_use",
        /// After a call that went wrong.
        PostToolFailure => "post_tool_failure",
    }
}

words! {
    /// What a hook says.
    HookDecision {
        /// It has nothing against it.
        Continue => "continue",
        /// It stops the call, or keeps back what came of it.
        Block => "block",
        /// Nobody needs to be asked, unless somebody says otherwise in so many words.
        Allow => "allow",
        /// The call is refused.
        Deny => "deny",
        /// A person is to be asked.
        Ask => "ask",
    }
}

impl BackingKind {
    /// What stands before the name of an owner of this kind. No name has a colon, so that nobody can be taken for
    /// somebody else; connectors stand alone.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Connector => "",
            Self::Agent => "agent:",
            Self::Builtin => "edgeplane:",
            Self::Workflow => "workflow:",
            Self::Automation => "automation:",
        }
    }
}

impl CapabilityKind {
    /// What something of this kind is called within its owner.
    #[must_use]
    pub fn called(self, native_id: &str) -> String {
        match self {
            Self::Tool | Self::Operation | Self::Workflow | Self::Automation => native_id.to_owned(),
            Self::Resource | Self::Prompt => format!("{self}:{native_id}"),
        }
    }
}

impl HookPoint {
    /// Whether it comes before the call.
    #[must_use]
    pub fn is_before(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }
}

impl InvocationState {
    /// Whether it is over.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}
