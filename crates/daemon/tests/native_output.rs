//! What a native program says is handled once, whoever dies while it says it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use edgeplane_os::{Signal, wait::Deadline};
use edgeplane_testkit::{Node, native, random::Random, signals, wait::eventually};
use edgeplane_types::{Epoch, Phase};
use edgeplane_wire::{
    api::{agent::ChangeParams, message::InboxParams},
    catalogue::{AgentFreeze, AgentRelease, AgentStart, InboxList},
};
use serde_json::Value;

/// Lines of each kind that a batch has.
const BATCH: usize = 20;

/// A program that writes a batch of lines for each file `go.N` and says so with a file `done.N`; the file `end` ends
/// it. A second life of it writes nothing.
fn batches(node: &Node, last: usize) -> String {
    format!(
        r#"cd {folder}; [ -e lived ] && exec cat; : > lived; i=0
        for batch in $(seq {last}); do
            until [ -e go.$batch ]; do sleep 0.01; done
            n=0
            while [ $n -lt {BATCH} ]; do
                n=$((n+1)); i=$((i+1))
                echo '{{"jsonrpc":"2.0","method":"agent/turn.complete","params":{{"output":"turn-'$i'"}}}}'
                echo '{{"jsonrpc":"2.0","id":"p'$i'","method":"memory/entry.put","params":{{"key":"key-'$i'","value":'$i'}}}}'
                echo '{{"jsonrpc":"2.0","id":"s'$i'","method":"runtime/agent.signal","params":{{"agent":"peer","parts":[{{"type":"text","text":"<signal-'$i'>"}}]}}}}'
                echo "only text $i"
            done
            : > done.$batch
        done
        until [ -e end ]; do sleep 0.01; done"#,
        folder = node.scratch().display(),
    )
}

fn node_with_peer() -> Node {
    let node = Node::start();
    node.run("peer", &native("peer", &["/bin/cat"], ""));
    node
}

fn go(node: &Node, batch: usize) {
    std::fs::write(node.scratch().join(format!("go.{batch}")), "").unwrap();
}

fn wrote(node: &Node, batch: usize) {
    let done = node.scratch().join(format!("done.{batch}"));
    eventually("the batch is written", || done.exists());
}

/// The texts of the messages that came to the peer from the writer, in the order of their arrival.
fn signals_to_peer(node: &Node) -> Vec<String> {
    let of = |parts: Option<Vec<edgeplane_types::Part>>| match parts.as_deref() {
        Some([edgeplane_types::Part::Text { text }]) => text.clone(),
        other => panic!("not one text: {other:?}"),
    };
    node.inbox("peer").into_iter().map(|message| of(message.parts)).collect()
}

/// Every line of `batches` whole batches has had its effect, and none has had it twice.
fn check_effects(node: &Node, lines: usize) {
    let expected: Vec<String> = (1..=lines).map(|number| format!("<signal-{number}>")).collect();
    eventually("everything has been handled", || {
        node.count("writer", "turn.completed") >= lines && signals_to_peer(node).len() >= lines
    });
    let turns = node.events("writer", &["turn.completed"]);
    let digests: BTreeSet<String> =
        turns.iter().map(|event| event.event["payload"]["output_digest"].to_string()).collect();
    assert_eq!((turns.len(), digests.len()), (lines, lines));
    assert_eq!(signals_to_peer(node), expected);
    let keys = node.memory("writer").items;
    assert_eq!(keys.len(), lines);
    for key in keys {
        assert_eq!(key.version, 1, "{}", key.key);
    }
    node.verify();
}

#[test]
fn lines_written_without_a_daemon_are_handled_once_by_the_next() {
    let mut node = node_with_peer();
    node.run("writer", &native("writer", &["/bin/sh", "-c", &batches(&node, 3)], ""));
    go(&node, 1);
    wrote(&node, 1);
    node.kill_daemon();
    go(&node, 2);
    wrote(&node, 2);
    node.up();
    go(&node, 3);
    wrote(&node, 3);
    check_effects(&node, 3 * BATCH);
    // Once more from what is recorded: nothing of it is handled again.
    node.kill_daemon();
    node.up();
    node.wait("writer", Phase::Running);
    check_effects(&node, 3 * BATCH);
    assert_eq!(node.get("writer").status.epoch, Epoch(1));
}

