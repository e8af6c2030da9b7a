//! The catalogue with its types hoisted: each has one name, and is spoken of by it.
//!
//! Knows how schemas name each other. What is written in which language the modules beside it know.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use edgeplane_wire::catalogue::{
    ERRORS_OF_ALL, ERRORS_OF_WRITES, Method, MethodEffect,
    notices::{self, Notice},
};
use serde_json::{Map, Value, json};

/// How a type is spoken of within the model.
pub(super) const REF: &str = "#/$defs/";

/// The type of a request's context.
pub(super) const CONTEXT: &str = "RequestContext";

/// The type of a failure.
pub(super) const FAILURE: &str = "RpcError";

/// The catalogue as those read it who write files from it.
#[derive(Debug)]
pub(super) struct Model {
    /// The methods, in the catalogue's order.
    pub(super) methods: Vec<Served>,
    /// The notifications.
    pub(super) notices: Vec<Told>,
    /// The types by name. Objects of parameters are without the context.
    pub(super) types: BTreeMap<String, Value>,
}

/// A method and the names of its types.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) method: &'static Method,
    pub(super) params: String,
    pub(super) result: String,
}

/// A notification and the name of its type.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) notice: &'static Notice,
    pub(super) params: String,
}

/// A profile as a client has it.
#[derive(Debug)]
pub(super) struct Profile<'a> {
    pub(super) name: &'static str,
    /// Methods whose object is the profile's own.
    pub(super) own: Vec<&'a Served>,
    /// The other objects.
    pub(super) objects: Vec<(&'static str, Vec<&'a Served>)>,
}

impl Served {
    /// `runtime` of `runtime/agent.signal`.
    pub(super) fn profile(&self) -> &'static str {
        self.method.name.split_once('/').map_or("", |(profile, _)| profile)
    }

    /// `agent` of `runtime/agent.signal`; nothing of `stream/read`.
    pub(super) fn object(&self) -> Option<&'static str> {
        let (_, rest) = self.method.name.split_once('/')?;
        rest.split_once('.').map(|(object, _)| object)
    }

    /// `signal` of `runtime/agent.signal`.
    pub(super) fn action(&self) -> &'static str {
        self.method.name.rsplit(['/', '.']).next().unwrap_or_default()
    }

    /// Every error that it may answer: its own first.
    pub(super) fn errors(&self) -> Vec<edgeplane_types::ErrorName> {
        let of_writes = if self.method.effect == MethodEffect::Write { ERRORS_OF_WRITES } else { &[] };
        let mut errors = self.method.errors.to_vec();
        for error in ERRORS_OF_ALL.iter().chain(of_writes) {
            if !errors.contains(error) {
                errors.push(*error);
            }
        }
        errors
    }
}

impl Model {
    /// Hoists every type of the methods and notifications.
    pub(super) fn new(methods: &'static [Method], notices: &'static [Notice]) -> anyhow::Result<Self> {
        let mut roots = Vec::new();
        for method in methods {
            roots.push((method.name, method.params_schema()));
            roots.push((method.name, method.result_schema()));
        }
        roots.extend(notices.iter().map(|notice| (notice.name, notice.params_schema())));
        roots.push(("", notices::context_schema()));
        roots.push(("", notices::error_schema()));

        let (types, mut names) = hoist(&roots)?;
        let mut next = || names.pop_front().context("every schema has a name");
        let mut served = Vec::new();
        for method in methods {
            served.push(Served { method, params: next()?, result: next()? });
        }
        let mut told = Vec::new();
        for notice in notices {
            told.push(Told { notice, params: next()? });
        }
        anyhow::ensure!(
            next()? == CONTEXT && next()? == FAILURE,
            "the names of the last two types are known"
        );
        Ok(Self { methods: served, notices: told, types })
    }

    /// The types as they cross the wire: parameters with the context beside them, and what each method then takes.
    pub(super) fn with_context(&self) -> (BTreeMap<String, Value>, BTreeMap<&'static str, String>) {
        let mut types = self.types.clone();
        let mut names = BTreeMap::new();
        let elsewhere = self.used_elsewhere();
        for served in &self.methods {
            // What is also a result, or a part of something, must not have a context there.
            let shared = elsewhere.contains(&served.params);
            let name = if shared { format!("{}WithContext", served.params) } else { served.params.clone() };
            let mut schema = self.types.get(&served.params).cloned().unwrap_or_default();
            let properties = schema
                .as_object_mut()
                .map(|fields| fields.entry("properties").or_insert_with(|| Value::Object(Map::new())));
            if let Some(Value::Object(properties)) = properties {
                let context = json!({
                    "$ref": format!("{REF}{CONTEXT}"),
                    "description": "Who asks, for how long, under which key and trace.",
                });
                properties.insert("ctx".to_owned(), context);
            }
            types.insert(name.clone(), schema);
            names.insert(served.method.name, name);
        }
        (types, names)
    }

