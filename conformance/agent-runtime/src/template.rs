//! Values with places to fill, and places in values: how a mapping says what goes out and what comes back.

use serde_json::{Map, Value};

/// Fills a template. `"{name}"` alone becomes the value of that name, whatever its kind; within a longer text it becomes
/// the words of it. What names something that is not given is left out.
#[must_use]
pub fn fill(template: &Value, given: &Map<String, Value>) -> Option<Value> {
    match template {
        Value::String(text) => fill_text(text, given),
        Value::Array(items) => Some(items.iter().filter_map(|item| fill(item, given)).collect()),
        Value::Object(members) => {
            let filled = members.iter().filter_map(|(name, value)| Some((name.clone(), fill(value, given)?)));
            Some(Value::Object(filled.collect()))
        }
        other => Some(other.clone()),
    }
}

fn fill_text(text: &str, given: &Map<String, Value>) -> Option<Value> {
    if let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
        && is_name(name)
    {
        return given.get(name).filter(|value| !value.is_null()).cloned();
    }
    words(text, given).map(Value::from)
}

/// Fills a text. A brace that begins no name stays as it is, so that a text may hold JSON.
#[must_use]
pub fn words(text: &str, given: &Map<String, Value>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        match behind.split_once('}') {
            Some((name, after)) if is_name(name) => {
                match given.get(name)? {
                    Value::Null => return None,
                    Value::String(word) => out.push_str(word),
                    other => out.push_str(&other.to_string()),
                }
                rest = after;
            }
            _ => {
                out.push('{');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// What stands at a JSON pointer in which `*` means each of a list; then the answer is a list, with null where one lacks
/// the place. Null where there is nothing.
#[must_use]
pub fn pick(value: &Value, pointer: &str) -> Value {
    match pointer.split_once("/*") {
        None => value.pointer(pointer).cloned().unwrap_or_default(),
        Some((before, after)) => {
            let items = value.pointer(before).and_then(Value::as_array);
            items.into_iter().flatten().map(|item| pick(item, after)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fill, pick, words};

    #[test]
    fn places_are_filled_and_left_out() {
        let given = json!({ "agent": "a", "limits": { "tokens": 5 }, "none": null });
        let given = given.as_object().unwrap();
        let template = json!({ "agent": "{agent}", "limits": "{limits}", "x": "{none}", "y": ["{nobody}", "is {agent}"] });
        let filled = fill(&template, given).unwrap();
        assert_eq!(filled, json!({ "agent": "a", "limits": { "tokens": 5 }, "y": ["is a"] }));
        assert_eq!(words(r#"say {"a": [{agent}]} {"#, given).unwrap(), r#"say {"a": [a]} {"#);
        assert_eq!(words("{nobody}", given), None);
    }

    #[test]
    fn places_are_found_also_in_each_of_a_list() {
        let value = json!({ "items": [{ "id": 1, "more": { "x": "y" } }, { "id": 2 }] });
        assert_eq!(pick(&value, "/items/*/id"), json!([1, 2]));
        assert_eq!(pick(&value, "/items/*/more/x"), json!(["y", null]));
        assert_eq!(pick(&value, "/items/0/id"), json!(1));
        assert_eq!(pick(&value, "/nothing"), json!(null));
        assert_eq!(pick(&value, "/nothing/*/x"), json!([]));
    }
}