#[test]
fn last_words_of_a_program_that_ended_without_a_daemon_are_handled_once() {
    let mut node = node_with_peer();
    let never = "restart: { policy: never }";
    node.run("writer", &native("writer", &["/bin/sh", "-c", &batches(&node, 2)], never));
    go(&node, 1);
    node.kill_daemon();
    go(&node, 2);
    std::fs::write(node.scratch().join("end"), "").unwrap();
    wrote(&node, 2);
    node.up();
    node.wait("writer", Phase::Stopped);
    check_effects(&node, 2 * BATCH);
    let exits = node.events("writer", &["agent.exited"]);
    assert_eq!(exits.len(), 1);
    assert_eq!(exits[0].event["payload"]["status"]["code"], 0);
}

/// Waits for the second epoch of an agent whose tree was killed without a daemon.
fn let_next_epoch_run(node: &Node, name: &str) {
    let status = || node.get(name).status;
    eventually("the next epoch runs or is refused", || {
        status().epoch == Epoch(2) || status().phase == Phase::Quarantined
    });
    if status().phase == Phase::Quarantined {
        // Without a cgroup an orphan of another test looks as if it could be one of its own.
        assert!(!node.has_cgroups(), "{:?}", status().reason);
        let params = || ChangeParams { agent: name.to_owned(), reason: None };
        node.connect().call::<AgentRelease>(&params());
        node.connect().call::<AgentStart>(&params());
    }
    node.wait(name, Phase::Running);
}

#[test]
fn last_words_of_a_tree_that_was_killed_without_a_daemon_are_handled_once() {
    let mut node = node_with_peer();
    let always = "restart: { policy: always, backoff: { initial: 10ms } }";
    node.run("writer", &native("writer", &["/bin/sh", "-c", &batches(&node, 2)], always));
    let (shim, pid) = (node.shim_pid("writer"), node.pid("writer"));
    let recording = recording_of(&node, "writer");
    go(&node, 1);
    node.kill_daemon();
    go(&node, 2);
    wrote(&node, 2);
    let last = format!("only text {}", 2 * BATCH);
    eventually("the shim recorded it", || read(&recording).contains(&last));
    signals::kill(&[shim, pid]);
    node.up();
    let_next_epoch_run(&node, "writer");
    node.wait("writer", Phase::Running);
    check_effects(&node, 2 * BATCH);
    assert_eq!(node.events("writer", &["agent.exited"])[0].event["payload"]["status"], "unknown");
}

/// Lines of a stream that the daemon dies in again and again.
const STREAM: usize = 300;

/// How often it dies.
const DEATHS: usize = 8;

#[test]
fn stream_of_lines_is_handled_once_however_often_the_daemon_dies() {
    let mut random = Random::seeded("stream_of_lines_is_handled_once_however_often_the_daemon_dies");
    let mut node = node_with_peer();
    let program = format!(
        r#"i=0; while [ $i -lt {STREAM} ]; do i=$((i+1)); case $((i%3)) in
            0) echo '{{"jsonrpc":"2.0","id":'$i',"method":"memory/entry.put","params":{{"key":"line","value":'$i'}}}}';;
            1) echo '{{"jsonrpc":"2.0","id":'$i',"method":"runtime/agent.signal","params":{{"agent":"peer","parts":[{{"type":"text","text":"<signal-'$i'>"}}]}}}}';;
            2) echo '{{"jsonrpc":"2.0","method":"agent/item.report","params":{{"kind":"note","text":"item '$i'"}}}}';;
        esac; done; exec cat"#
    );
    node.run("writer", &native("writer", &["/bin/sh", "-c", &program], ""));
    let pid = node.pid("writer");
    let done = |node: &Node| {
        signals_to_peer(node).len()
            + node.count("writer", "item.reported")
            + node.count("writer", "memory.put")
    };
    for death in 0..DEATHS {
        let enough = death * STREAM / DEATHS + usize::try_from(random.below(30)).unwrap();
        eventually("some lines are handled", || done(&node) >= enough.min(STREAM));
        node.kill_daemon();
        node.up();
    }
    eventually("every line is handled", || done(&node) >= STREAM);
    node.wait("writer", Phase::Running);
    assert_eq!(node.pid("writer"), pid);
    let numbers = |rest: usize| (1..=STREAM).filter(move |number| number % 3 == rest);
    let expected: Vec<String> = numbers(1).map(|number| format!("<signal-{number}>")).collect();
    assert_eq!(signals_to_peer(&node), expected);
    let versions = node.versions("writer", "line").items;
    let values: Vec<Value> = versions.into_iter().filter_map(|entry| entry.value).collect();
    assert_eq!(values, numbers(0).map(Value::from).collect::<Vec<_>>());
    let items = node.events("writer", &["item.reported"]);
    let digests: BTreeSet<String> =
        items.iter().map(|event| event.event["payload"]["body_digest"].to_string()).collect();
    assert_eq!((items.len(), digests.len()), (STREAM / 3, STREAM / 3));
    node.verify();
}

