//! Real terminal programs, typed into by their adapters, against the scripted model server.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{
    Node,
    agents::{Launch, Programs},
    model::{Hold, ModelServer, Reply, Rule, Script},
    wait::{PATIENCE, eventually},
};
use edgeplane_types::{Activity, Evidence, Rung};
use edgeplane_wire::{
    api::agent::{AgentParams, HooksState},
    catalogue::AgentSnapshot,
};
use serde_json::Value;

/// The folders of a program.
fn folders(node: &Node, name: &str) -> (PathBuf, PathBuf) {
    let (home, work) = (node.scratch().join(name).join("home"), node.scratch().join(name).join("work"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&work).unwrap();
    (home, work)
}

fn run(node: &Node, name: &str, launch: &Launch, work: &Path) {
    let mut text = format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {{ name: {name} }}\nspec:\n  \
         driver: {{ type: terminal, adapter: {name} }}\n  terminal: {{ cols: 100, rows: 30 }}\n  cwd: {}\n  \
         stop: {{ grace: 500ms }}\n  command: {}\n  env:\n",
        work.display(),
        serde_json::to_string(&launch.argv).unwrap()
    );
    for (variable, value) in launch.env.iter().filter(|(variable, _)| variable != "TERM") {
        writeln!(text, "    {variable}: {}", serde_json::to_string(value).unwrap()).unwrap();
    }
    node.run(name, &text);
    activity(node, name, Activity::Idle);
}

/// Waits as `eventually` does, and shows the screen and what waits if it does not come.
fn or_show(node: &Node, name: &str, what: &str, condition: impl FnMut() -> bool) {
    if until(Deadline::after(PATIENCE), condition) {
        return;
    }
    let screen = node.connect().call::<AgentSnapshot>(&AgentParams { agent: name.into() });
    let waiting: Vec<_> = node.inbox(name).into_iter().map(|message| message.reason).collect();
    panic!("not in time: {what}: {waiting:?}\n{}", screen.recorded);
}

fn activity(node: &Node, name: &str, state: Activity) {
    or_show(node, name, &format!("{name} is {state:?}"), || {
        let status = node.get(name).status;
        let is_shown = matches!(status.activity_evidence, Evidence::Screen | Evidence::Hook);
        is_shown && status.activity == state
    });
}

fn injected(node: &Node, name: &str, count: usize) {
    or_show(node, name, &format!("{count} messages of {name} are injected"), || {
        node.count(name, "message.injected") == count
    });
    assert_eq!(node.count(name, "message.ambiguous"), 0);
}

fn held(node: &Node, name: &str, why: &str) {
    or_show(node, name, &format!("{name}: {why}"), || {
        node.inbox(name).iter().any(|message| message.reason.as_deref().is_some_and(|it| it.contains(why)))
    });
}

fn converse(name: &str, launch: impl FnOnce(&Programs, &Node, u16) -> (Launch, PathBuf)) {
    let Some(programs) = Programs::find_or_skip(name) else { return };
    let hold = Hold::new();
    let script = Script::new().rule(Rule::on("WAIT").reply(Reply::new().hold(&hold).text("it was let go")));
    let server = ModelServer::start(script);
    let node = Node::start();
    let (launch, work) = launch(&programs, &node, server.port());
    run(&node, name, &launch, &work);
    let long: Vec<String> = (1..=50).map(|line| format!("line {line} grüße 你好 🙂 end")).collect();
    let texts = ["two\nlines", &long.join("\n"), "in the same second"];
    for text in texts {
        node.signal(name, text, None);
    }
    injected(&node, name, texts.len());
    for text in texts {
        let is_asked = until(Deadline::after(PATIENCE), || times_asked(&server, text) > 0);
        assert!(is_asked, "not asked whole: {text}\n{:#?}", server.received_prompts());
    }
    activity(&node, name, Activity::Idle);
    node.signal(name, "WAIT", None);
    injected(&node, name, texts.len() + 1);
    activity(&node, name, Activity::Working);
    node.signal(name, "after the turn", None);
    held(&node, name, "a turn runs");
    hold.release();
    injected(&node, name, texts.len() + 2);
    eventually("it came after the turn", || times_asked(&server, "after the turn") > 0);
    for text in texts {
        assert_eq!(times_asked(&server, text), 1, "{text}");
    }
    told(&node, name, texts.len() + 2);
    node.verify();
}

