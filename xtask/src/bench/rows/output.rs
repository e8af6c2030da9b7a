//! Much output, recorded; and a screen that is brought up to date with it.

use std::{cell::Cell, thread};

use edgeplane_os::Signal;
use serde_json::json;

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, manifest},
    peers::tmux::Tmux,
    process,
    pty::{Prepared, Terminal},
    reports::Reports,
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "output",
    how: "A program writes 50 MB of 78-column lines to its terminal and reads the clock before and after; p99 is the \
          slowest. Detached; with one `edgeplane attach` whose terminal is read at full speed; and tmux both ways. \
          Reference: the same program on a bare terminal that is read with 64 KiB reads. For the catch-up \
          the daemon is stopped by SIGSTOP while the program writes its 50 MB and is recorded, so that it has seen none \
          of it; from SIGCONT until `runtime/agent.snapshot` shows the last byte. The next row has an escape sequence at \
          both ends of each line, which a screen cannot pass over. The last row is the first snapshot of \
          the same agent after the daemon was killed with SIGKILL and came back.",
    run,
};

/// Least share of the bare reader's rate.
const REACH_SHARE: f64 = 0.5;

/// Least MB/s of catching up.
const REACH_CATCH_UP: f64 = 60.0;

/// Bytes of a line, its end included.
const LINE_BYTES: usize = 79;

/// A program that writes so many bytes each time it is told to.
struct Flood<'a> {
    reports: &'a Reports,
    pid: u32,
    bytes: usize,
    runs: Cell<u64>,
}

impl<'a> Flood<'a> {
    /// The program that has just been started.
    fn just_started(reports: &'a Reports, bytes: usize) -> anyhow::Result<Self> {
        Ok(Self { reports, pid: reports.next()?.pid, bytes, runs: Cell::new(0) })
    }

    /// MB/s of one run.
    fn once(&self) -> anyhow::Result<f64> {
        process::kill(self.pid, Signal::USR1)?;
        let begin = self.reports.next()?.at_ns;
        let end = self.reports.next()?.at_ns;
        self.runs.set(self.runs.get() + 1);
        Ok(self.bytes as f64 * 1e3 / end.saturating_sub(begin).max(1) as f64)
    }

    /// Bytes that the terminal has carried: it turns each line's end into two.
    fn written_in_all(&self) -> u64 {
        let lines = self.bytes / LINE_BYTES;
        u64::try_from(self.bytes + lines).unwrap_or(u64::MAX) * self.runs.get()
    }

    fn rates(&self, count: usize) -> anyhow::Result<Samples> {
        Ok(Samples::new((0..count).map(|_| self.once()).collect::<anyhow::Result<_>>()?))
    }

    /// The same while a client's terminal is read, and then the end of the client.
    fn rates_seen_by(&self, client: &Terminal, count: usize) -> anyhow::Result<Samples> {
        while_read(client, || self.rates(count))
    }
}