/// A program that asks one thing after the other and goes on only with an answer; it logs each answer.
const ASKING: &str = r#"
import json, sys
log = open(sys.argv[1], "a")
count = int(sys.argv[2])
for number in range(1, count + 1):
    ask = {
        0: ("memory/entry.put", {"key": "line", "value": number}),
        1: ("runtime/agent.signal", {"agent": "peer", "parts": [{"type": "text", "text": f"<signal-{number}>"}]}),
        2: ("runtime/agent.get", {"agent": "peer"}),
    }[number % 3]
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": ask[0], "params": ask[1]}), flush=True)
    for line in sys.stdin:
        answer = json.loads(line)
        if "method" not in answer:
            break
    else:
        sys.exit(0)
    assert answer["id"] == number and "result" in answer, answer
    print(number, answer["result"].get("version", ""), file=log, flush=True)
for line in sys.stdin:
    answer = json.loads(line)
    if "method" not in answer:
        print("unasked", line, file=log, flush=True)
"#;

/// Questions of a program that waits for each answer.
const QUESTIONS: usize = 150;

#[test]
fn program_that_waits_for_an_answer_gets_it_once_however_often_the_daemon_dies() {
    let mut random =
        Random::seeded("program_that_waits_for_an_answer_gets_it_once_however_often_the_daemon_dies");
    let mut node = node_with_peer();
    let log = node.scratch().join("answers.log");
    let (log_text, count) = (log.to_string_lossy().into_owned(), QUESTIONS.to_string());
    node.run("writer", &native("writer", &["python3", "-c", ASKING, &log_text, &count], ""));
    let answers = || read(&log).lines().map(str::to_owned).collect::<Vec<_>>();
    for death in 0..DEATHS {
        let enough = death * QUESTIONS / DEATHS + usize::try_from(random.below(15)).unwrap();
        eventually("some answers came", || answers().len() >= enough.min(QUESTIONS));
        node.kill_daemon();
        node.up();
    }
    eventually("every answer came", || answers().len() >= QUESTIONS);
    let numbers = |rest: usize| (1..=QUESTIONS).filter(move |number| number % 3 == rest);
    let expected: Vec<String> = numbers(1).map(|number| format!("<signal-{number}>")).collect();
    assert_eq!(signals_to_peer(&node), expected);
    let versions = node.versions("writer", "line").items;
    assert_eq!(versions.len(), QUESTIONS / 3);
    let expected = (1..=QUESTIONS).map(|number| match number % 3 {
        0 => format!("{number} {}", number / 3),
        _ => format!("{number} "),
    });
    assert_eq!(answers(), expected.collect::<Vec<_>>());
    node.verify();
}

