//! From a screen to what it says.

use serde::{Deserialize, Serialize};

use super::{
    Adapter, ScreenView,
    adapter::{ComposerIs, ComposerRule, Rule},
};

/// Most rows of a composer; a higher one is none.
const COMPOSER_ROWS_MAX: usize = 200;

/// Fewest letters of a text whose end alone is shown in a composer that is too low for all of it.
const TAIL_LETTERS_MIN: usize = 32;

/// What a program is doing, as far as its screen says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenState {
    /// It waits for the next message.
    Idle,
    /// A turn runs.
    Busy,
    /// It asks for something; keys would answer.
    Dialog,
    /// Its provider's quota is used up.
    QuotaPaused,
    /// It shows an error that ends what it was doing.
    Error,
    /// The rules do not say.
    Unknown,
}

impl ScreenState {
    /// Whether a text may be entered: the program does nothing, whether its last turn ended well or in an error that is
    /// still shown. An error of its own goes away with the next turn only, so waiting for that would be for ever.
    #[must_use]
    pub fn takes_text(self) -> bool {
        matches!(self, Self::Idle | Self::Error)
    }

    /// The word that files and reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Dialog => "dialog",
            Self::QuotaPaused => "quota_paused",
            Self::Error => "error",
            Self::Unknown => "unknown",
        }
    }
}

/// Where somebody types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composer {
    /// What stands in it: nothing if only hints of the program do.
    pub text: String,
    /// Its first row and the one after its last.
    pub rows: (usize, usize),
    is_pasted: bool,
}

/// How what stands in a composer is related to what was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nothing stands there.
    Nothing,
    /// The text, all of it or its end, or what the program shows in its place.
    Ours,
    /// Something else.
    Other,
}

/// What a screen says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The state.
    pub state: ScreenState,
    /// The composer, if there is one with the cursor in it.
    pub composer: Option<Composer>,
    /// The rules that match, by name. Of more than one state they contradict each other.
    pub matched: Vec<String>,
}

impl Composer {
    /// Whether nothing stands in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        letters(&self.text).is_empty()
    }

    /// How what stands in it is related to `entered`. Blanks do not count: a composer breaks lines as it likes.
    #[must_use]
    pub fn holds(&self, entered: &str) -> Held {
        let (shown, entered) = (letters(&self.text), letters(entered));
        if shown.is_empty() {
            return Held::Nothing;
        }
        let is_end = shown.chars().count() >= TAIL_LETTERS_MIN && entered.ends_with(&shown);
        if self.is_pasted || shown == entered || is_end { Held::Ours } else { Held::Other }
    }
}

/// A text without its blanks, those without a width included: some programs draw their cursor with one.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && !has_no_width(*letter)).collect()
}

fn has_no_width(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200d}' | '\u{feff}')
}

impl Adapter {
    /// What a screen says.
    #[must_use]
    pub fn read(&self, view: &ScreenView) -> Reading {
        let composer = find_composer(&self.composer, view);
        let matched: Vec<&Rule> =
            self.rules.iter().filter(|rule| rule.matches(self, view, composer.as_ref())).collect();
        let state = match matched.split_first() {
            Some((first, rest)) if rest.iter().all(|rule| rule.state == first.state) => first.state,
            _ => ScreenState::Unknown,
        };
        Reading { state, composer, matched: matched.into_iter().map(|rule| rule.name.clone()).collect() }
    }
}

