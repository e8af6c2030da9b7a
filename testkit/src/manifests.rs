//! Manifests that tests use, as text.

use std::fmt::Write as _;

fn manifest(name: &str, driver: &str, argv: &[&str], more: &str) -> String {
    let argv = serde_json::to_string(argv).expect("words are JSON");
    let mut text = format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {{ name: {name} }}\nspec:\n  driver: {{ type: {driver} }}\n  command: {argv}\n"
    );
    // Tests do not wait for programs that ignore their stop signal.
    let stop = if more.contains("stop:") { "" } else { "stop: { grace: 500ms }\n" };
    for line in stop.lines().chain(more.lines()) {
        writeln!(text, "  {line}").expect("a string takes every line");
    }
    text
}

/// An agent on a terminal. `more` holds further lines of `spec`.
#[must_use]
pub fn terminal(name: &str, argv: &[&str], more: &str) -> String {
    manifest(name, "terminal", argv, more)
}

/// An agent that speaks the native driver.
#[must_use]
pub fn native(name: &str, argv: &[&str], more: &str) -> String {
    manifest(name, "native", argv, more)
}
