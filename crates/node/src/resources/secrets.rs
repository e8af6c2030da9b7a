//! Secrets in resources: never written, and where they are is masked for whoever looks.

use std::{collections::HashMap, fs, io::Read as _};

use edgeplane_manifest::{SecretSource, is_secret_key, looks_secret};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::Value;

/// Longest secret in a file, in bytes.
const SECRET_BYTES_MAX: u64 = 64 << 10;

/// The key under which a secret is named.
const REFERENCE: &str = "secretRef";

/// What stands for what is not shown.
pub(crate) const MASK: &str = "***";

/// What to write in place of a secret.
const BY_REFERENCE: &str = "name where it is: {\"secretRef\": {\"env\": NAME}} or {\"secretRef\": {\"file\": PATH}}; a secret is never recorded";

/// The value of a secret. What is wrong is said without it.
pub(crate) fn read(environment: &HashMap<String, String>, source: &SecretSource) -> Result<String, String> {
    match source {
        SecretSource::Env(name) => environment
            .get(name.as_str())
            .cloned()
            .ok_or_else(|| format!("the daemon has no variable `{}`", name.as_str())),
        SecretSource::File(path) => {
            let mut text = String::new();
            fs::File::open(path.as_str())
                .and_then(|file| file.take(SECRET_BYTES_MAX).read_to_string(&mut text))
                .map_err(|error| format!("`{}`: {error}", path.as_str()))?;
            Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
        }
    }
}

/// Refuses a value with a secret in it, and a reference that is none. The secret is not repeated.
pub(crate) fn check(value: &Value) -> Result<(), RpcError> {
    walk(value, "", false)
}

fn walk(value: &Value, at: &str, is_secret: bool) -> Result<(), RpcError> {
    match value {
        Value::Object(entries) if entries.contains_key(REFERENCE) => reference(value, at),
        Value::Object(entries) => entries
            .iter()
            .try_for_each(|(key, inner)| walk(inner, &below(at, key), is_secret || is_secret_key(key))),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, inner)| walk(inner, &below(at, &index.to_string()), is_secret)),
        Value::String(text) if is_secret || looks_secret(text) => Err(written_out(at)),
        Value::Number(_) if is_secret => Err(written_out(at)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn written_out(at: &str) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, format!("`value` has a secret written out at `{at}`"))
        .hint(BY_REFERENCE)
}

/// `{"secretRef": {"env": NAME}}` or `{"secretRef": {"file": PATH}}`, and nothing beside.
fn reference(value: &Value, at: &str) -> Result<(), RpcError> {
    let named = value.get(REFERENCE).cloned().unwrap_or_default();
    let is_alone = value.as_object().is_some_and(|entries| entries.len() == 1);
    let is_masked = named.as_object().is_some_and(|entries| entries.values().any(|inner| inner == MASK));
    let source = serde_json::from_value::<SecretSource>(named);
    match source {
        Ok(SecretSource::Env(_)) if is_alone && !is_masked => Ok(()),
        Ok(SecretSource::File(path)) if is_alone && !is_masked && path.as_str().starts_with('/') => Ok(()),
        _ if is_masked => Err(RpcError::new(
            ErrorName::InvalidParams,
            format!("`value` has a masked reference at `{at}`, which names nothing"),
        )
        .hint("`resource/patch` keeps what it does not name; or name the variable or the file again")),
        _ => Err(RpcError::new(ErrorName::InvalidParams, format!("`value` has no reference at `{at}`"))
            .hint("{\"secretRef\": {\"env\": NAME}}, or {\"secretRef\": {\"file\": PATH}} with a whole path, and nothing beside")),
    }
}

/// Masks where secrets are, and what looks like one; says at which places, as JSON pointers.
pub(crate) fn masked(mut value: Value) -> (Value, Vec<String>) {
    let mut places = Vec::new();
    hide(&mut value, "", false, &mut places);
    (value, places)
}

