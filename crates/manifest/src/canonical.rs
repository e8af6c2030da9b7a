//! The canonical form: one JSON text for everything that means the same, with every default written out.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    AutomationManifest, AutomationSpec, ConnectorManifest, ConnectorSpec, Manifest, ScheduleBody,
    ScheduleManifest, WorkflowManifest, WorkflowSpec, words::Digest,
};

macro_rules! canonical {
    ($($name:ident, $noun:literal;)+) => {$(
        impl $name {
            #[doc = concat!("The ", $noun, " as JSON with every default filled in: what a node stores and compares.")]
            /// It holds no floating-point numbers, and an equal value is read from it.
            #[must_use]
            pub fn canonical_json(&self) -> Value {
                json_of(self)
            }

            /// The canonical JSON as text, by RFC 8785.
            #[must_use]
            pub fn canonical_text(&self) -> String {
                let mut text = String::new();
                write_value(&self.canonical_json(), &mut text);
                text
            }

            /// SHA-256 of the canonical text: equal for what means the same.
            #[must_use]
            pub fn digest(&self) -> Digest {
                digest_of(&self.canonical_text())
            }
        }
    )+};
}

canonical! {
    Manifest, "manifest";
    ScheduleManifest, "schedule";
    ScheduleBody, "body of a schedule";
    ConnectorManifest, "connector";
    ConnectorSpec, "specification of a connector";
    AutomationManifest, "automation";
    AutomationSpec, "specification of an automation";
    WorkflowManifest, "workflow";
    WorkflowSpec, "specification of a workflow";
}

fn json_of(value: &impl Serialize) -> Value {
    #[expect(
        clippy::expect_used,
        reason = "the types have text keys only, and nothing in them fails to serialize"
    )]
    serde_json::to_value(value).expect("a manifest is JSON")
}

fn digest_of(canonical: &str) -> Digest {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(canonical.as_bytes()) {
        // Writing to a string cannot fail.
        let _written: std::fmt::Result = write!(text, "{byte:02x}");
    }
    #[expect(clippy::expect_used, reason = "the text was made to the rule two lines above")]
    text.parse().expect("a SHA-256 has 64 digits")
}

/// Writes `value` by RFC 8785. Numbers in a manifest are whole and below 2^53, so their text is already canonical.
fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string())
        }
        Value::Array(items) => {
            write_each(items.iter(), ('[', ']'), text, write_value);
        }
        Value::Object(entries) => {
            write_each(sorted(entries).into_iter(), ('{', '}'), text, |(key, value), text| {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_value(value, text);
            });
        }
    }
}

fn write_each<T>(
    items: impl Iterator<Item = T>,
    (open, close): (char, char),
    text: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    text.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(item, text);
    }
    text.push(close);
}

/// The entries in the order of their keys' UTF-16 code units, as RFC 8785 asks.
fn sorted(entries: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_rfc_8785() {
        let value =
            serde_json::json!({ "\u{1f600}": 1, "\u{fb33}": 2, "a": [true, null, "\u{1}\n\u{7f}"], "A": {} });
        let mut text = String::new();
        write_value(&value, &mut text);
        assert_eq!(text, "{\"A\":{},\"a\":[true,null,\"\\u0001\\n\u{7f}\"],\"\u{1f600}\":1,\"\u{fb33}\":2}");
    }
}
