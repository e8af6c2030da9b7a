//! Graphs of tasks: how soon a large one is shown.

use std::os::unix::net::UnixStream;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::calls::ping_pong;
use crate::bench::{Bench, Group, clock::now_ns, row::Row, rpc::Connection, sample::Samples};

pub(crate) const GROUP: Group = Group {
    name: "work",
    how: "A graph of 10,000 tasks that are drafts, each a part of the first one and depending on five older ones, written \
          down one after another over the unix socket; then `runtime/task.graph` of all of it, from the request to the \
          last byte of the answer. Reference: two threads that hand each other as many bytes over a socket of the same \
          kind.",
    run,
};

/// Tasks of the graph.
const TASKS: usize = 10_000;

/// Tasks that each depends on.
const EDGES_EACH: usize = 5;

/// Milliseconds that showing it may take.
const REACH_MILLIS: f64 = 50.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let node = bench.node()?;
    let mut connection = node.connect()?;
    let tasks = bench.times(TASKS, 200);
    let (root, edges, written) = write_down(&mut connection, tasks)?;
    let (line, _) = connection.request("runtime/task.graph", json!({ "task_id": root }));
    let times = bench.times(200, 5);
    let (mut nanos, mut bytes) = (Vec::with_capacity(times), 0);
    for number in 0..times + 5 {
        let begin = now_ns();
        connection.send(&line)?;
        let answer = connection.read_line()?;
        // The first ones warm everything up.
        if number >= 5 {
            nanos.push(now_ns() - begin);
        }
        bytes = answer.len();
        if number == 0 {
            let answer: Value = serde_json::from_slice(answer)?;
            let count = |key: &str| answer["result"][key].as_array().map_or(0, Vec::len);
            ensure!((count("tasks"), count("edges")) == (tasks, edges), "the graph is not whole");
        }
    }
    let ours = Samples::millis(&nanos);
    let bare = Samples::millis(&ping_pong(UnixStream::pair()?, (line.len(), bytes), times)?);
    let row = Row::time(format!("graph of {tasks} tasks with {edges} edges, shown whole"), "ms", &ours)
        .reference("unix ping-pong of the same bytes", &bare)
        .against("unix ping-pong", bare.p50())
        .reach(format!("p50 ≤ {REACH_MILLIS}"), ours.p50() <= REACH_MILLIS);
    let seconds = written as f64 / 1e9;
    let rate = Samples::new(vec![tasks as f64 / seconds]);
    Ok(vec![row, Row::rate("tasks written down one after another", "tasks/s", &rate)])
}

/// Writes a graph down; gives its root, how many edges it has, and how long that took.
fn write_down(connection: &mut Connection, tasks: usize) -> anyhow::Result<(String, usize, u64)> {
    let begin = now_ns();
    let mut ids: Vec<String> = Vec::with_capacity(tasks);
    let mut edges = 0;
    for place in 0..tasks {
        let mut params = json!({ "title": format!("Task number {place}"), "start": false });
        if let Some(root) = ids.first() {
            params["parent_id"] = json!(root);
        }
        // Spread over what is there, always the same.
        let older: std::collections::BTreeSet<_> = (1..=EDGES_EACH.min(place.saturating_sub(1)))
            .filter_map(|step| ids.get(1 + (place * 7 + step * 131) % (place - 1).max(1)))
            .collect();
        edges += older.len();
        params["depends_on"] = json!(older);
        let made = connection.call("runtime/task.create", params)?;
        ids.push(made["task_id"].as_str().context("a task has an id")?.to_owned());
    }
    let root = ids.into_iter().next().context("there is a task")?;
    Ok((root, edges, now_ns() - begin))
}