fn hide(value: &mut Value, at: &str, is_secret: bool, places: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries {
                // What a client is called and where it asks is no secret; `secrets` of an agent are handles.
                let is_open = key == "oauth" || (key == "secrets" && inner.is_array());
                let is_handle = key == REFERENCE || (key == "from" && at.contains("/secrets/"));
                let is_secret = !is_open && (is_secret || is_handle || is_secret_key(key));
                hide(inner, &below(at, key), is_secret, places);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter_mut().enumerate() {
                hide(inner, &below(at, &index.to_string()), is_secret, places);
            }
        }
        Value::String(text) if is_secret || looks_secret(text) => {
            MASK.clone_into(text);
            places.push(at.to_owned());
        }
        Value::Number(_) if is_secret => {
            *value = Value::from(MASK);
            places.push(at.to_owned());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A JSON pointer to what is below.
fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves RES-011.
    #[test]
    fn a_secret_written_out_is_refused_and_not_repeated() {
        for (value, at) in [
            (json!({ "password": "s3cr3t" }), "/password"),
            (json!({ "db": { "apiKey": "s3cr3t" } }), "/db/apiKey"),
            (json!({ "token": ["s3cr3t"] }), "/token/0"),
            (json!({ "credentials": { "user": "s3cr3t" } }), "/credentials/user"),
            (json!({ "pin": { "secret": 1234 } }), "/pin/secret"),
            (json!({ "note": format!("ghp_{}", "s3cr3t".repeat(6)) }), "/note"),
            (json!(["https://me:s3cr3t@host"]), "/0"),
        ] {
            let error = check(&value).unwrap_err();
            assert_eq!(error.name(), ErrorName::InvalidParams);
            assert!(error.message.contains(&format!("`{at}`")), "{error}");
            assert!(!format!("{error:?}").contains("s3cr3t"), "{error:?}");
            assert!(error.data.hint.unwrap().contains("secretRef"));
        }
        let held = json!({
            "password": { "secretRef": { "env": "DB_PASSWORD" } },
            "token": { "secretRef": { "file": "/run/token" } },
            "secret": null, "maxTokens": 5, "keys": ["a"],
        });
        assert!(check(&held).is_ok());
    }

    /// Proves RES-011.
    #[test]
    fn a_reference_names_one_place_and_nothing_beside() {
        for wrong in [
            json!({ "secretRef": "X" }),
            json!({ "secretRef": {} }),
            json!({ "secretRef": { "env": "X", "file": "/x" } }),
            json!({ "secretRef": { "vault": "x" } }),
            json!({ "secretRef": { "env": "EDGEPLANE_TOKEN" } }),
            json!({ "secretRef": { "file": "relative" } }),
            json!({ "secretRef": { "env": "X" }, "value": "s3cr3t" }),
        ] {
            let error = check(&json!({ "a": wrong })).unwrap_err();
            assert!(error.message.contains("no reference at `/a`"), "{error}");
        }
        let masked = check(&json!({ "a": { "secretRef": { "env": MASK } } })).unwrap_err();
        assert!(masked.message.contains("a masked reference"), "{masked}");
    }

    /// Proves RES-012.
    #[test]
    fn where_secrets_are_is_masked() {
        let (shown, places) = masked(json!({
            "transport": { "http": { "url": "https://x", "headers": {
                "Authorization": { "secretRef": { "env": "T" } }, "X-Client": "me",
            } } },
            "credentials": { "oauth": {
                "tokenUrl": "https://y", "clientId": "id", "clientSecret": { "secretRef": { "file": "/s" } },
            } },
            "spec": { "secrets": [{ "name": "n", "from": { "file": "/f" } }], "env": { "API_KEY": "s3cr3t" } },
        }));
        let text = shown.to_string();
        for hidden in ["\"T\"", "/s\"", "/f", "s3cr3t"] {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
        for open in ["https://x", "https://y", "\"id\"", "\"n\"", "\"me\""] {
            assert!(text.contains(open), "{open} in {text}");
        }
        assert_eq!(places.len(), 4, "{places:?}");
        assert!(
            places.contains(&"/transport/http/headers/Authorization/secretRef/env".to_owned()),
            "{places:?}"
        );
    }
}
