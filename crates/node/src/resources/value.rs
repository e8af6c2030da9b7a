//! What a resource may hold, and what it holds.

use edgeplane_manifest::{AutomationManifest, ConnectorManifest, Problem, WorkflowManifest};
use edgeplane_proof::canonical;
use edgeplane_store::{ReadError, Reader, ResourceRow, StoredBody};
use edgeplane_types::{ErrorName, Fact, ResourceKind, ResourceUri};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Map, Value, json};

use super::secrets;

/// Longest value in bytes of canonical JSON.
pub(crate) const VALUE_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of a value.
pub(crate) const DEPTH_MAX: usize = 32;

/// A value that may be written.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: String,
}

/// Checks a value on a worker: it may be large.
pub(crate) async fn checked(uri: ResourceUri, value: Value) -> Result<Checked, RpcError> {
    let done = tokio::task::spawn_blocking(move || check(&uri, value)).await;
    done.unwrap_or_else(|_cut_off| {
        Err(RpcError::new(ErrorName::Internal, "the check of a value was cut off"))
    })
}

/// Checks a value and gives its canonical form.
pub(crate) fn check(uri: &ResourceUri, value: Value) -> Result<Checked, RpcError> {
    if !fits(&value, DEPTH_MAX) {
        let what = format!("`value` is nested deeper than {DEPTH_MAX}");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let value = match uri.kind() {
        ResourceKind::Connector => connector(uri, &value)?,
        ResourceKind::Automation => automation(uri, &value)?,
        ResourceKind::Workflow => {
            secrets::check(&value)?;
            let manifest = WorkflowManifest::from_json(&document(uri, "Workflow", &value));
            manifest.map_err(|problems| wrong(&problems))?.spec.canonical_json()
        }
        _ => {
            secrets::check(&value)?;
            value
        }
    };
    let bytes = canonical::to_vec(&value).map_err(|error| {
        RpcError::new(ErrorName::InvalidParams, format!("`value` cannot be kept: {error}"))
            .hint("write a fraction as text")
    })?;
    if bytes.len() > VALUE_BYTES_MAX {
        let what = format!("`value` has {} bytes, more than {VALUE_BYTES_MAX}", bytes.len());
        return Err(
            RpcError::new(ErrorName::TooLarge, what).hint("keep large things in files and name those")
        );
    }
    let digest = edgeplane_proof::digest(&bytes).to_string();
    Ok(Checked { bytes, digest })
}

/// Whether a value is nested no deeper than this.
pub(crate) fn fits(value: &Value, left: usize) -> bool {
    let inner: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(entries) => entries.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return true,
    };
    left.checked_sub(1).is_some_and(|left| inner.into_iter().all(|value| fits(value, left)))
}

/// A connector with every default filled in.
fn connector(uri: &ResourceUri, value: &Value) -> Result<Value, RpcError> {
    let manifest = ConnectorManifest::from_json(&document(uri, "Connector", value));
    let manifest = manifest.map_err(|problems| wrong(&problems))?;
    check_whole(manifest.spec.relative_path())?;
    Ok(manifest.spec.canonical_json())
}

/// An automation with every default filled in.
fn automation(uri: &ResourceUri, value: &Value) -> Result<Value, RpcError> {
    let manifest = AutomationManifest::from_json(&document(uri, "Automation", value));
    let manifest = manifest.map_err(|problems| wrong(&problems))?;
    check_whole(manifest.spec.relative_path())?;
    Ok(manifest.spec.canonical_json())
}

/// A value as it would stand in a file.
fn document(uri: &ResourceUri, kind: &str, value: &Value) -> Value {
    json!({
        "apiVersion": "edgeplane.dev/v1alpha1",
        "kind": kind,
        "metadata": { "name": uri.path() },
        "spec": value,
    })
}

fn check_whole(relative: Option<impl std::fmt::Display>) -> Result<(), RpcError> {
    let Some(path) = relative else { return Ok(()) };
    let what = format!("`value`: `{path}` is relative, and there is no folder that it could be meant from");
    Err(RpcError::new(ErrorName::InvalidParams, what)
        .hint("write the whole path, or apply a file with `edgeplane apply -f`"))
}

fn wrong(problems: &[Problem]) -> RpcError {
    let field = |problem: &Problem| problem.field.replacen("spec", "value", 1);
    let shown: Vec<String> = problems
        .iter()
        .map(|problem| {
            let hint = problem.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}: found {}, expected {}{hint}", field(problem), problem.found, problem.expected)
        })
        .collect();
    let mut error = RpcError::new(ErrorName::InvalidParams, shown.join("; ")).hint("nothing was changed");
    error.data.violations = problems
        .iter()
        .map(|problem| {
            json!({
                "field": field(problem), "found": problem.found, "expected": problem.expected,
                "hint": problem.hint,
            })
        })
        .collect();
    error
}

/// A value with a patch merged into it (RFC 7396).
pub(crate) fn merged(value: Value, patch: &Value) -> Value {
    let Value::Object(changes) = patch else { return patch.clone() };
    let mut entries = match value {
        Value::Object(entries) => entries,
        _ => Map::new(),
    };
    for (key, change) in changes {
        let before = entries.remove(key);
        if !change.is_null() {
            entries.insert(key.clone(), merged(before.unwrap_or_default(), change));
        }
    }
    Value::Object(entries)
}

