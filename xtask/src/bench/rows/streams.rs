//! Following the record, and what is made of it.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    process::Command,
    thread,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use edgeplane_os::poll;
use rustix::event::{PollFd, PollFlags};
use serde_json::{Value, json};

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, PATIENCE, manifest},
    row::Row,
    rpc::Connection,
    sample::{Samples, digits},
};

pub(crate) const GROUP: Group = Group {
    name: "streams",
    how: "An agent that is stopped, and writes to its memory by the operator, each one event. Catching up: \
          `stream/subscribe` to the node's log from the start over the unix socket, from the request to the last line; \
          reference: the same bytes through a pair of unix sockets between two threads, and the store's own reader over \
          the same rows (`record_bench scan`). Subscribers: 1,000 connections, each following the node's log; from \
          before a write is sent to when the last of them has its line. Stalled: the same for one subscriber, beside as \
          many that never read and have missed thousands of events.",
    run,
};

/// Least events a second behind a cursor.
const REACH_BEHIND: f64 = 200_000.0;

/// Most milliseconds until the last of the subscribers has an event.
const REACH_LAST_MS: f64 = 100.0;

/// How much longer an event may take beside subscribers that stall.
const REACH_STALLED: f64 = 1.2;

const SUBSCRIBERS: usize = 1_000;

/// Subscribers that never read.
const STALLED: usize = 50;

/// Writes that are on their way at a time.
const AT_ONCE: usize = 32;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let node = bench.node()?;
    node.apply(&manifest("a", "terminal", &["/bin/cat"], &["run: stopped"]))?;
    let events = bench.times(200_000, 5_000);
    write(&node, events)?;
    let mut rows = vec![behind(bench, &node)?, last_of_many(bench, &node)?];
    rows.push(stalled(bench, &node)?);
    node.abandon()?;
    Ok(rows)
}

/// Writes so many events.
fn write(node: &Node, events: usize) -> anyhow::Result<()> {
    let mut connection = node.connect()?;
    for batch in 0..events.div_ceil(AT_ONCE) {
        let mut last = 0;
        for key in 0..AT_ONCE {
            let params = json!({ "agent": "a", "key": format!("k{key}"), "value": batch });
            let (line, id) = connection.request("memory/entry.put", params);
            connection.send(&line)?;
            last = id;
        }
        let mut answered = 0;
        while answered < AT_ONCE {
            answered += usize::from(connection.read()?.get("result").is_some());
        }
        ensure!(last > 0);
    }
    Ok(())
}

fn put(connection: &mut Connection, value: usize) -> anyhow::Result<()> {
    connection.call("memory/entry.put", json!({ "agent": "a", "key": "k", "value": value })).map(drop)
}

