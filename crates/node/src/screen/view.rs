//! The screen as the rules of adapters see it.

use edgeplane_driver::screen::{Row, ScreenView};

use super::Screen;

/// The brightest grey that counts as faint, of 255.
const FAINT_MAX: u8 = 190;

/// How far the parts of a colour may be apart for it to be a grey.
const GREY_SPREAD_MAX: u8 = 28;

impl Screen {
    /// Rows of text with what is faint in them, the cursor, the modes.
    pub(crate) fn view(&self) -> ScreenView {
        let screen = self.parser.screen();
        let (cols, rows) = self.size();
        ScreenView {
            rows: (0..rows).map(|row| view_row(screen, row, cols)).collect(),
            cursor: screen.cursor_position(),
            alternate: screen.alternate_screen(),
            takes_paste: screen.bracketed_paste(),
        }
    }
}

fn view_row(screen: &vt100::Screen, row: u16, cols: u16) -> Row {
    let mut text = String::new();
    let mut letters = 0_usize;
    let mut faint: Vec<(usize, usize)> = Vec::new();
    for col in 0..cols {
        let Some(cell) = screen.cell(row, col) else { continue };
        if cell.is_wide_continuation() {
            continue;
        }
        let shown = cell.contents();
        let from = letters;
        if shown.is_empty() {
            text.push(' ');
            letters = letters.saturating_add(1);
        } else {
            text.push_str(shown);
            letters = letters.saturating_add(shown.chars().count());
        }
        // A cursor that the program draws itself stands on the first letter of a hint.
        let beneath = cell.inverse().then(|| screen.cell(row, col.saturating_add(1))).flatten();
        let is_faint = is_faint(cell) || beneath.is_some_and(|next| next.has_contents() && is_faint(next));
        if is_faint {
            match faint.last_mut().filter(|(_, to)| *to == from) {
                Some(last) => last.1 = letters,
                None => faint.push((from, letters)),
            }
        }
    }
    text.truncate(text.trim_end().len());
    let end = text.chars().count();
    faint.retain_mut(|(from, to)| {
        *to = (*to).min(end);
        *from < *to
    });
    Row { text, faint }
}

fn is_faint(cell: &vt100::Cell) -> bool {
    let grey = |r: u8, g: u8, b: u8| {
        let (low, high) = (r.min(g).min(b), r.max(g).max(b));
        high.saturating_sub(low) <= GREY_SPREAD_MAX && high <= FAINT_MAX
    };
    cell.dim()
        || match cell.fgcolor() {
            vt100::Color::Default => false,
            vt100::Color::Idx(index) => matches!(index, 8 | 59 | 102 | 103 | 238..=250),
            vt100::Color::Rgb(r, g, b) => grey(r, g, b),
        }
}
