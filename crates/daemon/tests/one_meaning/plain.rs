//! What two answers of different nodes have in common: everything but ids, times, places, traces and digests of those,
//! and how many files the daemon has open.
//!
//! What is taken out is known by its form wherever it has one. A field is taken out by its name only where its value has
//! none, and then only if it is of the kind that such a field is.

use edgeplane_testkit::Node;
use serde_json::{Map, Value};

/// Numbers that say how long something took.
const TIMES: [&str; 3] = ["ran_ms", "uptimeSeconds", "waited_ms"];

/// Numbers by which a machine knows a process.
const PROCESSES: [&str; 2] = ["pid", "startTime"];

/// Numbers of the daemon's process at that moment: what it has open depends on who is connected.
const STATES: [&str; 1] = ["openFiles"];

/// Texts made of ids, without a form of their own: a place in a stream, and the key that a node is known by.
const MADE_OF_IDS: [&str; 2] = ["cursor", "public_key"];

/// Texts that are places on a machine, and lie in no folder of the test.
const PLACES: [&str; 1] = ["cgroup"];

/// Takes out of an answer what is each node's own.
pub(crate) fn plain(value: &Value, node: &Node) -> Value {
    match value {
        Value::Object(fields) => Value::Object(object(fields, node)),
        Value::Array(items) => Value::Array(items.iter().map(|item| plain(item, node)).collect()),
        Value::String(text) => Value::String(text_of(text, node)),
        other => other.clone(),
    }
}

fn object(fields: &Map<String, Value>, node: &Node) -> Map<String, Value> {
    let shown = |(name, value): (&String, &Value)| {
        let (field, own) = (name.as_str(), |what: &str| Value::String(what.to_owned()));
        let value = match value {
            Value::Number(_) if TIMES.contains(&field) => own("<time>"),
            Value::Number(_) if STATES.contains(&field) => own("<state>"),
            Value::Number(_) if PROCESSES.contains(&field) => own("<process>"),
            Value::String(_) if MADE_OF_IDS.contains(&field) => own("<made of ids>"),
            Value::String(_) if PLACES.contains(&field) => own("<place>"),
            value => plain(value, node),
        };
        (text_of(name, node), value)
    };
    fields.iter().map(shown).collect()
}

/// A text without ids, times, digests and places.
fn text_of(text: &str, node: &Node) -> String {
    let scratch = node.scratch();
    let home = scratch.parent().unwrap_or(&scratch).display().to_string();
    let text = text.replace(&home, "<place>");
    let text = without(&text, "<id>", uuid);
    let text = without(&text, "<time>", time);
    without(&text, "<digest or trace>", digest)
}

/// Puts `word` wherever `form` finds that many bytes of its own.
fn without(text: &str, word: &str, form: fn(&[u8]) -> Option<usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut before) = (text, None);
    while let Some(letter) = rest.chars().next() {
        // In the middle of a word nothing begins.
        let begins = before.is_none_or(|before: char| !before.is_ascii_alphanumeric());
        let found = form(rest.as_bytes()).filter(|_| begins);
        if found.is_some() {
            out.push_str(word);
        } else {
            out.push(letter);
        }
        let (passed, behind) = rest.split_at(found.unwrap_or(letter.len_utf8()));
        (before, rest) = (passed.chars().last(), behind);
    }
    out
}

fn uuid(text: &[u8]) -> Option<usize> {
    let is_one = text.get(..36)?.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => is_hexadecimal(*byte),
    });
    is_one.then_some(36)
}

/// A time of RFC 3339 in UTC.
fn time(text: &[u8]) -> Option<usize> {
    let is_date = text.get(..20)?.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        10 => *byte == b'T',
        13 | 16 => *byte == b':',
        19 => *byte == b'.' || *byte == b'Z',
        _ => byte.is_ascii_digit(),
    });
    let end = text.iter().position(|byte| *byte == b'Z').filter(|_| is_date)?;
    text[19..end].iter().skip(1).all(u8::is_ascii_digit).then_some(end + 1)
}

/// A digest of 256 bits, a trace of 128 or a span of 64, in hexadecimal digits.
fn digest(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| is_hexadecimal(**byte)).count();
    matches!(digits, 16 | 32 | 64).then_some(digits)
}

fn is_hexadecimal(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}
