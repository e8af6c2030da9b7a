//! Rules on what code may not do: unsafe outside `os`, and panics in the shim.

use super::RustFile;
use crate::problem::Problem;
use crate::source::{Attribute, words};

/// The only crate that may hold unsafe code.
const UNSAFE_CRATE: &str = "crates/os/src/";

/// The only crate that must not panic, whatever happens.
const SHIM: &str = "crates/shim/src/";

/// What the shim's roots deny, since reading alone does not find it.
const SHIM_DENIES: &[&str] = &["clippy::indexing_slicing", "clippy::arithmetic_side_effects"];

/// Methods that panic instead of failing.
const PANICKING_METHODS: &[&str] = &["unwrap", "expect", "unwrap_err", "expect_err"];

/// Macros that panic.
const PANICKING_MACROS: &[&str] = &["panic", "unreachable", "todo", "unimplemented"];

pub(super) fn check(file: &RustFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !file.path().starts_with(UNSAFE_CRATE) {
        problems.extend(unsafe_code(file));
        problems.extend(forbids_unsafe(file));
    }
    if file.path().starts_with(SHIM) {
        problems.extend(panics(file));
        problems.extend(denies_hidden_panics(file));
    }
    problems
}

fn unsafe_code(file: &RustFile) -> Vec<Problem> {
    let message = format!("`unsafe` outside {UNSAFE_CRATE}; give `os` a safe function that does this");
    words(file.source.code(), "unsafe").map(|at| file.problem(at, message.as_str())).collect()
}

fn forbids_unsafe(file: &RustFile) -> Option<Problem> {
    let forbids = lints(file, &["forbid"]).any(|lint| lint == "unsafe_code");
    (file.is_crate_root && !forbids)
        .then(|| Problem::new(file.path(), 1, "a crate root without `#![forbid(unsafe_code)]`"))
}

fn panics(file: &RustFile) -> Vec<Problem> {
    let code = file.source.code();
    let methods = PANICKING_METHODS.iter().flat_map(|method| {
        let called = words(code, method).filter(|at| code[..*at].trim_end().ends_with(['.', ':']));
        called.map(move |at| (at, format!("`{method}`")))
    });
    let macros = PANICKING_MACROS.iter().flat_map(|name| {
        let called = words(code, name).filter(|at| code[at + name.len()..].starts_with('!'));
        called.map(move |at| (at, format!("`{name}!`")))
    });
    let outside_tests = methods.chain(macros).filter(|(at, _)| !file.is_test_at(*at));
    outside_tests
        .map(|(at, what)| {
            file.problem(at, format!("{what} in the shim, which never panics; return an error"))
        })
        .collect()
}

fn denies_hidden_panics(file: &RustFile) -> Vec<Problem> {
    if !file.is_crate_root {
        return Vec::new();
    }
    let denied: Vec<&str> = lints(file, &["deny", "forbid"]).collect();
    let missing = SHIM_DENIES.iter().filter(|lint| !denied.contains(lint));
    missing
        .map(|lint| Problem::new(file.path(), 1, format!("a root of the shim without `#![deny({lint})]`")))
        .collect()
}

/// The lints that the file's own attributes set to one of `levels`.
fn lints<'a>(file: &'a RustFile, levels: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let at_level = move |attribute: &&Attribute| attribute.inner && levels.contains(&attribute.path());
    file.source.attributes().iter().filter(at_level).flat_map(|attribute| {
        let arguments = attribute.content.split_once('(').map_or("", |(_, rest)| rest);
        arguments.trim_end_matches(')').split(',')
    })
}
