//! A hundred agents at once.

use std::process::Child;

use serde_json::json;

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, manifest},
    peers::{
        bare,
        scanners::{Kind, Scanner},
    },
    process,
    reports::Reports,
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "fleet",
    how: "One `runtime/agent.apply` with 100 new manifests, and in the second row 100 `runtime/agent.start` in one \
          write for agents that are declared; from the first byte until the first instruction of the last program \
          and until `runtime/node.status` counts 100 running, whichever is later. Reference: 100 × `posix_spawn`. \
          Peers: `s6-svscan` and `runsvdir` started on a folder of 100 services, until the last program's first \
          instruction.",
    run,
};

/// Most milliseconds for a hundred.
const REACH_MS: f64 = 500.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (count, rounds) = (100, bench.times(7, 1));
    let reports = bench.reports("fleet")?;
    let (mut applied, mut started) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        applied.push(apply_round(bench, &reports, count)?);
        started.push(start_round(bench, &reports, count)?);
    }
    let spawn = Samples::millis(&repeat(rounds, || spawn_all(bench, &reports, count))?);
    let s6 = scanner(Kind::S6, bench, &reports, (count, rounds))?;
    let runit = scanner(Kind::Runit, bench, &reports, (count, rounds))?;
    let row = |what: &str, nanos: &[u64]| {
        let samples = Samples::millis(nanos);
        Row::time(what, "ms", &samples)
            .reference("100 × spawn", &spawn)
            .peer("s6", s6.as_ref())
            .peer("runit", runit.as_ref())
            .against("spawn", spawn.p50())
            .reach("≤ 500", samples.p50() <= REACH_MS)
    };
    Ok(vec![
        row("100 new agents applied → all run", &applied),
        row("100 declared agents started → all run", &started),
    ])
}

fn repeat(rounds: usize, mut round: impl FnMut() -> anyhow::Result<u64>) -> anyhow::Result<Vec<u64>> {
    (0..rounds).map(|_| round()).collect()
}

fn texts(bench: &Bench, reports: &Reports, count: usize, more: &[&str]) -> String {
    let path = reports.path().to_string_lossy();
    let argv = [bench.program.as_str(), "first", &path];
    (0..count).map(|index| manifest(&format!("a{index}"), "terminal", &argv, more)).collect()
}

fn apply_round(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<u64> {
    let node = bench.node()?;
    let mut connection = node.connect()?;
    let params = node.apply_params(&texts(bench, reports, count, &[]));
    let (request, id) = connection.request("runtime/agent.apply", params);
    let begin = now_ns();
    connection.send(&request)?;
    let programs = reports.take(count)?;
    connection.answer(id)?;
    finish(&node, count, begin, programs.iter().map(|report| report.at_ns).max())
}

fn start_round(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<u64> {
    let node = bench.node()?;
    node.apply(&texts(bench, reports, count, &["run: stopped"]))?;
    let mut connection = node.connect()?;
    let requests: Vec<u8> = (0..count)
        .flat_map(|index| {
            connection.request("runtime/agent.start", json!({ "agent": format!("a{index}") })).0
        })
        .collect();
    let begin = now_ns();
    connection.send(&requests)?;
    let programs = reports.take(count)?;
    finish(&node, count, begin, programs.iter().map(|report| report.at_ns).max())
}

/// Waits until the node counts them all, which is where the measurement ends.
fn finish(node: &Node, count: usize, begin: u64, last: Option<u64>) -> anyhow::Result<u64> {
    let mut connection = node.connect()?;
    let count = u64::try_from(count)?;
    while Node::count(&mut connection, "running")? != count {}
    Ok(now_ns().max(last.unwrap_or(0)) - begin)
}

fn spawn_all(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<u64> {
    let mut command = process::silent(&bench.program);
    command.arg("first").arg(reports.path());
    let begin = now_ns();
    // The programs' reports are read while the rest is started: the socket holds few.
    let mut children: Vec<Child> = Vec::new();
    let mut last = begin;
    for _ in 0..count {
        children.push(command.spawn()?);
        last = last.max(reports.next()?.at_ns);
    }
    for child in &mut children {
        bare::end(child)?;
    }
    Ok(last - begin)
}

fn scanner(
    kind: Kind,
    bench: &Bench,
    reports: &Reports,
    (count, rounds): (usize, usize),
) -> anyhow::Result<Option<Samples>> {
    let mut took = Vec::new();
    for _ in 0..rounds {
        let Some(mut scanner) = Scanner::prepare(kind, bench, count, reports)? else { return Ok(None) };
        took.push(scanner.start(reports, count)?.took_ns);
    }
    Ok(Some(Samples::millis(&took)))
}
