//! An adapter: what a program's screen looks like in each of its states, and how a message is entered.
//!
//! It comes from a file that a user may have written, so everything in it is bounded and each error names its place.

use std::num::NonZeroUsize;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use super::ScreenState;
use crate::hooks::HookKind;

/// Longest file of an adapter in bytes.
pub const ADAPTER_BYTES_MAX: usize = 64 << 10;

/// Most rules of one adapter.
const RULES_MAX: usize = 64;

/// Most patterns of one list.
const PATTERNS_MAX: usize = 16;

/// Longest pattern in bytes.
const PATTERN_BYTES_MAX: usize = 512;

/// Most memory of one compiled pattern in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// Longest sequence of keys in bytes.
const KEYS_BYTES_MAX: usize = 16;

/// Longest name in bytes.
const NAME_BYTES_MAX: usize = 63;

/// Why a text is no adapter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct AdapterError {
    /// The line of it, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// How text is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paste {
    /// As bracketed paste, looked at, and then submitted with a key of its own.
    Bracketed,
    /// Line by line, each with the submit key: for shells and interpreters that run each line as it comes.
    Lines,
}

/// What a program's screen looks like.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// What manifests call it.
    pub name: String,
    /// The program in words.
    pub title: String,
    /// Versions of the program that its recorded screens are from.
    pub recorded: Vec<String>,
    /// How text is entered.
    pub paste: Paste,
    /// What stands before a line of the node so that it is no command.
    pub comment: Option<String>,
    /// Keys that submit.
    pub submit: String,
    /// Keys that empty the composer.
    pub clear: Option<String>,
    /// Keys that end a running turn.
    pub interrupt: Option<String>,
    /// Whether what steers is entered while a turn runs.
    pub steers: bool,
    /// Which kind of hooks the program has.
    pub hooks: Option<HookKind>,
    pub(super) composer: ComposerRule,
    /// What begins each piece of the transcript.
    pub(super) item: Option<Regex>,
    pub(super) rules: Vec<Rule>,
}

/// Where the text is that somebody is about to submit.
#[derive(Debug, Clone)]
pub(super) struct ComposerRule {
    /// Whether its first sign is never faint.
    pub(super) bright: bool,
    pub(super) above: Option<Regex>,
    pub(super) prompt: Regex,
    pub(super) more: Option<Regex>,
    pub(super) below: Option<Regex>,
    pub(super) edge: Option<Regex>,
    pub(super) pasted: Option<Regex>,
}

/// What a rule asks of the composer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ComposerIs {
    /// Nothing.
    #[default]
    Any,
    /// It is there.
    Present,
    /// It is there, and nothing stands in it.
    Empty,
    /// It is there, and something stands in it.
    Filled,
    /// It is not there.
    Absent,
}

/// What a state looks like.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) state: ScreenState,
    pub(super) composer: ComposerIs,
    pub(super) all: Vec<Regex>,
    pub(super) none: Vec<Regex>,
    pub(super) within: Option<usize>,
    /// How many of the transcript's last pieces are looked at, and all that is below.
    pub(super) items: Option<NonZeroUsize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    recorded: Vec<String>,
    paste: Paste,
    comment: Option<Spanned<String>>,
    submit: Spanned<String>,
    clear: Option<Spanned<String>>,
    interrupt: Option<Spanned<String>>,
    #[serde(default)]
    steers: bool,
    hooks: Option<Spanned<String>>,
    composer: ComposerFile,
    transcript: Option<TranscriptFile>,
    state: Vec<Spanned<RuleFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ComposerFile {
    #[serde(default)]
    bright: bool,
    above: Option<Spanned<String>>,
    prompt: Spanned<String>,
    more: Option<Spanned<String>>,
    below: Option<Spanned<String>>,
    edge: Option<Spanned<String>>,
    pasted: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TranscriptFile {
    item: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    is: ScreenState,
    name: String,
    #[serde(default)]
    composer: ComposerIs,
    #[serde(default)]
    all: Vec<Spanned<String>>,
    #[serde(default)]
    none: Vec<Spanned<String>>,
    within: Option<usize>,
    items: Option<NonZeroUsize>,
}

/// The text that is read, to say where in it something stands.
struct Source<'a>(&'a str);

