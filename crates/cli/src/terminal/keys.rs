//! The key that leaves an attached terminal.
//!
//! Owns its spelling and the forms in which a terminal may report it.

/// A key together with the control key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetachKey {
    name: String,
    /// What a terminal sends for it: the usual byte, and what it sends when a program asked for distinct keys.
    forms: Vec<Vec<u8>>,
}

impl DetachKey {
    /// Reads `ctrl-]`, `ctrl-a` and the like, or `none`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self { name: "none".to_owned(), forms: Vec::new() });
        }
        let wrong =
            || format!("`{text}` is not a key: write `ctrl-` and a letter or one of [ \\ ] ^ _, or `none`");
        let key = text.strip_prefix("ctrl-").or_else(|| text.strip_prefix('^')).ok_or_else(wrong)?;
        let mut bytes = key.bytes();
        let byte = match (bytes.next(), bytes.next()) {
            (Some(byte @ (b'a'..=b'z' | b'A'..=b'Z' | b'\\'..=b'_')), None) => byte.to_ascii_lowercase(),
            _ => return Err(wrong()),
        };
        let forms = vec![
            vec![byte & 0x1f],
            format!("\x1b[{byte};5u").into_bytes(),
            format!("\x1b[{byte};5:1u").into_bytes(),
            format!("\x1b[27;5;{byte}~").into_bytes(),
        ];
        Ok(Self { name: format!("ctrl-{}", char::from(byte)), forms })
    }

    /// How it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        !self.forms.is_empty()
    }

    /// Where in `bytes` it was pressed, if it was.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let positions =
            self.forms.iter().filter_map(|form| bytes.windows(form.len()).position(|part| part == form));
        positions.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_found_in_every_form() {
        let key = DetachKey::parse("ctrl-]").unwrap();
        assert_eq!(key.name(), "ctrl-]");
        assert_eq!(key.find(b"abc"), None);
        assert_eq!(key.find(b"ab\x1d"), Some(2));
        assert_eq!(key.find(b"a\x1b[93;5u"), Some(1));
        assert_eq!(key.find(b"\x1b[27;5;93~"), Some(0));
        assert_eq!(DetachKey::parse("ctrl-Q").unwrap().find(b"\x11"), Some(0));
        assert_eq!(DetachKey::parse("none").unwrap().find(b"\x1d"), None);
    }

    #[test]
    fn other_spellings_are_refused() {
        for wrong in ["", "ctrl-", "ctrl-]]", "q", "alt-q", "ctrl-1"] {
            assert!(DetachKey::parse(wrong).is_err(), "{wrong}");
        }
    }
}
