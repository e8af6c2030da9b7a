//! Manifests that are written by `agent init` and tried out by `agent probe`, on nodes that are thrown away.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use edgeplane_testkit::{Binaries, acp, native, terminal, wait::eventually};
use serde_json::{Value, json};

/// A folder for manifests, and for what trials leave behind.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("ep-trial-").tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn cli(&self, words: &[&str]) -> Command {
        let mut command = Command::new(Binaries::built().cli);
        command.args(words).current_dir(self.path()).env("TMPDIR", self.path().join("tmp"));
        command.env_remove("EDGEPLANE_SOCKET").env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.cli(words).output().unwrap()
    }

    fn manifest(&self, text: &str) -> PathBuf {
        let path = self.path().join("agent.yaml");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Tries a manifest out; gives the exit code and the report.
    fn probe(&self, text: &str, more: &[&str]) -> (i32, Value) {
        self.manifest(text);
        let words: Vec<&str> =
            ["agent", "probe", "agent.yaml", "-o", "json"].iter().chain(more).copied().collect();
        let output = self.run(&words);
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| unreachable!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        assert!(self.is_clean(), "the trial left something behind");
        (output.status.code().unwrap(), report)
    }

    /// Whether nothing of any trial is there: no folder, no process.
    fn is_clean(&self) -> bool {
        let own = self.path().join("tmp");
        let is_empty = std::fs::read_dir(&own).unwrap().next().is_none();
        let own = own.to_string_lossy().into_owned();
        let names_it = |pid: &u32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.windows(own.len()).any(|window| window == own.as_bytes())
        };
        is_empty && !edgeplane_os::proc::all().unwrap_or_default().iter().any(names_it)
    }

    /// Whether an agent of some trial runs.
    fn has_agent(&self) -> bool {
        std::fs::read_dir(self.path().join("tmp")).unwrap().flatten().any(|entry| {
            entry.path().join("run/agents").read_dir().is_ok_and(|mut sockets| sockets.next().is_some())
        })
    }

    /// The fake agent's manifest.
    fn fake(&self, options: &[&str], driver: &str) -> String {
        acp("coder", &self.path().join("work"), options, (driver, ""))
    }
}