#[test]
fn program_that_starts_while_the_daemon_dies_is_greeted_once() {
    let mut random = Random::seeded("program_that_starts_while_the_daemon_dies_is_greeted_once");
    let mut node = Node::start();
    for round in 0..10 {
        let name = format!("born-{round}");
        let log = node.scratch().join(&name);
        let program = format!("exec cat >> {}", log.display());
        node.apply(&native(&name, &["/bin/sh", "-c", &program], ""));
        // The start goes on beside these calls: the daemon dies at another step of it each time.
        for _ in 0..random.below(12) {
            drop(node.get(&name));
        }
        node.kill_daemon();
        node.up();
        node.wait(&name, Phase::Running);
        eventually("it is greeted", || read(&log).contains("agent/session.start"));
        node.signal(&name, "hello", Some(edgeplane_types::Rung::Injected));
        eventually("it hears", || read(&log).contains("agent/message.deliver"));
        let epoch = node.get(&name).status.epoch.0;
        let greetings = read(&log).matches("agent/session.start").count();
        assert!(greetings as u64 <= epoch, "greeted {greetings} times in {epoch} epochs");
    }
    node.verify();
}

#[test]
fn words_of_a_frozen_program_wait_with_it() {
    let mut node = node_with_peer();
    node.run("writer", &native("writer", &["/bin/sh", "-c", &batches(&node, 1)], ""));
    if let Err(error) = node.change::<AgentFreeze>("writer") {
        eprintln!("SKIPPED words_of_a_frozen_program_wait_with_it: {error}");
        return;
    }
    node.wait("writer", Phase::Frozen);
    go(&node, 1);
    node.kill_daemon();
    node.up();
    node.wait("writer", Phase::Frozen);
    assert_eq!(node.count("writer", "turn.completed"), 0);
    node.change::<edgeplane_wire::catalogue::AgentUnfreeze>("writer").unwrap();
    check_effects(&node, BATCH);
}

#[test]
fn messages_for_a_program_that_does_not_read_come_once_and_in_order() {
    let mut node = Node::start();
    let log = node.scratch().join("log");
    node.run("slow", &native("slow", &["/bin/sh", "-c", &format!("exec cat >> {}", log.display())], ""));
    eventually("it is greeted", || read(&log).contains("agent/session.start"));
    signals::send(node.pid("slow"), Signal::STOP);
    let long = "x".repeat(100 << 10);
    for number in 0..5 {
        node.signal("slow", &format!("<{number}>{long}"), None);
    }
    for _ in 0..3 {
        node.kill_daemon();
        node.up();
        node.wait("slow", Phase::Running);
        let params = InboxParams { agent: "slow".into(), all: false, limit: 10 };
        assert_eq!(node.connect().call::<InboxList>(&params).items.len(), 5);
    }
    signals::send(node.pid("slow"), Signal::CONT);
    eventually("all is read", || node.get("slow").status.waiting_messages == 0 && read(&log).contains("<4>"));
    eventually("all is written", || read(&log).lines().count() == 6 && read(&log).ends_with('\n'));
    let order: Vec<usize> = (0..5).map(|number| read(&log).find(&format!("<{number}>")).unwrap()).collect();
    assert!(order.is_sorted(), "{order:?}");
    node.verify();
}

/// A program that ends a turn for each message, but only while the file `awake` is there.
const ANSWERING: &str = r#"
import json, os, sys, time
for line in sys.stdin:
    said = json.loads(line)
    if said.get("method") != "agent/message.deliver":
        continue
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    for method in ("agent/message.observe", "agent/turn.complete"):
        params = {"message_id": said["params"]["message_id"], "output": "done"}
        print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)
    open(sys.argv[1] + ".done", "w").close()
"#;

#[test]
fn message_climbs_its_rungs_in_order_whoever_dies() {
    let mut node = Node::start();
    for dies in ["nobody", "program", "tree"] {
        let name = format!("after-{dies}");
        let awake = node.scratch().join(&name);
        let done = awake.with_extension("done");
        let restart = "restart: { policy: never }";
        node.run(&name, &native(&name, &["python3", "-c", ANSWERING, &awake.to_string_lossy()], restart));
        let (shim, pid) = (node.shim_pid(&name), node.pid(&name));
        let recording = recording_of(&node, &name);
        // Longer than a pipe: the shim ends writing it when there is no daemon to be told.
        signals::send(pid, Signal::STOP);
        let id = node.signal(&name, &"x".repeat(100 << 10), None).message_id;
        eventually("the shim has begun to write it", || read(&recording).contains(&id.to_string()));
        node.kill_daemon();
        std::fs::write(&awake, "").unwrap();
        signals::send(pid, Signal::CONT);
        eventually("it answered", || done.exists());
        eventually("the shim recorded it", || read(&recording).contains("turn.complete"));
        match dies {
            "program" => signals::kill(&[pid]),
            "tree" => signals::kill(&[shim, pid]),
            _ => {}
        }
        node.up();
        eventually("its turn has ended", || node.count(&name, "message.turn_ended") > 0);
        let inbox = node.inbox(&name);
        let rungs: Vec<&str> = inbox[0].receipts.iter().map(|receipt| receipt.rung.as_str()).collect();
        assert_eq!(rungs, ["accepted", "injected", "observed", "turn_ended"], "{dies}");
        assert_eq!((inbox.len(), inbox[0].message_id), (1, id));
    }
    node.verify();
}

