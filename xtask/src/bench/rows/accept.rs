//! Messages on their way into the record.

use std::{process::Command, sync::Barrier, thread, time::Duration};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::bench::{
    Bench, Group,
    clock::{now_ns, pass},
    node::{Node, manifest},
    peers::bare,
    process,
    row::Row,
    rows::events,
    rpc::Connection,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "accept",
    how: "`runtime/agent.signal` to agents that are stopped, from before the request is written to the answer, which says \
          that the message is durable: one after the other; at 1,000 a second, each from the moment when it was due, \
          on 16 connections; and as fast as 16 connections with 32 on their way each allow, to 16 agents and to one. \
          Then one agent's inbox is filled, and acceptances into it and into another's alternate. Reference: bare \
          appends of 512 bytes to a file, each with `fdatasync`; of the floods the same bare SQLite as beside the \
          events, with 16 writers. The daemon's memory is looked at once its caches are warm. Decisions: the room's own benchmark \
          (`cargo run --release -p edgeplane-policy --example policy_bench`) with 100 rules beside the shipped ones.",
    run,
};

/// Most bare appends at the median.
const REACH_APPENDS: f64 = 3.0;

/// Most milliseconds of all but one in a hundred, at [`PACE`].
const REACH_PACED_P99_MS: f64 = 10.0;

/// Messages a second that are no flood.
const PACE: usize = 1_000;

/// Messages a second of a flood.
const REACH_RATE: f64 = 20_000.0;

/// The same as a share of what SQLite did with 16 writers on the machine where the reach was set, 51,000.
const REACH_RATE_SHARE: f64 = 0.39;

/// Most microseconds of a decision.
const REACH_DECISION_P99_US: f64 = 100.0;

/// How much longer an acceptance may take where very many wait.
const REACH_FULL: f64 = 1.5;

/// MiB by which the daemon may grow meanwhile: what its caches may hold, and nothing for each message.
const REACH_GROWTH_MIB: f64 = 16.0;

const CONNECTIONS: usize = 16;

/// Messages that are not counted.
const WARM_UP: usize = 50;

/// Requests that a connection of a flood has on their way.
const ON_THEIR_WAY: usize = 32;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(1_000, 50);
    let node = bench.node()?;
    let inbox = ["run: stopped", "inbox: { max: 10000000 }"];
    let text: String = (0..CONNECTIONS)
        .map(|index| manifest(&format!("a{index}"), "native", &["/bin/cat"], &inbox))
        .collect();
    node.apply(&text)?;
    node.apply(&manifest("full", "native", &["/bin/cat"], &inbox))?;
    // First: what a flood has left to the disk would be part of every time after it.
    let decision = decisions(bench)?;
    let appends = bare::appends(bench.dir.path(), count)?;
    let alone = one_after_another(&node, "a0", count)?;
    let paced = paced(&node, bench.times(10_000, 500))?;
    let mut rows = vec![
        decision,
        Row::time("message accepted, durable", "µs", &alone)
            .reference("fsync'd append", &appends)
            .against("fsync'd append", appends.p50())
            .reach("p50 ≤ 3 × append", alone.p50() <= REACH_APPENDS * appends.p50()),
        Row::time("message accepted at 1,000 a second", "ms", &paced)
            .reference("fsync'd append", &in_millis(&appends))
            .reach("p99 ≤ 10", paced.p99() <= REACH_PACED_P99_MS),
    ];
    let share = bench.times(2_000, 50);
    let sqlite = events::sqlite(bench)?;
    for (what, targets) in [("16 agents", CONNECTIONS), ("one agent", 1)] {
        let rates: Vec<f64> = (0..bench.times(5, 1))
            .map(|_| flood(&node, |connection| format!("a{}", connection % targets), share))
            .collect::<anyhow::Result<_>>()?;
        let rates = Samples::new(rates);
        rows.push(
            Row::rate(format!("messages accepted on 16 connections, to {what}"), "messages/s", &rates)
                .reference("SQLite", &sqlite)
                .against("SQLite", sqlite.p50())
                .reach("≥ 20,000", rates.p50() >= REACH_RATE)
                .reach_in_ratio(REACH_RATE_SHARE),
        );
    }
    rows.extend(filled(bench, &node, count)?);
    node.abandon()?;
    Ok(rows)
}

fn params(agent: &str, number: usize) -> Value {
    json!({ "agent": agent, "parts": [{ "type": "text", "text": format!("message {number} {}", "x".repeat(200)) }] })
}

fn one_after_another(node: &Node, agent: &str, count: usize) -> anyhow::Result<Samples> {
    let mut connection = node.connect()?;
    for number in 0..WARM_UP {
        accepted(&mut connection, agent, number)?;
    }
    let nanos: Vec<u64> =
        (0..count).map(|number| accepted(&mut connection, agent, number)).collect::<Result<_, _>>()?;
    Ok(Samples::micros(&nanos))
}

/// Nanoseconds of one acceptance.
fn accepted(connection: &mut Connection, agent: &str, number: usize) -> anyhow::Result<u64> {
    let (request, id) = connection.request("runtime/agent.signal", params(agent, number));
    let begin = now_ns();
    connection.send(&request)?;
    connection.answer(id)?;
    Ok(now_ns() - begin)
}

