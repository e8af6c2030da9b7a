//! Names that people choose: agents, nodes, tenants, and labels that may reach a terminal.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest name in bytes: the DNS-1123 label limit, so that a name can later be a host name.
pub const NAME_BYTES_MAX: usize = 63;

/// Longest label in bytes that may stand in a message header.
pub const LABEL_BYTES_MAX: usize = 128;

/// Why a string is not a usable name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {kind}: use {rule}")]
pub struct NameError {
    kind: &'static str,
    rule: &'static str,
    found: String,
}

const DNS_RULE: &str =
    "1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit";
const LABEL_RULE: &str = "1 to 128 of the characters A-Z a-z 0-9 . _ @ -";

fn is_dns_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    bytes.len() <= NAME_BYTES_MAX
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

fn is_safe_label(text: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'@' | b'-'))
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $check:ident, $kind:literal, $rule:expr, $pattern:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                if $check(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(NameError { kind: $kind, rule: $rule, found: text.chars().take(80).collect() })
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "description": $rule })
            }
        }
    )+};
}

names! {
    /// Name of an agent, unique in its tenant.
    AgentName, is_dns_label, "an agent name", DNS_RULE, "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
    /// Name of a node, unique in its tenant.
    NodeName, is_dns_label, "a node name", DNS_RULE, "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
    /// Namespace of names and reads.
    Tenant, is_dns_label, "a tenant", DNS_RULE, "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
    /// Text that is harmless in a header line, a shell and a terminal.
    SafeLabel, is_safe_label, "a label", LABEL_RULE, "^[A-Za-z0-9._@-]{1,128}$";
}

/// Whether the node gives this name by itself, to callers whom it knows by nothing else and to what it says of its own.
///
/// Whoever else had it would look like one of those in a header, in `on behalf of`, and in a rule.
#[must_use]
pub fn is_nodes_own(name: &str) -> bool {
    let uid = name.strip_prefix("uid-").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    uid || matches!(name, "unknown" | "node" | "operator" | "scheduler" | "system" | "external")
}

impl Default for Tenant {
    /// The tenant of a node that has no other: `local`.
    fn default() -> Self {
        Self("local".to_owned())
    }
}

impl From<&AgentName> for SafeLabel {
    fn from(name: &AgentName) -> Self {
        Self(name.0.clone())
    }
}

impl SafeLabel {
    /// Keeps the harmless characters of `text`, replaces each other one by `_`, and cuts at the length limit.
    #[must_use]
    pub fn sanitized(text: &str) -> Self {
        let mut kept: String = text
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '-') { c } else { '_' })
            .take(LABEL_BYTES_MAX)
            .collect();
        if kept.is_empty() {
            kept.push('_');
        }
        Self(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_labels_only() {
        for good in ["a", "shell", "agent-7", &"x".repeat(63)] {
            assert!(good.parse::<AgentName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b", "a b", "a\n", "ä", &"x".repeat(64), "$(id)"] {
            assert!(bad.parse::<AgentName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn sanitized_label_is_always_a_label() {
        for text in ["", "a b", "$(id)\n`x`", "ä]", &"y".repeat(500)] {
            let label = SafeLabel::sanitized(text);
            assert!(label.as_str().parse::<SafeLabel>().is_ok(), "{text:?} -> {label}");
        }
    }
}
