//! Memory of one shim.

use std::time::Duration;

use edgeplane_os::Signal;

use crate::bench::{
    Bench, Group,
    clock::pass,
    node::manifest,
    peers::dtach::Dtach,
    process,
    reports::{Report, Reports},
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "memory",
    how: "50 terminal agents that wait; PSS of each shim from `smaps_rollup`, once when all run and once more after \
          each has written 1 MiB. The p99 column is the largest, and the reach counts for it. Reference: a static C \
          program that waits, alone. Peer: `dtach -n` with the same programs.",
    run,
};

/// Output after which memory is looked at again.
const OUTPUT_BYTES: &str = "1048576";

/// Most KiB of an idle shim, and of one that has passed on output.
const REACH_KIB: [f64; 2] = [160.0, 200.0];

/// Memory may still be in use right after a program has written.
const SETTLES: Duration = Duration::from_millis(500);

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = 50;
    let reports = bench.reports("memory")?;
    let path = reports.path().to_string_lossy().into_owned();
    let argv = [bench.program.as_str(), "flood", &path, OUTPUT_BYTES];

    let node = bench.node()?;
    let text: String =
        (0..count).map(|index| manifest(&format!("a{index}"), "terminal", &argv, &[])).collect();
    node.apply(&text)?;
    let programs = reports.take(count)?;
    node.wait_count("running", count)?;
    let shims = node.shims()?;
    let ours = before_and_after(&shims, &programs, &reports)?;
    drop(node);

    let peer = match Dtach::new(bench)? {
        None => None,
        Some(dtach) => {
            for index in 0..count {
                process::timed(&mut dtach.detached(&index.to_string(), &argv))?;
            }
            let programs = reports.take(count)?;
            Some(before_and_after(&dtach.masters(), &programs, &reports)?)
        }
    };

    let waiting = spare_programs(bench, &reports, count)?;
    let names = ["shim memory, idle", "shim memory, after 1 MiB of output"];
    let rows = names.iter().zip(&ours).zip(REACH_KIB).enumerate().map(|(index, ((name, samples), reach))| {
        let beside = peer.as_ref().and_then(|both| both.get(index));
        let row = Row::time(format!("{name}, {count} alive"), "KiB PSS", samples)
            .reference("static C program", &waiting)
            .peer("dtach", beside)
            .reach(format!("each ≤ {reach:.0}"), samples.max() <= reach);
        match beside {
            Some(beside) => row.against("dtach", beside.p50()),
            None => row,
        }
    });
    Ok(rows.collect())
}

/// PSS of some processes before and after the programs below them wrote their output.
fn before_and_after(pids: &[u32], programs: &[Report], reports: &Reports) -> anyhow::Result<[Samples; 2]> {
    pass(SETTLES);
    let before = pss(pids)?;
    for program in programs {
        process::kill(program.pid, Signal::USR1)?;
    }
    // Each reports when it begins to write and when it has written.
    reports.take(2 * programs.len())?;
    pass(SETTLES);
    Ok([before, pss(pids)?])
}

fn pss(pids: &[u32]) -> anyhow::Result<Samples> {
    let each = pids.iter().map(|pid| Ok(process::memory(*pid)?.pss_kib));
    Ok(Samples::new(each.collect::<anyhow::Result<_>>()?))
}

/// PSS of the measured program itself, as many alive.
fn spare_programs(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<Samples> {
    let mut command = process::silent(&bench.program);
    command.arg("first").arg(reports.path());
    let mut children = (0..count).map(|_| command.spawn()).collect::<Result<Vec<_>, _>>()?;
    reports.take(count)?;
    let pids: Vec<u32> = children.iter().map(std::process::Child::id).collect();
    let samples = pss(&pids);
    for child in &mut children {
        crate::bench::peers::bare::end(child)?;
    }
    samples
}
