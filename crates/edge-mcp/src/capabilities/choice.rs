//! Which capabilities an operator wants to be tools. It keeps a model's context small; what may be called, rules say.

use std::{fmt, str::FromStr};

/// Most patterns of a choice.
const PATTERNS_MAX: usize = 64;

/// Longest pattern in bytes.
const PATTERN_BYTES_MAX: usize = 256;

/// Which capabilities are tools beside the node's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Choice {
    /// All that may be called.
    #[default]
    All,
    /// None.
    None,
    /// Those whose names one of these patterns matches; a `*` stands for anything.
    Named(Vec<String>),
}

/// Why something is no choice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// There is nothing between two commas.
    #[error("a pattern is empty: give `all`, `none`, or patterns such as `github/*,agent:*`")]
    Empty,
    /// It cannot be the name of anything.
    #[error("pattern `{0}` matches no capability: their names have a slash, such as `github/*`")]
    Nothing(String),
    /// There are too many, or one is too long.
    #[error("at most {PATTERNS_MAX} patterns of at most {PATTERN_BYTES_MAX} bytes are taken")]
    TooMany,
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        match text.trim() {
            "all" => return Ok(Self::All),
            "none" => return Ok(Self::None),
            _ => {}
        }
        let patterns: Vec<String> = text.split(',').map(|pattern| pattern.trim().to_owned()).collect();
        if patterns.len() > PATTERNS_MAX || patterns.iter().any(|pattern| pattern.len() > PATTERN_BYTES_MAX) {
            return Err(ChoiceError::TooMany);
        }
        if patterns.iter().any(String::is_empty) {
            return Err(ChoiceError::Empty);
        }
        match patterns.iter().find(|pattern| !pattern.contains(['/', '*'])) {
            Some(pattern) => Err(ChoiceError::Nothing(pattern.chars().take(80).collect())),
            None => Ok(Self::Named(patterns)),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::None => f.write_str("none"),
            Self::Named(patterns) => f.write_str(&patterns.join(",")),
        }
    }
}

impl Choice {
    /// Whether a capability of this name is wanted.
    pub(crate) fn takes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Named(patterns) => patterns.iter().any(|pattern| matches(pattern, name)),
        }
    }
}

/// Whether a name is what a pattern says. Linear in the name for each star, so no pattern is costly.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at.saturating_add(part.len())..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MCP-048.
    #[test]
    fn choice_is_read_and_says_what_is_wrong() {
        let read = |text: &str| text.parse::<Choice>();
        assert_eq!(read("all"), Ok(Choice::All));
        assert_eq!(read(" none "), Ok(Choice::None));
        assert_eq!(read("github/*, agent:*"), Ok(Choice::Named(vec!["github/*".into(), "agent:*".into()])));
        assert_eq!(read(""), Err(ChoiceError::Empty));
        assert_eq!(read("github/*,"), Err(ChoiceError::Empty));
        assert_eq!(read("everything"), Err(ChoiceError::Nothing("everything".into())));
        assert_eq!(read(&"a/*,".repeat(65)), Err(ChoiceError::TooMany));
    }

    /// Proves MCP-048.
    #[test]
    fn pattern_matches_whole_names() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        };
        check("tools/echo", "tools/echo", true);
        check("tools/echo", "tools/echo2", false);
        check("tools/*", "tools/echo", true);
        check("tools/*", "other/tools/echo", false);
        check("*/echo", "tools/echo", true);
        check("*:*/*t", "agent:helper/count", true);
        check("tools/*o", "tools/o", true);
        check("tools/oo*oo", "tools/ooo", false);
        check("*", "", true);
    }
}
