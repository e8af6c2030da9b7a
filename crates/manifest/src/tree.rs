//! A document as a tree of values that know where they stand.
//!
//! Knows YAML and its limits; knows nothing about manifests. Scalars keep their text, so that the reader of a field
//! decides by what the field is: `version: 1.10` is the text `1.10`, `name: no` is the text `no`.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, NonFiniteFloatPolicy, Spanned, options::MergeKeyPolicy};

use crate::problem::{Finding, Place, excerpt};

/// Deepest nesting of lists and mappings. A manifest needs eight; the rest is for JSON Schemas in it. Reading takes
/// up to 40 KiB of stack a level in a debug build, so that this fits twice into the 2 MiB of a thread.
pub(crate) const DEPTH_MAX: usize = 24;

/// Most values in one document, counted after aliases are resolved: refuses alias bombs.
pub(crate) const VALUES_MAX: usize = 100_000;

/// Most values that aliases may bring into one document.
const ALIAS_VALUES_MAX: usize = 10_000;

/// Most aliases in one document.
const ALIASES_MAX: usize = 1_000;

/// A value and where it stands.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where the value begins.
    pub(crate) place: Place,
    /// Where the key begins under which it stands, or else where the value begins.
    pub(crate) named_at: Place,
    pub(crate) value: Tree,
}

#[derive(Debug)]
pub(crate) enum Tree {
    Null,
    Scalar { text: String, meaning: Meaning },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// What a scalar is where nobody says what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Bool(bool),
    Whole(i128),
    Fraction,
    Text,
}

impl Node {
    /// The value under `key`, if this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Tree::Map(entries) => entries.iter().find(|(name, _)| name.text == key).map(|(_, node)| node),
            Tree::Null | Tree::Scalar { .. } | Tree::List(_) => None,
        }
    }

    /// The text of this scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Tree::Scalar { text, .. } => Some(text),
            Tree::Null | Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// Says what it is, for a message.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Tree::Null => "nothing".to_owned(),
            Tree::Scalar { text, meaning: Meaning::Text } if text.is_empty() => "an empty text".to_owned(),
            Tree::Scalar { text, .. } => format!("`{}`", excerpt(text)),
            Tree::List(_) => "a list".to_owned(),
            Tree::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The tree of a JSON value. It has no text, so every place is zero.
    pub(crate) fn from_json(value: &serde_json::Value) -> Self {
        use serde_json::Value;

        let scalar = |text: String, meaning| Tree::Scalar { text, meaning };
        let value = match value {
            Value::Null => Tree::Null,
            Value::Bool(flag) => scalar(flag.to_string(), Meaning::Bool(*flag)),
            Value::Number(number) => {
                let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
                scalar(number.to_string(), whole.map_or(Meaning::Fraction, Meaning::Whole))
            }
            Value::String(text) => scalar(text.clone(), Meaning::Text),
            Value::Array(items) => Tree::List(items.iter().map(Self::from_json).collect()),
            Value::Object(entries) => Tree::Map(
                entries
                    .iter()
                    .map(|(key, value)| {
                        (Key { text: key.clone(), place: Place::default() }, Self::from_json(value))
                    })
                    .collect(),
            ),
        };
        Self { place: Place::default(), named_at: Place::default(), value }
    }
}

/// Reads one YAML document that begins `line_offset` lines into its file.
pub(crate) fn read(text: &str, line_offset: u32) -> Result<Node, Finding> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            max_nodes: VALUES_MAX,
            max_aliases: ALIASES_MAX,
            max_anchors: ALIASES_MAX,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: ALIAS_VALUES_MAX,
        },
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        emit_comments: false,
        with_snippet: false,
    };
    let read = serde_saphyr::from_str_with_options::<Located>(text, options);
    let located = read.map_err(|error| refusal(&error, line_offset))?;
    Ok(located.into_node(text, line_offset, None))
}

fn place(location: &Location, line_offset: u32) -> Place {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Place {
        line: number(location.line()).max(1).saturating_add(line_offset),
        column: number(location.column()).max(1),
    }
}

