//! The table for people, the same for programs, and the page of documentation that keeps it.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

use super::{Group, machine::Machine, row::Row};

/// The columns.
const HEADINGS: [&str; 11] = [
    "what",
    "p50",
    "p99",
    "n",
    "reference p50 / p99",
    "peers p50 / p99",
    "ratio",
    "reach",
    "met",
    "reach as a ratio",
    "busy",
];

/// What stands between these lines of the page is written by the benchmark; the rest is written by people.
const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

/// The page, from the root of the workspace.
pub(crate) const PAGE: &str = "docs/benchmarks.md";

/// What one run found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<Row>,
    pub(crate) failures: Vec<String>,
}

impl Found {
    /// The table in Markdown, which is also how it is printed.
    pub(crate) fn table(&self) -> String {
        let mut cells: Vec<Vec<String>> = vec![HEADINGS.map(str::to_owned).to_vec()];
        cells.extend(self.rows.iter().map(Row::cells));
        let widths: Vec<usize> = (0..HEADINGS.len())
            .map(|column| {
                cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        let mut out = String::new();
        for (index, row) in cells.iter().enumerate() {
            let padded: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            line(&mut out, &format!("| {} |", padded.join(" | ")));
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                line(&mut out, &format!("|-{}-|", rules.join("-|-")));
            }
        }
        let mut notes =
            self.rows.iter().flat_map(|row| row.notes.iter().map(|note| (&row.what, note))).peekable();
        if notes.peek().is_some() {
            line(&mut out, "");
        }
        for (what, note) in notes {
            line(&mut out, &format!("- {what}: {note}"));
        }
        for failure in &self.failures {
            line(&mut out, &format!("- not measured: {failure}"));
        }
        out
    }

    /// One line on the machine.
    pub(crate) fn place(&self) -> String {
        let Machine { cpu, cores, memory_gib, kernel, commit, date } = &self.machine;
        format!("{cpu}, {cores} cores, {memory_gib} GiB, Linux {kernel}; commit {commit}; {date}.")
    }

    pub(crate) fn json(&self) -> String {
        format!("{:#}\n", json!({ "machine": self.machine, "rows": self.rows, "failures": self.failures }))
    }

    /// Puts the table and the method of each row into the page.
    pub(crate) fn write_page(&self, root: &Path, groups: &[Group]) -> anyhow::Result<()> {
        let path = root.join(PAGE);
        let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
        let (before, rest) =
            page.split_once(BEGIN).with_context(|| format!("{PAGE} has no line `{BEGIN}`"))?;
        let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE} has no line `{END}`"))?;
        let mut middle =
            format!("{BEGIN}\n\n{}\n\n{}\n## How each row is measured\n\n", self.place(), self.table());
        for group in groups {
            line(&mut middle, &format!("- **{}** {}", group.name, group.how));
        }
        std::fs::write(&path, format!("{before}{middle}\n{END}{after}"))?;
        Ok(())
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
