//! Paths beneath a folder, as text in which every name can be written.
//!
//! What is no text, and what would act on a terminal, stands as `\xNN`, a backslash too. So a path that was shown can be
//! named again, whatever bytes its names have.

use std::fmt::Write as _;

/// Longest path in bytes, as the kernel takes it.
pub const PATH_BYTES_MAX: usize = 4_095;

/// Longest name in bytes.
const NAME_BYTES_MAX: usize = 255;

/// Why a text is no path beneath a folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It begins at the root of the machine, or leads upwards.
    #[error("it leads out of the folder")]
    Outside,
    /// A name in it is empty, `.`, has a zero byte, or a slash by its number.
    #[error("it has a name that none can have")]
    Name,
    /// It is longer than the kernel takes.
    #[error("it is longer than {PATH_BYTES_MAX} bytes, or a name in it than {NAME_BYTES_MAX}")]
    TooLong,
    /// A backslash that begins no number.
    #[error("it has a `\\` that is not `\\xNN`; a `\\` of a name is written as `\\x5c`")]
    Escape,
}

/// A path beneath a folder; that of the folder itself has no names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InnerPath {
    /// Invariant: none is empty, `.` or `..`, none has a slash or a zero byte.
    names: Vec<Vec<u8>>,
}

impl InnerPath {
    /// The folder itself, shown as `.`.
    #[must_use]
    pub fn root() -> Self {
        Self { names: Vec::new() }
    }

    /// Reads a path as it is shown.
    ///
    /// # Errors
    /// If the text is none.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text == "." {
            return Ok(Self::root());
        }
        if text.starts_with('/') {
            return Err(PathError::Outside);
        }
        let names: Vec<Vec<u8>> = text.split('/').map(name_of).collect::<Result<_, _>>()?;
        let bytes = names.iter().fold(0_usize, |sum, name| sum.saturating_add(name.len()).saturating_add(1));
        if bytes > PATH_BYTES_MAX || names.iter().any(|name| name.len() > NAME_BYTES_MAX) {
            return Err(PathError::TooLong);
        }
        Ok(Self { names })
    }

    /// Its names, from above.
    pub(crate) fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// A path one further down.
    pub(crate) fn child(&self, name: &[u8]) -> Self {
        let mut names = self.names.clone();
        names.push(name.to_vec());
        Self { names }
    }

    /// The path of the folder it is in, and its name; none of the folder itself.
    #[must_use]
    pub fn split(&self) -> Option<(Self, &[u8])> {
        let (name, folder) = self.names.split_last()?;
        Some((Self { names: folder.to_vec() }, name))
    }

    /// Whether it is this folder, or beneath it.
    #[must_use]
    pub fn is_in(&self, folder: &Self) -> bool {
        self.names.starts_with(&folder.names)
    }

    /// As the kernel takes it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if self.names.is_empty() { b".".to_vec() } else { self.names.join(&b'/') }
    }
}

impl std::fmt::Display for InnerPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shown(&self.bytes()))
    }
}

/// The bytes of a name or path as text.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            // A text grows without failing.
            write!(text, "\\x{byte:02x}").unwrap_or_default();
        }
    };
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' => escape(&mut text, b"\\"),
                letter if letter.is_control() => {
                    escape(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                letter => text.push(letter),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    if text.is_empty() { ".".to_owned() } else { text }
}

fn name_of(text: &str) -> Result<Vec<u8>, PathError> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        name.extend_from_slice(before.as_bytes());
        let digits = after.strip_prefix('x').and_then(|after| after.get(..2)).ok_or(PathError::Escape)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or(PathError::Escape)?;
        name.push(byte);
        rest = after.get(3..).unwrap_or_default();
    }
    name.extend_from_slice(rest.as_bytes());
    match name.as_slice() {
        b".." => Err(PathError::Outside),
        b"" | b"." => Err(PathError::Name),
        bytes if bytes.iter().any(|byte| matches!(byte, 0 | b'/')) => Err(PathError::Name),
        _ => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves WSP-019.
    #[test]
    fn a_path_is_shown_so_that_nothing_in_it_acts() {
        assert_eq!(shown(b"a/\xc3\xa4"), "a/\u{e4}");
        assert_eq!(shown(b"a\x1b[2J\xff\\"), "a\\x1b[2J\\xff\\x5c");
        assert_eq!(shown(b""), ".");
    }

    /// Proves WSP-019.
    #[test]
    fn what_is_shown_can_be_named_and_nothing_leads_out() {
        for bytes in
            [&b"a"[..], b"a/b c", b"\xff\xfe/\x01", b"back\\slash", "\u{e4}/\u{1f600}".as_bytes(), b" "]
        {
            assert_eq!(InnerPath::parse(&shown(bytes)).unwrap().bytes(), bytes);
        }
        assert_eq!(InnerPath::parse("."), Ok(InnerPath::root()));
        for (text, error) in [
            ("", PathError::Name),
            ("/etc/passwd", PathError::Outside),
            ("..", PathError::Outside),
            ("a/../../b", PathError::Outside),
            ("\\x2e\\x2e/a", PathError::Outside),
            ("a//b", PathError::Name),
            ("a/", PathError::Name),
            ("./a", PathError::Name),
            ("a\\x00", PathError::Name),
            ("a\\x2fb", PathError::Name),
            ("a\0b", PathError::Name),
            ("a\\b", PathError::Escape),
            ("a\\x+1", PathError::Escape),
            ("a\\x1", PathError::Escape),
            ("a\\x\u{e4}", PathError::Escape),
        ] {
            assert_eq!(InnerPath::parse(text), Err(error), "{text}");
        }
        assert_eq!(InnerPath::parse(&"a".repeat(256)), Err(PathError::TooLong));
        assert_eq!(InnerPath::parse("a/".repeat(3_000).trim_end_matches('/')), Err(PathError::TooLong));
    }

    #[test]
    fn a_folder_has_what_is_beneath_it_and_itself() {
        let of = |text| InnerPath::parse(text).unwrap();
        assert!(of("a/b").is_in(&of("a")) && of("a").is_in(&of("a")) && of("a").is_in(&InnerPath::root()));
        assert!(!of("ab").is_in(&of("a")) && !of("a").is_in(&of("a/b")));
    }
}
