//! What a server offers: read leniently, kept strictly. What cannot be trusted to mean one thing is left out and said.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_proof::digest;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    failure::said,
    limits::{NAME_BYTES_MAX, OFFER_BYTES_MAX, OFFERS_BYTES_MAX, OFFERS_MAX, PROBLEMS_MAX},
};

/// What kind of thing is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    /// Something that can be called.
    Tool,
    /// Something that can be read.
    Resource,
    /// A text with places to fill.
    Prompt,
}

impl OfferKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Tool, Self::Resource, Self::Prompt];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
        }
    }

    /// Under which key a list has them.
    pub(crate) fn list_key(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Prompt => "prompts",
        }
    }

    /// Under which key each has what it is called by.
    fn id_key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
        }
    }
}

/// Something that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// What kind of thing it is.
    pub kind: OfferKind,
    /// What the server calls it, letter for letter: the name of a tool or a prompt, the address of a resource.
    pub native_id: String,
    /// What it is called for people.
    pub title: Option<String>,
    /// What it is for, as the server says.
    pub description: Option<String>,
    /// What a call is given.
    pub input_schema: Map<String, Value>,
    /// What a call gives, if the server says.
    pub output_schema: Option<Map<String, Value>>,
    /// What the server claims of it. Nobody may believe it for the sake of safety.
    pub annotations: Option<Value>,
    /// The digest of all that the server says of it.
    pub digest: String,
}

/// All that a server offers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inventory {
    offers: BTreeMap<(OfferKind, String), Offer>,
    /// What was left out, and why.
    pub problems: Vec<String>,
    doubtful: BTreeSet<(OfferKind, String)>,
    seen: BTreeMap<OfferKind, usize>,
    bytes: usize,
}

impl Inventory {
    /// What is offered, by kind and name.
    pub fn offers(&self) -> impl Iterator<Item = &Offer> {
        self.offers.values()
    }

    /// The offer of this kind and name.
    #[must_use]
    pub fn find(&self, kind: OfferKind, native_id: &str) -> Option<&Offer> {
        self.offers.get(&(kind, native_id.to_owned()))
    }

    /// Says that something is not as it should be.
    pub(crate) fn problem(&mut self, what: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(what);
        }
    }

    /// Takes in what one page lists; says whether there is room for more.
    pub(crate) fn take(&mut self, kind: OfferKind, listed: Vec<Value>) -> bool {
        for value in listed {
            let seen = self.seen.entry(kind).or_default();
            *seen = seen.saturating_add(1);
            if *seen > OFFERS_MAX {
                let key = kind.list_key();
                self.problem(format!("it lists more than {OFFERS_MAX} {key}: the rest is left out"));
                return false;
            }
            match offer(kind, &value) {
                Ok((offer, bytes)) if self.bytes.saturating_add(bytes) <= OFFERS_BYTES_MAX => {
                    self.add(offer, bytes);
                }
                Ok(_) => {
                    let what =
                        format!("what it lists is more than {OFFERS_BYTES_MAX} bytes: the rest is left out");
                    self.problem(what);
                    return false;
                }
                Err(why) => self.problem(why),
            }
        }
        true
    }

    /// Adds an offer. One that is listed twice, and not in the same words, is nobody's: which is meant cannot be known.
    fn add(&mut self, offer: Offer, bytes: usize) {
        let key = (offer.kind, offer.native_id.clone());
        if self.doubtful.contains(&key) {
            return;
        }
        match self.offers.get(&key) {
            Some(known) if *known == offer => {}
            Some(_) => {
                self.problem(format!(
                    "it lists {} `{}` twice, and not the same: neither is offered",
                    offer.kind.as_str(),
                    said(&offer.native_id)
                ));
                self.offers.remove(&key);
                self.doubtful.insert(key);
            }
            None => {
                self.bytes = self.bytes.saturating_add(bytes);
                self.offers.insert(key, offer);
            }
        }
    }

    /// Leaves out names that a reader takes for another one: the same but for the case of letters and for spaces.
    pub(crate) fn leave_out_lookalikes(&mut self) {
        let mut seen: BTreeMap<(OfferKind, String), Vec<String>> = BTreeMap::new();
        for (kind, id) in self.offers.keys() {
            if *kind != OfferKind::Resource {
                let folded: String = id.chars().filter(|letter| !letter.is_whitespace()).collect();
                seen.entry((*kind, folded.to_lowercase())).or_default().push(id.clone());
            }
        }
        for ((kind, _), ids) in seen.into_iter().filter(|(_, ids)| ids.len() > 1) {
            let names: Vec<String> = ids.iter().map(|id| format!("`{}`", said(id))).collect();
            self.problem(format!("{} look alike: none of them is offered", names.join(" and ")));
            for id in ids {
                self.offers.remove(&(kind, id));
            }
        }
    }
}

