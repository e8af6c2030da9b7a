//! From an agent's death to its next life.

use std::time::Duration;

use anyhow::Context as _;
use edgeplane_os::Signal;
use serde_json::{Value, json};

use crate::bench::{
    Bench, Group,
    clock::{now_ns, pass},
    node::manifest,
    peers::{
        bare,
        scanners::{Kind, Scanner},
    },
    process,
    reports::Reports,
    row::Row,
    rpc::Connection,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "restart",
    how: "The program of an agent with `restart.backoff.initial: 0s` is killed with SIGKILL; until the first \
          instruction of its next epoch, and until its `agent.started` event, which is durable, reaches a subscriber. \
          Reference: kill, wait, `posix_spawn`. Peer: runit, whose services had each lived longer than a second, for \
          else it waits; s6 waits a second in any case and is left out.",
    run,
};

/// Most milliseconds at the median.
const REACH_MS: f64 = 5.0;

/// The same against runit, which took 2.5 ms on the machine where the reach was set.
const REACH_RATIO: f64 = 2.0;

/// After less than a second of life runit waits before it starts a service again.
const RUNIT_PATIENCE: Duration = Duration::from_millis(1_200);

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(100, 20);
    let reports = bench.reports("restart")?;
    let (program, event) = kills(bench, &reports, count)?;
    let spawn = Samples::millis(&bare::restarts(bench, &reports, count)?);
    let runit = runit(bench, &reports, bench.times(40, 5))?;
    let row = |what: &str, samples: &Samples| {
        let row =
            Row::time(what, "ms", samples).reference("kill, spawn", &spawn).peer("runit", runit.as_ref());
        let row = row.reach("p50 ≤ 5", samples.p50() <= REACH_MS);
        match &runit {
            Some(runit) => row.against("runit", runit.p50()).reach_in_ratio(REACH_RATIO),
            None => row,
        }
    };
    Ok(vec![
        row("agent killed → next epoch's program runs", &program),
        row("agent killed → next epoch recorded as running", &event),
    ])
}

fn kills(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<(Samples, Samples)> {
    let node = bench.node()?;
    let path = reports.path().to_string_lossy();
    let argv = [bench.program.as_str(), "first", &path];
    let restart = "restart: { policy: always, backoff: { initial: 0s, max: 0s, jitterPercent: 0 }, breaker: { failures: 0 } }";
    node.apply(&manifest("a", "terminal", &argv, &[restart]))?;
    let mut pid = reports.next()?.pid;
    node.wait("a", "running")?;
    let mut events = node.connect()?;
    events.call(
        "stream/subscribe",
        json!({ "target": { "kind": "agent", "id": "a" }, "types": ["agent.started"] }),
    )?;
    let (mut to_program, mut to_event) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let begin = now_ns();
        process::kill(pid, Signal::KILL)?;
        started(&mut events)?;
        to_event.push(now_ns() - begin);
        let report = reports.next()?;
        to_program.push(report.at_ns.saturating_sub(begin));
        pid = report.pid;
        node.wait("a", "running")?;
    }
    Ok((Samples::millis(&to_program), Samples::millis(&to_event)))
}

/// Waits for the event of a start.
fn started(events: &mut Connection) -> anyhow::Result<()> {
    while events.read()?.get("method").and_then(Value::as_str) != Some("stream/event") {}
    Ok(())
}

fn runit(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<Option<Samples>> {
    let Some(mut scanner) = Scanner::prepare(Kind::Runit, bench, count, reports)? else { return Ok(None) };
    let started = scanner.start(reports, count).context("runit")?;
    pass(RUNIT_PATIENCE);
    let mut took = Vec::new();
    for program in &started.programs {
        let begin = now_ns();
        process::kill(program.pid, Signal::KILL)?;
        took.push(reports.next()?.at_ns.saturating_sub(begin));
    }
    Ok(Some(Samples::millis(&took)))
}
