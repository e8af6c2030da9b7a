//! The numbered requirements of `spec/`: each is cited by a test, and what is cited exists.
//!
//! Reads ids only. Whether a test shows what its requirement says is for review.

use std::collections::{BTreeMap, BTreeSet};

use crate::problem::Problem;
use crate::tidy::RustFile;
use crate::workspace::TextFile;

/// Where requirements are defined, and where else documents cite them.
const SPEC: &str = "spec/";
const DOCUMENTS: &[&str] = &[SPEC, "docs/"];

/// Where tests cite them.
const CITING: &[&str] =
    &["crates/", "clients/", "testkit/", "examples/", "conformance/", "xtask/src/generate/"];

/// The letters and digits of an id's first part: enough to be a word, too few to be a sentence.
const PREFIX_LENGTH: std::ops::RangeInclusive<usize> = 2..=12;

/// The digits of an id's second part.
const NUMBER_LENGTH: usize = 3;

/// An id where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mention<'a> {
    id: &'a str,
    path: &'a str,
    line: usize,
    /// Whether it stands in a test.
    in_test: bool,
}

/// Holds what the tests cite to what `documents` define.
pub(crate) fn check(documents: &[TextFile], rust: &[RustFile], scripts: &[TextFile]) -> Vec<Problem> {
    let spec = documents.iter().filter(|file| file.path.starts_with(SPEC));
    let (defined, mut problems) = definitions(spec);

    let mut mentions = Vec::new();
    for file in documents.iter().filter(|file| DOCUMENTS.iter().any(|folder| file.path.starts_with(folder))) {
        mentions.extend(mentions_in(file, |_| false));
    }
    for file in rust.iter().filter(|file| is_citing(&file.file)) {
        mentions.extend(mentions_in(&file.file, |at| is_rust_test(file, at)));
    }
    for file in scripts.iter().filter(|file| is_citing(file)) {
        mentions.extend(mentions_in(file, |_| is_script_test(file)));
    }

    let cited: BTreeSet<&str> =
        mentions.iter().filter(|mention| mention.in_test).map(|mention| mention.id).collect();
    for definition in defined.values().filter(|definition| !cited.contains(definition.id)) {
        let message = format!("no test cites the requirement {}", definition.id);
        problems.push(Problem::new(definition.path, definition.line, message));
    }

    let prefixes: BTreeSet<&str> = defined.keys().map(|id| prefix(id)).collect();
    let unknown = mentions
        .iter()
        .filter(|mention| !defined.contains_key(mention.id) && is_requirement(mention.id, &prefixes));
    for mention in unknown {
        let message = format!(
            "the requirement {id} is not defined; a line of spec/*.md that begins `**{id}**` or `### {id}` would",
            id = mention.id
        );
        problems.push(Problem::new(mention.path, mention.line, message));
    }
    problems
}

fn is_citing(file: &TextFile) -> bool {
    CITING.iter().any(|folder| file.path.starts_with(folder))
}

/// The test kit and the conformance runner are tests throughout.
fn is_rust_test(file: &RustFile, at: usize) -> bool {
    file.is_test_at(at)
        || ["testkit/", "conformance/"].iter().any(|folder| file.file.path.starts_with(folder))
}

fn is_script_test(file: &TextFile) -> bool {
    let in_test_folder = file.path.split('/').any(|part| ["tests", "testkit", "conformance"].contains(&part));
    in_test_folder || file.name().ends_with("_test.py") || file.name().starts_with("test_")
}

/// Finds every definition, and the ids that are defined twice.
fn definitions<'a>(
    spec: impl Iterator<Item = &'a TextFile>,
) -> (BTreeMap<&'a str, Mention<'a>>, Vec<Problem>) {
    let mut defined = BTreeMap::new();
    let mut problems = Vec::new();
    for file in spec {
        for (index, line) in file.text.lines().enumerate() {
            let Some(id) = defined_id(line) else { continue };
            let mention = Mention { id, path: &file.path, line: index + 1, in_test: false };
            if let Some(first) = defined.get(id) {
                let Mention { path, line, .. } = first;
                let message = format!("the requirement {id} is already defined at {path}:{line}");
                problems.push(Problem::new(&file.path, mention.line, message));
                continue;
            }
            defined.insert(id, mention);
        }
    }
    (defined, problems)
}

/// The id that a line defines: `**LIFE-001** …` or a heading that begins with it.
fn defined_id(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("**")
        .or_else(|| line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' '))?;
    let (at, id) = ids(rest).next()?;
    (at == 0).then_some(id)
}

fn mentions_in(file: &TextFile, is_test: impl Fn(usize) -> bool) -> Vec<Mention<'_>> {
    let mut mentions = Vec::new();
    let mut start = 0;
    for (index, line) in file.text.split_inclusive('\n').enumerate() {
        mentions.extend(ids(line).map(|(at, id)| Mention {
            id,
            path: &file.path,
            line: index + 1,
            in_test: is_test(start + at),
        }));
        start += line.len();
    }
    mentions
}

/// Finds the ids in a text and where they begin.
fn ids(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let joins = |next: char| next.is_ascii_alphanumeric() || next == '-' || next == '_';
    text.match_indices('-').filter_map(move |(dash, _)| {
        let letters = |letter: &char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
        let length = text[..dash].chars().rev().take_while(letters).count();
        let start = dash - length;
        let end = dash + 1 + text[dash + 1..].chars().take_while(char::is_ascii_digit).count();
        let whole = PREFIX_LENGTH.contains(&length)
            && text[start..].starts_with(|first: char| first.is_ascii_uppercase())
            && end - dash - 1 == NUMBER_LENGTH
            && !text[..start].ends_with(joins)
            && !text[end..].starts_with(joins);
        whole.then(|| (start, &text[start..end]))
    })
}

fn prefix(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// Tells a requirement from the other names of its form, such as SHA-256: the specification uses its prefix, or
/// its number is padded.
fn is_requirement(id: &str, prefixes: &BTreeSet<&str>) -> bool {
    prefixes.contains(prefix(id)) || id.split('-').nth(1).is_some_and(|number| number.starts_with('0'))
}

#[cfg(test)]
mod tests;
