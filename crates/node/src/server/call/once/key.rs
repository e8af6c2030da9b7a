//! What a key stands for: who used it for which method with which parameters.

use edgeplane_proof::{Digest, digest};
use edgeplane_types::{ErrorName, Tenant};
use edgeplane_wire::{catalogue, rpc::RpcError};
use serde_json::Value;

use crate::caller::Caller;

/// Methods that have keys of their own, which the record keeps with what they made: a repetition is answered from there,
/// also where the daemon died over the first.
const OWN_KEYS: [&str; 8] = [
    "conversation/action.open",
    "conversation/turn.start",
    "conversation/turn.steer",
    "runtime/agent.signal",
    "runtime/agent.ask",
    "runtime/agent.broadcast",
    "runtime/topic.publish",
    "runtime/message.submit",
];

/// Gives a request the key that came with it, if its method has keys of its own and it has none; says whether its method
/// has. Keys of different users are different keys, although one service brings them.
pub(in crate::server) fn put_own_key(
    caller: &Caller,
    method: &str,
    params: &mut Value,
    key: Option<&str>,
) -> bool {
    let is_own = OWN_KEYS.contains(&method);
    if is_own && let Some(fields) = params.as_object_mut() {
        if let Some(key) = key {
            fields.entry("idempotency_key").or_insert_with(|| Value::String(key.to_owned()));
        }
        if let (Some(user_id), Some(Value::String(key))) =
            (caller.user_id(), fields.get_mut("idempotency_key"))
            && !key.is_empty()
        {
            *key = format!("user:{}", digest(format!("{user_id}\n{key}").as_bytes()));
        }
    }
    is_own
}

/// A key of a call.
#[derive(Debug, Clone)]
pub(in crate::server) struct Key {
    pub(super) method: &'static str,
    /// Of tenant, caller, method and key.
    pub(super) digest: Digest,
    /// Of the parameters.
    pub(super) params: Digest,
}

impl Key {
    /// The key that a caller brings for a call.
    pub(in crate::server) fn of(
        caller: &Caller,
        method: &'static str,
        key: &str,
        params: &Value,
    ) -> Result<Self, RpcError> {
        let Some(who) = caller.scope_of_keys() else {
            let what = format!("`{}` has no keys: rule key-of-the-unproven", caller.principal);
            return Err(RpcError::new(ErrorName::PermissionDenied, what)
                .hint("a key counts for a caller of which it is proven who it is"));
        };
        let scope = Value::from(vec![Tenant::default().as_str(), &who, method, key]);
        let mut spelling = Vec::new();
        if !params.is_null() {
            spell(params, &mut spelling);
        }
        if spelling == b"{}" {
            spelling.clear();
        }
        Ok(Self { method, digest: digest(scope.to_string().as_bytes()), params: digest(&spelling) })
    }

    /// What is answered when the key was used with other parameters.
    pub(super) fn mismatch(&self) -> RpcError {
        let what = format!("the key was used for {} with other parameters", self.method);
        RpcError::new(ErrorName::IdempotencyMismatch, what).hint("use a new key for a new call")
    }

    /// Whether the result of the method holds a secret.
    pub(super) fn is_secret(&self) -> bool {
        debug_assert!(catalogue::find(self.method).is_some(), "{}", self.method);
        self.method == "security/token.create"
    }
}

/// One spelling for a value, whatever the order of its fields. Numbers stay as they were written.
fn spell(value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            to.push(b'{');
            for (name, value) in sorted {
                to.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
                to.push(b':');
                spell(value, to);
                to.push(b',');
            }
            to.push(b'}');
        }
        Value::Array(items) => {
            to.push(b'[');
            for item in items {
                spell(item, to);
                to.push(b',');
            }
            to.push(b']');
        }
        other => to.extend_from_slice(other.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(caller: &Caller, method: &'static str, key: &str, params: &Value) -> (Digest, Digest) {
        let key = Key::of(caller, method, key, params).unwrap();
        (key.digest, key.params)
    }

    /// Proves CALL-020.
    #[test]
    fn key_stands_for_caller_method_and_parameters() {
        let assurance = edgeplane_types::Assurance::Open;
        let named =
            |name: &str, proof| Caller { proof, ..Caller::node(name.parse().unwrap(), "x", assurance) };
        let service = named("ci", edgeplane_types::Proof::ServiceToken);
        let for_user = |user: &str| Caller {
            speaks_for: Some(crate::caller::SpeaksFor {
                user_id: user.parse().unwrap(),
                on_behalf_of: Vec::new(),
            }),
            ..service.clone()
        };
        let stop = "runtime/agent.stop";
        let params = json!({ "agent": "a", "reason": "r" });
        let base = of(&service, stop, "k", &params);
        assert_eq!(
            of(&service, stop, "k", &json!({ "reason": "r", "agent": "a" })),
            base,
            "the order of fields"
        );
        assert_ne!(of(&service, stop, "k", &json!({ "agent": "a" })).1, base.1);
        assert_ne!(of(&service, stop, "l", &params).0, base.0);
        assert_ne!(of(&service, "runtime/agent.start", "k", &params).0, base.0);
        for other in [
            named("cd", edgeplane_types::Proof::ServiceToken),
            named("ci", edgeplane_types::Proof::OperatorToken),
            for_user("ann"),
            for_user("bob"),
        ] {
            assert_ne!(of(&other, stop, "k", &params).0, base.0, "{other:?}");
        }
        assert_ne!(of(&for_user("ann"), stop, "k", &params).0, of(&for_user("bob"), stop, "k", &params).0);
        assert_eq!(of(&service, stop, "k", &Value::Null).1, of(&service, stop, "k", &json!({})).1);
        let unproven = Caller::unknown(String::new());
        let refused = Key::of(&unproven, stop, "k", &params).unwrap_err();
        assert!(refused.message.ends_with("rule key-of-the-unproven"), "{refused}");
    }
}
