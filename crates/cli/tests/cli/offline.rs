//! Manifests read without a daemon.

use serde_json::Value;

use crate::fake::{edgeplane, stderr, stdout};

const MANIFEST: &str = "\
apiVersion: edgeplane.dev/v1alpha1
kind: Agent
metadata: { name: reader, description: reads }
spec:
  driver: { type: terminal }
  command: [\"sh\", \"-i\"]
  inheritEnv: [NO_SUCH_TOKEN]
  needs: { env: [{ name: NO_SUCH_TOKEN, description: the key }] }
  skills: [{ id: reading, description: reads diffs }]
---
apiVersion: edgeplane.dev/v1alpha1
kind: Agent
metadata: { name: plain }
spec:
  driver: { type: terminal }
  command: [\"sh\"]
";

#[test]
fn manifests_tell_what_is_missing_here() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.yaml"), MANIFEST).unwrap();
    let run = |words: &[&str]| edgeplane(dir.path()).args(words).output().unwrap();
    let output = run(&["agent", "list", "--offline", ".", "-o", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let list: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let readiness: Vec<_> =
        list["items"].as_array().unwrap().iter().map(|agent| agent["readiness"].clone()).collect();
    assert_eq!(readiness, ["incomplete", "ready"]);
    let table = stdout(&run(&["agent", "list", "--offline", "a.yaml"]));
    assert!(table.contains("variable NO_SUCH_TOKEN") && table.contains("reading"), "{table}");
    let one = stdout(&run(&["agent", "describe", "--offline", ".", "reader"]));
    assert!(one.contains("the key") && one.contains("missing") && !one.contains("plain"), "{one}");
    assert_eq!(run(&["agent", "describe", "--offline", ".", "nobody"]).status.code(), Some(66));
}

#[test]
fn wrong_manifest_is_located_and_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.yaml"), MANIFEST).unwrap();
    std::fs::write(dir.path().join("b.yaml"), "apiVersion: edgeplane.dev/v1alpha1\nkind: Agnet\n").unwrap();
    let output = edgeplane(dir.path()).args(["agent", "list", "--offline", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(65));
    assert!(stdout(&output).contains("plain"));
    assert!(stderr(&output).contains("b.yaml:2:"), "{}", stderr(&output));
}
