//! Real programs that speak the Agent Client Protocol, under a real node, with a scripted model.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::Path;

use edgeplane_testkit::{
    agents::{CodexMode, Host, Launch, Programs},
    model::{Hold, Reply, Rule, Script},
    signals, words,
};
use edgeplane_types::{Continuity, DeliveryMode, Phase};
use serde_json::{Value, json};

use DeliveryMode::Interrupt;

/// A program with what it is known to do.
struct Program {
    launch: fn(&Programs, &Path, u16) -> Launch,
    /// The manifest's driver.
    driver: Value,
    /// What its model does to have a command run for which leave must be asked.
    shell: fn(String) -> Reply,
    /// Whether a former session goes on always; else it may be lost, and then begins with what was said as quotations.
    loads: bool,
}

/// What a person does about a real program's questions, and what of its turns is looked at.
trait Desk {
    fn outcome(&self, message: &str) -> String;
    fn decide(&self, verdict: Option<&str>);
    fn pending(&self) -> Vec<Value>;
    fn vote(&self, action: &Value, verdict: &str);
    fn approve_all(&self);
    fn pieces(&self, message: &str, kind: &str) -> usize;
}

impl Desk for Host {
    /// The outcome of a message's turn, once it is over.
    fn outcome(&self, message: &str) -> String {
        self.turn(message)["outcome"].as_str().unwrap().to_owned()
    }

    /// Waits for a question for leave and decides it, or lets it expire.
    fn decide(&self, verdict: Option<&str>) {
        self.soon("it asks for leave", || !self.pending().is_empty());
        match verdict {
            Some(verdict) => self.vote(&self.pending()[0], verdict),
            None => self.soon("nobody decides", || self.pending().is_empty()),
        }
    }

