//! Placeholders: what an automation does is filled in with what had it fire, as data and never as more placeholders.

use serde_json::{Map, Value};

/// What begins a placeholder.
const BEGIN: &str = "${";

/// Most bytes of what is filled in.
pub(super) const FILLED_BYTES_MAX: usize = 256 << 10;

/// What had it fire, for placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    /// What is found below `event`.
    pub(super) event: Value,
    /// What is found below `firing`.
    pub(super) firing: Value,
    /// What of `event` the node itself has said; all else is somebody's words.
    pub(super) own: &'static [&'static str],
}

/// A filled value, and whether there are words of others in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled<T> {
    pub(super) value: T,
    pub(super) is_foreign: bool,
}

/// Fills in all texts of a value. A text that is one placeholder becomes what is found there, whatever that is.
pub(super) fn fill(value: &Value, source: &Source) -> Result<Filled<Value>, String> {
    let mut filler = Filler { source, is_foreign: false, bytes: 0 };
    let value = filler.value(value)?;
    Ok(Filled { value, is_foreign: filler.is_foreign })
}

struct Filler<'a> {
    source: &'a Source,
    is_foreign: bool,
    bytes: usize,
}

impl Filler<'_> {
    fn value(&mut self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => self.text(text)?,
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(entries) => {
                let filled = entries.iter().map(|(key, value)| Ok((key.clone(), self.value(value)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, String>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    fn text(&mut self, text: &str) -> Result<Value, String> {
        if let Some(place) = text.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix('}'))
            && !place.contains('}')
        {
            return self.found(place);
        }
        let (mut made, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(BEGIN) {
            let (before, after) = rest.split_at(at);
            // Two of them stand for the letters themselves.
            if let Some(before) = before.strip_suffix('$') {
                made.push_str(before);
                made.push_str(BEGIN);
                rest = after.strip_prefix(BEGIN).unwrap_or_default();
                continue;
            }
            made.push_str(before);
            let Some((place, after)) = after.strip_prefix(BEGIN).and_then(|rest| rest.split_once('}')) else {
                return Err("a placeholder has no end".to_owned());
            };
            match self.found(place)? {
                Value::String(found) => made.push_str(&found),
                Value::Null => {}
                found => made.push_str(&found.to_string()),
            }
            rest = after;
        }
        made.push_str(rest);
        Ok(Value::from(made))
    }

    fn found(&mut self, place: &str) -> Result<Value, String> {
        let (root, path) = place.split_once('.').unwrap_or((place, ""));
        let found = match root {
            "event" => {
                let first = path.split('.').next().unwrap_or_default();
                self.is_foreign |= !self.source.own.contains(&first);
                at(&self.source.event, path)
            }
            "firing" => at(&self.source.firing, path),
            _ => None,
        };
        let shown: String = place.chars().filter(|letter| !letter.is_control()).take(120).collect();
        let found = found.cloned().ok_or_else(|| format!("there is nothing at `{shown}`"))?;
        self.bytes = self.bytes.saturating_add(found.to_string().len());
        if self.bytes > FILLED_BYTES_MAX {
            return Err(format!("what is filled in has more than {FILLED_BYTES_MAX} bytes"));
        }
        Ok(found)
    }
}

/// What stands at a place, whose steps are parted by points; a number is one in a list.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|step| !step.is_empty()).try_fold(value, |value, step| match value {
        Value::Object(entries) => entries.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// A value as a text that it is compared by; nothing of lists and objects.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source() -> Source {
        Source {
            event: json!({
                "type": "task.moved", "payload": { "to": "failed", "n": 5, "list": [1, { "a": "${event.type}" }] },
            }),
            firing: json!({ "id": "frg_1" }),
            own: &["type"],
        }
    }

    /// Proves AUT-006.
    #[test]
    fn what_is_filled_in_is_data() {
        let check = |text: Value, expected: Value, is_foreign: bool| {
            assert_eq!(fill(&text, &source()), Ok(Filled { value: expected, is_foreign }), "{text}");
        };
        check(json!("plain"), json!("plain"), false);
        check(json!("${event.type}!"), json!("task.moved!"), false);
        check(json!("${event.payload.n}"), json!(5), true);
        check(json!("n=${event.payload.n} ${firing.id}"), json!("n=5 frg_1"), true);
        check(json!("${firing.id}"), json!("frg_1"), false);
        check(
            json!({ "a": ["${event.payload.list}"], "${event.type}": 1 }),
            json!({ "a": [[1, { "a": "${event.type}" }]], "${event.type}": 1 }),
            true,
        );
        check(json!("<${event.payload.list.1.a}>"), json!("<${event.type}>"), true);
        check(json!("$${event.type}"), json!("${event.type}"), false);
        check(json!("a $${x} ${firing.id}"), json!("a ${x} frg_1"), false);
    }

    /// Proves AUT-006.
    #[test]
    fn what_is_not_there_is_not_guessed() {
        for text in
            ["${event.payload.none}", "x ${event.nothing} y", "${other}", "${}", "${event.payload.list.9}"]
        {
            assert!(fill(&json!(text), &source()).unwrap_err().contains("there is nothing"), "{text}");
        }
        assert!(fill(&json!("a ${event.type"), &source()).unwrap_err().contains("no end"));
        let large = Source { event: json!({ "payload": "x".repeat(FILLED_BYTES_MAX / 2) }), ..source() };
        assert!(fill(&json!("${event.payload}"), &large).is_ok());
        let twice = fill(&json!(["${event.payload}", "${event.payload}"]), &large);
        assert!(twice.unwrap_err().contains("more than"));
    }
}
