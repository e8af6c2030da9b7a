//! Methods after whose call the node says more than their answer.
//!
//! A binding on which nobody hears what comes by itself refuses them instead of leaving something open that is nobody's.

use serde_json::Value;

/// Methods whose answer begins something that goes on until it is ended.
pub const OPENING: [&str; 3] = ["stream/subscribe", "runtime/agent.attach", "observe/tap.open"];

/// Whether something goes on after the answer to a method.
#[must_use]
pub fn is_opening(method: &str) -> bool {
    OPENING.contains(&method)
}

/// Whether the answer to a request comes in parts, of which the caller wants to hear each.
#[must_use]
pub fn is_in_parts(method: &str, params: &Value) -> bool {
    match method {
        "runtime/agent.ask" => params.get("stream") == Some(&Value::Bool(true)),
        "capability/invoke" => params.get("mode").and_then(Value::as_str) == Some("streaming"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_open_something_are_methods() {
        for name in OPENING.into_iter().chain(["runtime/agent.ask", "capability/invoke"]) {
            assert!(crate::catalogue::find(name).is_some(), "{name}");
        }
        assert!(is_in_parts("runtime/agent.ask", &serde_json::json!({ "stream": true })));
        assert!(!is_in_parts("runtime/agent.ask", &serde_json::json!({ "stream": false })));
        assert!(is_in_parts("capability/invoke", &serde_json::json!({ "mode": "streaming" })));
        assert!(!is_in_parts("capability/invoke", &serde_json::json!({ "mode": "await" })));
    }
}
