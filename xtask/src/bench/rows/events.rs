//! Durable events per second.

use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::bench::{Bench, Group, row::Row, sample::Samples};

pub(crate) const GROUP: Group = Group {
    name: "events",
    how: "The store's own benchmark (`cargo run --release -p edgeplane-store --example record_bench`): each writer \
          appends one event and waits until it is durable. Each value is one run of it. Reference: one thread that \
          writes the same bytes into a bare SQLite table with an index, grouping the commits of all that wait.",
    run,
};

/// What is asked of each measurement, in events per second, and as a share of the reference, which did 10,500 and 51,000
/// on the machine where the reach was set.
const REACH: [(&str, u64, f64, f64); 3] = [
    ("record", 1, 10_000.0, 0.95),
    ("record", 16, 40_000.0, 0.78),
    ("record with models", 16, 25_000.0, 0.49),
];

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let seconds = bench.times(2, 1).to_string();
    let mut lines = Vec::new();
    for _ in 0..bench.times(5, 1) {
        lines.extend(measured(bench, &seconds)?);
    }
    REACH
        .iter()
        .map(|(name, writers, reach, share)| {
            let ours = rates(&lines, name, *writers)?;
            let sqlite = rates(&lines, "sqlite", *writers)?;
            let what = match *name {
                "record" => format!("durable events, bare, writers: {writers}"),
                _ => format!("durable events, with read models, writers: {writers}"),
            };
            Ok(Row::rate(what, "events/s", &ours)
                .reference("SQLite", &sqlite)
                .against("SQLite", sqlite.p50())
                .reach(format!("≥ {}", crate::bench::sample::digits(*reach)), ours.p50() >= *reach)
                .reach_in_ratio(*share))
        })
        .collect()
}

/// What SQLite does alone with sixteen writers, in rows a second.
pub(super) fn sqlite(bench: &Bench) -> anyhow::Result<Samples> {
    rates(&measured(bench, &bench.times(2, 1).to_string())?, "sqlite", 16)
}

fn measured(bench: &Bench, seconds: &str) -> anyhow::Result<Vec<Value>> {
    let output = Command::new(&bench.binaries.record_bench)
        .arg(bench.dir.path())
        .arg(seconds)
        .output()
        .context("cannot run the store's benchmark")?;
    ensure!(output.status.success(), "the store's benchmark: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn rates(lines: &[Value], name: &str, writers: u64) -> anyhow::Result<Samples> {
    let found: Vec<f64> = lines
        .iter()
        .filter(|line| line["name"] == name && line["writers"].as_u64() == Some(writers))
        .filter_map(|line| line["events_per_s"].as_f64())
        .collect();
    ensure!(!found.is_empty(), "the store's benchmark does not measure `{name}` with {writers} writers");
    Ok(Samples::new(found))
}
