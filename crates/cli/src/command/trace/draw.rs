//! A waterfall as lines: a tree of names, who answers, how long, and a bar of when. Prints nothing and asks nobody.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use edgeplane_types::{SpanId, Timestamp};
use edgeplane_wire::api::trace::{
    Explanation, Owner, OwnerKind, Segment, Span, SpanStatus, TraceVerdict, Waterfall,
};

use crate::{
    output::{Color, paint},
    text,
};

/// Columns of a duration.
const DURATION_COLUMNS: usize = 8;

/// Columns between the others, with the mark.
const SEPARATORS: usize = 7;

/// Fewest columns of a bar; a terminal with less room gets lines that are longer than itself.
const BAR_COLUMNS_MIN: usize = 12;

/// Levels of a tree that are shown by indenting.
const LEVELS_MAX: usize = 16;

/// Where is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Canvas {
    pub(super) columns: u16,
    pub(super) glyphs: Glyphs,
}

/// What is drawn with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyphs {
    branch: &'static str,
    last: &'static str,
    trunk: &'static str,
    gap: &'static str,
    full: &'static str,
    wait: &'static str,
    open: &'static str,
    moment: &'static str,
    well: &'static str,
    badly: &'static str,
    goes_on: &'static str,
    unknown: &'static str,
}

impl Glyphs {
    pub(super) const UNICODE: Self = Self {
        branch: "├ ",
        last: "└ ",
        trunk: "│ ",
        gap: "  ",
        full: "█",
        wait: "░",
        open: "▶",
        moment: "▏",
        well: "✓",
        badly: "✗",
        goes_on: "…",
        unknown: "?",
    };
    pub(super) const ASCII: Self = Self {
        branch: "|-",
        last: "`-",
        trunk: "| ",
        gap: "  ",
        full: "#",
        wait: ".",
        open: ">",
        moment: "|",
        well: "+",
        badly: "x",
        goes_on: "~",
        unknown: "?",
    };
}

/// Where a trace came in, in two lines.
pub(super) fn head(waterfall: &Waterfall, canvas: &Canvas) -> [String; 3] {
    let entry = &waterfall.entry_point;
    let to = entry.agent.as_ref().map_or_else(String::new, |agent| format!(" to {agent}"));
    let took = waterfall.end.unwrap_or(waterfall.as_of).millis_since(waterfall.start);
    let state = if waterfall.end.is_some() { "took" } else { "open for" };
    let first = format!("trace    {}", waterfall.trace_id);
    let second = format!(
        "entry    {} by {}{to}, {state} {}, began {}",
        entry.operation,
        entry.user_id,
        duration(took),
        waterfall.start.to_string().get(..19).unwrap_or_default().replace('T', " ")
    );
    [first, text::excerpt(&second, usize::from(canvas.columns)), String::new()]
}

/// The spans, one a line.
pub(super) fn spans(waterfall: &Waterfall, canvas: &Canvas) -> Vec<String> {
    let columns = usize::from(canvas.columns);
    let trees = trees(&waterfall.spans, &canvas.glyphs);
    let names: Vec<String> =
        trees.iter().zip(&waterfall.spans).map(|(tree, span)| format!("{tree}{}", span.name)).collect();
    let owners: Vec<String> = waterfall.spans.iter().map(|span| owner(&span.owner)).collect();
    let widest = |all: &[String]| all.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    // The bar gets at least a third; what is left is shared by names and owners.
    let bar = (columns / 3).max(BAR_COLUMNS_MIN);
    let for_words = columns.saturating_sub(bar + DURATION_COLUMNS + SEPARATORS).max(24);
    let owner_columns = widest(&owners).min(for_words / 3);
    let name_columns = widest(&names).min(for_words.saturating_sub(owner_columns));
    let bar = columns
        .saturating_sub(name_columns + owner_columns + DURATION_COLUMNS + SEPARATORS)
        .max(BAR_COLUMNS_MIN);
    let scale = Scale {
        start: waterfall.start,
        micros: span_micros(waterfall.start, waterfall.end.unwrap_or(waterfall.as_of)),
        as_of: waterfall.as_of,
        columns: bar,
    };
    let rows = waterfall.spans.iter().zip(names.iter().zip(&owners));
    rows.map(|(span, (name, owner))| {
        let ms = span.end.unwrap_or(waterfall.as_of).millis_since(span.start);
        let (mark, color) = mark(span.status, &canvas.glyphs);
        format!(
            "{} {}  {}  {} {}",
            paint(color, mark),
            padded(name, name_columns),
            paint(Color::Dim, &padded(owner, owner_columns)),
            format_args!("{:>DURATION_COLUMNS$}", duration(ms)),
            scale.bar(span, &canvas.glyphs),
        )
    })
    .collect()
}

fn mark(status: SpanStatus, glyphs: &Glyphs) -> (&'static str, Color) {
    match status {
        SpanStatus::Ok => (glyphs.well, Color::Green),
        SpanStatus::Error => (glyphs.badly, Color::Red),
        SpanStatus::Open => (glyphs.goes_on, Color::Yellow),
        SpanStatus::Unknown => (glyphs.unknown, Color::Dim),
    }
}

/// How time becomes columns.
struct Scale {
    start: Timestamp,
    micros: u64,
    as_of: Timestamp,
    columns: usize,
}

fn span_micros(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_micros().saturating_sub(from.as_micros())).unwrap_or(0)
}