/// Proves DRV-054.
#[test]
fn program_that_works_is_described() {
    let bench = Bench::new();
    let (code, report) = bench.probe(&bench.fake(&[], ""), &["--say", "say hello"]);
    assert_eq!(
        (code, &report["verdict"], &report["driver"]),
        (0, &json!("works"), &json!("acp")),
        "{report}"
    );
    assert_eq!((&report["program"], &report["protocolVersion"]), (&json!("fake-agent 1.2.3"), &json!(1)));
    assert_eq!(report["modes"], json!({ "current": "ask", "offered": ["ask", "code"] }));
    assert_eq!(report["models"], json!({ "current": "small", "offered": ["small", "large"] }));
    assert_eq!(report["capabilities"], json!({ "loadSession": true }));
    assert_eq!((&report["logins"][0]["id"], &report["answer"]), (&json!("key"), &json!("hello")));
    let output = bench.run(&["agent", "probe", "agent.yaml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("coder (acp) works\n") && text.contains("ask (now), code"), "{text}");
    assert!(text.ends_with("`--say TEXT` tries one\n"), "{text}");
}

/// Proves DRV-054.
#[test]
fn what_is_missing_is_said() {
    let bench = Bench::new();
    let (code, report) = bench.probe(&bench.fake(&["login=yes"], ""), &[]);
    assert_eq!(
        (code, &report["verdict"], &report["logins"][0]["id"]),
        (1, &json!("login_missing"), &json!("key"))
    );
    let text = String::from_utf8(bench.run(&["agent", "probe", "agent.yaml"]).stdout).unwrap();
    assert!(
        text.starts_with("coder (acp) wants a login (") && text.contains("\nnext: log in with "),
        "{text}"
    );
    assert_eq!(bench.probe(&bench.fake(&["login=yes"], ", authMethod: key"), &[]).1["verdict"], "works");
    let (code, report) = bench.probe(&bench.fake(&["version=2"], ""), &[]);
    assert_eq!(
        (code, &report["verdict"], &report["protocolVersion"]),
        (1, &json!("wrong_version"), &json!(2))
    );
    let (_, report) = bench.probe(&bench.fake(&["broken=once"], ""), &[]);
    assert_eq!(
        (&report["verdict"], &report["reason"]),
        (&json!("no_session"), &json!("it opens no session: no network"))
    );
    let (code, report) = bench.probe(&bench.fake(&[], ""), &["--say", "fail"]);
    assert_eq!((code, &report["verdict"]), (1, &json!("turn_failed")));
    assert!(report["reason"].as_str().unwrap().contains("the model is overloaded"), "{report}");
    let absent = acp("coder", &bench.path().join("work"), &[], ("", "")).replace("python3", "no-such-agent");
    let (code, report) = bench.probe(&absent, &[]);
    assert_eq!((code, &report["verdict"]), (1, &json!("not_started")), "{report}");
    assert_eq!(report["missing"][0]["what"], "program no-such-agent");
    assert!(report["hint"].as_str().unwrap().starts_with("install the program no-such-agent"), "{report}");
}

/// Proves DRV-054.
#[test]
fn program_that_hangs_is_given_up_in_time() {
    let bench = Bench::new();
    let (code, report) = bench.probe(&bench.fake(&["silent=yes"], ""), &["--timeout", "2s"]);
    assert_eq!((code, &report["verdict"]), (75, &json!("no_answer")), "{report}");
    let (code, report) = bench.probe(&native("mute", &["sleep", "60"], ""), &["--timeout", "2s"]);
    assert_eq!((code, &report["verdict"]), (75, &json!("no_answer")), "{report}");
}

/// Proves DRV-054.
#[test]
fn terminal_and_native_programs_are_tried_by_what_they_show() {
    let bench = Bench::new();
    let shown = terminal("screen", &["sh", "-c", "echo ready; cat"], "");
    let (code, report) = bench.probe(&shown, &[]);
    assert_eq!((code, &report["screen"]), (0, &json!("ready")), "{report}");
    let ends = native("ends", &["sh", "-c", "echo no key >&2; exit 3"], "");
    let (code, report) = bench.probe(&ends, &[]);
    assert_eq!(
        (code, &report["verdict"], &report["lastLines"]),
        (1, &json!("ended"), &json!(["no key"])),
        "{report}"
    );
    assert!(report["reason"].as_str().unwrap().contains("code 3"));
}

/// Proves DRV-054.
#[test]
fn terminal_that_takes_no_messages_is_told_apart() {
    let bench = Bench::new();
    let prompt =
        terminal("screen", &["bash", "--norc", "-i"], "").replace("terminal }", "terminal, adapter: bash }");
    let (code, report) = bench.probe(&prompt, &[]);
    assert_eq!((code, &report["verdict"]), (0, &json!("works")), "{report}");
    let asks = terminal("screen", &["sh", "-c", "echo 'May I? (y/n)'; cat"], "");
    let (code, report) = bench.probe(&asks.replace("terminal }", "terminal, adapter: bash }"), &[]);
    assert_eq!((code, &report["verdict"]), (1, &json!("not_idle")), "{report}");
    assert!(report["reason"].as_str().unwrap().contains("does not know this screen"), "{report}");
    assert!(report["hint"].as_str().unwrap().contains("edgeplane attach screen --control"), "{report}");
}

/// Proves DRV-054.
#[test]
fn interrupted_trial_leaves_nothing() {
    let bench = Bench::new();
    bench.manifest(&bench.fake(&["silent=yes"], ""));
    let mut child = bench.cli(&["agent", "probe", "agent.yaml"]).spawn().unwrap();
    eventually("its agent runs", || bench.has_agent());
    edgeplane_testkit::signals::send(child.id(), edgeplane_os::Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(bench.is_clean());
}

/// Proves DRV-063.
#[test]
fn killed_trial_leaves_nothing() {
    let bench = Bench::new();
    bench.manifest(&bench.fake(&["silent=yes"], ""));
    let mut child = bench.cli(&["agent", "probe", "agent.yaml"]).spawn().unwrap();
    eventually("its agent runs", || bench.has_agent());
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("nothing of it is left", || bench.is_clean());
}

/// Proves DRV-063.
#[test]
fn what_a_trial_could_not_end_is_ended_by_the_next() {
    // The daemon is killed with whoever would have ended it, or lives on.
    for with_daemon in [true, false] {
        let bench = Bench::new();
        bench.manifest(&bench.fake(&["silent=yes"], ""));
        let mut child = bench.cli(&["agent", "probe", "agent.yaml"]).spawn().unwrap();
        eventually("its agent runs", || bench.has_agent());
        let keeper = edgeplane_os::proc::children(child.id()).unwrap();
        let daemon = edgeplane_os::proc::children(keeper[0]).unwrap();
        let mut killed = vec![child.id(), keeper[0]];
        if with_daemon {
            killed.extend(daemon);
        }
        edgeplane_testkit::signals::kill(&killed);
        child.wait().unwrap();
        assert!(!bench.is_clean(), "what is to be ended is there");
        let (code, report) = bench.probe(&bench.fake(&[], ""), &[]);
        assert_eq!((code, &report["verdict"]), (0, &json!("works")), "{report}");
    }
}

/// Proves DRV-053.
#[test]
fn written_python_agent_works_as_it_is() {
    let bench = Bench::new();
    let output = bench.run(&["agent", "init", "python", "--name", "helper", "--out", "helper.yaml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let words = ["agent", "probe", "helper.yaml", "--say", "good day", "-o", "json"];
    let report: Value = serde_json::from_slice(&bench.run(&words).stdout).unwrap();
    assert_eq!(report["verdict"], "works", "{report}");
    assert!(report["answer"].as_str().unwrap().ends_with("(trusted) said: good day"), "{report}");
    assert!(bench.is_clean());
}

/// Proves DRV-053.
#[test]
fn nothing_is_written_over_unless_asked_for() {
    let bench = Bench::new();
    let init = |more: &[&str]| {
        let words: Vec<&str> = ["agent", "init", "python"].iter().chain(more).copied().collect();
        bench.run(&words).status.code().unwrap()
    };
    std::fs::write(bench.path().join("python-agent.py"), "mine").unwrap();
    assert_eq!(init(&[]), 73);
    assert!(!bench.path().join("python.yaml").exists(), "all or nothing");
    assert_eq!(init(&["--force"]), 0);
    assert_eq!(init(&[]), 0, "what is there is the same");
    let driver = bench.run(&["agent", "init", "shell", "--driver", "acp"]);
    assert_eq!(driver.status.code(), Some(64));
    let list = String::from_utf8(bench.run(&["agent", "init"]).stdout).unwrap();
    assert!(list.contains("claude-code") && list.contains("acp, terminal"), "{list}");
}
