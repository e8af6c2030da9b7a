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

/// The agent of tests that speaks the Agent Client Protocol, in Python.
const ACP_AGENT: &str = include_str!("acp_agent.py");

/// The agent of tests that speaks the Agent Client Protocol, working in `folder`. `options` are words such as `load=no`
/// that its program reads; `driver` holds further fields of `spec.driver`, each after a comma.
#[must_use]
pub fn acp(name: &str, folder: &std::path::Path, options: &[&str], (driver, more): (&str, &str)) -> String {
    std::fs::create_dir_all(folder).expect("a folder for the agent");
    let program = ["python3", "-c", ACP_AGENT];
    let argv: Vec<&str> = program.iter().chain(options).copied().collect();
    let text = manifest(name, "acp", &argv, &format!("cwd: {}\n{more}", folder.display()));
    text.replace("type: acp", &format!("type: acp{driver}"))
}

/// The program of tests that ends with each turn, in Python.
const ONE_SHOT: &str = include_str!("one_shot.py");

/// The agent of tests whose program ends with each turn, working in `folder`. `options` are words that its program reads;
/// `driver` holds further fields of `spec.driver`, each after a comma.
#[must_use]
pub fn exec(name: &str, folder: &std::path::Path, options: &[&str], (driver, more): (&str, &str)) -> String {
    std::fs::create_dir_all(folder).expect("a folder for the agent");
    let program = ["python3", "-c", ONE_SHOT];
    let argv: Vec<&str> = program.iter().chain(options).copied().collect();
    let text = manifest(name, "exec", &argv, &format!("cwd: {}\n{more}", folder.display()));
    text.replace("type: exec", &format!("type: exec{driver}"))
}

/// The native agent of tests that notes each task, in Python.
const TASK_WORKER: &str = include_str!("task_worker.py");

/// An agent that writes what it is told to `log`, a line each; `options` are words that its program reads.
#[must_use]
pub fn task_worker(name: &str, log: &std::path::Path, options: &[&str], more: &str) -> String {
    let log = log.to_string_lossy();
    let program = ["python3", "-c", TASK_WORKER, &log];
    let argv: Vec<&str> = program.iter().chain(options).copied().collect();
    native(name, &argv, more)
}
