//! Words with a rule: what may name a variable, a label, a file, a digest, a user, a signal, keystrokes.
//!
//! Each is checked once, when it is read, and its rule is the text that the schema and every refusal quote.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::quantity::ScalarText;

/// What a variable of ours begins with; a manifest may not set or inherit one.
pub const RESERVED_ENV_PREFIX: &str = "EDGEPLANE_";

/// Longest variable name in bytes.
pub const ENV_NAME_BYTES_MAX: usize = 255;

/// Longest path in bytes: the kernel's limit.
pub const PATH_BYTES_MAX: usize = 4_095;

/// Longest key of a label or annotation in bytes.
pub const LABEL_KEY_BYTES_MAX: usize = 128;

/// Why a text is not the word it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {expected}")]
pub struct WordError {
    pub(crate) found: String,
    pub(crate) expected: &'static str,
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $check:ident, $rule:expr, $pattern:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            pub(crate) const RULE: &'static str = $rule;

            /// The word as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = WordError;

            fn from_str(text: &str) -> Result<Self, WordError> {
                if $check(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(WordError { found: text.chars().take(64).collect(), expected: Self::RULE })
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                ScalarText::deserialize(deserializer)?.0.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $rule })
            }
        }
    )+};
}

words! {
    /// Name of an environment variable that a manifest may speak of.
    EnvName, is_env_name,
        "a variable name of the characters A-Z a-z 0-9 _, not beginning with a digit or with EDGEPLANE_",
        "^(?!EDGEPLANE_)[A-Za-z_][A-Za-z0-9_]{0,254}$";
    /// Key of a label or an annotation.
    LabelKey, is_label_key, "1 to 128 of the characters A-Z a-z 0-9 . _ / @ -", "^[A-Za-z0-9._/@-]{1,128}$";
    /// A file or folder; a relative one is meant from the manifest's folder.
    FilePath, is_file_path,
        "a path without control characters: absolute, or relative to the manifest's folder",
        r"^(?!~)(?![A-Za-z][A-Za-z0-9+.-]*://)[^\u0000-\u001f\u007f-\u009f]{1,4095}$";
    /// SHA-256 of some content.
    Digest, is_digest, "`sha256:` and 64 lower-case hexadecimal digits", "^sha256:[0-9a-f]{64}$";
    /// A user of the machine, by name or by number.
    UserName, is_user_name,
        "a user's name of the characters a-z 0-9 _ -, or a user's number",
        "^([a-z_][a-z0-9_-]{0,31}|[0-9]{1,9})$";
    /// A media type such as `text/plain`.
    MediaType, is_media_type, "a media type such as `text/plain`",
        r"^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(; ?[A-Za-z0-9!#$&^_.+-]+=[A-Za-z0-9!#$&^_.+-]+)*$";
    /// Names of tools, with `*` for any letters.
    ToolPattern, is_tool_pattern, "1 to 128 of the characters A-Z a-z 0-9 . _ / : - and `*` for any of them",
        r"^[A-Za-z0-9._/:*-]{1,128}$";
    /// Bytes to type into a terminal; the one text that may hold control characters.
    Keys, is_keys, r#"1 to 16 characters to type, such as "\r""#, r"^[^\u0000]{1,16}$";
}

fn is_env_name(text: &str) -> bool {
    text.len() <= ENV_NAME_BYTES_MAX
        && !text.starts_with(RESERVED_ENV_PREFIX)
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_label_key(text: &str) -> bool {
    (1..=LABEL_KEY_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'/' | b'@' | b'-'))
}

fn is_file_path(text: &str) -> bool {
    // A tilde is a shell's shorthand that nothing here expands; a scheme is not a path.
    (1..=PATH_BYTES_MAX).contains(&text.len())
        && !text.starts_with('~')
        && !has_scheme(text)
        && !text.chars().any(char::is_control)
}

/// Whether `text` begins like `https://`.
pub(crate) fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
    })
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

fn is_user_name(text: &str) -> bool {
    let number = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let name = text.len() <= 32
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'));
    number || name
}

fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        (1..=127).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let mut parts = text.split(';');
    let essence = parts.next().and_then(|essence| essence.split_once('/'));
    essence.is_some_and(|(kind, subkind)| token(kind) && token(subkind))
        && parts.all(|parameter| {
            let parameter = parameter.strip_prefix(' ').unwrap_or(parameter);
            parameter.split_once('=').is_some_and(|(name, value)| token(name) && token(value))
        })
}