/// One thing of a list, and how long it is; or why it is left out.
fn offer(kind: OfferKind, value: &Value) -> Result<(Offer, usize), String> {
    let word = kind.as_str();
    let id = value.get(kind.id_key()).and_then(Value::as_str).unwrap_or_default();
    let shown = said(&id.chars().take(80).collect::<String>());
    if id.is_empty() {
        return Err(format!("it lists a {word} without a {}", kind.id_key()));
    }
    if id.len() > NAME_BYTES_MAX || id.chars().any(char::is_control) {
        return Err(format!("{word} `{shown}` is left out: its name is too long or has control characters"));
    }
    // One spelling for one meaning: the order of keys in a schema is nothing that changed.
    let text = sorted(value).to_string();
    if text.len() > OFFER_BYTES_MAX {
        return Err(format!(
            "{word} `{shown}` is left out: its description has more than {OFFER_BYTES_MAX} bytes"
        ));
    }
    let input_schema = match kind {
        OfferKind::Tool => object_schema(value.get("inputSchema"))
            .map_err(|why| format!("{word} `{shown}` is left out: its input schema {why}"))?,
        OfferKind::Resource => Map::new(),
        OfferKind::Prompt => of_arguments(value.get("arguments")),
    };
    let output_schema = match value.get("outputSchema") {
        None | Some(Value::Null) => None,
        Some(found) => Some(
            found
                .as_object()
                .cloned()
                .ok_or(format!("{word} `{shown}` is left out: its output schema is no object"))?,
        ),
    };
    let named = value.get("name").and_then(Value::as_str).filter(|_| kind == OfferKind::Resource);
    let title = value.get("title").and_then(Value::as_str).or(named);
    let description = value.get("description").and_then(Value::as_str);
    Ok((
        Offer {
            kind,
            native_id: id.to_owned(),
            title: title.map(str::to_owned),
            description: description.map(str::to_owned),
            input_schema,
            output_schema,
            annotations: value.get("annotations").cloned(),
            digest: digest(text.as_bytes()).to_string(),
        },
        text.len(),
    ))
}

/// A schema that says what an object is, or why it is none.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence.
pub fn object_schema(value: Option<&Value>) -> Result<Map<String, Value>, &'static str> {
    let schema = value.and_then(Value::as_object).ok_or("is no object")?;
    match schema.get("type") {
        Some(Value::String(word)) if word == "object" => {}
        Some(_) => return Err("does not say that it is given an object"),
        None if schema.contains_key("properties") || schema.is_empty() => {}
        None => return Err("does not say that it is given an object"),
    }
    if schema.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Err("has `properties` that are no object");
    }
    if schema.get("required").is_some_and(|required| !required.is_array()) {
        return Err("has a `required` that is no list");
    }
    Ok(schema.clone())
}

/// The schema of what a prompt is given, which servers write in another way.
fn of_arguments(arguments: Option<&Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in arguments.and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
        let mut property = Map::from_iter([("type".to_owned(), Value::from("string"))]);
        if let Some(text) = argument.get("description").and_then(Value::as_str) {
            property.insert("description".to_owned(), Value::from(text));
        }
        if argument.get("required").and_then(Value::as_bool) == Some(true) {
            required.push(Value::from(name));
        }
        properties.insert(name.to_owned(), Value::Object(property));
    }
    let mut schema = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), Value::Array(required));
    schema
}

/// The same value with the keys of its objects in order.
#[must_use]
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let ordered: BTreeMap<&String, Value> =
                entries.iter().map(|(key, inner)| (key, sorted(inner))).collect();
            Value::Object(ordered.into_iter().map(|(key, inner)| (key.clone(), inner)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests;