impl Rule {
    fn matches(&self, adapter: &Adapter, view: &ScreenView, composer: Option<&Composer>) -> bool {
        let is_right = match self.composer {
            ComposerIs::Any => true,
            ComposerIs::Present => composer.is_some(),
            ComposerIs::Empty => composer.is_some_and(Composer::is_empty),
            ComposerIs::Filled => composer.is_some_and(|composer| !composer.is_empty()),
            ComposerIs::Absent => composer.is_none(),
        };
        if !is_right {
            return false;
        }
        // What stands in the composer is what somebody types, no word of the program's.
        let typed = composer.map_or(0..0, |composer| composer.rows.0..composer.rows.1);
        let rows: Vec<&str> = view
            .rows
            .iter()
            .enumerate()
            .filter(|(index, row)| !typed.contains(index) && !row.text.is_empty())
            .map(|(_, row)| row.text.as_str())
            .collect();
        let skipped = self.within.map_or(0, |within| rows.len().saturating_sub(within));
        let skipped = skipped.max(self.begin_of_items(adapter, &rows));
        let rows = rows.get(skipped..).unwrap_or_default();
        let is_there = |pattern: &regex::Regex| rows.iter().any(|row| pattern.is_match(row));
        self.all.iter().all(is_there) && !self.none.iter().any(is_there)
    }
}

impl Rule {
    /// The row that begins the last pieces of the transcript which the rule looks at. What a turn said is over when the
    /// next turn has said something.
    fn begin_of_items(&self, adapter: &Adapter, rows: &[&str]) -> usize {
        let (Some(items), Some(item)) = (self.items, &adapter.item) else { return 0 };
        let mut begins = rows.iter().enumerate().rev().filter(|(_, row)| item.is_match(row));
        begins.nth(items.get().saturating_sub(1)).map_or(0, |(index, _)| index)
    }
}

/// The one composer with the cursor in it.
fn find_composer(rule: &ComposerRule, view: &ScreenView) -> Option<Composer> {
    let cursor = usize::from(view.cursor.0);
    let first = cursor.saturating_sub(COMPOSER_ROWS_MAX);
    let mut found = (first..=cursor).filter_map(|start| composer_at(rule, view, start, cursor));
    let composer = found.next()?;
    // Of two that could be it, neither is certain.
    found.next().is_none().then_some(composer)
}

fn composer_at(rule: &ComposerRule, view: &ScreenView, start: usize, cursor: usize) -> Option<Composer> {
    let first = view.rows.get(start)?;
    let prompt = rule.prompt.find(&first.text).filter(|found| found.start() == 0)?;
    // A transcript may show what was submitted behind the same sign; there the sign is faint.
    let sign = first.text.chars().position(|letter| !letter.is_whitespace())?;
    if rule.bright && first.is_faint(sign) {
        return None;
    }
    // What is above a composer that fills the screen has scrolled away.
    if let (Some(above), Some(before)) = (&rule.above, start.checked_sub(1)) {
        above.find(&view.rows.get(before)?.text)?;
    }
    let mut lines = vec![bright(rule, first, prompt.end())];
    let mut end = start.saturating_add(1);
    while let Some(row) = view.rows.get(end).filter(|_| lines.len() < COMPOSER_ROWS_MAX) {
        if rule.below.as_ref().is_some_and(|below| below.is_match(&row.text)) {
            break;
        }
        let more = rule.more.as_ref().and_then(|more| more.find(&row.text));
        match more.filter(|found| found.start() == 0) {
            Some(more) => lines.push(bright(rule, row, more.end())),
            None if rule.below.is_some() && !row.text.is_empty() => return None,
            None if rule.below.is_some() => lines.push(String::new()),
            None => break,
        }
        end = end.saturating_add(1);
    }
    let is_closed = match &rule.below {
        Some(below) => view.rows.get(end).is_some_and(|row| below.is_match(&row.text)),
        None => true,
    };
    if !is_closed || cursor >= end {
        return None;
    }
    let text: String = lines.join("\n").chars().filter(|letter| !has_no_width(*letter)).collect();
    let text = text.trim().to_owned();
    let is_pasted = rule.pasted.as_ref().is_some_and(|pasted| pasted.is_match(&text));
    Some(Composer { text, rows: (start, end), is_pasted })
}

/// What somebody typed into a row, without hints and without the frame at its end.
fn bright(rule: &ComposerRule, row: &super::Row, from: usize) -> String {
    let mut text = row.bright_from(from);
    let edge = rule.edge.as_ref().and_then(|edge| edge.find(&text)).map(|found| found.start());
    if let Some(edge) = edge {
        text.truncate(edge);
    }
    text.trim_end().to_owned()
}
