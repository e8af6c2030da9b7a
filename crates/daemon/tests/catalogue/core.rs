//! What every endpoint answers.

use edgeplane_types::ErrorName;
use serde_json::json;

use super::{Case, case, good};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "core/initialize",
            |w| good(w, json!({})),
            vec![(ErrorName::Unsupported, |w| {
                w.ask("core/initialize", json!({ "versions": ["1066-10-14"] }))
            })],
        ),
        case("core/describe", |w| good(w, json!({ "profile": "core" })), vec![]),
        case("core/health", |w| good(w, json!({})), vec![]),
        case("core/cancel", |w| good(w, json!({ "request_id": "nothing" })), vec![]),
        case("runtime/node.status", |w| good(w, json!({})), vec![]),
    ]
}