/// What a version holds, as it is kept.
pub(crate) fn held_by(reader: &Reader, row: &ResourceRow) -> Result<Result<Value, RpcError>, ReadError> {
    if let Fact::PolicyLoaded { digest, rules, files } = &row.event.fact {
        return Ok(Ok(json!({ "digest": digest, "rules": rules, "files": files })));
    }
    let damaged = || Err(RpcError::new(ErrorName::RecordDamaged, "what a resource holds is damaged"));
    let Some(digest) = row.digest.as_deref().and_then(|digest| digest.parse().ok()) else {
        return Ok(damaged());
    };
    Ok(match reader.body(&digest)? {
        Some(StoredBody::Bytes(bytes)) => serde_json::from_slice(&bytes).or_else(|_bad| damaged()),
        Some(StoredBody::Erased { reason }) => {
            Err(RpcError::new(ErrorName::NotFound, format!("what it held was erased: {reason}")))
        }
        None => damaged(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> ResourceUri {
        text.parse().unwrap()
    }

    /// Proves RES-006.
    #[test]
    fn a_patch_is_merged_as_rfc_7396_says() {
        for (value, patch, merged_) in [
            (json!({ "a": "b" }), json!({ "a": "c" }), json!({ "a": "c" })),
            (json!({ "a": "b" }), json!({ "b": "c" }), json!({ "a": "b", "b": "c" })),
            (json!({ "a": "b" }), json!({ "a": null }), json!({})),
            (json!({ "a": "b", "b": "c" }), json!({ "a": null }), json!({ "b": "c" })),
            (json!({ "a": ["b"] }), json!({ "a": "c" }), json!({ "a": "c" })),
            (json!({ "a": "c" }), json!({ "a": ["b"] }), json!({ "a": ["b"] })),
            (
                json!({ "a": { "b": "c" } }),
                json!({ "a": { "b": "d", "c": null } }),
                json!({ "a": { "b": "d" } }),
            ),
            (json!({ "a": [{ "b": "c" }] }), json!({ "a": [1] }), json!({ "a": [1] })),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({ "a": "b" }), json!(["c"]), json!(["c"])),
            (json!({ "a": "foo" }), json!(null), json!(null)),
            (json!({ "a": "foo" }), json!("bar"), json!("bar")),
            (json!({ "e": null }), json!({ "a": 1 }), json!({ "e": null, "a": 1 })),
            (json!([1, 2]), json!({ "a": "b", "c": null }), json!({ "a": "b" })),
            (json!({}), json!({ "a": { "bb": { "ccc": null } } }), json!({ "a": { "bb": {} } })),
        ] {
            assert_eq!(merged(value.clone(), &patch), merged_, "{value} {patch}");
        }
    }

    /// Proves RES-009.
    #[test]
    fn a_value_has_bounds() {
        let refuse = |value: Value| check(&uri("edgeplane://config/a"), value).unwrap_err();
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(check(&uri("edgeplane://config/a"), nested(DEPTH_MAX)).is_ok());
        assert_eq!(refuse(nested(DEPTH_MAX + 1)).name(), ErrorName::InvalidParams);
        assert_eq!(refuse(json!("x".repeat(VALUE_BYTES_MAX))).name(), ErrorName::TooLarge);
        let fraction = refuse(json!({ "temperature": 0.5 }));
        assert_eq!(fraction.name(), ErrorName::InvalidParams);
        assert!(fraction.data.hint.unwrap().contains("as text"));
    }

    /// Proves RES-005.
    #[test]
    fn what_means_the_same_has_one_etag() {
        let digest = |text: &str| {
            check(&uri("edgeplane://config/a"), serde_json::from_str(text).unwrap()).unwrap().digest
        };
        assert_eq!(digest(r#"{"b": 1, "a": [true]}"#), digest(r#"{"a":[true],"b":1}"#));
        let connector = |value: Value| check(&uri("edgeplane://connector/a"), value).unwrap();
        let short = connector(json!({ "transport": { "stdio": { "command": ["x"] } } }));
        let long = connector(json!({
            "transport": { "stdio": { "command": ["x"] } }, "enabled": true, "timeoutMs": 60000,
            "policy": { "default": "ask" }, "allow": ["*"], "deny": [],
        }));
        assert_eq!(short.digest, long.digest, "defaults are written out");
    }

    /// Proves RES-010.
    #[test]
    fn a_wrong_connector_is_told_field_by_field() {
        let refuse = |value: Value| check(&uri("edgeplane://connector/a"), value).unwrap_err();
        let error = refuse(json!({ "transport": { "stdio": { "command": [] } }, "timeoutMs": "soon" }));
        assert_eq!((error.name(), error.data.violations.len()), (ErrorName::InvalidParams, 2), "{error}");
        assert_eq!(error.data.violations[0]["field"], "value.transport.stdio.command");
        let relative = refuse(json!({ "transport": { "stdio": { "command": ["./x"] } } }));
        assert!(relative.message.contains("`./x` is relative"), "{relative}");
    }
}
