//! Holding a document to the schema: every field, all problems at once.
//!
//! The generated schema is the only list of keys, words and bounds; what it says is what is checked. The result is
//! the document as JSON, with every scalar read as its field wants it.

mod hint;
mod view;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{
    problem::{Finding, Place, Step, field, listed, quoted},
    schema,
    secret::{is_secret_key, looks_secret},
    tree::{Meaning, Node, Tree},
};
use hint::{elsewhere, meant, unserved};
use view::{Shape, one_of};

/// Longest text in a manifest, in bytes.
const TEXT_BYTES_MAX: usize = 65_536;

/// Most keys that a message lists; longer lists help nobody.
const LISTED_KEYS_MAX: usize = 12;

/// Problems of one document after which unknown keys get no hints.
const HINTED_MAX: usize = 100;

/// Largest whole number that every JSON reader keeps exact.
const WHOLE_MAX: i128 = 9_007_199_254_740_991;

/// Holds `node` to the schema of a document of its kind. Gives its JSON, or everything that is wrong with it.
pub(crate) fn check(node: &Node) -> Result<Value, Vec<Finding>> {
    let Some(root) = Shape::root(schema::value()) else { return Err(Vec::new()) };
    let documents: Vec<Shape<'static>> =
        root.branches().into_iter().filter_map(|branch| root.of(branch)).collect();
    let kinds: Vec<&str> = documents.iter().filter_map(Shape::document_kind).collect();
    let given = node.get("kind").filter(|kind| !matches!(kind.value, Tree::Null));
    let of_kind =
        |document: &&Shape<'static>| given.is_some_and(|kind| kind.text() == document.document_kind());
    // One that names no kind is most likely meant to be of the first.
    let Some(document) = documents.iter().find(of_kind).or(documents.first()) else { return Err(Vec::new()) };
    let mut walk = Walk { document: *document, path: Vec::new(), findings: Vec::new() };
    // Which keys may follow depends on the kind, so a document of another kind is held to nothing else.
    if let Some(given) = given.filter(|kind| !kind.text().is_some_and(|text| kinds.contains(&text))) {
        let hint = given.text().and_then(|text| unserved("Kind", text).or_else(|| meant(text, &kinds)));
        walk.at("kind", |walk| walk.find(given.place, given.shown(), one_of(&kinds), hint));
        return Err(walk.findings);
    }
    match walk.value(document, node) {
        Some(value) if walk.findings.is_empty() => Ok(value),
        _ => {
            let no_kind = walk.findings.iter_mut().find(|finding| finding.field == "kind");
            if let Some(finding) = no_kind {
                finding.expected = one_of(&kinds);
            }
            Err(walk.findings)
        }
    }
}

struct Walk {
    /// The shape of the whole document.
    document: Shape<'static>,
    path: Vec<Step>,
    findings: Vec<Finding>,
}

