//! JSON that is written once, as text: what is folded a million times is never a tree of values.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, value::RawValue};

/// A JSON value as its text. Only this crate makes one, so it always is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The text of a value.
    #[must_use]
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        // What is folded has text as the keys of its maps and refuses nothing, so there is no error to tell of.
        Self(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.get().to_owned()))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Writes an object member by member, in the order in which they are given.
#[derive(Debug)]
pub(crate) struct Object {
    text: Vec<u8>,
}

/// What most objects fit in.
const OBJECT_BYTES: usize = 320;

impl Object {
    pub(crate) fn new() -> Self {
        let mut text = Vec::with_capacity(OBJECT_BYTES);
        text.push(b'{');
        Self { text }
    }

    fn key(&mut self, key: &'static str) {
        if self.text.len() > 1 {
            self.text.push(b',');
        }
        // Keys are words of this crate: letters, digits and underscores.
        self.text.push(b'"');
        self.text.extend_from_slice(key.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    pub(crate) fn put<T: Serialize + ?Sized>(mut self, key: &'static str, value: &T) -> Self {
        self.key(key);
        let before = self.text.len();
        if serde_json::to_writer(&mut self.text, value).is_err() {
            self.text.truncate(before);
            self.text.extend_from_slice(b"null");
        }
        self
    }

    /// A member that is left out where there is nothing to say.
    pub(crate) fn maybe<T: Serialize>(self, key: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.put(key, &value),
            None => self,
        }
    }

    pub(crate) fn json(mut self, key: &'static str, value: &Json) -> Self {
        self.key(key);
        self.text.extend_from_slice(value.0.as_bytes());
        self
    }

    pub(crate) fn done(mut self) -> Json {
        self.text.push(b'}');
        Json(String::from_utf8(self.text).unwrap_or_else(|_| "null".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_written_in_its_order_and_nothing_is_left_out_by_chance() {
        let inner = Object::new().put("a", &1).done();
        let object = Object::new()
            .put("z", "say \"x\"\n")
            .maybe("none", None::<u8>)
            .maybe("some", Some(2))
            .json("in", &inner)
            .put("list", &[1, 2])
            .done();
        assert_eq!(object.text(), r#"{"z":"say \"x\"\n","some":2,"in":{"a":1},"list":[1,2]}"#);
        assert_eq!(Json::of(&object), object);
        assert_eq!(Object::new().done().value(), serde_json::json!({}));
    }
}
