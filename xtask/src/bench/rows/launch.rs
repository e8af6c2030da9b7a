//! From the request to the program's first instruction.

use serde_json::json;

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::manifest,
    peers::{bare, tmux::Tmux},
    reports::Reports,
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "launch",
    how: "Declared agents are started one after the other by `runtime/agent.start` on an open connection; from before \
          the request is written to the clock that the program (static C) reads as its first act. The agent has its \
          own cgroup, its own shim and a durable record of its start; those started before run on. The second row \
          has `limits.memory` and `limits.pids`. Reference: the same program by `posix_spawn`. Peer: `tmux \
          new-session -d` with the same program, without a shell.",
    run,
};

/// Starts that are not counted: the first ones find cold caches, which is true of the peers too.
const WARM_UP: usize = 5;

/// Most milliseconds of all but one in a hundred.
const REACH_P99_MS: f64 = 10.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(200, 20);
    let reports = bench.reports("launch")?;
    let ours = starts(bench, &reports, count, &[])?;
    let limited = starts(bench, &reports, count, &["limits: { memory: 256MiB, pids: 64 }"])?;
    let spawn = Samples::millis(&bare::starts(bench, &reports, count)?);
    let tmux = match Tmux::start(bench)? {
        None => None,
        Some(tmux) => {
            let took = tmux.starts(bench, &reports, count + WARM_UP)?;
            Some(Samples::millis(took.get(WARM_UP..).unwrap_or_default()))
        }
    };
    let rows =
        [("declared agent → its program runs", ours), ("the same with memory and pids limits", limited)];
    Ok(rows
        .into_iter()
        .map(|(what, samples)| {
            let row = Row::time(what, "ms", &samples).reference("spawn", &spawn).peer("tmux", tmux.as_ref());
            let in_time = samples.p99() <= REACH_P99_MS;
            match &tmux {
                Some(tmux) => row
                    .against("tmux", tmux.p50())
                    .reach("p50 ≤ tmux, p99 ≤ 10", in_time && samples.p50() <= tmux.p50()),
                None => row.reach("p99 ≤ 10", in_time),
            }
        })
        .collect())
}

fn starts(bench: &Bench, reports: &Reports, count: usize, more: &[&str]) -> anyhow::Result<Samples> {
    let node = bench.node()?;
    let path = reports.path().to_string_lossy();
    let argv = [bench.program.as_str(), "first", &path];
    let spec: Vec<&str> = ["run: stopped"].iter().chain(more).copied().collect();
    let all = count + WARM_UP;
    let text: String =
        (0..all).map(|index| manifest(&format!("a{index}"), "terminal", &argv, &spec)).collect();
    node.apply(&text)?;
    let mut connection = node.connect()?;
    let mut took = Vec::new();
    for index in 0..all {
        let name = format!("a{index}");
        let (request, id) = connection.request("runtime/agent.start", json!({ "agent": name }));
        let begin = now_ns();
        connection.send(&request)?;
        let report = reports.next()?;
        took.push(report.at_ns.saturating_sub(begin));
        connection.answer(id)?;
        // The next start shall not meet the rest of this one.
        let wait = json!({ "agent": name, "phases": ["running"], "timeout_ms": 10_000 });
        connection.call("runtime/agent.wait", wait)?;
    }
    Ok(Samples::millis(took.get(WARM_UP..).unwrap_or_default()))
}
