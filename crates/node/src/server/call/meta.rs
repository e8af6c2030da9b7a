//! What an answer says of itself, put into the result as it was written.

use std::sync::atomic::Ordering;

use edgeplane_wire::rpc::{RequestContext, ResultMeta};
use serde_json::value::RawValue;

use super::Session;

/// The result with `meta` as its last field. The rest of it is not read, so it stays what it was, byte for byte.
pub(super) fn spliced(session: &Session, context: &RequestContext, result: Box<RawValue>) -> Box<RawValue> {
    let meta = ResultMeta {
        request_id: context.request_id.clone(),
        as_of_seq: session.shared.record.head(),
        trace_id: context.traceparent.as_deref().and_then(trace_id),
        replayed: session.replayed.load(Ordering::Relaxed),
    };
    let Ok(meta) = serde_json::to_string(&meta) else { return result };
    joined(result.get(), &meta).and_then(|text| RawValue::from_string(text).ok()).unwrap_or(result)
}

/// `{"a":1}` and `{"b":2}` as `{"a":1,"meta":{"b":2}}`; none if the first is no object.
fn joined(result: &str, meta: &str) -> Option<String> {
    let open = result.trim_end().strip_suffix('}')?.trim_end();
    let comma = if open.ends_with('{') { "" } else { "," };
    Some(format!("{open}{comma}\"meta\":{meta}}}"))
}

/// The trace that a W3C trace context names, if it is well-formed.
fn trace_id(traceparent: &str) -> Option<String> {
    let mut parts = traceparent.split('-');
    let (version, trace, parent) = (parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let is_one = is_hex(version, 2) && version != "ff" && is_hex(trace, 32) && is_hex(parent, 16);
    let is_named = trace.bytes().any(|b| b != b'0');
    (is_one && is_named).then(|| trace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves CALL-002.
    #[test]
    fn the_rest_of_a_result_stays_as_it_was_written() {
        for (result, expected) in [
            ("{}", Some(r#"{"meta":{"n":1}}"#)),
            ("{ }", Some(r#"{"meta":{"n":1}}"#)),
            (r#"{"a":[1.50,{}]}"#, Some(r#"{"a":[1.50,{}],"meta":{"n":1}}"#)),
            (r#"{"a":{}}"#, Some(r#"{"a":{},"meta":{"n":1}}"#)),
            ("[]", None),
            ("7", None),
        ] {
            assert_eq!(joined(result, r#"{"n":1}"#).as_deref(), expected, "{result}");
        }
    }

    #[test]
    fn only_a_trace_context_names_a_trace() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(trace_id(good).as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
        for bad in ["", "00-0af7-b7ad6b7169203331-01", &good.to_uppercase(), &good.replace("0af7", "0ag7")] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
        assert_eq!(trace_id("00-00000000000000000000000000000000-b7ad6b7169203331-01"), None);
    }
}