/// Does something while another thread reads a terminal dry, and ends the terminal's program.
fn while_read<T>(terminal: &Terminal, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    thread::scope(|scope| {
        let reader = scope.spawn(|| -> anyhow::Result<()> {
            let mut buffer = vec![0; 1 << 16];
            while terminal.read(&mut buffer)?.is_some() {}
            Ok(())
        });
        let result = work();
        terminal.end();
        match reader.join() {
            Ok(read) => read.and(result),
            Err(_panic) => anyhow::bail!("the reader panicked"),
        }
    })
}

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let (bytes, count) = (bench.times(50_000_000, 5_000_000), bench.times(5, 1));
    let reports = bench.reports("output")?;
    let (path, size) = (reports.path().to_string_lossy().into_owned(), bytes.to_string());
    let argv = [bench.program.as_str(), "flood", &path, &size];

    let bare = {
        let terminal = Prepared::new(&argv, &[])?.start()?;
        let flood = Flood::just_started(&reports, bytes)?;
        flood.rates_seen_by(&terminal, count)?
    };
    let mut node = bench.node()?;
    node.apply(&manifest("a", "terminal", &argv, &[]))?;
    let flood = Flood::just_started(&reports, bytes)?;
    node.wait("a", "running")?;
    let detached = flood.rates(count)?;
    let program = node.cli(&[]).get_program().to_string_lossy().into_owned();
    let viewer = Prepared::new(&[&program, "attach", "a"], &node.environment())?.start()?;
    viewer.read_until(b"\x1b")?;
    let viewed = flood.rates_seen_by(&viewer, count)?;
    drop(viewer);
    let after_restart = after_restart(&mut node, count)?;
    drop(node);
    let plain = catch_up(bench, &reports, &argv, (bytes, count))?;
    let in_colour: Vec<&str> = argv.iter().copied().chain(["colours"]).collect();
    let coloured = catch_up(bench, &reports, &in_colour, (bytes, count))?;
    let tmux = tmux(bench, &reports, &argv, (bytes, count))?;

    let row = |what: &str, ours: &Samples, tmux: Option<&Samples>| {
        let fast = ours.p50() >= REACH_SHARE * bare.p50();
        let faster = tmux.is_none_or(|tmux| ours.p50() > tmux.p50());
        Row::rate(what, "MB/s", ours)
            .reference("bare reader", &bare)
            .peer("tmux", tmux)
            .against("bare reader", bare.p50())
            .reach("≥ 0.5 × bare reader, > tmux", fast && faster)
    };
    let (tmux_detached, tmux_viewed) = tmux.map_or((None, None), |(one, other)| (Some(one), Some(other)));
    Ok(vec![
        row("output of a program, recorded, detached", &detached, tmux_detached.as_ref()),
        row("output of a program, recorded, one viewer", &viewed, tmux_viewed.as_ref()),
        Row::rate("screen catch-up with a backlog of 50 MB", "MB/s", &plain)
            .reach("≥ 60", plain.p50() >= REACH_CATCH_UP),
        Row::rate("the same with colours in each line", "MB/s", &coloured),
        Row::time("first screen after a daemon's restart", "ms", &after_restart),
    ])
}

/// Rates of showing output that the daemon, stopped meanwhile, has not seen.
fn catch_up(
    bench: &Bench,
    reports: &Reports,
    argv: &[&str],
    (bytes, count): (usize, usize),
) -> anyhow::Result<Samples> {
    let node = bench.node()?;
    node.apply(&manifest("a", "terminal", argv, &[]))?;
    let flood = Flood::just_started(reports, bytes)?;
    node.wait("a", "running")?;
    let mut connection = node.connect()?;
    let mut rates = Vec::new();
    for _ in 0..count {
        process::kill(node.daemon_pid(), Signal::STOP)?;
        let written = flood.once();
        let (request, id) = connection.request("runtime/agent.snapshot", json!({ "agent": "a" }));
        connection.send(&request)?;
        let begin = now_ns();
        process::kill(node.daemon_pid(), Signal::CONT)?;
        written?;
        let mut snapshot = connection.answer(id)?;
        // The daemon may answer before it has heard of all that was written.
        while snapshot["head"].as_u64().unwrap_or(0) < flood.written_in_all() {
            snapshot = connection.call("runtime/agent.snapshot", json!({ "agent": "a" }))?;
        }
        let took = now_ns() - begin;
        anyhow::ensure!(snapshot["offset"] == snapshot["head"], "a snapshot that lags: {snapshot}");
        rates.push(flood.bytes as f64 * 1e3 / took as f64);
    }
    Ok(Samples::new(rates))
}

fn after_restart(node: &mut Node, count: usize) -> anyhow::Result<Samples> {
    let mut took = Vec::new();
    for _ in 0..count {
        node.kill_daemon()?;
        node.up()?;
        node.wait("a", "running")?;
        let mut connection = node.connect()?;
        let begin = now_ns();
        connection.call("runtime/agent.snapshot", json!({ "agent": "a" }))?;
        took.push(now_ns() - begin);
    }
    Ok(Samples::millis(&took))
}

fn tmux(
    bench: &Bench,
    reports: &Reports,
    argv: &[&str],
    (bytes, count): (usize, usize),
) -> anyhow::Result<Option<(Samples, Samples)>> {
    let Some(tmux) = Tmux::start(bench)? else { return Ok(None) };
    process::timed(&mut tmux.new_session("o", argv))?;
    let flood = Flood::just_started(reports, bytes)?;
    let detached = flood.rates(count)?;
    let viewer = Prepared::new(&tmux.words(&["attach", "-t", "o"]), &[])?.start()?;
    viewer.read_until(b"\x1b")?;
    let viewed = flood.rates_seen_by(&viewer, count)?;
    Ok(Some((detached, viewed)))
}
