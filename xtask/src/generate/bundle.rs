//! The JSON Schemas of everything that crosses the wire, in one document: `spec/schemas/edgeplane.schema.json`.
//!
//! One file and not one per type: a validator needs no network and no resolver for references within a document.

use serde_json::{Map, Value, json};

use super::{
    model::{CONTEXT, FAILURE, Model, REF},
    pretty,
};

/// What the document is known by. It is a name, and nothing is served there.
const ID: &str = "urn:edgeplane:schemas";

/// The whole document.
pub(super) fn bundle(model: &Model) -> anyhow::Result<String> {
    let (types, names) = model.with_context();
    let reference = |name: &str| json!({ "$ref": format!("{REF}{name}") });
    let mut methods = Map::new();
    for served in &model.methods {
        let params = names.get(served.method.name).map_or(served.params.as_str(), String::as_str);
        let entry = json!({ "params": reference(params), "result": reference(&served.result) });
        methods.insert(served.method.name.to_owned(), entry);
    }
    let notices: Map<String, Value> = model
        .notices
        .iter()
        .map(|told| (told.notice.name.to_owned(), json!({ "params": reference(&told.params) })))
        .collect();
    pretty(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "EdgePlane",
        "description": "Every type of the catalogue, made from it by `cargo xtask generate`. A change of this file is lost. `x-edgeplane-methods` and `x-edgeplane-notices` say which type is whose.",
        "x-edgeplane-context": reference(CONTEXT),
        "x-edgeplane-error": reference(FAILURE),
        "x-edgeplane-methods": methods,
        "x-edgeplane-notices": notices,
        "$defs": types,
    }))
}
