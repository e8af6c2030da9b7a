//! Values that programs say, cut to a size that can be shown.

use serde_json::{Map, Value};

/// Longest text in a value in bytes: some fifty lines of a file.
const STRING_BYTES_MAX: usize = 4 << 10;

/// Bytes of a whole value.
pub(super) const VALUE_BYTES_MAX: usize = 16 << 10;

/// What a value costs besides its texts: quotes, commas, braces.
const VALUE_BYTES: usize = 4;

/// The beginning of a value, and whether something of it is missing.
pub(super) fn shorten(value: Value) -> (Value, bool) {
    let mut left = Left { bytes: VALUE_BYTES_MAX, is_cut: false };
    let value = left.of(value);
    (value, left.is_cut)
}

/// What there is room for.
struct Left {
    bytes: usize,
    is_cut: bool,
}

impl Left {
    fn of(&mut self, value: Value) -> Value {
        self.bytes = self.bytes.saturating_sub(VALUE_BYTES);
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => {
                let mut kept = Vec::new();
                for item in items {
                    if !self.has_room() {
                        break;
                    }
                    kept.push(self.of(item));
                }
                Value::Array(kept)
            }
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (key, item) in fields {
                    if !self.has_room() {
                        break;
                    }
                    let key = self.text(key);
                    let item = self.of(item);
                    kept.insert(key, item);
                }
                Value::Object(kept)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// Whether something more may follow; if not, it is missing.
    fn has_room(&mut self) -> bool {
        self.is_cut |= self.bytes == 0;
        self.bytes > 0
    }

    fn text(&mut self, mut text: String) -> String {
        let room = self.bytes.min(STRING_BYTES_MAX);
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            self.is_cut = true;
        }
        self.bytes = self.bytes.saturating_sub(text.len());
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves DRV-050.
    #[test]
    fn long_values_are_cut_and_short_ones_are_not() {
        let short = json!({ "title": "write", "list": [1, 2.5, null, { "a": "ä" }] });
        assert_eq!(shorten(short.clone()), (short, false));
        let (cut, is_cut) = shorten(json!({ "a": "ä".repeat(STRING_BYTES_MAX), "b": 1 }));
        assert!(is_cut);
        assert_eq!((cut["a"].as_str().map(str::len), &cut["b"]), (Some(STRING_BYTES_MAX), &json!(1)));
        for value in [json!(vec!["x"; 100_000]), json!(vec![vec![0; 50]; 10_000])] {
            let (cut, is_cut) = shorten(value);
            assert!(is_cut && cut.to_string().len() <= 2 * VALUE_BYTES_MAX, "{}", cut.to_string().len());
        }
    }
}
