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

impl InvocationState {
    /// Whether it is over.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}