/// How often a text stands in what the model was last asked: the whole conversation, with whatever a program adds.
fn times_asked(server: &ModelServer, text: &str) -> usize {
    fn count(value: &Value, text: &str) -> usize {
        match value {
            Value::String(said) => said.matches(text).count(),
            Value::Array(items) => items.iter().map(|item| count(item, text)).sum(),
            Value::Object(fields) => fields.values().map(|field| count(field, text)).sum(),
            _ => 0,
        }
    }
    let requests = server.requests();
    requests.iter().map(|request| count(&request.body, text)).max().unwrap_or(0)
}

/// Waits until the program's own hooks have said that it took every message, and that its turns ended.
fn told(node: &Node, name: &str, count: usize) {
    // Not every program can be given hooks.
    let Some(hooks) = node.get(name).status.hooks else { return assert_eq!(name, "gemini-cli") };
    assert_eq!((hooks.state, hooks.reason), (HooksState::Installed, None));
    or_show(node, name, "its hooks told what it took", || {
        node.count(name, "message.observed") == count && node.count(name, "message.turn_ended") == count
    });
    for message in node.inbox(name) {
        let told = message.receipts.iter().filter(|receipt| {
            matches!(receipt.rung, Rung::Observed | Rung::TurnEnded) && receipt.evidence == Evidence::Hook
        });
        assert_eq!(told.count(), 2, "{:?}", message.receipts);
    }
    let kinds = |kind: &str| node.history(name).iter().filter(|view| view.event["type"] == kind).count();
    if name == "claude-code" {
        assert_eq!(kinds("item.reported"), 0, "no prompt was anything else");
    }
    assert!(node.get(name).status.identities.session.resume_handle.is_some());
}

/// Proves TERM-001, TERM-003, TERM-004, TERM-005.
#[test]
fn codex_is_given_each_message_whole_and_in_its_turn() {
    converse("codex", |programs, node, port| {
        let (home, work) = folders(node, "codex");
        (programs.codex(&home, &work, port), work)
    });
}

/// Proves TERM-001, TERM-003, TERM-004, TERM-005.
#[test]
fn gemini_is_given_each_message_whole_and_in_its_turn() {
    converse("gemini-cli", |programs, node, port| {
        let (home, work) = folders(node, "gemini-cli");
        (programs.gemini(&home, port), work)
    });
}

/// Proves TERM-001, TERM-003, TERM-004, TERM-005.
#[test]
fn claude_code_is_given_each_message_whole_and_in_its_turn() {
    converse("claude-code", |programs, node, port| {
        let (home, work) = folders(node, "claude-code");
        (programs.claude(&home, &work, port), work)
    });
}

/// Proves TERM-005, TERM-014, TERM-016.
#[test]
fn a_dialog_of_claude_code_is_not_answered() {
    let node = dialog("claude-code", |programs, home, work, port| {
        // Else it decides by itself what is harmless.
        programs.claude(home, work, port).arg("--permission-mode").arg("default")
    });
    let Some(node) = node else { return };
    let hooks = node.get("claude-code").status.hooks.unwrap();
    assert!(hooks.asks.is_some_and(|what| what.contains("leave to use Bash: touch ")));
    assert_eq!(node.count("claude-code", "item.updated"), 1, "the use of the tool has begun");
}

/// Proves TERM-005.
#[test]
fn a_dialog_of_gemini_is_not_answered() {
    drop(dialog("gemini-cli", |programs, home, _work, port| programs.gemini(home, port)));
}

/// A program asks for leave, and messages that would answer are held. The node is handed over with the dialog open.
fn dialog(name: &str, launch: impl FnOnce(&Programs, &Path, &Path, u16) -> Launch) -> Option<Node> {
    let programs = Programs::find_or_skip(&format!("a dialog of {name}"))?;
    let node = Node::start();
    let (home, work) = folders(&node, name);
    let touched = work.join("touched");
    let command = format!("touch {}", touched.display());
    let script = Script::new().rule(Rule::on("TOUCH").reply(Reply::new().shell(command)).says("it is done"));
    let server = ModelServer::start(script);
    run(&node, name, &launch(&programs, &home, &work, server.port()), &work);
    node.signal(name, "TOUCH", None);
    activity(&node, name, Activity::AwaitingApproval);
    node.signal(name, "1", None);
    node.signal(name, "yes", None);
    held(&node, name, "a dialog is open");
    assert!(!touched.exists() && server.tool_results().is_empty());
    assert_eq!(node.count(name, "message.injected"), 1);
    Some(node)
}
