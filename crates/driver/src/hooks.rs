//! Hooks: what programs made for people report of themselves by a command that they run.
//!
//! Pure: which arguments, variables and file have a program run `edgeplane hook`, and what its report means. It knows
//! the names that each kind of program uses, no agent, and not whether a report is true: a program's hook is the
//! program's word, and anything that runs inside the agent can say the same.

mod install;
mod read;

#[cfg(test)]
mod tests;

pub use install::{LeftAlone, Setup, resume_words, set_up, with_words};
pub use read::{HookError, Told, Way, is_same, read};

/// Whose hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookKind {
    /// Claude Code: commands by event, the event as JSON on standard input.
    ClaudeCode,
    /// Codex: one command, the event as its last argument.
    Codex,
}

impl HookKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// What adapters and `edgeplane hook` call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}