fn is_tool_pattern(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/:*-".contains(&b))
}

fn is_keys(text: &str) -> bool {
    (1..=16).contains(&text.chars().count()) && !text.contains('\0')
}

/// A signal of the operating system, by its Linux number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u8);

/// Names of the signals 1 to 31 without `SIG`, as Linux numbers them on x86 and ARM.
const SIGNAL_NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The first real-time signal that programs may use, and the last.
const REAL_TIME: std::ops::RangeInclusive<u8> = 34..=64;

impl Signal {
    pub(crate) const RULE: &'static str =
        "a signal that asks a program to end, such as `SIGTERM`, `INT`, `SIGRTMIN+3` or `15`";

    /// The signal that asks a program to end.
    pub const TERM: Self = Self(15);

    /// Its number.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0 as i32
    }

    fn from_number(number: u8) -> Option<Self> {
        // The stopping four suspend a program instead of ending it, so none can be a stop signal.
        let suspends = (19..=22).contains(&number);
        ((1..=31).contains(&number) && !suspends || REAL_TIME.contains(&number)).then_some(Self(number))
    }

    fn read(text: &str) -> Option<Self> {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return Self::from_number(text.parse().ok()?);
        }
        let name = text.strip_prefix("SIG").unwrap_or(text);
        if let Some(offset) = name.strip_prefix("RTMIN") {
            let offset: u8 = match offset.strip_prefix('+') {
                Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok()?,
                None if offset.is_empty() => 0,
                Some(_) | None => return None,
            };
            return Self::from_number(REAL_TIME.start().checked_add(offset)?);
        }
        let index = SIGNAL_NAMES.iter().position(|known| *known == name)?;
        Self::from_number(u8::try_from(index).ok()?.checked_add(1)?)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SIGNAL_NAMES.get(usize::from(self.0).wrapping_sub(1)) {
            Some(name) => write!(f, "SIG{name}"),
            None => write!(f, "SIGRTMIN+{}", self.0.saturating_sub(*REAL_TIME.start())),
        }
    }
}

impl FromStr for Signal {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        Self::read(text)
            .ok_or_else(|| WordError { found: text.chars().take(64).collect(), expected: Self::RULE })
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ScalarText::deserialize(deserializer)?.0.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Signal {
    fn schema_name() -> Cow<'static, str> {
        "Signal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "integer"],
            "pattern": r"^((SIG)?[A-Z][A-Z0-9]*(\+[0-9]{1,2})?|[0-9]{1,2})$",
            "description": Self::RULE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(text.parse::<T>().is_ok(), "{text:?} should be taken");
        }
        for text in bad {
            assert!(text.parse::<T>().is_err(), "{text:?} should be refused");
        }
    }

    #[test]
    fn rules_hold_at_their_edges() {
        check::<EnvName>(&["A", "_x1", "PATH"], &["", "1A", "A-B", "EDGEPLANE_SOCKET", "A=B", "A\n"]);
        check::<LabelKey>(&["team", "example.org/team"], &["", "a b", "ä"]);
        check::<FilePath>(
            &["/a", "a/b", "../x", "with space", "C:"],
            &["", "~/x", "https://x", "a\nb", "\u{9b}0m"],
        );
        check::<UserName>(&["agent", "_x", "1000"], &["", "Agent", "a b", "1000000000", "0x1"]);
        check::<MediaType>(&["text/plain", "text/plain; charset=utf-8"], &["text", "a/", "a/b;", "a b/c"]);
        check::<Keys>(&["\r", "\u{1b}\r"], &["", "\0", "12345678901234567"]);
        let digest = format!("sha256:{}", "a".repeat(64));
        check::<Digest>(
            &[&digest],
            &["", "sha256:", &digest.to_uppercase(), &digest.replace("sha256", "md5")],
        );
    }

    #[test]
    fn signals_have_one_printed_form() {
        for (text, printed) in [
            ("SIGTERM", "SIGTERM"),
            ("TERM", "SIGTERM"),
            ("15", "SIGTERM"),
            ("RTMIN", "SIGRTMIN+0"),
            ("SIGRTMIN+30", "SIGRTMIN+30"),
            ("64", "SIGRTMIN+30"),
        ] {
            assert_eq!(text.parse::<Signal>().unwrap().to_string(), printed);
        }
        check::<Signal>(
            &["SIGKILL", "QUIT"],
            &["", "0", "32", "65", "SIGSTOP", "19", "SIGRTMIN+31", "term", "SIG"],
        );
    }
}
