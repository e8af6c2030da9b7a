//! What a screen says of the program that drew it: declarative rules, evaluated on rows of text.
//!
//! Pure: a screen and an adapter in, a reading out. It deliberately does not know how the screen came about, what is
//! to be typed when, or whether a former reading said otherwise. It is strict by design: a state is said only if all
//! that belongs to it is there and nothing contradicts; else the reading is `unknown`, never a wrong state.

mod adapter;
mod fixture;
mod read;
mod shipped;

pub use adapter::{ADAPTER_BYTES_MAX, Adapter, AdapterError, Paste};
pub use fixture::{Fixture, FixtureError};
pub use read::{Composer, Held, Reading, ScreenState};
pub use shipped::{SHIPPED, shipped};

/// One row of a screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Its text, blanks at the end cut.
    pub text: String,
    /// Which characters of the text are drawn faint, from and up to, in order: hints of the program rather than what
    /// somebody typed.
    pub faint: Vec<(usize, usize)>,
}

impl Row {
    /// A row without faint characters.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self { text: text.trim_end().to_owned(), faint: Vec::new() }
    }

    /// The text behind the first `from` bytes, blank where it is faint.
    fn bright_from(&self, from: usize) -> String {
        let start = self.text.get(..from).map_or(0, |head| head.chars().count());
        let rest = self.text.get(from..).unwrap_or_default().chars().enumerate();
        rest.map(|(index, letter)| if self.is_faint(start.saturating_add(index)) { ' ' } else { letter })
            .collect()
    }

    fn is_faint(&self, index: usize) -> bool {
        self.faint.iter().any(|(from, to)| (*from..*to).contains(&index))
    }
}

/// A screen as the rules see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenView {
    /// Its rows, from the top.
    pub rows: Vec<Row>,
    /// Row and column of the cursor, from zero; also where a hidden one stands.
    pub cursor: (u16, u16),
    /// Whether the program draws on the alternate screen.
    pub alternate: bool,
    /// Whether the program takes pasted text as such.
    pub takes_paste: bool,
}