impl Source<'_> {
    fn error(&self, at: usize, what: impl Into<String>) -> AdapterError {
        let before = self.0.get(..at).unwrap_or(self.0);
        let line = before.bytes().filter(|byte| *byte == b'\n').count().saturating_add(1);
        AdapterError { line, what: what.into() }
    }

    fn pattern(&self, pattern: &Spanned<String>) -> Result<Regex, AdapterError> {
        let (text, at) = (pattern.get_ref(), pattern.span().start);
        if text.is_empty() || text.len() > PATTERN_BYTES_MAX {
            return Err(self.error(at, format!("a pattern has 1 to {PATTERN_BYTES_MAX} bytes")));
        }
        let mut built = RegexBuilder::new(text);
        built.size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
        built.build().map_err(|error| {
            let why = error.to_string();
            let last = why.lines().last().unwrap_or_default();
            self.error(at, format!("`{text}` is no pattern: {last}"))
        })
    }

    fn maybe(&self, pattern: Option<&Spanned<String>>) -> Result<Option<Regex>, AdapterError> {
        pattern.map(|pattern| self.pattern(pattern)).transpose()
    }

    fn patterns(&self, all: &[Spanned<String>]) -> Result<Vec<Regex>, AdapterError> {
        if let Some(one) = all.get(PATTERNS_MAX) {
            return Err(self.error(one.span().start, format!("a list has at most {PATTERNS_MAX} patterns")));
        }
        all.iter().map(|pattern| self.pattern(pattern)).collect()
    }

    fn keys(&self, keys: &Spanned<String>) -> Result<String, AdapterError> {
        let text = keys.get_ref();
        if text.is_empty() || text.len() > KEYS_BYTES_MAX {
            return Err(self.error(keys.span().start, format!("keys have 1 to {KEYS_BYTES_MAX} bytes")));
        }
        Ok(text.clone())
    }

    fn maybe_keys(&self, keys: Option<&Spanned<String>>) -> Result<Option<String>, AdapterError> {
        keys.map(|keys| self.keys(keys)).transpose()
    }

    fn hooks(&self, kind: Option<&Spanned<String>>) -> Result<Option<HookKind>, AdapterError> {
        let Some(kind) = kind else { return Ok(None) };
        let known = HookKind::ALL.map(HookKind::as_str).join(", ");
        let error = || self.error(kind.span().start, format!("hooks are one of {known}"));
        HookKind::from_word(kind.get_ref()).map(Some).ok_or_else(error)
    }

    fn name(&self, name: &Spanned<String>) -> Result<String, AdapterError> {
        let text = name.get_ref();
        let is_right = (1..=NAME_BYTES_MAX).contains(&text.len())
            && !text.starts_with('-')
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if is_right {
            return Ok(text.clone());
        }
        Err(self.error(name.span().start, "a name has 1 to 63 of `a-z 0-9 -` and begins with no `-`"))
    }

    fn rule(&self, rule: &Spanned<RuleFile>) -> Result<Rule, AdapterError> {
        let (file, at) = (rule.get_ref(), rule.span().start);
        if file.is == ScreenState::Unknown {
            return Err(self.error(at, "`unknown` is what is said without a rule"));
        }
        let needs = matches!(file.composer, ComposerIs::Present | ComposerIs::Empty | ComposerIs::Filled);
        if file.all.is_empty() && !needs {
            return Err(self.error(at, format!("rule `{}` asks for nothing that must be there", file.name)));
        }
        if file.is == ScreenState::Idle && !needs {
            return Err(self.error(at, format!("rule `{}`: idle needs a composer", file.name)));
        }
        Ok(Rule {
            name: file.name.chars().take(NAME_BYTES_MAX).collect(),
            state: file.is,
            composer: file.composer,
            all: self.patterns(&file.all)?,
            none: self.patterns(&file.none)?,
            within: file.within,
            items: file.items,
        })
    }
}

impl Adapter {
    /// Reads an adapter.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(text: &str) -> Result<Self, AdapterError> {
        let source = Source(text);
        if text.len() > ADAPTER_BYTES_MAX {
            return Err(source.error(0, format!("an adapter has at most {ADAPTER_BYTES_MAX} bytes")));
        }
        let file: File = toml::from_str(text).map_err(|error| {
            source.error(error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        if let Some(rule) = file.state.get(RULES_MAX) {
            return Err(source.error(rule.span().start, format!("an adapter has at most {RULES_MAX} rules")));
        }
        let item = file.transcript.as_ref().map(|transcript| source.pattern(&transcript.item)).transpose()?;
        if let Some(rule) = file.state.iter().find(|rule| item.is_none() && rule.get_ref().items.is_some()) {
            let what = "`items` needs `item` of `[transcript]`";
            return Err(source.error(rule.span().start, what));
        }
        let composer = ComposerRule {
            bright: file.composer.bright,
            above: source.maybe(file.composer.above.as_ref())?,
            prompt: source.pattern(&file.composer.prompt)?,
            more: source.maybe(file.composer.more.as_ref())?,
            below: source.maybe(file.composer.below.as_ref())?,
            edge: source.maybe(file.composer.edge.as_ref())?,
            pasted: source.maybe(file.composer.pasted.as_ref())?,
        };
        Ok(Self {
            name: source.name(&file.name)?,
            title: file.title,
            recorded: file.recorded,
            paste: file.paste,
            comment: source.maybe_keys(file.comment.as_ref())?,
            submit: source.keys(&file.submit)?,
            clear: source.maybe_keys(file.clear.as_ref())?,
            interrupt: source.maybe_keys(file.interrupt.as_ref())?,
            steers: file.steers,
            hooks: source.hooks(file.hooks.as_ref())?,
            composer,
            item,
            rules: file.state.iter().map(|rule| source.rule(rule)).collect::<Result<_, _>>()?,
        })
    }
}
