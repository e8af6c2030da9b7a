//! The context of a request, of which headers may say a part.
//!
//! Owns which header says what. What stands in the headers and in the body must be the same: nobody guesses which of the
//! two was meant.

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use http::HeaderMap;
use serde_json::{Map, Value};

/// Headers whose text stands in a field of the context.
const TEXTS: [(&str, &str); 4] = [
    ("idempotency-key", "idempotency_key"),
    ("x-request-id", "request_id"),
    ("traceparent", "traceparent"),
    ("x-edgeplane-tenant", "tenant"),
];

/// The header of which there may be several, each going on with the one before.
const TRACE_STATE: (&str, &str) = ("tracestate", "tracestate");

/// The header whose number stands in a field.
const DEADLINE: (&str, &str) = ("x-deadline-ms", "deadline_ms");

/// What the headers say.
pub(super) fn read(headers: &HeaderMap) -> Result<Map<String, Value>, RpcError> {
    let mut context = Map::new();
    for (header, field) in TEXTS {
        if let Some(text) = only(headers, header)? {
            context.insert(field.to_owned(), Value::from(text));
        }
    }
    let (header, field) = TRACE_STATE;
    let states: Result<Vec<&str>, _> = headers
        .get_all(header)
        .iter()
        .map(|value| value.to_str().map_err(|_binary| no_text(header)))
        .collect();
    let states = states?;
    if !states.is_empty() {
        context.insert(field.to_owned(), Value::from(states.join(",")));
    }
    let (header, field) = DEADLINE;
    if let Some(text) = only(headers, header)? {
        let number: u64 = text
            .parse()
            .map_err(|_no_number| invalid(format!("the header {header} must be a number of milliseconds")))?;
        context.insert(field.to_owned(), Value::from(number));
    }
    Ok(context)
}

/// Puts what the headers say into the context of a request.
pub(super) fn put(params: Value, said: Map<String, Value>) -> Result<Value, RpcError> {
    if said.is_empty() {
        return Ok(params);
    }
    let mut fields = match params {
        Value::Null => Map::new(),
        Value::Object(fields) => fields,
        other => return Ok(other),
    };
    let context = fields.entry("ctx").or_insert_with(|| Value::Object(Map::new()));
    // One that is no object is refused by the node, which says how.
    if let Value::Object(context) = context {
        for (field, value) in said {
            match context.get(&field) {
                Some(other) if *other != value && !other.is_null() => {
                    return Err(invalid(format!("`ctx.{field}` is another in the headers than in the body")));
                }
                _ => drop(context.insert(field, value)),
            }
        }
    }
    Ok(Value::Object(fields))
}

/// The value of a header of which there may be one.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_binary| no_text(name)),
        (Some(_), Some(_)) => Err(invalid(format!("the header {name} stands there more than once"))),
    }
}

fn no_text(header: &str) -> RpcError {
    invalid(format!("the header {header} is no text"))
}

fn invalid(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidRequest, what)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn check(headers: &[(&str, &str)], params: Value, expected: Result<Value, &str>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let found = read(&map).and_then(|said| put(params, said));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{headers:?}"),
            (Err(error), Err(part)) => {
                assert_eq!(error.name(), ErrorName::InvalidRequest);
                assert!(error.message.contains(part), "{error}");
            }
            (found, expected) => panic!("{headers:?}: {found:?}, not {expected:?}"),
        }
    }

    /// Proves BIND-013.
    #[test]
    fn headers_and_body_say_one_thing() {
        check(&[], Value::Null, Ok(Value::Null));
        check(&[("Idempotency-Key", "k")], Value::Null, Ok(json!({ "ctx": { "idempotency_key": "k" } })));
        check(
            &[
                ("X-Request-Id", "r"),
                ("X-Deadline-Ms", "50"),
                ("traceparent", "00-a"),
                ("tracestate", "a=1"),
                ("tracestate", "b=2"),
                ("X-EdgePlane-Tenant", "local"),
            ],
            json!({ "agent": "a", "ctx": { "request_id": "r" } }),
            Ok(json!({ "agent": "a", "ctx": {
                "request_id": "r", "traceparent": "00-a", "tenant": "local", "tracestate": "a=1,b=2",
                "deadline_ms": 50,
            } })),
        );
        check(&[("X-Request-Id", "r")], json!({ "ctx": { "request_id": "q" } }), Err("`ctx.request_id`"));
        check(&[("X-Deadline-Ms", "5")], json!({ "ctx": { "deadline_ms": 6 } }), Err("`ctx.deadline_ms`"));
        check(&[("X-Deadline-Ms", "soon")], json!({}), Err("x-deadline-ms"));
        check(&[("X-Deadline-Ms", "-1")], json!({}), Err("x-deadline-ms"));
        check(&[("Idempotency-Key", "a"), ("Idempotency-Key", "a")], json!({}), Err("more than once"));
    }
}
