//! A test that must have the machine's process table for itself.

use std::process::{Command, Stdio};

/// Set in the process that has it.
const ALONE: &str = "EDGEPLANE_TEST_ALONE";

/// Where a test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// In a pid namespace of its own: no process of anybody else is in sight.
    Yes,
    /// It has run in one already, in a process of its own, and has passed there.
    Passed,
    /// Among all processes of the machine, which allows nothing else.
    No,
}

/// Runs the test of this name, of the running test program, in a pid namespace of its own if the machine allows that.
///
/// Without one, other people's processes may look like what a test has left behind.
///
/// # Panics
/// If the test fails there.
#[must_use]
pub fn alone(test: &str) -> Alone {
    if std::env::var_os(ALONE).is_some() {
        return Alone::Yes;
    }
    let namespace = ["--pid", "--fork", "--kill-child", "--mount-proc", "--"];
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(namespace).stdin(Stdio::null());
        command
    };
    let allowed = unshare().arg("true").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !allowed.is_ok_and(|status| status.success()) {
        return Alone::No;
    }
    let own = std::env::current_exe().expect("a test has a file");
    let mut inner = unshare();
    inner.arg(own).args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ALONE, "1");
    let output = inner.output().expect("unshare runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{test}, alone:\n{said}\n{failed}");
    Alone::Passed
}