impl Walk {
    fn at<T>(&mut self, step: impl Into<Step>, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.into());
        let result = inside(self);
        self.path.pop();
        result
    }

    fn find(&mut self, place: Place, found: String, expected: String, hint: Option<String>) {
        self.findings.push(Finding { place, field: field(&self.path), found, expected, hint });
    }

    /// Notes that `node` is not what `shape` wants.
    fn refuse(&mut self, shape: &Shape<'_>, node: &Node, hint: Option<String>) -> Option<Value> {
        let text = node.text().filter(|text| self.is_secret(text));
        let found = text.map_or_else(|| node.shown(), |_secret| "a secret written out".to_owned());
        self.find(node.place, found, shape.expected(), hint);
        None
    }

    /// Whether a text at this place must not be repeated: what is refused may be recorded as such.
    fn is_secret(&self, text: &str) -> bool {
        let is_connector = matches!(self.document.document_kind(), Some("Connector" | "Automation"));
        let under_secret = self.path.iter().rev().any(|step| match step {
            Step::Key(key) => is_secret_key(key),
            Step::Index(_) => false,
        });
        (is_connector && under_secret) || looks_secret(text)
    }

    fn value(&mut self, shape: &Shape<'_>, node: &Node) -> Option<Value> {
        if shape.rule().is_some() {
            return self.ruled(shape, node);
        }
        if let Some(words) = shape.words() {
            return self.word(shape, &words, node);
        }
        if !shape.branches().is_empty() {
            return self.choice(shape, node);
        }
        if shape.name == "InterfaceSchema" {
            let fits = matches!(node.value, Tree::Map(_) | Tree::Scalar { meaning: Meaning::Bool(_), .. });
            return if fits { self.free(node) } else { self.refuse(shape, node, None) };
        }
        if shape.name == "AutomationParams" {
            let fits = matches!(node.value, Tree::Map(_));
            return if fits { self.free(node) } else { self.refuse(shape, node, None) };
        }
        match &node.value {
            Tree::Map(_) if shape.is("object") => self.mapping(shape, node),
            Tree::List(items) if shape.is("array") => self.list(shape, node, items),
            Tree::Scalar { text, meaning } => self.scalar(shape, node, text, *meaning),
            Tree::Null | Tree::Map(_) | Tree::List(_) => self.refuse(shape, node, None),
        }
    }

    /// A word or quantity with a rule of its own.
    fn ruled(&mut self, shape: &Shape<'_>, node: &Node) -> Option<Value> {
        let (Some(text), Some(rule)) = (node.text(), shape.rule()) else {
            return self.refuse(shape, node, None);
        };
        if !(rule.holds)(text) {
            return self.refuse(shape, node, (rule.hint)(text));
        }
        if rule.amount.and_then(|amount| amount(text)).is_some_and(|amount| shape.is_beyond(amount)) {
            return self.refuse(shape, node, None);
        }
        Some(text.into())
    }

    fn word(&mut self, shape: &Shape<'_>, words: &[&str], node: &Node) -> Option<Value> {
        match node.text() {
            Some(text) if words.contains(&text) => Some(text.into()),
            text => {
                let hint = text.and_then(|text| unserved(shape.name, text).or_else(|| meant(text, words)));
                self.refuse(shape, node, hint)
            }
        }
    }

    fn scalar(&mut self, shape: &Shape<'_>, node: &Node, text: &str, meaning: Meaning) -> Option<Value> {
        if shape.is("string") {
            return self.text(shape, node, text);
        }
        match meaning {
            Meaning::Bool(flag) if shape.is("boolean") => Some(flag.into()),
            Meaning::Whole(number) if shape.is("integer") => {
                let fits = shape.number("minimum").is_none_or(|min| number >= min)
                    && shape.number("maximum").is_none_or(|max| number <= max);
                match i64::try_from(number) {
                    Ok(number) if fits => Some(number.into()),
                    _ => self.refuse(shape, node, None),
                }
            }
            Meaning::Bool(_) | Meaning::Whole(_) | Meaning::Fraction | Meaning::Text => {
                let quoted_number = shape.is("integer") && text.parse::<i64>().is_ok();
                let hint = match text.to_ascii_lowercase().as_str() {
                    "yes" | "on" | "y" | "true" if shape.is("boolean") => {
                        Some("did you mean `true`?".to_owned())
                    }
                    "no" | "off" | "n" | "false" if shape.is("boolean") => {
                        Some("did you mean `false`?".to_owned())
                    }
                    _ => quoted_number.then(|| "write it without quotes and leading zeros".to_owned()),
                };
                self.refuse(shape, node, hint)
            }
        }
    }

    fn text(&mut self, shape: &Shape<'_>, node: &Node, text: &str) -> Option<Value> {
        let length = i128::try_from(text.chars().count()).unwrap_or(i128::MAX);
        let fits = shape.number("minLength").is_none_or(|min| length >= min)
            && shape.number("maxLength").is_none_or(|max| length <= max);
        if !fits {
            return self.refuse(shape, node, None);
        }
        if text.len() > TEXT_BYTES_MAX {
            let (found, expected) =
                (format!("text of {} bytes", text.len()), format!("at most {TEXT_BYTES_MAX} bytes"));
            self.find(node.place, found, expected, None);
            return None;
        }
        if let Some(control) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            let found = format!("text with the control character `{}`", control.escape_default());
            self.find(
                node.place,
                found,
                "text without control characters but line break and tab".to_owned(),
                None,
            );
            return None;
        }
        Some(text.into())
    }

    fn list(&mut self, shape: &Shape<'_>, node: &Node, items: &[Node]) -> Option<Value> {
        let item_shape = shape.items().and_then(|schema| shape.of(schema))?;
        let count = i128::try_from(items.len()).unwrap_or(i128::MAX);
        let (min, max) =
            (shape.number("minItems").unwrap_or(0), shape.number("maxItems").unwrap_or(i128::MAX));
        if count < min || count > max {
            let (bound, bound_count) = if count < min { ("least", min) } else { ("most", max) };
            let noun = if bound_count == 1 { "entry" } else { "entries" };
            let expected = format!("at {bound} {bound_count} {noun}");
            self.find(node.place, format!("a list of {count}"), expected, None);
            return None;
        }
        let mut values = Vec::with_capacity(items.len());
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let value = self.at(index, |walk| walk.value(&item_shape, item));
            let text = value.as_ref().and_then(Value::as_str).map(str::to_owned);
            let repeated = shape.flag("uniqueItems") && text.is_some_and(|text| !seen.insert(text));
            if repeated {
                let found = format!("{} a second time", item.shown());
                self.at(index, |walk| walk.find(item.place, found, "each entry once".to_owned(), None));
            }
            values.extend(value);
        }
        (values.len() == items.len()).then_some(Value::Array(values))
    }

    fn mapping(&mut self, shape: &Shape<'_>, node: &Node) -> Option<Value> {
        let Tree::Map(entries) = &node.value else { return self.refuse(shape, node, None) };
        let before = self.findings.len();
        let mut values = Map::new();
        for (key, value) in entries {
            let known = shape.property(&key.text);
            let free = shape.free_keys();
            if known.is_none()
                && let Some((rule, _)) = free
                && !(rule.holds)(&key.text)
            {
                let (found, expected) = (format!("the key {}", quoted(&key.text)), rule.expected.clone());
                self.at(key.text.as_str(), |walk| walk.find(key.place, found, expected, None));
                continue;
            }
            let Some(schema) = known.or(free.map(|(_, schema)| schema)) else {
                self.at(key.text.as_str(), |walk| walk.unknown_key(shape, key.place, &key.text));
                continue;
            };
            // A key with nothing behind it is a key that was left out.
            if matches!(value.value, Tree::Null) && known.is_some() {
                continue;
            }
            let Some(inner) = shape.of(schema) else { continue };
            if let Some(value) = self.at(key.text.as_str(), |walk| walk.value(&inner, value)) {
                values.insert(key.text.clone(), value);
            }
        }
        for key in shape.required() {
            let absent = node.get(key).is_none_or(|value| matches!(value.value, Tree::Null));
            if absent && let Some(inner) = shape.property(key).and_then(|schema| shape.of(schema)) {
                let expected = inner.expected();
                self.at(key, |walk| walk.find(node.named_at, "nothing".to_owned(), expected, None));
            }
        }
        (self.findings.len() == before).then_some(Value::Object(values))
    }

    fn unknown_key(&mut self, shape: &Shape<'_>, place: Place, key: &str) {
        let known: Vec<&str> = shape.properties().map(|(key, _)| key).collect();
        let expected = match known.as_slice() {
            [] => "no key here".to_owned(),
            few if few.len() <= LISTED_KEYS_MAX => one_of(few),
            _ => "a known key".to_owned(),
        };
        // A document of nothing but unknown keys must not take long to refuse.
        let hint = if self.findings.len() < HINTED_MAX {
            unserved(shape.name, key)
                .or_else(|| meant(key, &known))
                .or_else(|| elsewhere(&self.document, key))
        } else {
            None
        };
        self.find(place, format!("the unknown key {}", quoted(key)), expected, hint);
    }

    fn choice(&mut self, shape: &Shape<'_>, node: &Node) -> Option<Value> {
        let all: Vec<Shape<'_>> = shape
            .branches()
            .into_iter()
            .filter_map(|branch| shape.of(branch))
            .map(|branch| branch.within(shape.name))
            .collect();
        let (mappings, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|branch| branch.is("object"));
        if !matches!(node.value, Tree::Map(_)) {
            let fits = others.iter().find(|branch| match node.value {
                Tree::Scalar { .. } => !branch.is("array"),
                Tree::List(_) => branch.is("array"),
                Tree::Null | Tree::Map(_) => false,
            });
            return match fits {
                Some(branch) => self.value(branch, node),
                None => self.refuse(shape, node, None),
            };
        }
        if let Some(tag) = Shape::tag(&mappings) {
            return self.tagged(shape.name, tag, &mappings, node);
        }
        match mappings.as_slice() {
            [] => self.refuse(shape, node, None),
            [only] => self.mapping(only, node),
            several => self.one_by_key(several, node),
        }
    }

    /// A choice that the word under one key decides.
    fn tagged(&mut self, name: &str, tag: &str, branches: &[Shape<'_>], node: &Node) -> Option<Value> {
        let words: Vec<&str> = branches.iter().filter_map(|branch| branch.tag_word(tag)).collect();
        let Some(given) = node.get(tag) else {
            let place = node.named_at;
            self.at(tag, |walk| walk.find(place, "nothing".to_owned(), one_of(&words), None));
            return None;
        };
        let chosen = branches.iter().find(|branch| branch.tag_word(tag) == given.text());
        if let Some(branch) = chosen {
            return self.mapping(branch, node);
        }
        let hint = given.text().and_then(|text| unserved(name, text).or_else(|| meant(text, &words)));
        self.at(tag, |walk| walk.find(given.place, given.shown(), one_of(&words), hint));
        None
    }

    /// A choice that is made by which key is there.
    fn one_by_key(&mut self, branches: &[Shape<'_>], node: &Node) -> Option<Value> {
        let keys: Vec<(&str, &Shape<'_>)> = branches
            .iter()
            .filter_map(|branch| {
                let shared = |key: &str| branches.iter().all(|other| other.required().any(|one| one == key));
                Some((branch.required().find(|key| !shared(key))?, branch))
            })
            .collect();
        let names: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        let given: Vec<_> = keys.iter().filter(|(key, _)| node.get(key).is_some()).collect();
        match given.as_slice() {
            [(_, branch)] => self.mapping(branch, node),
            [] => {
                let Tree::Map(entries) = &node.value else { return None };
                let hint = entries.iter().find_map(|(key, _)| meant(&key.text, &names));
                self.find(
                    node.named_at,
                    format!("none of {}", listed(names.iter().copied())),
                    one_of(&names),
                    hint,
                );
                None
            }
            several => {
                let found =
                    several.iter().map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
                self.find(node.place, found, one_of(&names), None);
                None
            }
        }
    }

    /// Any value, as it is written.
    fn free(&mut self, node: &Node) -> Option<Value> {
        match &node.value {
            Tree::Null => Some(Value::Null),
            Tree::Scalar { meaning: Meaning::Bool(flag), .. } => Some((*flag).into()),
            Tree::Scalar { text, meaning: Meaning::Text } => {
                let any_text = Shape::root(schema::value())?;
                self.text(&any_text, node, text)
            }
            Tree::Scalar { meaning: Meaning::Whole(number), .. }
                if (-WHOLE_MAX..=WHOLE_MAX).contains(number) =>
            {
                i64::try_from(*number).ok().map(Value::from)
            }
            Tree::Scalar { .. } => {
                let expected = format!("a whole number from -{WHOLE_MAX} to {WHOLE_MAX}, or text");
                self.find(
                    node.place,
                    node.shown(),
                    expected,
                    Some("the record holds no fractions".to_owned()),
                );
                None
            }
            Tree::List(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.at(index, |walk| walk.free(item)))
                .collect::<Vec<_>>()
                .into_iter()
                .collect::<Option<Vec<_>>>()
                .map(Value::Array),
            Tree::Map(entries) => entries
                .iter()
                .map(|(key, value)| {
                    let value = self.at(key.text.as_str(), |walk| walk.free(value))?;
                    Some((key.text.clone(), value))
                })
                .collect::<Vec<_>>()
                .into_iter()
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object),
        }
    }
}
