//! A real program under trial: without credentials, and with a model that answers from a script.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{path::Path, process::Command};

use edgeplane_testkit::{
    Binaries,
    agents::{Launch, Programs},
    model::{ModelServer, Rule, Script},
};
use serde_json::{Value, json};

/// Tries a program out with exactly this environment; gives the exit code and the report.
fn probe(folder: &Path, launch: &Launch, without: &[&str], say: &[&str]) -> (i32, Value) {
    let mut launch = launch.clone();
    launch.env.retain(|(name, _)| !without.contains(&name.as_str()));
    let manifest =
        launch.manifest("coder", json!({ "stop": { "grace": "2s" }, "driver": { "type": "acp" } }));
    std::fs::write(folder.join("coder.yaml"), manifest).unwrap();
    let mut command = Command::new(Binaries::built().cli);
    command.args(["agent", "probe", "coder.yaml", "--timeout", "110s", "-o", "json"]).args(say);
    let output = command.current_dir(folder).env_remove("EDGEPLANE_SOCKET").output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| unreachable!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), report)
}

/// Proves DRV-054.
#[test]
fn real_program_says_what_it_is_and_that_it_wants_a_login() {
    let Some(programs) = Programs::find_or_skip("a trial of a real program") else { return };
    let server = ModelServer::start(Script::new().rule(Rule::on("say saffron").says("saffron")));
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let launch = programs.codex_acp(&home, server.port());
    let (code, report) = probe(dir.path(), &launch, &[], &["--say", "say saffron"]);
    assert_eq!((code, &report["verdict"]), (0, &json!("works")), "{report}");
    assert!(report["program"].as_str().unwrap().contains("2.6.0"), "{report}");
    assert_eq!(report["protocolVersion"], 1);
    assert!(report["answer"].as_str().unwrap().contains("saffron"), "{report}");
    assert!(!report["modes"]["offered"].as_array().unwrap().is_empty(), "{report}");

    // The same without its configuration.
    let empty = dir.path().join("empty");
    std::fs::create_dir_all(empty.join("tmp")).unwrap();
    let mut bare = launch.clone();
    for (name, value) in &mut bare.env {
        match name.as_str() {
            "HOME" => *value = empty.to_string_lossy().into_owned(),
            "TMPDIR" => *value = empty.join("tmp").to_string_lossy().into_owned(),
            _ => {}
        }
    }
    let (code, report) = probe(dir.path(), &bare, &["OPENAI_API_KEY", "CODEX_API_KEY"], &[]);
    assert_eq!((code, &report["verdict"]), (1, &json!("login_missing")), "{report}");
    assert!(!report["logins"].as_array().unwrap().is_empty(), "{report}");
}