/// Says in our words what the YAML reader refused.
fn refusal(error: &Error, line_offset: u32) -> Finding {
    let place =
        error.location().map_or(Place { line: line_offset.saturating_add(1), column: 1 }, |location| {
            place(&location, line_offset)
        });
    let mut cause = error.without_snippet();
    // What is wrong in an anchor is told where its alias stands.
    while let Error::AliasError { error, .. } = cause {
        cause = error.without_snippet();
    }
    let (found, expected) = match cause {
        Error::DuplicateMappingKey { key, .. } => (
            key.as_ref().map_or("a key a second time".to_owned(), |key| {
                format!("the key `{}` a second time", excerpt(key))
            }),
            "each key once".to_owned(),
        ),
        Error::UnknownAnchor { .. } => (
            "an alias of nothing".to_owned(),
            "an anchor of that name before it in the same document".to_owned(),
        ),
        Error::MergeKeyNotAllowed { .. } => {
            ("a merge key".to_owned(), "each key written out: `<<` is not read".to_owned())
        }
        Error::UnsupportedTag { tag, .. } => {
            (format!("the tag `{}`", excerpt(tag)), "no tags of your own".to_owned())
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            ("an anchor that contains itself".to_owned(), "values that end".to_owned())
        }
        Error::NullIntoString { .. } | Error::Unexpected { .. } => {
            ("a key that is not text".to_owned(), "keys that are plain text".to_owned())
        }
        Error::MultipleDocuments { .. } => {
            ("a second document after `...`".to_owned(), "documents divided by lines of `---`".to_owned())
        }
        Error::Budget { .. } => (
            "a document beyond the bounds".to_owned(),
            format!(
                "at most {DEPTH_MAX} levels, {VALUES_MAX} values and {ALIASES_MAX} aliases in a document"
            ),
        ),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => (
            "aliases that unfold to too much".to_owned(),
            format!("at most {ALIAS_VALUES_MAX} values from aliases in a document"),
        ),
        other => {
            let text = other.to_string();
            let message = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
            (format!("text that is not YAML ({})", excerpt(message)), "well-formed YAML".to_owned())
        }
    };
    Finding { place, field: String::new(), found, expected, hint: None }
}

/// A value as the YAML reader gives it, before its text is looked up.
struct Located(Spanned<Raw>);

enum Raw {
    Null,
    Bool(bool),
    Whole(i128),
    Fraction(f64),
    Text(String),
    List(Vec<Located>),
    Map(Vec<(Spanned<String>, Located)>),
}

impl Located {
    fn into_node(self, source: &str, line_offset: u32, named_at: Option<Place>) -> Node {
        let Self(Spanned { value, referenced, defined }) = self;
        let at = place(&referenced, line_offset);
        let scalar = |fallback: String, meaning| Tree::Scalar {
            text: source_of(source, &defined).map_or(fallback, str::to_owned),
            meaning,
        };
        let value = match value {
            Raw::Null => Tree::Null,
            Raw::Bool(flag) => scalar(flag.to_string(), Meaning::Bool(flag)),
            Raw::Whole(number) => scalar(number.to_string(), Meaning::Whole(number)),
            Raw::Fraction(number) => scalar(number.to_string(), Meaning::Fraction),
            Raw::Text(text) => Tree::Scalar { text, meaning: Meaning::Text },
            Raw::List(items) => {
                Tree::List(items.into_iter().map(|item| item.into_node(source, line_offset, None)).collect())
            }
            Raw::Map(entries) => Tree::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| {
                        let key = Key { place: place(&key.referenced, line_offset), text: key.value };
                        let node = value.into_node(source, line_offset, Some(key.place));
                        (key, node)
                    })
                    .collect(),
            ),
        };
        Node { place: at, named_at: named_at.unwrap_or(at), value }
    }
}

/// The text of a plain scalar as it was written.
fn source_of<'a>(source: &'a str, location: &Location) -> Option<&'a str> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let end = start.checked_add(usize::try_from(span.byte_len()?).ok()?)?;
    source.get(start..end).map(str::trim).filter(|text| !text.is_empty())
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Whole(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Fraction(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}
