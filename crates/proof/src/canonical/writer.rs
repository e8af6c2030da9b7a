//! The bytes being written: strings, and objects whose entries are put in order when they close.

use std::{cmp::Ordering, fmt, ops::Range};

use super::CanonicalError;

/// An entry of an object that is still open.
#[derive(Debug)]
struct Entry {
    /// Where its key stands in `keys`, without escapes.
    key: Range<usize>,
    /// Where it stands in `out`, from the quote of its key to the end of its value.
    text: Range<usize>,
}

/// What has been written, and what is needed to close the open objects.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: Vec<u8>,
    /// The keys of the open objects, one after the other.
    keys: Vec<u8>,
    entries: Vec<Entry>,
    scratch: Vec<u8>,
}

/// An open object.
#[derive(Debug)]
pub(super) struct Object {
    body_start: usize,
    first_entry: usize,
    first_key: usize,
}

impl Writer {
    pub(super) fn clear(&mut self) {
        self.out.clear();
        self.keys.clear();
        self.entries.clear();
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.out
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Writes text that needs no escapes.
    pub(super) fn plain(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub(super) fn string(&mut self, text: &str) {
        self.out.push(b'"');
        escape(&mut self.out, text.as_bytes());
        self.out.push(b'"');
    }

    /// Writes what `value` displays as a string, without a copy in between.
    pub(super) fn display<T: fmt::Display + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        self.out.push(b'"');
        fmt::write(&mut Escaping(&mut self.out), format_args!("{value}")).map_err(display_failed)?;
        self.out.push(b'"');
        Ok(())
    }

    pub(super) fn open(&mut self) -> Object {
        self.out.push(b'{');
        Object { body_start: self.out.len(), first_entry: self.entries.len(), first_key: self.keys.len() }
    }

    /// Takes the raw key of the next entry; [`Writer::entry`] must follow.
    pub(super) fn key_text(&mut self, text: &str) {
        self.keys.extend_from_slice(text.as_bytes());
    }

    pub(super) fn key_display<T: fmt::Display + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        fmt::write(&mut Raw(&mut self.keys), format_args!("{value}")).map_err(display_failed)
    }

    /// Begins an entry of `object` under the key taken last; its value must follow.
    pub(super) fn entry(&mut self, object: &Object) {
        if self.entries.len() > object.first_entry {
            self.out.push(b',');
        }
        let key_start = self
            .entries
            .get(object.first_entry..)
            .and_then(<[_]>::last)
            .map_or(object.first_key, |e| e.key.end);
        let key = key_start..self.keys.len();
        let start = self.out.len();
        self.out.push(b'"');
        escape(&mut self.out, &self.keys[key.clone()]);
        self.out.extend_from_slice(b"\":");
        self.entries.push(Entry { key, text: start..start });
    }

    /// Ends the entry begun last.
    pub(super) fn end_entry(&mut self) {
        let end = self.out.len();
        if let Some(entry) = self.entries.last_mut() {
            entry.text.end = end;
        }
    }

    /// Closes `object`: its entries are put in the order of their keys.
    pub(super) fn close(&mut self, object: &Object) -> Result<(), CanonicalError> {
        let Self { out, keys, entries, scratch } = self;
        let open = &mut entries[object.first_entry..];
        let order = |a: &Entry, b: &Entry| utf16_order(&keys[a.key.clone()], &keys[b.key.clone()]);
        let sorted = open.windows(2).all(|pair| order(&pair[0], &pair[1]) == Ordering::Less);
        if !sorted {
            open.sort_unstable_by(order);
            for pair in open.windows(2) {
                if order(&pair[0], &pair[1]) == Ordering::Equal {
                    let key = String::from_utf8_lossy(&keys[pair[0].key.clone()]).into_owned();
                    return Err(CanonicalError::DuplicateKey(key));
                }
            }
            scratch.clear();
            for entry in open.iter() {
                if !scratch.is_empty() {
                    scratch.push(b',');
                }
                scratch.extend_from_slice(&out[entry.text.clone()]);
            }
            out[object.body_start..].copy_from_slice(scratch);
        }
        entries.truncate(object.first_entry);
        keys.truncate(object.first_key);
        out.push(b'}');
        Ok(())
    }
}

fn display_failed(_: fmt::Error) -> CanonicalError {
    CanonicalError::Value("its text form failed".to_owned())
}

/// Compares two UTF-8 texts by their UTF-16 code units.
fn utf16_order(a: &[u8], b: &[u8]) -> Ordering {
    let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) else {
        return a.len().cmp(&b.len());
    };
    // UTF-8 sorts as code points do. UTF-16 differs in one thing: the code points above U+FFFF (first byte from
    // 0xF0) are written with surrogates, which come before U+E000 to U+FFFF (first byte 0xEE or 0xEF). The texts
    // are equal up to `at`, so if the bytes there differ in this way, both are first bytes.
    let rank = |byte: u8| match byte {
        0xEE | 0xEF => (1, byte),
        0xF0.. => (0, byte),
        _ => (-1, byte),
    };
    rank(a[at]).cmp(&rank(b[at]))
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes text with the escapes of RFC 8785, which are as few as JSON allows.
fn escape(out: &mut Vec<u8>, text: &[u8]) {
    let mut written = 0;
    for (at, byte) in text.iter().copied().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[written..at]);
        written = at + 1;
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(&text[written..]);
}

struct Escaping<'a>(&'a mut Vec<u8>);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(self.0, text.as_bytes());
        Ok(())
    }
}

struct Raw<'a>(&'a mut Vec<u8>);

impl fmt::Write for Raw<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
