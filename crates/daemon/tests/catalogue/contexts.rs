//! Contexts.

use std::fs;

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, World, case, fails, failure, good};

/// The folder of texts, with one.
fn text(world: &World) -> std::path::PathBuf {
    let folder = world.node.state_dir().join("contexts");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("text.md"), "words").unwrap();
    folder
}

/// Asks while something else stands where the folder should be.
fn spoilt(world: &World, method: &str, params: Value) -> Result<Value, RpcError> {
    let folder = text(world);
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    let answer = world.ask(method, params);
    fs::remove_file(&folder).unwrap();
    answer
}

fn query(world: &World) -> Value {
    text(world);
    json!({ "query": "words" })
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "conversation/context.search",
            |w| good(w, query(w)),
            vec![
                fails!(InvalidParams, "conversation/context.search", |_w| json!({ "query": " " })),
                failure(ErrorName::UpstreamFailed, |w| {
                    spoilt(w, "conversation/context.search", json!({ "query": "words" }))
                }),
            ],
        ),
        case(
            "conversation/context.read",
            |w| {
                text(w);
                good(w, json!({ "reference": "text.md" }))
            },
            vec![
                fails!(NotFound, "conversation/context.read", |_w| json!({ "reference": "none" })),
                fails!(InvalidParams, "conversation/context.read", |_w| json!({ "reference": "" })),
                failure(ErrorName::UpstreamFailed, |w| {
                    spoilt(w, "conversation/context.read", json!({ "reference": "text.md" }))
                }),
            ],
        ),
        case(
            "conversation/context.resolve",
            |w| good(w, query(w)),
            vec![
                fails!(NotFound, "conversation/context.resolve", |_w| {
                    json!({ "query": "words", "agent": "nobody" })
                }),
                fails!(InvalidParams, "conversation/context.resolve", |_w| json!({})),
                failure(ErrorName::UpstreamFailed, |w| {
                    spoilt(w, "conversation/context.resolve", json!({ "query": "words" }))
                }),
            ],
        ),
    ]
}
