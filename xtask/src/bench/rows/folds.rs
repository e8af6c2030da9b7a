//! Projections made anew from the record.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::streams::scanned;
use crate::bench::{
    Bench, Group,
    node::{Node, manifest},
    row::Row,
    sample::{Samples, digits},
};

pub(crate) const GROUP: Group = Group {
    name: "folds",
    how: "A native agent (Python) that answers messages, each with 25 pieces and an output: some 30 events a message, as \
          a session leaves them. `stream/projection.rebuild` of every projection of the node, the agent, its session, its \
          thread and its last turn, from the first event, with the comparison of its digest to the one that was kept \
          while the events came; events a second as the node measures them. The row has the slowest of them. Reference: \
          the store's own reader over the same rows (`record_bench scan`).",
    run,
};

/// Least events a second of a fold.
const REACH: f64 = 100_000.0;

/// Messages that are on their way at a time.
const AT_ONCE: usize = 32;

/// Answers every message with pieces and an output.
const PROGRAM: &str = r#"
import json, sys

def say(method, **params):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")

for line in sys.stdin:
    said = json.loads(line)
    if said["method"] != "agent/message.deliver":
        continue
    id = said["params"]["message_id"]
    say("agent/message.observe", message_id=id)
    for piece in range(25):
        say("agent/item.report", kind="text", text=f"piece {piece} of an answer that is told as it comes", message_id=id)
    say("agent/turn.complete", message_id=id, output="all of it")
    sys.stdout.flush()
"#;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let node = bench.node()?;
    node.apply(&manifest("a", "native", &["python3", "-c", PROGRAM], &[]))?;
    node.wait("a", "running")?;
    // Before anything is said, so that each is kept while the events come.
    let sources = sources(&node)?;
    let mut connection = node.connect()?;
    for (name, target) in &sources {
        connection.call("stream/projection.get", json!({ "projection": name, "target": target }))?;
    }
    converse(&node, bench.times(4_000, 64))?;
    let mut all = Vec::new();
    for (name, target) in sources.into_iter().chain(of_last_turn(&node)?) {
        let mut rates = Vec::new();
        for _ in 0..bench.times(3, 1) {
            let params = json!({ "projection": name, "target": target });
            let result = connection.call("stream/projection.rebuild", params)?;
            let found = &result["items"][0];
            ensure!(found["equal"] == true, "{name} differs: {result}");
            rates.push(found["events_per_s"].as_f64().context("no rate")?);
        }
        all.push((name, Samples::new(rates)));
    }
    let count = all.len();
    let slowest = all.into_iter().min_by(|(_, a), (_, b)| a.p50().total_cmp(&b.p50()));
    let (name, ours) = slowest.context("there is no projection")?;
    let head = connection.call("stream/replay", json!({ "newest": true, "limit": 1 }))?;
    let head = head["items"][0]["n"].as_f64().context("no head")?;
    let scans = scanned(bench, &node)?;
    let what = format!("rebuilding the slowest of {count} projections of {} events, `{name}`", digits(head));
    let met = ours.p50() >= REACH;
    Ok(vec![
        Row::rate(what, "events/s", &ours)
            .reference("the store's reader", &scans)
            .against("the store's reader", scans.p50())
            .reach(format!("≥ {}", digits(REACH)), met),
    ])
}

/// Every projection but the log, each of everything that it can be about here; turns come later.
fn sources(node: &Node) -> anyhow::Result<Vec<(String, Value)>> {
    let mut connection = node.connect()?;
    let sessions = connection.call("conversation/session.list", json!({ "agent": "a" }))?;
    let session = &sessions["items"][0];
    let targets = [
        json!({ "kind": "node" }),
        json!({ "kind": "agent", "id": "a" }),
        json!({ "kind": "session", "id": session["session_id"] }),
        json!({ "kind": "thread", "id": session["thread_id"] }),
    ];
    Ok(named(node)?
        .into_iter()
        .flat_map(|(name, kinds)| {
            let own = targets.iter().filter(move |target| kinds.contains(&target["kind"]));
            own.map(move |target| (name.clone(), target.clone())).collect::<Vec<_>>()
        })
        .collect())
}

fn of_last_turn(node: &Node) -> anyhow::Result<Vec<(String, Value)>> {
    let turns = node.connect()?.call("conversation/turn.list", json!({ "agent": "a", "limit": 1 }))?;
    let target = json!({ "kind": "turn", "id": turns["items"][0]["turn_id"] });
    let is_of_turns = |(_, kinds): &(String, Vec<Value>)| kinds.contains(&json!("turn"));
    let found = named(node)?.into_iter().filter(is_of_turns);
    Ok(found.map(|(name, _)| (name, target.clone())).collect())
}

/// The projections by name, with the kinds of what each is about.
fn named(node: &Node) -> anyhow::Result<Vec<(String, Vec<Value>)>> {
    let list = node.connect()?.call("stream/projection.list", json!({}))?;
    let items = list["items"].as_array().context("no projections")?;
    let name_of = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
    let kinds_of = |item: &Value| item["targets"].as_array().cloned().unwrap_or_default();
    Ok(items.iter().map(|item| (name_of(item), kinds_of(item))).filter(|(name, _)| name != "log").collect())
}

/// Has so many turns, some messages waiting at a time.
fn converse(node: &Node, turns: usize) -> anyhow::Result<()> {
    let mut connection = node.connect()?;
    for _ in 0..turns.div_ceil(AT_ONCE) {
        for _ in 0..AT_ONCE {
            let params = json!({
                "agent": "a",
                "parts": [{ "type": "text", "text": "go on" }],
                "wait": "turn_ended",
                "timeout_ms": 60_000,
            });
            let (line, _) = connection.request("runtime/agent.signal", params);
            connection.send(&line)?;
        }
        let mut answered = 0;
        while answered < AT_ONCE {
            let line = connection.read()?;
            ensure!(line.get("error").is_none(), "a message was refused: {line}");
            answered += usize::from(line.get("result").is_some());
        }
    }
    Ok(())
}