/// What each connection gives, all of them at work at the same time.
fn on_all<T: Send>(
    node: &Node,
    work: impl Fn(usize, &mut Connection) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let begin = Barrier::new(CONNECTIONS);
    let (work, begin) = (&work, &begin);
    thread::scope(|scope| {
        let all: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                let connection = node.connect();
                scope.spawn(move || {
                    begin.wait();
                    work(number, &mut connection?)
                })
            })
            .collect();
        all.into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Messages that are due at even distances, each from the moment when it is due.
fn paced(node: &Node, count: usize) -> anyhow::Result<Samples> {
    let every_ns = u64::try_from(1_000_000_000 / PACE)?;
    let begin = now_ns() + 10_000_000;
    let took = on_all(node, |number, connection| {
        let mine = (0..count).filter(|index| index % CONNECTIONS == number);
        mine.map(|index| {
            let due = begin + every_ns * index as u64;
            pass(Duration::from_nanos(due.saturating_sub(now_ns())));
            accepted(connection, &format!("a{number}"), index)?;
            Ok(now_ns().saturating_sub(due))
        })
        .collect::<anyhow::Result<Vec<u64>>>()
    })?;
    Ok(Samples::millis(&took.concat()))
}

/// Messages a second, each connection saying its share as fast as it can.
fn flood(node: &Node, agent: impl Fn(usize) -> String + Sync, share: usize) -> anyhow::Result<f64> {
    let spans = on_all(node, |number, connection| {
        let agent = agent(number);
        let lines: Vec<_> = (0..share)
            .map(|index| connection.request("runtime/agent.signal", params(&agent, index)).0)
            .collect();
        let begin = now_ns();
        let mut lines = lines.iter();
        for line in lines.by_ref().take(ON_THEIR_WAY) {
            connection.send(line)?;
        }
        for _ in 0..share {
            let answer = connection.read()?;
            ensure!(answer.get("result").is_some(), "refused: {answer}");
            if let Some(line) = lines.next() {
                connection.send(line)?;
            }
        }
        Ok((begin, now_ns()))
    })?;
    let begin = spans.iter().map(|(begin, _)| *begin).min().unwrap_or(0);
    let end = spans.iter().map(|(_, end)| *end).max().unwrap_or(0);
    Ok((CONNECTIONS * share) as f64 * 1e9 / (end - begin) as f64)
}

/// An inbox in which very many wait, beside one in which few do.
fn filled(bench: &Bench, node: &Node, count: usize) -> anyhow::Result<Vec<Row>> {
    let waiting = bench.times(1_000_000, 20_000);
    let warm = bench.times(50_000, 5_000);
    flood(node, |_| "full".to_owned(), warm / CONNECTIONS)?;
    let before = process::memory(node.daemon_pid())?;
    let rate = flood(node, |_| "full".to_owned(), (waiting - warm) / CONNECTIONS)?;
    node.apply(&manifest("empty", "native", &["/bin/cat"], &["run: stopped"]))?;
    let mut connection = node.connect()?;
    let (mut full, mut empty) = (Vec::new(), Vec::new());
    for number in 0..count {
        empty.push(accepted(&mut connection, "empty", number)?);
        full.push(accepted(&mut connection, "full", number)?);
    }
    let after = process::memory(node.daemon_pid())?;
    let (full, empty) = (Samples::micros(&full), Samples::micros(&empty));
    let grown = Samples::new(vec![(after.anonymous_kib - before.anonymous_kib) / 1024.0]);
    Ok(vec![
        Row::time("message accepted where 1,000,000 wait", "µs", &full)
            .reference("where few wait", &empty)
            .against("where few wait", empty.p50())
            .reach("p50 ≤ 1.5 × where few wait", full.p50() <= REACH_FULL * empty.p50())
            .note(format!("{waiting} messages were accepted at {rate:.0} a second")),
        Row::time("what 1,000,000 waiting messages add to the daemon", "MiB", &grown)
            .note(format!(
                "{:.1} MiB of its own before, {:.1} after; with what it maps of the record, at most 64 MiB of the \
                 system's cache, its RSS went from {:.1} to {:.1}",
                before.anonymous_kib / 1024.0,
                after.anonymous_kib / 1024.0,
                before.rss_kib / 1024.0,
                after.rss_kib / 1024.0
            ))
            .reach("≤ 16", grown.p50() <= REACH_GROWTH_MIB),
    ])
}

/// Decisions of the room of rules, made anew.
fn decisions(bench: &Bench) -> anyhow::Result<Row> {
    let output = Command::new(&bench.binaries.policy_bench)
        .output()
        .context("cannot run the benchmark of decisions")?;
    ensure!(
        output.status.success(),
        "the benchmark of decisions: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found: Value = serde_json::from_slice(&output.stdout)?;
    let of = |kind: &str| -> anyhow::Result<Samples> {
        let values = found[kind]["nanos"].as_array().context("the benchmark of decisions gives no values")?;
        Ok(Samples::micros(&values.iter().filter_map(Value::as_u64).collect::<Vec<_>>()))
    };
    let (anew, remembered) = (of("uncached_us")?, of("cached_us")?);
    Ok(Row::time("decision at 100 rules, made anew", "µs", &anew)
        .reference("remembered", &remembered)
        .reach("p99 ≤ 100", anew.p99() <= REACH_DECISION_P99_US))
}

fn in_millis(micros: &Samples) -> Samples {
    micros.scaled(1e-3)
}