#[test]
fn message_that_was_written_without_a_daemon_is_injected_though_a_later_one_goes_first() {
    let mut node = Node::start();
    let log = node.scratch().join("log");
    let program = format!("exec cat >> {}", log.display());
    let always = "restart: { policy: always, backoff: { initial: 10ms } }";
    node.run("slow", &native("slow", &["/bin/sh", "-c", &program], always));
    eventually("it is greeted", || read(&log).contains("agent/session.start"));
    let (shim, pid) = (node.shim_pid("slow"), node.pid("slow"));
    signals::send(pid, Signal::STOP);
    // Longer than a pipe: the shim has begun to write it when the later one comes.
    let early = format!("<early>{}", "x".repeat(100 << 10));
    let recording = recording_of(&node, "slow");
    let id = node.signal("slow", &early, None).message_id;
    eventually("the shim has begun to write it", || read(&recording).contains(&id.to_string()));
    let mut later = json_signal("slow", "<later>");
    later["priority"] = "high".into();
    node.connect().try_raw("runtime/agent.signal", later).unwrap();
    node.kill_daemon();
    signals::send(pid, Signal::CONT);
    eventually("it read the early one", || read(&log).ends_with('\n') && read(&log).contains("<early>"));
    eventually("the shim recorded it", || read(&recording).contains("<early>"));
    signals::kill(&[shim, pid]);
    node.up();
    let_next_epoch_run(&node, "slow");
    eventually("both came to an end", || node.get("slow").status.waiting_messages == 0);
    eventually("it read the later one", || read(&log).contains("<later>"));
    let early = read(&log).matches("<early>").count();
    assert_eq!(early, 3, "once as text, once as a part, and quoted to the epoch that follows");
    eventually("both are known to be injected", || node.count("slow", "message.injected") == 2);
    node.verify();
}

/// How long an answer may take while an agent floods its pipe: far more than any needs, far less than for ever.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

#[test]
fn flood_of_text_holds_up_nobody() {
    let mut node = Node::start();
    let quiet = node.scratch().join("quiet");
    let program = format!(
        "until [ -e {quiet} ]; do n=0; while [ $n -lt 500 ]; do n=$((n+1)); echo line $n; done; done; exec cat",
        quiet = quiet.display()
    );
    for name in ["flood-1", "flood-2"] {
        node.run(name, &native(name, &["/bin/sh", "-c", &program], ""));
    }
    for _ in 0..2 {
        for _ in 0..20 {
            let asked = Deadline::after(ANSWER_TIME_MAX);
            assert_eq!(node.list().len(), 2);
            assert!(!asked.has_passed(), "an answer took more than {ANSWER_TIME_MAX:?}");
        }
        node.kill_daemon();
        node.up();
    }
    std::fs::write(&quiet, "").unwrap();
    for name in ["flood-1", "flood-2"] {
        node.wait(name, Phase::Running);
        node.signal(name, "hello", Some(edgeplane_types::Rung::Injected));
    }
    node.verify();
}

/// The first file of an agent's first recording, to be read while there is no daemon.
fn recording_of(node: &Node, name: &str) -> PathBuf {
    let id = node.get(name).metadata["id"].as_str().unwrap().to_owned();
    node.state_dir().join("agents").join(id).join("1/000001.cast")
}

fn json_signal(agent: &str, text: &str) -> Value {
    serde_json::json!({ "agent": agent, "parts": [{ "type": "text", "text": text }] })
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
