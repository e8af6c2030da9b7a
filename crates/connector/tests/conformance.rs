//! The client's side of the conformance suite of the protocol, against the connector that ships.
//!
//! The suite starts a server for each scenario and a program of ours that uses it, `examples/conformance_client.rs`, and
//! judges what came over the wire. What is known not to pass is listed by name, with its reason.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "what does not pass is said aloud")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use edgeplane_testkit::npm::Npm;
use serde_json::json;

fn suite() -> Option<Npm> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../edge-mcp/tests/conformance");
    Npm::find_or_skip("the conformance suite of the Model Context Protocol", &folder)
}

/// The program of ours, which is built with the tests.
fn client() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // target/<profile>/deps/<test>
    let path = test.parent().and_then(Path::parent).unwrap().join("examples/conformance_client");
    assert!(path.is_file(), "`{}` is not built: run `cargo build --workspace --examples`", path.display());
    path
}

/// The scenarios of a revision that are known not to pass, each with its reason.
fn expected(revision: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/expected_failures.txt");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let (of, scenario, reason) = (words.next().unwrap(), words.next().unwrap(), words.next());
            let reason = reason.filter(|reason| reason.len() > 20);
            assert!(reason.is_some(), "no reason: {line}");
            (of, scenario.to_owned(), reason.unwrap().to_owned())
        })
        .filter(|(of, ..)| *of == revision || *of == "both")
        .map(|(_, scenario, reason)| (scenario, reason))
        .collect()
}

fn conforms(revision: &str, passed_min: usize) {
    let Some(suite) = suite() else { return };
    let out = tempfile::tempdir().unwrap();
    let list = out.path().join("expected.yaml");
    let expected = expected(revision);
    for (scenario, reason) in &expected {
        eprintln!("EXPECTED TO FAIL at {revision}: {scenario}: {reason}");
    }
    let names: Vec<&String> = expected.iter().map(|(scenario, _)| scenario).collect();
    // The suite fails for what fails and is not in this list, and for what is in it and passes.
    fs::write(&list, json!({ "client": names }).to_string()).unwrap();
    let output = Command::new(&suite.runtime)
        .arg(suite.file("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--requirements", revision, "--command"])
        .arg(client())
        .arg("--expected-failures")
        .arg(&list)
        .arg("-o")
        .arg(out.path().join("results"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    eprintln!("{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "see above");
    // A suite that ran nothing passes, too.
    let passed = said.lines().filter(|line| line.starts_with("✓ ")).count();
    assert!(passed >= passed_min, "{passed} scenarios of {revision} passed");
}

/// Proves CAP-018.
#[test]
fn revision_with_a_handshake_is_kept() {
    conforms("2025-11-25", 3);
}

/// Proves CAP-018.
#[test]
fn revision_without_a_handshake_is_kept() {
    conforms("2026-07-28", 6);
}