    /// The methods by profile and object, each in the order in which the catalogue first names it.
    pub(super) fn profiles(&self) -> Vec<Profile<'_>> {
        let mut profiles: Vec<Profile<'_>> = Vec::new();
        for served in &self.methods {
            let at = profiles.iter().position(|profile| profile.name == served.profile());
            let at = at.unwrap_or_else(|| {
                profiles.push(Profile { name: served.profile(), own: Vec::new(), objects: Vec::new() });
                profiles.len().saturating_sub(1)
            });
            let Some(profile) = profiles.get_mut(at) else { continue };
            match served.object() {
                None => profile.own.push(served),
                Some(object) => match profile.objects.iter_mut().find(|(name, _)| *name == object) {
                    Some((_, methods)) => methods.push(served),
                    None => profile.objects.push((object, vec![served])),
                },
            }
        }
        profiles
    }

    /// Names that stand in another type, or are a result.
    fn used_elsewhere(&self) -> BTreeSet<String> {
        let mut used: BTreeSet<String> = self.methods.iter().map(|served| served.result.clone()).collect();
        for schema in self.types.values() {
            visit(schema, &mut |target| {
                used.insert(target.to_owned());
            });
        }
        used
    }
}

type Hoisted = (BTreeMap<String, Value>, std::collections::VecDeque<String>);

/// Gives every type one name: its own, and with the object of its method before it where two would share one.
fn hoist(roots: &[(&str, Value)]) -> anyhow::Result<Hoisted> {
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    let mut waiting = Vec::new();
    for (method, schema) in roots {
        let title = schema["title"].as_str().with_context(|| format!("{method}: a type without a name"))?;
        let mut root = schema.as_object().cloned().unwrap_or_default();
        for word in ["$schema", "title"] {
            root.shift_remove(word);
        }
        if let Some(Value::Object(found)) = root.shift_remove("$defs") {
            for (name, mut definition) in found {
                retarget(&mut definition, title);
                insert(&mut types, &name, definition)?;
            }
        }
        waiting.push((*method, title, Value::Object(root)));
    }
    let is_shared = |title: &str| {
        let mut known = types.get(title).cloned();
        waiting.iter().filter(|(_, other, _)| *other == title).any(|(_, _, schema)| {
            let mut schema = schema.clone();
            retarget(&mut schema, title);
            let differs = known.as_ref().is_some_and(|known| *known != schema);
            known = Some(schema);
            differs
        })
    };
    let shared: BTreeSet<&str> =
        waiting.iter().map(|(_, title, _)| *title).filter(|title| is_shared(title)).collect();
    let mut names = std::collections::VecDeque::new();
    for (method, title, mut schema) in waiting {
        let object = method.rsplit('/').next().and_then(|rest| rest.split('.').next()).unwrap_or_default();
        let name =
            if shared.contains(title) { format!("{}{title}", pascal(object)) } else { title.to_owned() };
        retarget(&mut schema, &name);
        insert(&mut types, &name, schema)?;
        names.push_back(name);
    }
    Ok((types, names))
}

fn insert(types: &mut BTreeMap<String, Value>, name: &str, schema: Value) -> anyhow::Result<()> {
    match types.get(name) {
        Some(known) => anyhow::ensure!(*known == schema, "two types of the catalogue are called `{name}`"),
        None => {
            types.insert(name.to_owned(), schema);
        }
    }
    Ok(())
}

/// A type that speaks of itself as the whole document speaks of itself by its name from here on.
fn retarget(schema: &mut Value, own_name: &str) {
    match schema {
        Value::Object(fields) => {
            for (word, value) in fields.iter_mut() {
                if word == "$ref" && value == "#" {
                    *value = Value::String(format!("{REF}{own_name}"));
                } else {
                    retarget(value, own_name);
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|value| retarget(value, own_name)),
        _ => {}
    }
}

/// Calls `found` with each name that a schema speaks of.
pub(super) fn visit(schema: &Value, found: &mut impl FnMut(&str)) {
    match schema {
        Value::Object(fields) => {
            for (word, value) in fields {
                match value.as_str().and_then(|target| target.strip_prefix(REF)) {
                    Some(name) if word == "$ref" => found(name),
                    _ => visit(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| visit(value, found)),
        _ => {}
    }
}

/// The fields of an object in the order of a signature: those that must be given first.
pub(super) fn fields(schema: &Value) -> Vec<Field<'_>> {
    let is_required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|required| required == name))
    };
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let all = properties.iter().map(|(name, schema)| Field { name, is_required: is_required(name), schema });
    let (mut first, second): (Vec<_>, Vec<_>) = all.partition(|field| field.is_required);
    first.extend(second);
    first
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) is_required: bool,
    pub(super) schema: &'a Value,
}

