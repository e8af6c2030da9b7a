//! To which request something belongs: W3C trace context, as it is told, recorded and handed on.
//!
//! What is not of the form that W3C gives is no context at all; nobody is told that it is wrong. Knows nothing of who
//! mints ids: the caller brings their bytes.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{MessageId, SafeLabel, ThreadId};

/// Longest `tracestate` in bytes that is kept and handed on: what W3C asks everybody to pass on at least.
pub const TRACESTATE_BYTES_MAX: usize = 512;

/// Most members of a `tracestate`.
const TRACESTATE_MEMBERS_MAX: usize = 32;

/// Longest `baggage` in bytes that is kept and handed on. W3C allows 8,192; this one stands in the record with each
/// request, so a longer one is left out.
pub const BAGGAGE_BYTES_MAX: usize = 1_024;

/// Most members of a `baggage`.
const BAGGAGE_MEMBERS_MAX: usize = 64;

/// Why a text is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not {0} of W3C trace context")]
pub struct TraceError(&'static str);

const HEX: &[u8; 16] = b"0123456789abcdef";

macro_rules! hex_ids {
    ($($(#[$doc:meta])* $name:ident, $bytes:literal, $what:literal, $pattern:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// The id with these bytes; none of zeros only, which stands for no id.
            #[must_use]
            pub fn from_bytes(bytes: [u8; $bytes]) -> Option<Self> {
                (bytes != [0; $bytes]).then_some(Self(bytes))
            }

            /// Its bytes.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Not byte by byte through the formatter: every event of a request has three of these.
                let digits = self.0.map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
                f.write_str(str::from_utf8(digits.as_flattened()).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = TraceError;

            fn from_str(text: &str) -> Result<Self, TraceError> {
                let mut bytes = [0; $bytes];
                unhex(text, &mut bytes).and_then(|()| Self::from_bytes(bytes)).ok_or(TraceError($what))
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

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    )+};
}

hex_ids! {
    /// One request and everything that came of it.
    TraceId, 16, "a trace id", "^[0-9a-f]{32}$";
    /// One stretch of a trace.
    SpanId, 8, "a span id", "^[0-9a-f]{16}$";
}

/// Lower-case hexadecimal, as W3C wants it: other spellings are refused.
fn unhex(text: &str, bytes: &mut [u8]) -> Option<()> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    };
    if text.len() != bytes.len().saturating_mul(2) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(())
}

impl SpanId {
    /// The span of the turn that a message begins. It follows from the message, so it can be handed on before there is a
    /// turn, and read from a record that was written before there were traces.
    #[must_use]
    pub fn of_turn(message_id: &MessageId) -> Self {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(message_id.as_bytes().iter().skip(8)) {
            *to = *from;
        }
        Self::never_zero(bytes)
    }

    /// A span that follows from what it is of, such as a message and the word `queue`.
    #[must_use]
    pub fn derived(of: &[u8], what: &str) -> Self {
        // FNV-1a: the same everywhere and for ever. Nobody gains by two spans of one id.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in of.iter().chain(what.as_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self::never_zero(hash.to_be_bytes())
    }

    fn never_zero(bytes: [u8; 8]) -> Self {
        Self::from_bytes(bytes).unwrap_or(Self([0, 0, 0, 0, 0, 0, 0, 1]))
    }
}

impl TraceId {
    /// The trace of a message that was recorded without one.
    #[must_use]
    pub fn of_message(message_id: &MessageId) -> Self {
        // A UUID is never all zeros: it says its version.
        Self(*message_id.as_bytes())
    }
}

/// Where in which trace something happens: the `traceparent` of W3C trace context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Traceparent {
    /// The trace.
    pub trace_id: TraceId,
    /// The span in it.
    pub span_id: SpanId,
    /// W3C's flags; bit 0: somebody records it.
    pub flags: u8,
}

impl Traceparent {
    /// The same trace and flags at another span.
    #[must_use]
    pub fn at(self, span_id: SpanId) -> Self {
        Self { span_id, ..self }
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

impl fmt::Debug for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Traceparent {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        const WHAT: TraceError = TraceError("a traceparent");
        let mut version = [0];
        text.get(..2).and_then(|digits| unhex(digits, &mut version)).ok_or(WHAT)?;
        let (body, rest) = (text.get(2..55).ok_or(WHAT)?, text.get(55..).ok_or(WHAT)?);
        // Of a later version what is known is read, and only what is set off from it may follow.
        let fits = match version {
            [0] => rest.is_empty(),
            [0xff] => false,
            _ => rest.is_empty() || rest.starts_with('-'),
        };
        let mut fields = body.split('-');
        let (Some(""), Some(trace), Some(span), Some(flags), None) =
            (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(WHAT);
        };
        let mut bits = [0];
        unhex(flags, &mut bits).filter(|()| fits).ok_or(WHAT)?;
        let [flags] = bits;
        Ok(Self { trace_id: trace.parse()?, span_id: span.parse()?, flags })
    }
}

impl Serialize for Traceparent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Traceparent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Traceparent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Traceparent".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}",
        })
    }
}

