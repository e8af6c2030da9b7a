//! Reading the generated schema: what a place in it asks for.
//!
//! Knows only the part of JSON Schema that the types bring forth; a test holds the schema to that part.

use serde_json::{Map, Value};

use crate::{
    problem::{excerpt, listed},
    rule::{self, Rule},
};

/// One place of the schema, with references and nullability resolved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape<'s> {
    root: &'s Value,
    body: &'s Map<String, Value>,
    /// Name of the definition it stands in, if any.
    pub(crate) name: &'s str,
    min: Option<&'s str>,
    max: Option<&'s str>,
}

impl<'s> Shape<'s> {
    /// The shape of a whole document.
    pub(crate) fn root(root: &'s Value) -> Option<Self> {
        Some(Self { root, body: root.as_object()?, name: "", min: None, max: None })
    }

    /// The shape that `schema` describes: references followed, `null` left aside.
    pub(crate) fn of(&self, schema: &'s Value) -> Option<Self> {
        let mut shape = Self { root: self.root, body: schema.as_object()?, name: "", min: None, max: None };
        loop {
            shape.min = shape.text("x-edgeplane-min").or(shape.min);
            shape.max = shape.text("x-edgeplane-max").or(shape.max);
            if let Some(name) = shape.text("$ref").and_then(|path| path.strip_prefix("#/$defs/")) {
                shape.name = name;
                shape.body = self.root.get("$defs")?.get(name)?.as_object()?;
                continue;
            }
            match shape.branches().as_slice() {
                [only] if shape.body.contains_key("anyOf") => shape.body = only.as_object()?,
                _ => return Some(shape),
            }
        }
    }

    /// The same shape, named after the choice it is an alternative of unless it has a name of its own.
    pub(crate) fn within(self, name: &'s str) -> Self {
        if self.name.is_empty() { Self { name, ..self } } else { self }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'s str> {
        self.body.get(key)?.as_str()
    }

    pub(crate) fn number(&self, key: &str) -> Option<i128> {
        let value = self.body.get(key)?;
        value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.body.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether `type` names this type.
    pub(crate) fn is(&self, kind: &str) -> bool {
        match self.body.get("type") {
            Some(Value::String(name)) => name == kind,
            Some(Value::Array(names)) => names.iter().any(|name| name == kind),
            _ => false,
        }
    }

    /// The alternatives, `null` left aside.
    pub(crate) fn branches(&self) -> Vec<&'s Value> {
        let all = self.body.get("oneOf").or_else(|| self.body.get("anyOf")).and_then(Value::as_array);
        all.into_iter()
            .flatten()
            .filter(|branch| branch.get("type").is_none_or(|kind| kind != "null"))
            .collect()
    }

    /// The words of an enumeration.
    pub(crate) fn words(&self) -> Option<Vec<&'s str>> {
        let branches = self.branches();
        let words: Vec<_> = branches.iter().filter_map(|branch| branch.get("const")?.as_str()).collect();
        (!words.is_empty() && words.len() == branches.len()).then_some(words)
    }

    /// The word that `kind` has in documents of this shape.
    pub(crate) fn document_kind(&self) -> Option<&'s str> {
        let kind = self.property("kind").and_then(|kind| self.of(kind))?;
        kind.words()?.first().copied()
    }

    /// The rule of a word or quantity.
    pub(crate) fn rule(&self) -> Option<&'static Rule> {
        rule::by_pattern(self.text("pattern")?)
    }

    pub(crate) fn properties(&self) -> impl Iterator<Item = (&'s str, &'s Value)> {
        let all = self.body.get("properties").and_then(Value::as_object);
        all.into_iter().flatten().map(|(key, schema)| (key.as_str(), schema))
    }

    pub(crate) fn property(&self, key: &str) -> Option<&'s Value> {
        self.body.get("properties")?.get(key)
    }

    /// The rule of the keys and the schema of the values of a mapping with free keys.
    pub(crate) fn free_keys(&self) -> Option<(&'static Rule, &'s Value)> {
        let (pattern, schema) = self.body.get("patternProperties")?.as_object()?.iter().next()?;
        Some((rule::by_pattern(pattern)?, schema))
    }

    pub(crate) fn items(&self) -> Option<&'s Value> {
        self.body.get("items")
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &'s str> {
        let all = self.body.get("required").and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The key whose word tells the alternatives apart.
    pub(crate) fn tag(branches: &[Self]) -> Option<&'s str> {
        let (key, _) = branches.first()?.properties().find(|(_, schema)| schema.get("const").is_some())?;
        branches.iter().all(|branch| branch.tag_word(key).is_some()).then_some(key)
    }

    /// The word that `key` must have for this alternative.
    pub(crate) fn tag_word(&self, key: &str) -> Option<&'s str> {
        self.property(key)?.get("const")?.as_str()
    }

    /// Whether `amount` is out of the bounds of this quantity.
    pub(crate) fn is_beyond(&self, amount: u64) -> bool {
        let bound = |text: Option<&str>| text.and_then(self.rule()?.amount?);
        bound(self.min).is_some_and(|min| amount < min) || bound(self.max).is_some_and(|max| amount > max)
    }

    /// Says what would be right here.
    pub(crate) fn expected(&self) -> String {
        if let (Some(min), Some(max)) = (self.min, self.max) {
            let rule = self.rule().map_or("a quantity", |rule| rule.expected.as_str());
            return format!("{rule}, from {min} to {max}");
        }
        if let Some(rule) = self.rule() {
            return rule.expected.clone();
        }
        if let Some(words) = self.words() {
            return one_of(&words);
        }
        let branches = self.branches();
        if !branches.is_empty() {
            let mut all: Vec<String> = branches
                .iter()
                .filter_map(|branch| self.of(branch))
                .map(|branch| branch.expected())
                .collect();
            all.dedup();
            return all.join(" or ");
        }
        if self.is("integer") {
            return match (self.number("minimum"), self.number("maximum")) {
                (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
                _ => "a whole number".to_owned(),
            };
        }
        if self.name == "InterfaceSchema" {
            return "a JSON Schema".to_owned();
        }
        if self.is("boolean") {
            return "true or false".to_owned();
        }
        if self.is("array") {
            return "a list".to_owned();
        }
        if self.is("object") {
            return "a mapping".to_owned();
        }
        match (self.number("minLength"), self.number("maxLength")) {
            (Some(min), Some(max)) => format!("text of {min} to {max} characters"),
            (_, Some(max)) => format!("text of at most {max} characters"),
            _ => "text".to_owned(),
        }
    }
}

/// Writes the words of a choice.
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [only] => format!("`{}`", excerpt(only)),
        _ => format!("one of {}", listed(words.iter().copied())),
    }
}
