//! A message on its way into a program.

use serde_json::json;

use crate::bench::{Bench, Group, clock::now_ns, node::manifest, peers::bare, row::Row, sample::Samples};

pub(crate) const GROUP: Group = Group {
    name: "signal",
    how: "`runtime/agent.signal` on an open connection, one after the other; from before the request is written to the \
          clock that a native program (C, a bare `read`) reads once it has the line. The message is durable before \
          the program gets it. Reference: one row a commit into SQLite with `synchronous=FULL`.",
    run,
};

/// Most SQLite commits at the median.
const REACH_COMMITS: f64 = 4.0;

/// Most microseconds of all but one in a hundred.
const REACH_P99_US: f64 = 5_000.0;

/// Messages that are not counted.
const WARM_UP: usize = 20;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(1_000, 50);
    let reports = bench.reports("signal")?;
    let path = reports.path().to_string_lossy().into_owned();
    let node = bench.node()?;
    node.apply(&manifest("a", "native", &[&bench.program, "lines", &path], &[]))?;
    reports.next()?;
    node.wait("a", "running")?;
    let commit = bare::sqlite_commits(bench.dir.path(), count);
    let mut connection = node.connect()?;
    let (mut to_program, mut to_answer) = (Vec::new(), Vec::new());
    for index in 0..count + WARM_UP {
        let params = json!({ "agent": "a", "parts": [{ "type": "text", "text": format!("message {index} {}", "x".repeat(200)) }] });
        let (request, id) = connection.request("runtime/agent.signal", params);
        let begin = now_ns();
        connection.send(&request)?;
        connection.answer(id)?;
        to_answer.push(now_ns() - begin);
        to_program.push(reports.next()?.at_ns.saturating_sub(begin));
        // The receipt `injected` of this one shall not meet the next one: it belongs to this one.
        let waiting = json!({ "agent": "a" });
        while connection.call("runtime/agent.get", waiting.clone())?["status"]["waitingMessages"] != 0 {}
    }
    let counted = |nanos: &[u64]| Samples::micros(nanos.get(WARM_UP..).unwrap_or_default());
    let read = counted(&to_program);
    let row = Row::time("signal → read by a native agent, durable", "µs", &read)
        .note(format!("acknowledged as durable after {:.0} µs", counted(&to_answer).p50()));
    Ok(vec![match commit {
        Some(commit) => row.reference("SQLite commit", &commit).against("SQLite commit", commit.p50()).reach(
            "p50 ≤ 4 × commit, p99 ≤ 5,000",
            read.p50() <= REACH_COMMITS * commit.p50() && read.p99() <= REACH_P99_US,
        ),
        None => row.reach("p99 ≤ 5,000", read.p99() <= REACH_P99_US).note("no Python for the reference"),
    }])
}