/// The request to which an event of the record belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceContext {
    /// The trace, and the span in it: the request's own, or for what happens in a turn the turn's.
    pub traceparent: Traceparent,
    /// The span that asked, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SpanId>,
    /// What was asked for, such as `runtime/agent.signal`.
    pub operation: String,
    /// As whom.
    pub user_id: SafeLabel,
    /// The thread, where the request was bound to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// What vendors of tracing keep with it; handed on as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// What the caller wants handed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
}

/// A `tracestate` that may be handed on; nothing if it is not of W3C's form.
#[must_use]
pub fn tracestate(text: &str) -> Option<&str> {
    let is_key = |key: &str| {
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
        let begins = key.bytes().next().is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        begins && key.len() <= 256 && key.bytes().all(is_part)
    };
    let is_value = |value: &str| {
        let is_part = |byte: u8| matches!(byte, 0x20..=0x2b | 0x2d..=0x3c | 0x3e..=0x7e);
        !value.is_empty() && value.len() <= 256 && value.bytes().all(is_part)
    };
    if text.is_empty() || text.len() > TRACESTATE_BYTES_MAX {
        return None;
    }
    let mut keys: Vec<&str> = Vec::new();
    for member in text.split(',') {
        let (key, value) = member.trim_matches([' ', '\t']).split_once('=')?;
        if keys.len() >= TRACESTATE_MEMBERS_MAX || keys.contains(&key) || !is_key(key) || !is_value(value) {
            return None;
        }
        keys.push(key);
    }
    Some(text)
}

/// A `baggage` that may be handed on; nothing if it is not of W3C's form.
#[must_use]
pub fn baggage(text: &str) -> Option<&str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_octet = |byte: u8| matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e);
    let is_member = |member: &str| {
        let pair = member.split(';').next().unwrap_or_default();
        let Some((key, value)) = pair.trim_matches([' ', '\t']).split_once('=') else { return false };
        let (key, value) = (key.trim_end_matches([' ', '\t']), value.trim_start_matches([' ', '\t']));
        let is_printable = member.bytes().all(|byte| byte == b'\t' || matches!(byte, 0x20..=0x7e));
        !key.is_empty() && key.bytes().all(is_token) && value.bytes().all(is_octet) && is_printable
    };
    let fits = !text.is_empty() && text.len() <= BAGGAGE_BYTES_MAX;
    let few = text.split(',').count() <= BAGGAGE_MEMBERS_MAX;
    (fits && few && text.split(',').all(is_member)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// Proves TRACE-001.
    #[test]
    fn only_what_w3c_allows_is_a_traceparent() {
        let read: Traceparent = GOOD.parse().unwrap();
        assert_eq!(read.to_string(), GOOD);
        let later = GOOD.replacen("00", "cc", 1);
        assert_eq!(later.parse::<Traceparent>(), Ok(read));
        assert_eq!(format!("{later}-what-comes").parse::<Traceparent>(), Ok(read));
        for bad in [
            "",
            "00",
            &GOOD.replacen("00", "ff", 1),
            &GOOD.to_uppercase(),
            &format!("{GOOD}-more"),
            &format!("{later}more"),
            &GOOD.replace('-', "_"),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\u{e9}",
            &"0".repeat(10_000),
        ] {
            assert!(bad.parse::<Traceparent>().is_err(), "{bad}");
        }
    }

    /// Proves TRACE-001.
    #[test]
    fn what_vendors_and_callers_add_is_bounded() {
        for good in ["congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "fw529a3039@dt=a;b c"] {
            assert_eq!(tracestate(good), Some(good));
        }
        let many = vec!["a=b"; 33].join(",");
        for bad in ["", "A=b", "a", "a=b,a=c", "a=b\u{1b}", &many, &format!("a={}", "x".repeat(600))] {
            assert_eq!(tracestate(bad), None, "{bad}");
        }
        for good in ["userId=alice", "a=1;p=2,b=%20", "a ="] {
            assert_eq!(baggage(good), Some(good));
        }
        for bad in ["", "a", "=b", "a=\"", "a=b\n", &format!("a={}", "x".repeat(2_000))] {
            assert_eq!(baggage(bad), None, "{bad}");
        }
    }

    #[test]
    fn spans_follow_from_what_they_are_of() {
        let message = MessageId::from_parts(5, [7; 10]);
        assert_eq!(SpanId::of_turn(&message), SpanId::of_turn(&message));
        let queue = SpanId::derived(message.as_bytes(), "queue");
        assert_ne!(queue, SpanId::derived(message.as_bytes(), "start"));
        assert_eq!(queue.to_string().parse(), Ok(queue));
        let context = TraceContext {
            traceparent: GOOD.parse().unwrap(),
            parent: None,
            operation: "runtime/agent.signal".to_owned(),
            user_id: "uid-1000".parse().unwrap(),
            thread_id: None,
            tracestate: None,
            baggage: None,
        };
        let text = serde_json::to_string(&context).unwrap();
        assert_eq!(serde_json::from_str::<TraceContext>(&text).unwrap(), context);
        assert!(text.len() < 160, "{text}");
    }
}