fn behind(bench: &Bench, node: &Node) -> anyhow::Result<Row> {
    let mut head = 0;
    let (mut ours, mut copies, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.times(7, 2) {
        bytes.clear();
        let mut connection = node.connect()?;
        let begin = now_ns();
        let answer = connection.call("stream/subscribe", json!({ "from": "start" }))?;
        head = answer["head_seq"].as_u64().context("no head")?;
        let mut seen = 0;
        while seen < head {
            let line = connection.read_line()?;
            seen += u64::from(line.starts_with(b"{\"jsonrpc\":\"2.0\",\"method\":\"stream/event\""));
            bytes.extend_from_slice(line);
        }
        ours.push(per_second(head, now_ns().saturating_sub(begin)));
        copies.push(per_second(head, copied(&bytes)?));
    }
    let (ours, copies) = (Samples::new(ours), Samples::new(copies));
    let scans = scanned(bench, node)?;
    Ok(Row::rate(
        format!("catching up from a cursor, {head} events of {} bytes", bytes.len() as u64 / head.max(1)),
        "events/s",
        &ours,
    )
    .reference("a pair of sockets", &copies)
    .peer("the store's reader", Some(&scans))
    .against("a pair of sockets", copies.p50())
    .reach(format!("≥ {}", digits(REACH_BEHIND)), ours.p50() >= REACH_BEHIND))
}

fn per_second(events: u64, took_ns: u64) -> f64 {
    events as f64 * 1e9 / took_ns.max(1) as f64
}

/// How long bytes take through a pair of sockets, read line by line, in nanoseconds.
fn copied(bytes: &[u8]) -> anyhow::Result<u64> {
    let (mut from, mut to) = UnixStream::pair()?;
    let begin = now_ns();
    thread::scope(|scope| -> anyhow::Result<()> {
        let writer = scope.spawn(move || bytes.chunks(64 << 10).try_for_each(|part| from.write_all(part)));
        let mut room = vec![0; 64 << 10];
        let mut lines = 0;
        loop {
            let read = to.read(&mut room)?;
            if read == 0 {
                break;
            }
            lines += room.iter().take(read).filter(|byte| **byte == b'\n').count();
        }
        ensure!(lines > 0);
        writer.join().map_err(|_panic| anyhow::anyhow!("the writer ended"))??;
        Ok(())
    })?;
    Ok(now_ns().saturating_sub(begin))
}

/// What the store's reader does alone over the node's record.
pub(super) fn scanned(bench: &Bench, node: &Node) -> anyhow::Result<Samples> {
    let mut found = Vec::new();
    for _ in 0..bench.times(5, 1) {
        let output = Command::new(&bench.binaries.record_bench)
            .arg("scan")
            .arg(node.state_dir().join("record"))
            .output()
            .context("cannot run the store's benchmark")?;
        ensure!(
            output.status.success(),
            "the store's benchmark: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let line: Value = serde_json::from_slice(&output.stdout)?;
        found.push(line["events_per_s"].as_f64().context("no rate")?);
    }
    Ok(Samples::new(found))
}

/// A follower of the node's log that is read without waiting.
struct Follower {
    stream: UnixStream,
}

impl Follower {
    fn start(node: &Node) -> anyhow::Result<Self> {
        let stream = edgeplane_os::sock::connect(&node.socket())?;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "stream/subscribe",
            "params": { "types": ["memory.put"] } });
        (&stream).write_all(format!("{request}\n").as_bytes())?;
        let mut follower = Self { stream };
        // The answer, and word that it is live.
        follower.read_lines(2)?;
        follower.stream.set_nonblocking(true)?;
        Ok(follower)
    }

    fn read_lines(&mut self, mut count: usize) -> anyhow::Result<()> {
        let mut room = [0; 4096];
        while count > 0 {
            let read = self.stream.read(&mut room)?;
            ensure!(read > 0, "the node closed the connection");
            count = count.saturating_sub(room.iter().take(read).filter(|byte| **byte == b'\n').count());
        }
        Ok(())
    }

    /// Takes what is there; whether a line ended.
    fn take(&mut self) -> anyhow::Result<bool> {
        let mut room = [0; 4096];
        match self.stream.read(&mut room) {
            Ok(0) => anyhow::bail!("the node closed the connection"),
            Ok(read) => Ok(room.iter().take(read).any(|byte| *byte == b'\n')),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// From before a write to when every follower has its line, in nanoseconds.
fn reached(followers: &mut [Follower], connection: &mut Connection, value: usize) -> anyhow::Result<u64> {
    let params = json!({ "agent": "a", "key": "k", "value": value });
    let (line, id) = connection.request("memory/entry.put", params);
    let begin = now_ns();
    connection.send(&line)?;
    let mut waiting: Vec<usize> = (0..followers.len()).collect();
    let mut end = begin;
    while !waiting.is_empty() {
        {
            let mut fds: Vec<PollFd<'_>> = waiting
                .iter()
                .filter_map(|index| followers.get(*index))
                .map(|follower| PollFd::new(&follower.stream, PollFlags::IN))
                .collect();
            ensure!(poll::wait(&mut fds, Some(PATIENCE))? > 0, "{} followers have nothing", waiting.len());
        }
        let mut left = Vec::with_capacity(waiting.len());
        for index in waiting {
            let has_it = followers.get_mut(index).is_some_and(|follower| follower.take().unwrap_or(false));
            if !has_it {
                left.push(index);
            }
        }
        waiting = left;
        end = now_ns();
    }
    connection.answer(id)?;
    Ok(end.saturating_sub(begin))
}

fn last_of_many(bench: &Bench, node: &Node) -> anyhow::Result<Row> {
    let count = bench.times(SUBSCRIBERS, 50);
    let mut connection = node.connect()?;
    let one = latency(bench, node, &mut connection)?;
    let mut followers = (0..count).map(|_| Follower::start(node)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut took = Vec::new();
    for value in 0..bench.times(100, 5) {
        took.push(reached(&mut followers, &mut connection, value)?);
    }
    let ours = Samples::millis(&took);
    Ok(Row::time(format!("an event to the last of {} subscribers", digits(count as f64)), "ms", &ours)
        .reference("to one", &one)
        .against("to one", one.p50())
        .reach(format!("≤ {REACH_LAST_MS} ms, all but one in a hundred"), ours.p99() <= REACH_LAST_MS))
}

fn latency(bench: &Bench, node: &Node, connection: &mut Connection) -> anyhow::Result<Samples> {
    let mut one = [Follower::start(node)?];
    let mut took = Vec::new();
    for value in 0..bench.times(500, 20) {
        took.push(reached(&mut one, connection, value)?);
    }
    Ok(Samples::millis(&took))
}

fn stalled(bench: &Bench, node: &Node) -> anyhow::Result<Row> {
    let mut connection = node.connect()?;
    let alone = latency(bench, node, &mut connection)?;
    let mut silent = Vec::new();
    for _ in 0..STALLED {
        let mut talk = node.connect()?;
        let (line, _) = talk.request("stream/subscribe", json!({ "from": "start" }));
        talk.send(&line)?;
        silent.push(talk);
    }
    for value in 0..bench.times(2_000, 400) {
        put(&mut connection, value)?;
    }
    // What the node had begun to hand them has come to rest.
    thread::park_timeout(Duration::from_secs(1));
    let beside = latency(bench, node, &mut connection)?;
    drop(silent);
    let ratio = beside.p50() / alone.p50();
    Ok(Row::time(format!("an event to one subscriber, beside {STALLED} that stall"), "ms", &beside)
        .reference("beside none", &alone)
        .against("beside none", alone.p50())
        .reach(format!("≤ {REACH_STALLED} × beside none"), ratio <= REACH_STALLED))
}
