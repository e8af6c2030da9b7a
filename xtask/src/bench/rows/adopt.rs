//! A daemon that comes back to its agents.

use edgeplane_os::wait::{Deadline, until};

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, PATIENCE, manifest},
    process,
    reports::Reports,
    row::Row,
    rpc::Connection,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "adopt",
    how: "The daemon of 500 idle agents is killed with SIGKILL and started again; from before it is spawned until \
          `runtime/node.status` counts 500 running, which an agent is once its shim has answered. Every pid is then \
          compared with the one before. Reference: the same daemon with no agents until it answers. No peer does \
          this.",
    run,
};

/// Most milliseconds for five hundred.
const REACH_MS: f64 = 1_000.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (count, rounds) = (bench.times(500, 50), bench.times(5, 1));
    let reports = bench.reports("adopt")?;
    let empty = empty_starts(bench, rounds)?;
    let mut node = bench.node()?;
    fill(bench, &node, &reports, count)?;
    let shims = sorted(node.shims()?);
    let (mut all, mut first) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        node.kill_daemon()?;
        let begin = now_ns();
        node.spawn_daemon()?;
        let mut connection = answers(&node)?;
        first.push(now_ns() - begin);
        wait_for(&mut connection, count, &node)?;
        all.push(now_ns() - begin);
        anyhow::ensure!(sorted(node.shims()?) == shims, "the adopted shims are others than before");
    }
    let memory = process::memory(node.daemon_pid())?;
    let adopted = Samples::millis(&all);
    let note = format!(
        "first answer after {:.0} ms; the daemon then holds {:.1} MiB RSS",
        Samples::millis(&first).p50(),
        memory.rss_kib / 1024.0
    );
    Ok(vec![
        Row::time(format!("daemon start → {count} shims adopted and answering"), "ms", &adopted)
            .reference("no agents", &empty)
            .against("no agents", empty.p50())
            .reach("≤ 1,000", adopted.p50() <= REACH_MS)
            .note(note),
    ])
}

/// Agents in portions: the program's reports must be read while they come.
fn fill(bench: &Bench, node: &Node, reports: &Reports, count: usize) -> anyhow::Result<()> {
    let path = reports.path().to_string_lossy();
    let argv = [bench.program.as_str(), "first", &path];
    let names: Vec<String> = (0..count).map(|index| format!("a{index}")).collect();
    for portion in names.chunks(50) {
        let text: String = portion.iter().map(|name| manifest(name, "terminal", &argv, &[])).collect();
        node.apply(&text)?;
        reports.take(portion.len())?;
    }
    node.wait_count("running", count)
}

fn empty_starts(bench: &Bench, rounds: usize) -> anyhow::Result<Samples> {
    let mut node = bench.node()?;
    let mut took = Vec::new();
    for _ in 0..rounds {
        node.kill_daemon()?;
        let begin = now_ns();
        node.spawn_daemon()?;
        answers(&node)?;
        took.push(now_ns() - begin);
    }
    Ok(Samples::millis(&took))
}

/// A connection to the daemon, once it has answered on it.
fn answers(node: &Node) -> anyhow::Result<Connection> {
    let mut open = None;
    until(Deadline::after(PATIENCE), || {
        let connected = node.connect().and_then(|mut connection| {
            Node::count(&mut connection, "running")?;
            Ok(connection)
        });
        open = connected.ok();
        open.is_some()
    });
    open.ok_or_else(|| anyhow::anyhow!("the daemon does not come back; it says:\n{}", node.log()))
}

fn wait_for(connection: &mut Connection, count: usize, node: &Node) -> anyhow::Result<()> {
    let wanted = u64::try_from(count)?;
    let there =
        until(Deadline::after(PATIENCE), || Node::count(connection, "running").is_ok_and(|n| n == wanted));
    anyhow::ensure!(there, "not all {count} agents are adopted; the daemon says:\n{}", node.log());
    Ok(())
}

fn sorted(mut pids: Vec<u32>) -> Vec<u32> {
    pids.sort_unstable();
    pids
}
