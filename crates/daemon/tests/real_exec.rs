//! Real programs that end with each turn, under a real node, with a scripted model.

use std::path::Path;

use edgeplane_testkit::{
    agents::{Host, Launch, Programs},
    model::{Hold, Reply, Rule, Script},
    signals, words,
};
use edgeplane_types::{Continuity, DeliveryMode};
use serde_json::json;

use DeliveryMode::Interrupt;

/// Everything that a program has to stand.
fn stands(launch: impl Fn(&Programs, &Path, u16) -> Launch, preset: &str) {
    let Some(programs) = Programs::find_or_skip("real programs that end with each turn") else { return };
    let (killed, slow) = (Hold::new(), Hold::new());
    let script = Script::new()
        .rule(Rule::on("remember saffron").says("I will remember."))
        .rule(Rule::on("look around").reply(Reply::new().shell("echo looked")).says("there is nothing"))
        .rule(Rule::on("what was it").says("saffron"))
        .rule(Rule::on("outlive it").reply(Reply::new().text("still ").hold(&killed).text("here")))
        .rule(Rule::on("be slow").reply(Reply::new().text("begun ").hold(&slow).text("ended")))
        .rule(Rule::on("say stop").says("stopped"))
        .rule(Rule::on("and again").says("saffron again"));
    let mut host = Host::start(
        |home, port| launch(&programs, home, port),
        &json!({ "type": "exec", "preset": preset }),
        script,
    );

    // Two turns with a use of a tool between them, and the daemon dead between the two processes.
    let first = host.turn(&host.signal("remember saffron"));
    assert_eq!((&first["outcome"], &first["output_bytes"]), (&json!("end_turn"), &json!(16)));
    let looked = host.turn(&host.signal("look around"));
    assert_eq!((&looked["outcome"], &looked["output_bytes"]), (&json!("end_turn"), &json!(16)));
    assert!(host.facts("item.updated").iter().any(|piece| piece["kind"] == "tool_call"));
    assert!(host.facts("usage.reported").iter().all(|used| used["input_tokens"].is_u64()));
    let pid = host.node.pid("coder");
    host.node.kill_daemon();
    host.node.up();
    assert_eq!(host.turn(&host.signal("what was it"))["outcome"], "end_turn");
    assert!(host.was_shown("what was it", "remember saffron"), "what was said before is not there");

    // The daemon dies in the middle of a turn.
    let message = host.signal("outlive it");
    killed.wait_until_reached();
    host.node.kill_daemon();
    killed.release();
    host.node.up();
    let turn = host.turn(&message);
    assert_eq!((&turn["outcome"], &turn["output_bytes"]), (&json!("end_turn"), &json!("still here".len())));
    assert_eq!((host.node.pid("coder"), host.node.get("coder").status.epoch.0), (pid, 1));

    // A turn is interrupted, and the next one is in a session all the same.
    let message = host.signal("be slow");
    slow.wait_until_reached();
    let stop = host.node.signal_with(&words("coder", "say stop", Interrupt));
    assert_eq!(host.turn(&message)["outcome"], "cancelled");
    assert_eq!(host.turn(&stop)["outcome"], "end_turn");
    assert_eq!(host.facts("session.opened").len(), 1);

    // The runner dies, and the next epoch goes on with the session.
    signals::kill(&[pid]);
    host.soon("another epoch runs", || host.facts("session.opened").len() == 2);
    assert_eq!(host.node.get("coder").status.continuity, Continuity::Full);
    assert_eq!(host.turn(&host.signal("and again"))["outcome"], "end_turn");
    assert!(host.was_shown("and again", "remember saffron"), "what was said before is not there");
    for text in ["remember saffron", "what was it", "outlive it", "be slow", "say stop", "and again"] {
        assert_eq!(host.asked(text), 1, "{text}");
    }
    assert_eq!(host.server.problems(), Vec::<String>::new());
    host.node.verify();
}

/// Proves DRV-042.
#[test]
fn claude_stands_all_of_it() {
    stands(
        |programs, home, port| {
            let mut launch = programs.claude_prompt(home, port, "");
            launch.argv.truncate(1);
            launch.arg("--permission-mode").arg("bypassPermissions")
        },
        "claude-code",
    );
}

/// Proves DRV-042.
#[test]
fn codex_stands_all_of_it() {
    stands(
        |programs, home, port| {
            let mut launch = programs.codex_exec(home, port, "");
            launch.argv.truncate(2);
            launch.arg("--dangerously-bypass-approvals-and-sandbox")
        },
        "codex",
    );
}

/// Proves DRV-042.
#[test]
fn gemini_stands_all_of_it() {
    stands(|programs, home, port| programs.gemini(home, port).arg("--yolo"), "gemini");
}
