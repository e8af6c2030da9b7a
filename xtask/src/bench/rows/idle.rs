//! What a hundred agents cost that do nothing.

use std::time::Duration;

use crate::bench::{
    Bench, Group,
    clock::{now_ns, pass},
    node::manifest,
    peers::scanners::{Kind, Scanner},
    process,
    reports::Reports,
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "idle",
    how: "100 agents that wait; time on a processor of the daemon and all shims over 10 s (`schedstat`), as a share of \
          one core, and the daemon's RSS. Peer: `runsvdir` with 100 services, its own RSS.",
    run,
};

/// Most percent of one core.
const REACH_PERCENT: f64 = 1.0;

/// Most MiB of the daemon.
const REACH_MIB: f64 = 40.0;

/// How long the processors' time is counted.
const WATCHED: Duration = Duration::from_secs(10);

/// The start is over and done with after so long.
const SETTLES: Duration = Duration::from_secs(3);

/// In a quick run everything is short.
const QUICK: Duration = Duration::from_millis(500);

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = 100;
    let (settles, watched) = if bench.quick { (QUICK, QUICK) } else { (SETTLES, WATCHED) };
    let reports = bench.reports("idle")?;
    let path = reports.path().to_string_lossy().into_owned();
    let node = bench.node()?;
    let argv = [bench.program.as_str(), "first", &path];
    let text: String =
        (0..count).map(|index| manifest(&format!("a{index}"), "terminal", &argv, &[])).collect();
    node.apply(&text)?;
    reports.take(count)?;
    node.wait_count("running", count)?;
    let daemon = node.daemon_pid();
    let pids: Vec<u32> = std::iter::once(daemon).chain(node.shims()?).collect();
    pass(settles);
    let ours = percent_of_core(&pids, watched);
    let memory = process::memory(daemon)?;
    drop(node);
    let runit = runit(bench, &reports, (count, settles, watched))?;
    let one = |value: f64| Samples::new(vec![value]);
    let mib = one(memory.rss_kib / 1024.0);
    let (cpu_of_runit, mib_of_runit) =
        runit.map_or((None, None), |(cpu, mib)| (Some(one(cpu)), Some(one(mib))));
    Ok(vec![
        Row::time("100 idle agents: daemon and shims", "% of one core", &one(ours))
            .peer("runit", cpu_of_runit.as_ref())
            .reach("≤ 1", ours <= REACH_PERCENT),
        Row::time("100 idle agents: daemon", "MiB RSS", &mib)
            .peer("runit", mib_of_runit.as_ref())
            .reach("≤ 40", mib.p50() <= REACH_MIB),
    ])
}

pub(super) fn percent_of_core(pids: &[u32], watched: Duration) -> f64 {
    let used = || pids.iter().map(|pid| process::cpu_ns(*pid)).sum::<u64>();
    let (before, begin) = (used(), now_ns());
    pass(watched);
    let (after, end) = (used(), now_ns());
    after.saturating_sub(before) as f64 * 100.0 / (end - begin) as f64
}

fn runit(
    bench: &Bench,
    reports: &Reports,
    (count, settles, watched): (usize, Duration, Duration),
) -> anyhow::Result<Option<(f64, f64)>> {
    let Some(mut scanner) = Scanner::prepare(Kind::Runit, bench, count, reports)? else { return Ok(None) };
    let started = scanner.start(reports, count)?;
    pass(settles);
    let supervisors = scanner.supervisors(&started);
    let percent = percent_of_core(&supervisors, watched);
    let root = supervisors.first().copied().unwrap_or(0);
    Ok(Some((percent, process::memory(root)?.rss_kib / 1024.0)))
}
