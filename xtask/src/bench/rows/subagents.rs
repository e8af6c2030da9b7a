//! Subagents: how soon the program of one runs that is spawned for a task.

use serde_json::json;

use crate::bench::{Bench, Group, clock::now_ns, node::manifest, peers::bare, row::Row, sample::Samples};

pub(crate) const GROUP: Group = Group {
    name: "subagents",
    how: "Subagents of one agent are spawned for a task each by `runtime/subagent.spawn` on an open connection, one after \
          the other; from before the request is written to the clock that the program (static C) reads as its first act. \
          Declaration, relation and task are durable by then; each has a folder, a cgroup and a shim of its own, and is \
          closed and retired before the next. Reference: the same program by `posix_spawn`.",
    run,
};

/// Starts that are not counted: the first ones find cold caches.
const WARM_UP: usize = 5;

/// Milliseconds that it may take at the median beyond the start of the program alone.
const REACH_MS: f64 = 20.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(200, 20);
    let reports = bench.reports("subagents")?;
    let node = bench.node()?;
    let path = reports.path().to_string_lossy();
    let argv = [bench.program.as_str(), "first", &path];
    node.apply(&manifest("a", "terminal", &argv, &[]))?;
    reports.next()?;
    node.wait("a", "running")?;
    let mut connection = node.connect()?;
    let mut took = Vec::new();
    for number in 0..count + WARM_UP {
        let params = json!({ "parent": "a", "name": format!("c{number}"), "task": { "title": "Look" } });
        let (request, id) = connection.request("runtime/subagent.spawn", params);
        let begin = now_ns();
        connection.send(&request)?;
        let report = reports.next()?;
        took.push(report.at_ns.saturating_sub(begin));
        let child = connection.answer(id)?["subagent_id"].clone();
        // The next one shall not meet the rest of this one, nor the bound of children at a time.
        connection.call("runtime/subagent.close", json!({ "subagent": child }))?;
        let wait = json!({ "subagents": [child], "timeout_ms": 10_000 });
        connection.call("runtime/subagent.wait", wait)?;
    }
    let ours = Samples::millis(took.get(WARM_UP..).unwrap_or_default());
    let spawn = Samples::millis(&bare::starts(bench, &reports, count)?);
    let row = Row::time("subagent spawned for a task → its program runs", "ms", &ours)
        .reference("spawn", &spawn)
        .against("spawn", spawn.p50())
        .reach(format!("p50 ≤ spawn + {REACH_MS}"), ours.p50() <= spawn.p50() + REACH_MS);
    Ok(vec![row])
}
