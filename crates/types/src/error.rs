//! Error names: the stable half of every failure that crosses a process boundary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! errors {
    ($($(#[$doc:meta])* $variant:ident, $word:literal, $code:literal, $http:literal, $exit:literal, $retryable:literal;)+) => {
        /// What went wrong, as a name that programs may rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorName {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl ErrorName {
            /// Every name.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name that programs read.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The JSON-RPC code.
            #[must_use]
            pub fn code(self) -> i32 {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The status of an answer over HTTP that is this error.
            #[must_use]
            pub fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)+ }
            }

            /// The exit code of a command that ended with this error.
            #[must_use]
            pub fn exit_code(self) -> u8 {
                match self { $(Self::$variant => $exit,)+ }
            }

            /// Whether an identical retry can help and cannot double an effect.
            #[must_use]
            pub fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)+ }
            }

            /// The error with this name.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|name| name.as_str() == word)
            }
        }
    };
}

errors! {
    /// The bytes are not JSON.
    ParseError, "parse_error", -32700, 400, 65, false;
    /// The JSON is not a request.
    InvalidRequest, "invalid_request", -32600, 400, 65, false;
    /// No such method.
    MethodNotFound, "method_not_found", -32601, 404, 64, false;
    /// The parameters are not what the method takes.
    InvalidParams, "invalid_params", -32602, 400, 64, false;
    /// A defect of ours.
    Internal, "internal", -32603, 500, 70, false;
    /// The caller has not proven who it is.
    Unauthenticated, "unauthenticated", 4010, 401, 77, false;
    /// The caller may not do this.
    PermissionDenied, "permission_denied", 4030, 403, 77, false;
    /// A rule refuses it.
    PolicyBlocked, "policy_blocked", 4033, 403, 77, false;
    /// No such thing, or none that the caller may see.
    NotFound, "not_found", 4040, 404, 66, false;
    /// Something of that name is there already.
    Conflict, "conflict", 4090, 409, 73, false;
    /// It has changed since it was read.
    VersionConflict, "version_conflict", 4091, 409, 73, false;
    /// The key was used for something else.
    IdempotencyMismatch, "idempotency_mismatch", 4092, 409, 73, false;
    /// What is spoken of belongs to another workspace.
    WrongWorkspace, "wrong_workspace", 4093, 409, 75, false;
    /// The caller's epoch is over.
    Fenced, "fenced", 4094, 409, 75, false;
    /// The wanted part of the stream is gone.
    ReplayGap, "replay_gap", 4100, 410, 74, false;
    /// The thing is in a state that does not allow this.
    InvalidState, "invalid_state", 4120, 412, 75, false;
    /// Larger than the limit.
    TooLarge, "too_large", 4130, 413, 65, false;
    /// Known, but not served here.
    Unsupported, "unsupported", 4150, 501, 69, false;
    /// The manifest is wrong.
    InvalidManifest, "invalid_manifest", 4220, 422, 65, false;
    /// Somebody else holds it.
    Locked, "locked", 4230, 423, 75, true;
    /// Too often.
    RateLimited, "rate_limited", 4290, 429, 75, true;
    /// A limit of number or size is reached.
    QuotaExhausted, "quota_exhausted", 4291, 429, 75, false;
    /// The receiver's queue is full.
    Backpressure, "backpressure", 4292, 429, 75, true;
    /// The caller took it back.
    Cancelled, "cancelled", 4990, 499, 130, false;
    /// What the node uses for this failed, or gave something else than it was given.
    UpstreamFailed, "upstream_failed", 5020, 502, 69, false;
    /// The node cannot serve this now.
    Unavailable, "unavailable", 5030, 503, 69, true;
    /// Whether it took effect is not known: read, then decide.
    OutcomeUnknown, "outcome_unknown", 5031, 503, 75, false;
    /// Not done in the time given.
    DeadlineExceeded, "deadline_exceeded", 5041, 504, 75, false;
    /// No space for the record: nothing was changed.
    StorageFull, "storage_full", 5070, 507, 74, true;
    /// The record failed verification and is read-only.
    RecordDamaged, "record_damaged", 5071, 503, 74, false;
}

/// Whether a failed request changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It did not.
    None,
    /// It did.
    Applied,
    /// It may have.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_are_unique() {
        for (index, name) in ErrorName::ALL.iter().enumerate() {
            for other in &ErrorName::ALL[index + 1..] {
                assert_ne!(name.as_str(), other.as_str());
                assert_ne!(name.code(), other.code());
            }
            assert_eq!(ErrorName::from_word(name.as_str()), Some(*name));
            assert!((400..=599).contains(&name.http_status()), "{}", name.as_str());
        }
    }
}
