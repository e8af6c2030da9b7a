//! Why a call has no result.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    catalogue::{self, MethodEffect},
    rpc::RpcError,
};

/// Why a call has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// Nobody listens there, or the caller may not connect.
    #[error("cannot connect to the node at `{}`", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: Arc<io::Error>,
    },
    /// The connection failed.
    #[error("cannot exchange bytes with the node for {method}")]
    Io {
        /// The method that was called.
        method: String,
        /// What the kernel said.
        #[source]
        source: Arc<io::Error>,
    },
    /// The connection ended, by either side, before the answer came.
    #[error("the connection to the node ended before it answered {method}")]
    Closed {
        /// The method that was called.
        method: String,
    },
    /// The node, or whoever is there, does not speak the protocol.
    #[error("no protocol is spoken with the node for {method}: {detail}")]
    Protocol {
        /// The method that was called.
        method: String,
        /// What is wrong.
        detail: String,
    },
    /// The answer did not come in time.
    #[error("the node did not answer {method} within {} ms", after.as_millis())]
    Deadline {
        /// The method that was called.
        method: String,
        /// The time that it had.
        after: Duration,
    },
    /// The node refused or failed.
    #[error(transparent)]
    Rpc(#[from] RpcError),
}

impl CallError {
    /// The failure's name, also for failures that the node never saw.
    ///
    /// A call that changes something and has no answer is `outcome_unknown`: it may have been carried out.
    #[must_use]
    pub fn name(&self) -> ErrorName {
        match self {
            Self::Connect { .. } => ErrorName::Unavailable,
            Self::Io { method, .. } | Self::Closed { method } => unanswered(method, ErrorName::Unavailable),
            Self::Deadline { method, .. } => unanswered(method, ErrorName::DeadlineExceeded),
            Self::Protocol { .. } => ErrorName::InvalidRequest,
            Self::Rpc(error) => error.name(),
        }
    }

    /// The exit code of a command that ends with this failure.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.name().exit_code()
    }
}

fn unanswered(method: &str, if_it_only_reads: ErrorName) -> ErrorName {
    match catalogue::find(method).map(|method| method.effect) {
        Some(MethodEffect::Read) => if_it_only_reads,
        Some(MethodEffect::Write) | None => ErrorName::OutcomeUnknown,
    }
}

/// Why a connection is over, told to every call that waits and every later one.
#[derive(Debug, Clone)]
pub(crate) enum End {
    Io(Arc<io::Error>),
    Closed,
    Protocol(String),
}

impl End {
    pub(crate) fn for_call(&self, method: &str) -> CallError {
        let method = method.to_owned();
        match self {
            Self::Io(source) => CallError::Io { method, source: Arc::clone(source) },
            Self::Closed => CallError::Closed { method },
            Self::Protocol(detail) => CallError::Protocol { method, detail: detail.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_answer_is_unknown_only_where_something_could_have_changed() {
        let closed = |method: &str| CallError::Closed { method: method.to_owned() }.name();
        assert_eq!(closed("runtime/agent.get"), ErrorName::Unavailable);
        assert_eq!(closed("runtime/agent.signal"), ErrorName::OutcomeUnknown);
        let late = CallError::Deadline { method: "core/health".to_owned(), after: Duration::from_secs(1) };
        assert_eq!(late.name(), ErrorName::DeadlineExceeded);
        assert_eq!(late.to_string(), "the node did not answer core/health within 1000 ms");
        assert_eq!(CallError::from(RpcError::new(ErrorName::NotFound, "no")).exit_code(), 66);
    }
}
