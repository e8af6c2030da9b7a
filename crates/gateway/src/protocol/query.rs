//! Parameters of a method from the query of an address, by the method's own schema.
//!
//! Owns how a text becomes what the schema wants: the same parameters mean the same as in a body, whichever the method has.

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Map, Value};

/// How deep references of a schema are followed.
const REFERENCES_MAX: usize = 8;

/// What a parameter wants to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    Text,
    Number,
    Truth,
    List(&'a Value),
    Fields(&'a Value),
    /// Several things, told apart by what is said.
    Any,
}

/// The schema of a method's parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'a>(pub(super) &'a Value);

impl<'a> Schema<'a> {
    /// What the schema says of a parameter.
    pub(super) fn property(self, name: &str) -> Option<&'a Value> {
        self.0.get("properties")?.get(name)
    }

    /// Reads a query.
    ///
    /// # Errors
    /// `invalid_params` if it names what the method does not take, or says it in a way that the method does not.
    pub(super) fn read(self, query: &str) -> Result<Map<String, Value>, RpcError> {
        let mut params = Map::new();
        for (key, text) in form_urlencoded::parse(query.as_bytes()) {
            let (name, field) = match key.split_once('.') {
                Some((name, field)) => (name, Some(field)),
                None => (key.as_ref(), None),
            };
            let of = self.property(name).ok_or_else(|| self.unknown(name))?;
            let Some(field) = field else {
                self.put(&mut params, &key, name, (of, &text))?;
                continue;
            };
            let unknown = || invalid(format!("`{name}` has no `{field}`"));
            let inner = match self.kind(of) {
                Kind::Fields(inner) => {
                    Some(inner.get("properties").and_then(|of| of.get(field)).ok_or_else(unknown)?)
                }
                Kind::Any => None,
                _ => return Err(unknown()),
            };
            let outer = params.entry(name.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(fields) = outer else { return Err(twice(&key)) };
            self.put(fields, &key, field, (inner.unwrap_or(&Value::Null), &text))?;
        }
        Ok(params)
    }

    fn put(
        self,
        into: &mut Map<String, Value>,
        key: &str,
        name: &str,
        (of, text): (&Value, &str),
    ) -> Result<(), RpcError> {
        let kind = self.kind(of);
        match (into.get_mut(name), kind) {
            (None, _) => drop(into.insert(name.to_owned(), self.value(key, kind, text)?)),
            (Some(Value::Array(known)), Kind::List(_)) => match self.value(key, kind, text)? {
                Value::Array(more) => known.extend(more),
                one => known.push(one),
            },
            (Some(_), _) => return Err(twice(key)),
        }
        Ok(())
    }

    fn value(self, key: &str, kind: Kind<'_>, text: &str) -> Result<Value, RpcError> {
        let wrong = |what: &str| invalid(format!("`{key}` must be {what}"));
        Ok(match kind {
            Kind::Text => Value::from(text),
            Kind::Number => match serde_json::from_str(text) {
                Ok(Value::Number(number)) => Value::Number(number),
                _ => return Err(wrong("a number")),
            },
            Kind::Truth => Value::Bool(text.parse().map_err(|_neither| wrong("true or false"))?),
            Kind::List(items) => {
                let items = self.kind(items);
                let parts = text.split(',').filter(|part| !part.is_empty());
                Value::Array(parts.map(|part| self.value(key, items, part)).collect::<Result<_, _>>()?)
            }
            Kind::Fields(_) => match serde_json::from_str(text) {
                Ok(Value::Object(fields)) => Value::Object(fields),
                _ => return Err(wrong("an object of JSON")),
            },
            Kind::Any => serde_json::from_str(text).unwrap_or_else(|_a_word| Value::from(text)),
        })
    }

    fn kind(self, schema: &'a Value) -> Kind<'a> {
        let mut schema = schema;
        for _ in 0..REFERENCES_MAX {
            if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
                let Some(found) = name.strip_prefix('#').and_then(|path| self.0.pointer(path)) else { break };
                schema = found;
            } else if let Some(only) = only_choice(schema) {
                schema = only;
            } else {
                break;
            }
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind.as_str()],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut kinds = kinds.into_iter().filter(|kind| *kind != "null");
        match (kinds.next(), kinds.next()) {
            (Some("string"), None) => Kind::Text,
            (Some("integer" | "number"), None) => Kind::Number,
            (Some("boolean"), None) => Kind::Truth,
            (Some("array"), None) => Kind::List(schema.get("items").unwrap_or(&Value::Null)),
            (Some("object"), None) => Kind::Fields(schema),
            _ if are_words(schema) => Kind::Text,
            _ => Kind::Any,
        }
    }

    fn unknown(self, name: &str) -> RpcError {
        let known: Vec<&str> = self
            .0
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
            .collect();
        let shown: String = name.chars().take(80).collect();
        invalid(format!("there is no parameter `{shown}`")).hint(format!("there are: {}", known.join(", ")))
    }
}

/// The one of several choices that is not nothing.
fn only_choice(schema: &Value) -> Option<&Value> {
    let choices = ["anyOf", "oneOf", "allOf"].iter().find_map(|name| schema.get(name)?.as_array())?;
    let mut some = choices.iter().filter(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
    match (some.next(), some.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Whether each choice is a word.
fn are_words(schema: &Value) -> bool {
    let is_word = |schema: &Value| {
        schema.get("const").is_some_and(Value::is_string)
            || schema
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|all| all.iter().all(Value::is_string))
    };
    let choices = ["anyOf", "oneOf"].iter().find_map(|name| schema.get(name)?.as_array());
    is_word(schema) || choices.is_some_and(|choices| choices.iter().all(is_word))
}

fn twice(key: &str) -> RpcError {
    invalid(format!("`{key}` stands there more than once"))
}

fn invalid(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "agent": { "type": ["string", "null"] },
                "after": { "type": ["integer", "null"], "format": "uint64" },
                "types": { "type": "array", "items": { "type": "string" } },
                "numbers": { "type": "array", "items": { "type": "integer" } },
                "is_new": { "type": "boolean" },
                "mode": { "anyOf": [{ "$ref": "#/$defs/Mode" }, { "type": "null" }] },
                "target": { "$ref": "#/$defs/Target" },
                "from": { "oneOf": [
                    { "type": "string", "enum": ["start", "latest"] },
                    { "type": "object", "properties": { "seq": { "type": "integer" } } },
                ] },
            },
            "$defs": {
                "Mode": { "oneOf": [{ "const": "none" }, { "const": "first" }] },
                "Target": { "type": "object", "properties": {
                    "kind": { "type": "string" }, "id": { "type": "string" },
                } },
            },
        })
    }

    fn check(query: &str, expected: Result<Value, &str>) {
        let schema = schema();
        match (Schema(&schema).read(query), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(Value::Object(found), expected, "{query}"),
            (Err(error), Err(part)) => {
                assert_eq!(error.name(), ErrorName::InvalidParams);
                assert!(error.message.contains(part), "{query}: {error}");
            }
            (found, expected) => panic!("{query}: {found:?}, not {expected:?}"),
        }
    }

    /// Proves BIND-030.
    #[test]
    fn query_says_what_a_body_would() {
        check("", Ok(json!({})));
        check("agent=7&after=7", Ok(json!({ "agent": "7", "after": 7 })));
        check("agent=a%20b+c", Ok(json!({ "agent": "a b c" })));
        check("types=a.*,b&types=c", Ok(json!({ "types": ["a.*", "b", "c"] })));
        check("numbers=1,2", Ok(json!({ "numbers": [1, 2] })));
        check("is_new=true&mode=first", Ok(json!({ "is_new": true, "mode": "first" })));
        check("target.kind=agent&target.id=7", Ok(json!({ "target": { "kind": "agent", "id": "7" } })));
        check("target=%7B%22kind%22:%22agent%22%7D", Ok(json!({ "target": { "kind": "agent" } })));
        check("from=latest", Ok(json!({ "from": "latest" })));
        check("from.seq=7", Ok(json!({ "from": { "seq": 7 } })));
        check("after=soon", Err("`after` must be a number"));
        check("after=", Err("`after` must be a number"));
        check("after=%22x%22", Err("`after` must be a number"));
        check("numbers=1,x", Err("`numbers` must be a number"));
        check("is_new=1", Err("true or false"));
        check("agent=a&agent=b", Err("more than once"));
        check("target.kind=a&target.kind=b", Err("more than once"));
        check("agent=a&agent.x=b", Err("has no `x`"));
        check("target.size=3", Err("has no `size`"));
        check("colour=red", Err("no parameter `colour`"));
    }
}
