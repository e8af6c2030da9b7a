//! JSON for programs that is harmless on a terminal too.
//!
//! Owns the escaping of what JSON allows in a string and a terminal obeys: DEL and the second set of control characters.

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// On one line.
pub(crate) fn compact(value: &impl Serialize) -> String {
    write(value, CompactFormatter)
}

/// On many lines, indented by two.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    write(value, PrettyFormatter::new())
}

fn write(value: &impl Serialize, inner: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, Harmless(inner)));
    // Our values have text keys and memory takes every byte, so this cannot fail; if it did, `null` is still JSON.
    match written {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => "null".to_owned(),
    }
}

/// Another formatter, with more characters escaped.
struct Harmless<F>(F);

fn needs_escape(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

macro_rules! delegate {
    ($($name:ident($($argument:ident: $kind:ty),*);)+) => {$(
        fn $name<W: ?Sized + io::Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        }
    )+};
}

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(needs_escape) {
            let (plain, found) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut after = found.chars();
            if let Some(c) = after.next() {
                // All of them are below U+10000.
                write!(writer, "\\u{:04x}", u32::from(c))?;
            }
            rest = after.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    delegate! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
        write_char_escape(escape: CharEscape);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn value_survives_and_no_control_is_left() {
        let value = json!({ "a\u{9b}": ["\u{7f}x\u{85}", "\n\u{202e}", "plain ü", 1, null, {}] });
        for text in [compact(&value), pretty(&value)] {
            assert!(!text.chars().any(|c| needs_escape(c) || (c.is_control() && c != '\n')), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
        assert_eq!(compact(&json!({ "a": [1, "b"] })), r#"{"a":[1,"b"]}"#);
        assert_eq!(pretty(&json!({ "a": [1] })), "{\n  \"a\": [\n    1\n  ]\n}");
    }
}