    fn pending(&self) -> Vec<Value> {
        let list =
            self.node.connect().try_raw("conversation/action.list", json!({ "agent": "coder" })).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    fn vote(&self, action: &Value, verdict: &str) {
        let params = json!({ "action_id": action["action"]["id"], "digest": action["action"]["digest"],
                             "verdict": { "verdict": verdict } });
        self.node.connect().try_raw("conversation/action.respond", params).unwrap();
    }

    /// Gives leave for whatever is asked now; some ask before they use a tool of a server, and some do not.
    fn approve_all(&self) {
        self.pending().iter().for_each(|action| self.vote(action, "approve"));
    }

    /// The pieces of a message's answer.
    fn pieces(&self, message: &str, kind: &str) -> usize {
        let pieces = self.facts("item.updated");
        pieces.iter().filter(|piece| piece["message_id"] == message && piece["kind"] == kind).count()
    }
}

/// Everything that a program has to stand.
fn stands(program: &Program) {
    let Some(programs) = Programs::find_or_skip("real programs that speak the Agent Client Protocol") else {
        return;
    };
    let (slow, killed) = (Hold::new(), Hold::new());
    let make = |name: &str| (program.shell)(format!("echo made > {name}"));
    let script = Script::new()
        .rule(Rule::on("remember saffron").reply(Reply::new().text("I will ").text("remember.")))
        .rule(Rule::on("make one").reply(make("one")).says("one is made"))
        .rule(Rule::on("make two").reply(make("two")).says("two is not made"))
        .rule(Rule::on("make three").reply(make("three")).says("three is not made"))
        .rule(Rule::on("be slow").reply(Reply::new().text("begun ").hold(&slow).text("ended")))
        .rule(Rule::on("say stop").says("stopped"))
        .rule(Rule::on("outlive it").reply(Reply::new().text("still ").hold(&killed).text("here")))
        .rule(Rule::on("keep note").reply(
            // The name that the program gives to a tool of a server differs; the rest does not.
            Reply::new().call("memory_put", json!({ "key": "note", "value": "kept" })),
        ))
        .rule(Rule::on("what was it").says("saffron"));
    let launch = |home: &Path, port| (program.launch)(&programs, home, port);
    let mut host = Host::start(launch, &program.driver, script);
    talks(&host);
    asks_for_leave(&host);
    uses_edgeplanes_tools(&host);
    ends_when_asked(&host, &slow);
    outlives_the_daemon(&mut host, &killed);
    goes_on_after_its_death(&host, program);
    assert_eq!(host.server.problems(), Vec::<String>::new());
    host.node.verify();
}

/// A turn with streamed text.
fn talks(host: &Host) {
    let first = host.signal("remember saffron");
    assert_eq!(host.outcome(&first), "end_turn");
    assert!(host.pieces(&first, "text") >= 1);
    // Some have words of their own beside the model's.
    assert!(host.facts("turn.completed")[0]["output_bytes"].as_u64() >= Some(16));
    assert_eq!(host.asked("remember saffron"), 1);
    let opened = host.facts("session.opened").remove(0);
    assert!(opened["program"].is_string() && opened["continuity"] == "none", "{opened}");
}

/// A tool that needs leave: given, refused, not decided.
fn asks_for_leave(host: &Host) {
    for (name, verdict) in [("one", Some("approve")), ("two", Some("deny")), ("three", None)] {
        let message = host.signal(&format!("make {name}"));
        host.decide(verdict);
        host.outcome(&message);
        assert!(host.pieces(&message, "tool_call") >= 1, "{name}");
        assert_eq!(host.work.join(name).exists(), verdict == Some("approve"), "{name}");
    }
    let outcomes: Vec<Value> =
        host.facts("action.resolved").iter().map(|fact| fact["outcome"].clone()).collect();
    assert_eq!(outcomes, ["approved", "denied", "expired"]);
}

/// EdgePlane's own tools, which the program starts and the node knows by where they run.
fn uses_edgeplanes_tools(host: &Host) {
    let message = host.signal("keep note");
    let note = || {
        let key = json!({ "agent": "coder", "key": "note" });
        host.node.connect().try_raw("memory/entry.get", key).ok().map(|entry| entry["value"].clone())
    };
    host.soon("the note is kept", || {
        host.approve_all();
        note() == Some(json!("kept"))
    });
    assert_eq!(host.outcome(&message), "end_turn");
}

/// Cancelled in the middle of a turn.
fn ends_when_asked(host: &Host, slow: &Hold) {
    let slow_message = host.signal("be slow");
    slow.wait_until_reached();
    host.soon("it has begun", || host.pieces(&slow_message, "text") >= 1);
    let stop = host.node.signal_with(&words("coder", "say stop", Interrupt));
    assert_eq!(host.outcome(&slow_message), "cancelled");
    assert_eq!(host.outcome(&stop), "end_turn");
}

/// The daemon dies in the middle of a turn.
fn outlives_the_daemon(host: &mut Host, killed: &Hold) {
    let pid = host.node.pid("coder");
    let message = host.signal("outlive it");
    killed.wait_until_reached();
    host.soon("it has begun", || host.pieces(&message, "text") >= 1);
    host.node.kill_daemon();
    killed.release();
    host.node.up();
    assert_eq!(host.outcome(&message), "end_turn");
    assert_eq!((host.node.pid("coder"), host.asked("outlive it")), (pid, 1));
    let turn = host.facts("turn.completed").into_iter().find(|turn| turn["message_id"] == *message).unwrap();
    assert!(
        turn["output_bytes"].as_u64() >= Some(10),
        "what was said before the daemon's death is part of it"
    );
}

/// The program dies, and its session goes on.
fn goes_on_after_its_death(host: &Host, program: &Program) {
    signals::kill(&[host.node.pid("coder")]);
    host.soon("another epoch has a session", || host.facts("session.opened").len() == 2);
    let continuity = host.node.get("coder").status.continuity;
    let opened = host.facts("session.opened");
    assert!(continuity == Continuity::Full || !program.loads, "{opened:?}");
    assert_eq!(continuity == Continuity::Partial, opened[1]["lost"].is_string(), "{opened:?}");
    let message = host.signal("what was it");
    assert_eq!(host.outcome(&message), "end_turn");
    assert_eq!(host.asked("what was it"), 1);
    assert!(host.was_shown("what was it", "remember saffron"), "what was said before is not there");
    assert_eq!(host.node.get("coder").status.phase, Phase::Running);
}

/// Proves DRV-017.
#[test]
fn codex_stands_all_of_it() {
    let launch =
        |programs: &Programs, home: &Path, port| programs.codex_acp_in(CodexMode::ReadOnly, home, port);
    // Its sandbox forbids the rest without a word.
    let shell = |command: String| Reply::new().shell_with_leave(command);
    stands(&Program {
        launch,
        driver: json!({ "type": "acp", "approvalTimeout": "5s" }),
        shell,
        loads: true,
    });
}

fn shell(command: String) -> Reply {
    Reply::new().shell(command)
}

/// Proves DRV-017.
#[test]
fn claude_stands_all_of_it() {
    // It would let the model look for the tools of servers, instead of naming them.
    let launch = |programs: &Programs, home: &Path, port| {
        programs.claude_acp(home, port).with_env("ENABLE_TOOL_SEARCH", "false")
    };
    stands(&Program {
        launch,
        driver: json!({ "type": "acp", "approvalTimeout": "5s" }),
        shell,
        loads: true,
    });
}

/// Proves DRV-017.
#[test]
fn gemini_stands_all_of_it() {
    let launch = |programs: &Programs, home: &Path, port| programs.gemini_acp(home, port);
    let driver =
        json!({ "type": "acp", "approvalTimeout": "5s", "authMethod": Programs::GEMINI_AUTH_METHOD });
    stands(&Program { launch, driver, shell, loads: false });
}
