//! Rules on tests: how they are called, that they all run, and that they wait on a condition.

use super::RustFile;
use crate::problem::Problem;
use crate::source::words;

/// Opens the comment that says why a test has to sleep all the same.
const SLEEP_REASON: &str = "sleep:";

pub(super) fn check(file: &RustFile) -> Vec<Problem> {
    let mut problems = names(file);
    problems.extend(ignored(file));
    problems.extend(sleeps(file));
    problems
}

/// A test is named by the behaviour it shows.
fn names(file: &RustFile) -> Vec<Problem> {
    let code = file.source.code();
    let tests = file.source.attributes().iter().filter(|attribute| attribute.marks_test());
    let named = tests.filter_map(|attribute| {
        let at = attribute.span.end + words(&code[attribute.span.end..], "fn").next()?;
        let name = code[at + "fn".len()..].trim_start();
        name.starts_with("test_")
            .then(|| file.problem(at, "the name of a test begins with `test_`; name the behaviour alone"))
    });
    named.collect()
}

fn ignored(file: &RustFile) -> Vec<Problem> {
    let ignores = file.source.attributes().iter().filter(|attribute| {
        attribute.path() == "ignore"
            || (attribute.path() == "cfg_attr" && words(&attribute.content, "ignore").next().is_some())
    });
    ignores
        .map(|attribute| file.problem(attribute.span.start, "`#[ignore]`; every test runs, or is removed"))
        .collect()
}

fn sleeps(file: &RustFile) -> Vec<Problem> {
    let code = file.source.code();
    let calls = ["sleep", "sleep_until", "sleep_ms"]
        .iter()
        .flat_map(|name| words(code, name).filter(|at| is_sleep(&code[..*at], &code[at + name.len()..])));
    calls
        .filter(|at| file.is_test_at(*at) && !is_excused(file, *at))
        .map(|at| {
            let message = format!(
                "a test sleeps; wait on a condition with a deadline, or say `// {SLEEP_REASON} <reason>` on the line above"
            );
            file.problem(at, message)
        })
        .collect()
}

/// Whether the word between `before` and `after` makes the thread or the task sleep: `thread::sleep`,
/// `time::sleep`, or a bare call, but neither a method nor a definition.
fn is_sleep(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    if let Some(path) = before.strip_suffix("::") {
        return path.ends_with("thread") || path.ends_with("time");
    }
    let defined =
        before.strip_suffix("fn").is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '\n', ')']));
    after.trim_start().starts_with('(') && !before.ends_with('.') && !defined
}

fn is_excused(file: &RustFile, at: usize) -> bool {
    let mut comments = file.source.comments_above(at);
    comments.any(|comment| {
        let reason = comment.trim_start_matches('/').trim_start().strip_prefix(SLEEP_REASON);
        reason.is_some_and(|reason| !reason.trim().is_empty())
    })
}
