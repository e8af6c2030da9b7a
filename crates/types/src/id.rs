//! Ids: a prefix that says the kind, and a UUIDv7 that sorts by creation.
//!
//! Knows how to build an id from a time and random bytes, but owns neither: the caller brings both.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::{Builder, Uuid};

/// Why a string is not an id of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {article} {kind} id: it should be `{prefix}_` and a UUID")]
pub struct IdError {
    kind: &'static str,
    article: &'static str,
    prefix: &'static str,
    found: String,
}

fn parse(text: &str, prefix: &str) -> Option<Uuid> {
    let uuid = text.strip_prefix(prefix)?.strip_prefix('_')?;
    // One spelling per id: simple, braced and upper-case forms of a UUID are refused.
    let parsed = Uuid::try_parse(uuid).ok()?;
    (parsed.as_hyphenated().to_string() == uuid).then_some(parsed)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $article:literal, $kind:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The letters before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// Builds a UUIDv7-based id from the milliseconds since 1970 and ten random bytes.
            #[must_use]
            pub fn from_parts(unix_ms: u64, random: [u8; 10]) -> Self {
                Self(Builder::from_unix_timestamp_millis(unix_ms, &random).into_uuid())
            }

            /// The sixteen bytes of the UUID, for binary frames.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The id with these sixteen bytes.
            #[must_use]
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.as_hyphenated())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text, $prefix).map(Self).ok_or_else(|| IdError {
                    kind: $kind,
                    article: $article,
                    prefix: $prefix,
                    found: text.chars().take(64).collect(),
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": concat!("^", $prefix, "_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
                })
            }
        }
    )+};
}

ids! {
    /// A named, supervised unit; outlives every process that ran under its name.
    AgentId, "agt", "an", "agent";
    /// A live context that an agent owns.
    SessionId, "ses", "a", "session";
    /// Continuity inside a session.
    ThreadId, "thr", "a", "thread";
    /// One execution-bearing exchange of a thread.
    TurnId, "trn", "a", "turn";
    /// The durable result of a turn; shares the turn's UUID.
    OutputId, "out", "an", "output";
    /// The hand-over of an output to somebody.
    DeliveryId, "dlv", "a", "delivery";
    /// The work admitted behind a turn.
    RunId, "run", "a", "run";
    /// What a run is an attempt at.
    TaskId, "tsk", "a", "task";
    /// One step of a turn.
    ItemId, "itm", "an", "item";
    /// An inbound message.
    MessageId, "msg", "a", "message";
    /// One entry of the record.
    EventId, "evt", "an", "event";
    /// A pending decision.
    ActionId, "act", "an", "action";
    /// A recorded process.
    ProcessId, "prc", "a", "process";
    /// What is written to a process at once.
    InputId, "inp", "an", "input";
    /// Owner of files, blobs and checkpoints.
    WorkspaceId, "wks", "a", "workspace";
    /// A kept state of a workspace.
    CheckpointId, "chk", "a", "checkpoint";
    /// Something a caller may discover and invoke.
    CapabilityId, "cap", "a", "capability";
    /// One use of a capability.
    InvocationId, "inv", "an", "invocation";
    /// One time that an automation fires.
    FiringId, "frg", "a", "firing";
    /// A task that is given to measure who does it; shares the task's UUID.
    TrialId, "tri", "a", "trial";
    /// One reader of a stream.
    SubscriptionId, "sub", "a", "subscription";
    /// A secret by which a caller from elsewhere is known.
    TokenId, "tok", "a", "token";
    /// An operator's standing decision over agents.
    OverrideId, "ovr", "an", "override";
    /// Bytes that were published under a name, with their versions.
    ArtifactId, "art", "an", "artifact";
    /// A choice of texts for a budget.
    ContextId, "ctx", "a", "context";
    /// One daemon on one machine.
    NodeId, "nod", "a", "node";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_survives_its_text_form_and_sorts_by_time() {
        let early = AgentId::from_parts(1_000, [7; 10]);
        let late = AgentId::from_parts(2_000, [0; 10]);
        assert_eq!(early.to_string().parse::<AgentId>(), Ok(early));
        assert!(early.to_string() < late.to_string());
        assert_eq!(AgentId::from_bytes(*early.as_bytes()), early);
    }

    #[test]
    fn other_kinds_and_other_spellings_are_refused() {
        let id = AgentId::from_parts(1_000, [7; 10]).to_string();
        for bad in
            [id.replace("agt", "msg"), id.to_uppercase(), id.replace('-', ""), String::new(), "agt_".into()]
        {
            assert!(bad.parse::<AgentId>().is_err(), "{bad}");
        }
    }
}
