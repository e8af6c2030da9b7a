//! Shells and interpreters as agents with the adapters that come along: what they are given, they run once and in order.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, path::Path};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{
    Node,
    agents::Programs,
    terminal,
    wait::{PATIENCE, eventually},
};
use edgeplane_types::{Activity, Evidence};
use edgeplane_wire::{api::agent::AgentParams, catalogue::AgentSnapshot};

/// An interpreter, and how it is told things in its own language.
struct Language {
    adapter: &'static str,
    command: Vec<String>,
    /// A line that appends a word to a file.
    says: fn(&Path, &str) -> String,
    /// A line that runs until a file is there.
    waits: fn(&Path) -> String,
    /// Lines that append the words `loop 0` and `loop 1`, by a block of several lines.
    block: fn(&Path) -> String,
}

fn activity(node: &Node, name: &str, state: Activity) {
    eventually(&format!("{name} is {state:?}"), || {
        let status = node.get(name).status;
        (status.activity, status.activity_evidence) == (state, Evidence::Screen)
    });
}

/// Waits until the file holds these lines and nothing else, and shows the screen if it never does.
fn ran(node: &Node, name: &str, log: &Path, expected: &[&str]) {
    let text = || fs::read_to_string(log).unwrap_or_default();
    let is_there = || text().lines().eq(expected.iter().copied());
    if !until(Deadline::after(PATIENCE), is_there) {
        let screen = node.connect().call::<AgentSnapshot>(&AgentParams { agent: name.into() }).text;
        let waiting: Vec<_> = node.inbox(name).into_iter().map(|message| message.reason).collect();
        assert_eq!(text().lines().collect::<Vec<_>>(), expected, "{waiting:?}\n{screen}");
    }
}

fn converse(language: &Language) {
    let (node, name) = (Node::start(), "repl");
    let (log, go) = (node.scratch().join("log"), node.scratch().join("go"));
    let words: Vec<&str> = language.command.iter().map(String::as_str).collect();
    let text = terminal(name, &words, "env: { LANG: C.UTF-8 }");
    node.run(
        name,
        &text.replace("type: terminal", &format!("type: terminal, adapter: {}", language.adapter)),
    );
    activity(&node, name, Activity::Idle);
    let say = |text: &str| drop(node.signal(name, text, None));
    let line = |word: &str| (language.says)(&log, word);
    say(&line("idle"));
    ran(&node, name, &log, &["idle"]);
    // In the same second.
    say(&line("first"));
    say(&line("second"));
    ran(&node, name, &log, &["idle", "first", "second"]);
    say(&[line("grüße 你好 🙂"), (language.block)(&log), line("last")].join("\n"));
    let before = ["idle", "first", "second", "grüße 你好 🙂", "loop 0", "loop 1", "last"];
    ran(&node, name, &log, &before);
    // While something runs no prompt is shown, and nothing is typed that it might read.
    say(&(language.waits)(&go));
    activity(&node, name, Activity::Unknown);
    say(&line("afterwards"));
    let reasons = || node.inbox(name).into_iter().filter_map(|message| message.reason).collect::<Vec<_>>();
    let waits = until(Deadline::after(PATIENCE), || {
        reasons().iter().any(|reason| reason.contains("its screen is not understood"))
    });
    assert!(waits, "{:?}", reasons());
    ran(&node, name, &log, &before);
    fs::write(&go, "").unwrap();
    ran(&node, name, &log, &[before.as_slice(), &["afterwards"]].concat());
    eventually("the screen says of each that it was taken", || node.count(name, "message.injected") == 6);
    assert_eq!(node.count(name, "message.ambiguous"), 0);
    node.verify();
}

/// Proves TERM-004, TERM-005, TERM-011.
#[test]
fn bash_runs_each_message_once_and_in_order() {
    converse(&Language {
        adapter: "bash",
        command: ["/bin/bash", "--norc", "--noprofile", "-i"].map(str::to_owned).to_vec(),
        says: |log, word| format!("echo '{word}' >> {}", log.display()),
        waits: |go| format!("while ! test -e {}; do sleep 0.02; done", go.display()),
        block: |log| format!("for i in 0 1; do\n  echo \"loop $i\" >> {}\ndone", log.display()),
    });
}

/// Proves TERM-004, TERM-005, TERM-011.
#[test]
fn python_runs_each_message_once_and_in_order() {
    converse(&Language {
        adapter: "python",
        command: ["/usr/bin/env", "PYTHON_BASIC_REPL=1", "python3", "-q"].map(str::to_owned).to_vec(),
        says: |log, word| format!("print('{word}', file=open('{}', 'a'))", log.display()),
        waits: |go| {
            format!("sum(0 for _ in iter(lambda: __import__('os').path.exists('{}'), True))", go.display())
        },
        block: |log| {
            format!("for i in range(2):\n    print('loop', i, file=open('{}', 'a'))\n", log.display())
        },
    });
}

/// Proves TERM-004, TERM-005, TERM-011.
#[test]
fn node_runs_each_message_once_and_in_order() {
    let Some(programs) = Programs::find_or_skip("the interpreter of node") else { return };
    converse(&Language {
        adapter: "node",
        command: vec![programs.node().to_string_lossy().into_owned(), "-i".to_owned()],
        says: |log, word| format!("fs.appendFileSync('{}', '{word}\\n')", log.display()),
        waits: |go| format!("while (!fs.existsSync('{}')) {{}}", go.display()),
        block: |log| {
            format!(
                "for (let i = 0; i < 2; i++) {{\n  fs.appendFileSync('{}', `loop ${{i}}\\n`);\n}}",
                log.display()
            )
        },
    });
}
