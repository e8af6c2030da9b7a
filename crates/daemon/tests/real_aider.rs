//! Aider on a terminal, typed into by its adapter, against the scripted model server.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{fmt::Write as _, fs};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{
    Node,
    agents::Aider,
    model::{Hold, ModelServer, Reply, Rule, Script},
    wait::AGENT_PATIENCE,
};
use edgeplane_types::{Activity, Evidence};
use edgeplane_wire::{api::agent::AgentParams, catalogue::AgentSnapshot};

const NAME: &str = "aider";

/// Waits as `eventually` does, and shows the screen and what waits if it does not come.
fn or_show(node: &Node, what: &str, condition: impl FnMut() -> bool) {
    if until(Deadline::after(AGENT_PATIENCE), condition) {
        return;
    }
    let screen = node.connect().call::<AgentSnapshot>(&AgentParams { agent: NAME.into() });
    let waiting: Vec<_> = node.inbox(NAME).into_iter().map(|message| message.reason).collect();
    panic!("not in time: {what}: {waiting:?}\n{}", screen.recorded);
}

fn activity(node: &Node, state: Activity) {
    or_show(node, &format!("it is {state:?}"), || {
        let status = node.get(NAME).status;
        (status.activity, status.activity_evidence) == (state, Evidence::Screen)
    });
}

fn injected(node: &Node, count: usize) {
    or_show(node, &format!("{count} messages are injected"), || {
        node.count(NAME, "message.injected") == count
    });
    assert_eq!(node.count(NAME, "message.ambiguous"), 0);
}

fn held(node: &Node, why: &str) {
    or_show(node, why, || {
        node.inbox(NAME).iter().any(|message| message.reason.as_deref().is_some_and(|it| it.contains(why)))
    });
}

/// A node with aider in an empty folder, which is given back.
fn start(aider: &Aider, server: &ModelServer) -> (Node, std::path::PathBuf) {
    let node = Node::start();
    let (home, work) = (node.scratch().join("home"), node.scratch().join("work"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&work).unwrap();
    let launch = aider.launch(&home, server.port());
    let mut text = format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {{ name: {NAME} }}\nspec:\n  \
         driver: {{ type: terminal, adapter: {NAME} }}\n  terminal: {{ cols: 100, rows: 30 }}\n  cwd: {}\n  \
         stop: {{ grace: 500ms }}\n  command: {}\n  env:\n",
        work.display(),
        serde_json::to_string(&launch.argv).unwrap()
    );
    for (variable, value) in launch.env.iter().filter(|(variable, _)| variable != "TERM") {
        writeln!(text, "    {variable}: {}", serde_json::to_string(value).unwrap()).unwrap();
    }
    node.run(NAME, &text);
    activity(&node, Activity::Idle);
    (node, work)
}

/// Proves TERM-001, TERM-003, TERM-004, TERM-005.
#[test]
fn aider_is_given_each_message_whole_and_in_its_turn() {
    let Some(aider) = Aider::find_or_skip("aider on a terminal") else { return };
    let hold = Hold::new();
    let waits = Rule::anywhere("WAIT").reply(Reply::new().hold(&hold).text("it was let go"));
    let server = ModelServer::start(Script::new().rule(waits));
    let (node, _work) = start(&aider, &server);
    let long: Vec<String> = (1..=50).map(|line| format!("line {line} grüße 你好 🙂 end")).collect();
    let texts = ["two\nlines", &long.join("\n"), "in the same second"];
    for text in texts {
        node.signal(NAME, text, None);
    }
    injected(&node, texts.len());
    // It says its own rules behind each prompt, and all that was said before in each request.
    let asked = |text: &str| {
        let requests = server.requests();
        let messages = requests.last().and_then(|request| request.body["messages"].as_array());
        let said = messages.into_iter().flatten().filter(|message| message["role"] == "user");
        said.filter(|message| message["content"].as_str().is_some_and(|content| content.contains(text)))
            .count()
    };
    for text in texts {
        or_show(&node, "the model was asked it whole", || asked(text) > 0);
        assert_eq!(asked(text), 1, "{text}");
    }
    activity(&node, Activity::Idle);
    node.signal(NAME, "WAIT", None);
    injected(&node, texts.len() + 1);
    activity(&node, Activity::Working);
    node.signal(NAME, "after the turn", None);
    held(&node, "a turn runs");
    hold.release();
    injected(&node, texts.len() + 2);
    or_show(&node, "it came after the turn", || asked("after the turn") == 1);
    node.verify();
}

/// Proves TERM-005.
#[test]
fn a_question_of_aider_is_not_answered() {
    let Some(aider) = Aider::find_or_skip("a question of aider") else { return };
    let made = Rule::anywhere("MAKE").says("made.txt\n```\nhello\n```\n");
    let server = ModelServer::start(Script::new().rule(made));
    let (node, work) = start(&aider, &server);
    node.signal(NAME, "MAKE", None);
    activity(&node, Activity::AwaitingApproval);
    node.signal(NAME, "y", None);
    node.signal(NAME, "yes", None);
    held(&node, "a dialog is open");
    assert!(!work.join("made.txt").exists());
    assert_eq!(node.count(NAME, "message.injected"), 1);
}