impl Scale {
    /// The column in which a moment lies.
    fn column(&self, at: Timestamp) -> usize {
        let columns = u64::try_from(self.columns).unwrap_or(0);
        let micros = span_micros(self.start, at).min(self.micros);
        let column = micros.saturating_mul(columns).checked_div(self.micros).unwrap_or(0);
        usize::try_from(column).unwrap_or(0).min(self.columns)
    }

    fn bar(&self, span: &Span, glyphs: &Glyphs) -> String {
        let is_open = span.status == SpanStatus::Open;
        let from = self.column(span.start).min(self.columns.saturating_sub(1));
        let to = self.column(span.end.unwrap_or(self.as_of)).max(from);
        let (fill, color) = match (span.segment, span.status) {
            (_, SpanStatus::Error) => (glyphs.full, Color::Red),
            (
                Segment::WorkspaceLock
                | Segment::QueueWait
                | Segment::RuntimeDelay
                | Segment::ApprovalWait
                | Segment::ConnectorPermission
                | Segment::Delivery,
                _,
            ) => (glyphs.wait, Color::Yellow),
            (Segment::Request, _) => (glyphs.full, Color::Dim),
            (Segment::Turn | Segment::Tool, _) => (glyphs.full, Color::Green),
        };
        let width = to.saturating_sub(from);
        let bar = match (width, is_open) {
            (0, true) => glyphs.open.to_owned(),
            (0, false) => glyphs.moment.to_owned(),
            (width, true) => format!("{}{}", fill.repeat(width.saturating_sub(1)), glyphs.open),
            (width, false) => fill.repeat(width),
        };
        format!("{}{}", " ".repeat(from), paint(color, &bar))
    }
}

/// What stands before each name: where it is in the tree.
fn trees(spans: &[Span], glyphs: &Glyphs) -> Vec<String> {
    let places: HashMap<SpanId, usize> =
        spans.iter().enumerate().map(|(index, span)| (span.span_id, index)).collect();
    // Parents come before their parts, so one way down and one way up is enough.
    let parent = |index: usize| {
        let parent = spans.get(index)?.parent?;
        places.get(&parent).copied().filter(|above| *above < index)
    };
    let mut last_part: HashMap<usize, usize> = HashMap::new();
    for index in 0..spans.len() {
        if let Some(above) = parent(index) {
            last_part.insert(above, index);
        }
    }
    (0..spans.len())
        .map(|index| {
            let mut pieces = Vec::new();
            let mut at = index;
            while let Some(above) = parent(at)
                && pieces.len() < LEVELS_MAX
            {
                let is_last = last_part.get(&above) == Some(&at);
                pieces.push(match (at == index, is_last) {
                    (true, true) => glyphs.last,
                    (true, false) => glyphs.branch,
                    (false, true) => glyphs.gap,
                    (false, false) => glyphs.trunk,
                });
                at = above;
            }
            pieces.iter().rev().copied().collect()
        })
        .collect()
}

fn padded(text: &str, columns: usize) -> String {
    let shown = text::excerpt(text, columns);
    let missing = columns.saturating_sub(shown.chars().count());
    format!("{shown}{}", " ".repeat(missing))
}

/// Who answers for something.
pub(super) fn owner(owner: &Owner) -> String {
    match (&owner.kind, &owner.of) {
        (OwnerKind::Tool, Some(of)) => format!("tool of {of}"),
        (OwnerKind::Node, _) => "node".to_owned(),
        _ => owner.name.clone(),
    }
}

/// A duration that fits its column.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{:02} s", ms / 1_000, ms % 1_000 / 10),
        60_000..3_600_000 => format!("{}m {:02}s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{}h {:02}m", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// What somebody who reads the verdict may do next.
pub(super) fn next(waterfall: &Waterfall, explanation: &Explanation) -> Option<String> {
    let owner = &explanation.owner;
    let agent = owner.of.as_deref().unwrap_or(&owner.name);
    let action = waterfall
        .spans
        .iter()
        .filter(|span| matches!(span.segment, Segment::ApprovalWait | Segment::ConnectorPermission))
        .filter(|span| span.status == SpanStatus::Open)
        .find_map(|span| span.attributes.get("rt.action.id"));
    Some(match explanation.verdict {
        TraceVerdict::Healthy | TraceVerdict::WorkspaceLock => return None,
        TraceVerdict::ConnectorPermission if action.is_none() => {
            "edgeplane capability list shows what may be called, and how it stands with each connector"
                .to_owned()
        }
        TraceVerdict::ApprovalWait | TraceVerdict::ConnectorPermission => match action {
            Some(id) => format!("edgeplane action show {id}, then edgeplane action approve or deny"),
            None => "edgeplane action list shows what waits for a person".to_owned(),
        },
        TraceVerdict::QueueWait => {
            format!("edgeplane inbox {agent} shows what waits; spec.replicas lets more than one work")
        }
        TraceVerdict::RuntimeDelay if explanation.rule == "tool-ended-badly" => {
            format!("edgeplane transcript {agent} shows what the tool was given and said")
        }
        TraceVerdict::RuntimeDelay => {
            format!("edgeplane agent describe {agent} shows its epochs; edgeplane logs {agent} its output")
        }
        TraceVerdict::InferenceTimeout => {
            format!(
                "edgeplane logs {agent} shows its last output; edgeplane agent restart {agent} begins anew"
            )
        }
        TraceVerdict::ReplayGap => "edgeplane audit verify shows what else is missing".to_owned(),
    })
}
