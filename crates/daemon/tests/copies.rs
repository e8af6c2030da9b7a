//! A copy of a state directory is not the node: no daemon starts on it, and nothing of the original is touched.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, path::Path, process::Command};

use edgeplane_testkit::{Node, native, signals};
use edgeplane_types::Phase;

/// What a daemon on this state directory says before it ends without having served.
fn refusal(node: &Node, state: &Path) -> String {
    let runtime = node.scratch().join("run");
    let mut command = node.daemon_command();
    command.env("EDGEPLANE_STATE_DIR", state).env("EDGEPLANE_RUNTIME_DIR", runtime);
    let ended = command.output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success(), "{said}");
    said
}

/// Proves LIFE-035.
#[test]
fn copied_state_directory_starts_no_daemon_and_ends_no_agent() {
    let mut node = Node::start();
    node.run("one", &native("one", &["/bin/sleep", "1000"], ""));
    let (pid, shim) = (node.pid("one"), node.shim_pid("one"));
    node.kill_daemon();
    let copy = node.scratch().join("copy");
    assert!(Command::new("cp").arg("-a").arg(node.state_dir()).arg(&copy).status().unwrap().success());

    let said = refusal(&node, &copy);
    let original = fs::canonicalize(node.state_dir()).unwrap();
    assert!(said.contains(&format!("a copy of `{}`", original.display())), "{said}");
    assert!(said.contains("an empty state directory") && said.contains("remove `home`"), "{said}");
    // Whoever takes the identity away has a record whose agents belong to another node.
    fs::remove_file(copy.join("node.json")).unwrap();
    let said = refusal(&node, &copy);
    assert!(said.contains("put the file back"), "{said}");

    assert!(signals::is_alive(pid) && signals::is_alive(shim));
    node.up();
    node.wait("one", Phase::Running);
    assert_eq!((node.pid("one"), node.get("one").status.epoch.0), (pid, 1));
    node.verify();
}
