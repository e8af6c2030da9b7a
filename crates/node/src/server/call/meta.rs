//! What an answer says of itself, put into the result as it was written.

use std::sync::atomic::Ordering;

use edgeplane_types::TraceId;
use edgeplane_wire::rpc::{RequestContext, ResultMeta};
use serde_json::value::RawValue;

use super::Session;

/// The result with `meta` as its last field. The rest of it is not read, so it stays what it was, byte for byte.
pub(super) fn spliced(
    session: &Session,
    context: &RequestContext,
    trace: Option<TraceId>,
    result: Box<RawValue>,
) -> Box<RawValue> {
    let meta = ResultMeta {
        request_id: context.request_id.clone(),
        as_of_seq: session.shared.record.head(),
        trace_id: trace.map(|id| id.to_string()),
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
}