/// What a schema says that it is for, in one line.
pub(super) fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// What a named type is, for a language that has records, literals and unions of both.
pub(super) enum Form<'a> {
    /// One of some words, with what each means.
    Words(Vec<(String, String)>),
    /// An object.
    Object(Vec<Field<'a>>),
    /// One of some objects, each with a name of its own.
    Union(Vec<(String, Value)>),
    /// Anything else: an expression of types.
    Other,
}

/// The form of the type `name`.
pub(super) fn form<'a>(name: &str, schema: &'a Value) -> Form<'a> {
    if let Some(variants) = schema["oneOf"].as_array() {
        if variants.iter().all(|variant| !literals(variant).is_empty()) {
            let words = variants.iter().flat_map(|variant| {
                literals(variant).into_iter().map(|word| (word.to_owned(), about(variant)))
            });
            return Form::Words(words.collect());
        }
        if variants.iter().all(|variant| variant["type"] == "object") {
            return Form::Union(
                variants.iter().enumerate().map(|(at, one)| variant(name, schema, at, one)).collect(),
            );
        }
        return Form::Other;
    }
    let words = literals(schema);
    if !words.is_empty() {
        return Form::Words(words.into_iter().map(|word| (word.to_owned(), String::new())).collect());
    }
    let is_map = schema["additionalProperties"].is_object();
    if schema["type"] == "object" && !is_map { Form::Object(fields(schema)) } else { Form::Other }
}

/// The words that a schema allows, if it allows words only.
fn literals(schema: &Value) -> Vec<&str> {
    match (schema["const"].as_str(), schema["enum"].as_array()) {
        (Some(word), _) => vec![word],
        (None, Some(all)) => all.iter().filter_map(Value::as_str).collect(),
        (None, None) => Vec::new(),
    }
}

/// One object of a union with the fields that all of them have, named by the word that tells it from the others.
fn variant(name: &str, union: &Value, at: usize, one: &Value) -> (String, Value) {
    let mut merged = one.clone();
    if let (Some(common), Some(own)) =
        (union["properties"].as_object(), merged.get_mut("properties").and_then(Value::as_object_mut))
    {
        for (field, schema) in common {
            own.entry(field.clone()).or_insert_with(|| schema.clone());
        }
    }
    let of_union = union["required"].as_array().cloned().unwrap_or_default();
    if let Some(fields) = merged.as_object_mut() {
        let required = fields.entry("required").or_insert_with(|| json!([]));
        if let Some(all) = required.as_array_mut() {
            all.extend(of_union);
        }
    }
    let word = one["properties"]
        .as_object()
        .and_then(|fields| fields.values().find_map(|field| field["const"].as_str()))
        .map_or_else(|| format!("{}", at.saturating_add(1)), pascal);
    (format!("{name}{word}"), merged)
}

/// `job_item` as `JobItem`.
pub(super) fn pascal(word: &str) -> String {
    let parts = word.split(['_', '.', '-']).filter(|part| !part.is_empty());
    parts.map(|part| format!("{}{}", part[..1].to_uppercase(), &part[1..])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(title: &str, properties: &Value, defs: &Value) -> Value {
        json!({ "title": title, "type": "object", "properties": properties, "$defs": defs })
    }

    #[test]
    fn types_of_one_name_get_the_object_before_it() {
        let one = root("ListParams", &json!({ "a": { "type": "string" } }), &json!({}));
        let two = root("ListParams", &json!({ "b": { "type": "string" } }), &json!({}));
        let own = root("Own", &json!({ "same": { "$ref": "#" } }), &json!({}));
        let roots =
            [("x/agent.list", one.clone()), ("x/job_item.list", two), ("x/read", own), ("x/agent.list", one)];
        let (types, names) = hoist(&roots).unwrap();
        assert_eq!(Vec::from(names), ["AgentListParams", "JobItemListParams", "Own", "AgentListParams"]);
        assert_eq!(types["Own"]["properties"]["same"]["$ref"], "#/$defs/Own");
        assert_eq!(types.len(), 3);
    }

    #[test]
    fn parts_of_one_name_that_differ_are_refused() {
        let with = |kind: &str| root("R", &json!({}), &json!({ "Part": { "type": kind } }));
        assert!(hoist(&[("x/a", with("string")), ("x/b", with("string"))]).is_ok());
        assert!(hoist(&[("x/a", with("string")), ("x/b", with("integer"))]).is_err());
    }
}
