//! Rules on the shape of files: their size, names, opening words and loose ends.

use super::RustFile;
use crate::problem::Problem;
use crate::source::words;
use crate::workspace::TextFile;

/// A file that needs more is two files.
const LINES_MAX: usize = 600;

/// Names that say nothing of what a module owns.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers"];

/// Words that leave work for later.
const LOOSE_ENDS: &[&str] = &["TODO", "FIXME"];

pub(super) fn check(file: &RustFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(size(file));
    problems.extend(opening(file));
    problems.extend(file_name(file));
    problems.extend(inline_module_names(file));
    let comments = file.source.comment_lines();
    problems.extend(comments.filter_map(|(line, comment)| loose_end(file.path(), line, comment)));
    problems
}

/// Checks a Python or shell script, of which only the comments are read.
pub(super) fn check_script(file: &TextFile) -> Vec<Problem> {
    let comments =
        file.text.lines().enumerate().filter_map(|(index, line)| Some((index + 1, line.split_once('#')?.1)));
    comments.filter_map(|(line, comment)| loose_end(&file.path, line, comment)).collect()
}

fn size(file: &RustFile) -> Option<Problem> {
    let count = file.file.text.lines().count();
    let exempt = file.file.name() == "tests.rs" || file.path().split('/').any(|part| part == "tests");
    (count > LINES_MAX && !exempt).then(|| {
        let message =
            format!("{count} lines, at most {LINES_MAX} are allowed; split it by what its parts own");
        Problem::new(file.path(), LINES_MAX + 1, message)
    })
}

/// Every file below `src` opens with what it owns.
fn opening(file: &RustFile) -> Option<Problem> {
    let in_src = file.path().split('/').any(|part| part == "src");
    let first = file.file.text.lines().next().unwrap_or_default();
    let documented = first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty());
    let subject = if file.is_crate_root { "crate" } else { "module" };
    (in_src && !documented).then(|| {
        let message =
            format!("the first line is not the {subject}'s documentation; open with `//!` and what it owns");
        Problem::new(file.path(), 1, message)
    })
}

fn file_name(file: &RustFile) -> Option<Problem> {
    let name = file.file.name().trim_end_matches(".rs");
    if name == "mod" {
        let folder = file.path().rsplit('/').nth(1).unwrap_or_default();
        let message = format!("`mod.rs`; write `{folder}.rs` beside the folder `{folder}`");
        return Some(Problem::new(file.path(), 1, message));
    }
    EMPTY_NAMES.contains(&name).then(|| Problem::new(file.path(), 1, empty_name(name)))
}

fn inline_module_names(file: &RustFile) -> Vec<Problem> {
    let code = file.source.code();
    let named = words(code, "mod").filter_map(|at| {
        // `mod name;` is reported by the name of its file.
        let (name, _) = code[at + "mod".len()..].split_once('{')?;
        EMPTY_NAMES.contains(&name.trim()).then(|| file.problem(at, empty_name(name.trim())))
    });
    named.collect()
}

fn empty_name(name: &str) -> String {
    format!("a module called `{name}` owns nothing in particular; name it by its subject")
}

fn loose_end(path: &str, line: usize, comment: &str) -> Option<Problem> {
    let word = LOOSE_ENDS.iter().find(|word| words(comment, word).next().is_some())?;
    let names_issue = comment
        .match_indices('#')
        .any(|(at, _)| comment[at + 1..].starts_with(|next: char| next.is_ascii_digit()));
    (!names_issue)
        .then(|| Problem::new(path, line, format!("{word} without the number of its issue, as in `#123`")))
}
