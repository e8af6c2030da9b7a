//! JSON that is written once, as text: what is folded a million times is never a tree of values.

use edgeplane_types::{EventId, ItemId, RunId, SessionId, TaskId, ThreadId, Timestamp, TurnId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use crate::entry::EnvelopeId;

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

/// An id that is written without the detour over formatting: millions of them are.
pub(crate) trait Id {
    const PREFIX: &'static str;
    fn bytes(&self) -> &[u8; 16];
}

macro_rules! ids {
    ($($id:ty),+) => {$(
        impl Id for $id {
            const PREFIX: &'static str = <$id>::PREFIX;

            fn bytes(&self) -> &[u8; 16] {
                self.as_bytes()
            }
        }
    )+};
}

ids!(EventId, ItemId, RunId, SessionId, TaskId, ThreadId, TurnId);

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes an id as it prints.
pub(crate) fn write_id<I: Id>(out: &mut Vec<u8>, id: &I) {
    out.extend_from_slice(I::PREFIX.as_bytes());
    out.push(b'_');
    for (place, byte) in id.bytes().iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend([byte >> 4, byte & 15].map(|nibble| HEX[usize::from(nibble)]));
    }
}

/// Writes a number with so many digits at least.
fn write_number(out: &mut Vec<u8>, number: i64, digits: usize) {
    let mut text = [b'0'; 20];
    let (mut rest, mut at) = (number.unsigned_abs(), text.len());
    while rest > 0 || text.len() - at < digits {
        at -= 1;
        text[at] = b"0123456789"[usize::try_from(rest % 10).unwrap_or(0)];
        rest /= 10;
    }
    out.extend_from_slice(&text[at..]);
}

/// Writes a moment as it prints.
fn write_moment(out: &mut Vec<u8>, at: Timestamp) {
    let (seconds, micros) = (at.as_micros().div_euclid(1_000_000), at.as_micros().rem_euclid(1_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that begin in March make the leap day the last of the year; 719,468 days lie between the first such year
    // and 1970, and 146,097 in four centuries.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (month, day) =
        (if shifted < 10 { shifted + 3 } else { shifted - 9 }, of_year - (153 * shifted + 2) / 5 + 1);
    let year = year + era * 400 + i64::from(month <= 2);
    let parts =
        [(year, 4), (month, 2), (day, 2), (second / 3_600, 2), (second / 60 % 60, 2), (second % 60, 2)];
    for ((number, digits), after) in parts.into_iter().zip(b"--T::.") {
        write_number(out, number, digits);
        out.push(*after);
    }
    write_number(out, micros, 6);
    out.push(b'Z');
}

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

    /// A word of this crate, in which nothing has to be escaped.
    pub(crate) fn word(mut self, key: &'static str, word: &'static str) -> Self {
        self.key(key);
        self.text.push(b'"');
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b'"');
        self
    }

    /// An object that begins as this one does.
    pub(crate) fn after(start: &Self, bytes: usize) -> Self {
        let mut text = Vec::with_capacity(bytes);
        text.extend_from_slice(&start.text);
        Self { text }
    }

    pub(crate) fn id<I: Id>(mut self, key: &'static str, id: &I) -> Self {
        self.key(key);
        self.text.push(b'"');
        write_id(&mut self.text, id);
        self.text.push(b'"');
        self
    }

    /// The id of an entry, as it prints.
    pub(crate) fn entry_id(mut self, key: &'static str, id: &EnvelopeId) -> Self {
        self.key(key);
        self.text.push(b'"');
        write_id(&mut self.text, &id.event);
        if id.index > 0 {
            self.text.push(b'.');
            write_number(&mut self.text, i64::from(id.index), 1);
        }
        self.text.push(b'"');
        self
    }

    pub(crate) fn moment(mut self, key: &'static str, at: Timestamp) -> Self {
        self.key(key);
        self.text.push(b'"');
        write_moment(&mut self.text, at);
        self.text.push(b'"');
        self
    }

    /// The address of a body.
    pub(crate) fn body(mut self, key: &'static str, digest: &str) -> Self {
        if !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return self.put(key, &format!("sha256:{digest}"));
        }
        self.key(key);
        self.text.extend_from_slice(b"\"sha256:");
        self.text.extend_from_slice(digest.as_bytes());
        self.text.push(b'"');
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

    /// What is written by hand is what the types write themselves, for days of every kind.
    #[test]
    fn moments_and_ids_are_written_as_they_print() {
        let day = 86_400_000_000_i64;
        // Every day of eight centuries around leap years of all kinds, each at another time of the day.
        for days in -260_000_i64..=50_000 {
            let at = Timestamp::from_micros(days * day + days.rem_euclid(86_399) * 1_000_001);
            let mut text = Vec::new();
            write_moment(&mut text, at);
            assert_eq!(String::from_utf8(text).unwrap(), at.to_string());
        }
        for micros in [i64::MIN, i64::MAX, -1, 0, 1] {
            let at = Timestamp::from_micros(micros);
            let object = Object::new().moment("at", at).done();
            assert_eq!(object.value()["at"], at.to_string());
        }
        for byte in [0, 7, 0x7f, 0xff] {
            let (turn, event) = (TurnId::from_bytes([byte; 16]), EventId::from_parts(5, [byte; 10]));
            let id = EnvelopeId { event, index: u32::from(byte) };
            let object =
                Object::new().id("turn", &turn).entry_id("entry", &id).body("body", "\"").done().value();
            assert_eq!(object["turn"], turn.to_string());
            assert_eq!(object["entry"], id.to_string());
            assert_eq!(object["body"], "sha256:\"");
        }
    }

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
