//! `edgeplane-shim delete` and the rest of the command line.

use std::{path::Path, process::Command};

use edgeplane_wire::spec::LaunchSpec;

use crate::harness::{Shim, epoch_dir, eventually, is_alive, shim_program, spec};

/// Runs `delete`, which must find the tree empty, and reads its report.
pub(crate) fn delete(dir: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = Command::new(shim_program())
        .args(["delete", "--epoch-dir", dir.to_str().unwrap(), "--socket"])
        .arg(dir.join("sock"))
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!dir.join("sock").exists(), "the socket is gone");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// SHIM-034
#[test]
fn remains_of_a_killed_shim_are_found_by_their_mark() {
    let dir = epoch_dir();
    let mark = format!("EDGEPLANE_EPOCH=agt_cleanup_{}.3", std::process::id());
    let script = "setsid sleep 1000 & echo $! .; while :; do sleep 1; done";
    let base = spec(dir.path(), script);
    let env = [base.env.clone(), vec![mark.clone().into_bytes()]].concat();
    let mut shim = Shim::launch(LaunchSpec { env, ..base });
    let orphan: u32 = shim.control.until_shown(".").split(' ').next().unwrap().parse().unwrap();
    shim.kill_shim();
    assert!(dir.path().join("sock").exists());
    let (pid, start) = (shim.started.pid.to_string(), shim.started.start.to_string());
    let report = delete(dir.path(), &["--pid", &pid, "--start", &start, "--mark", &mark]);
    assert_eq!((&report["treeEmpty"], &report["evidence"]), (&true.into(), &"best_effort".into()));
    let recorded = std::fs::metadata(dir.path().join("000001.cast")).unwrap().len();
    assert_eq!(report["recordingBytes"], recorded);
    assert!(report["killed"].as_u64().unwrap() >= 1);
    eventually("nobody of the tree lives", || !is_alive(orphan) && !is_alive(shim.started.pid));
    let again = delete(dir.path(), &["--pid", &pid, "--start", &start, "--mark", &mark]);
    assert_eq!((&again["treeEmpty"], &again["killed"]), (&true.into(), &0.into()));
}

/// SHIM-034
#[test]
fn without_any_evidence_the_tree_is_in_doubt() {
    let dir = epoch_dir();
    let output =
        Command::new(shim_program()).args(["delete", "--epoch-dir"]).arg(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["treeEmpty"], false);
}

#[test]
fn help_version_and_mistakes_are_answered() {
    let run = |arguments: &[&str]| {
        let output = Command::new(shim_program()).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(help.contains("edgeplane-shim delete"));
    let version = format!("edgeplane-shim {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["--version"]), (Some(0), version, String::new()));
    let (code, _, error) = run(&["walk"]);
    assert_eq!(code, Some(2));
    assert_eq!(error, "edgeplane-shim: `walk` is no command; see `edgeplane-shim --help`\n");
    let (code, _, error) = run(&["run", "shell", "3"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("only edgeplaned starts shims"), "{error}");
}
