//! Programs that speak the Agent Client Protocol: how fast what they say is durable and passed on, what a hundred of them
//! cost that do nothing, and what rest frees and waking takes.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::idle::percent_of_core;
use crate::bench::{
    Bench, Group,
    clock::{now_ns, pass},
    node::{Node, manifest},
    peers::bare,
    process,
    row::Row,
    rpc::Connection,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "sessions",
    how: "The agent of the tests, in Python, over the Agent Client Protocol. A turn of 1,000 updates a second, each with its \
          time: until the durable event of it reaches a subscriber, and as reference until the same program's line is read \
          from a pipe; beside it what the disk alone takes at that pace, 16 KiB appended and synced each time. 100 such \
          agents that wait. Rest: PSS of shim and program, and what stays. Waking: from the signal to \
          the first durable update of the turn, less the same program started by hand, its session loaded and prompted, to \
          its first line.",
    run,
};

/// The program.
const AGENT: &str = include_str!("../../../../testkit/src/acp_agent.py");

/// Updates a second.
const PACE: usize = 1_000;

/// Most milliseconds until a subscriber has an update.
const REACH_UPDATE_P99_MS: f64 = 10.0;

/// Most percent of one core of daemon and shims.
const REACH_PERCENT: f64 = 1.0;

/// Least percent of an agent's memory that its rest frees.
const REACH_FREED_PERCENT: f64 = 95.0;

/// Most milliseconds that waking adds to the program's own start.
const REACH_WAKE_MS: f64 = 300.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    std::fs::write(program(bench), AGENT)?;
    let mut rows = vec![updates(bench)?];
    rows.push(idle(bench)?);
    rows.extend(rest(bench)?);
    Ok(rows)
}

fn program(bench: &Bench) -> PathBuf {
    bench.path("agent.py")
}

fn agent(bench: &Bench, name: &str, folder: &Path) -> anyhow::Result<String> {
    std::fs::create_dir_all(folder)?;
    let cwd = format!("cwd: {}", json!(folder));
    Ok(manifest(name, "acp, tools: false", &["python3", &program(bench).to_string_lossy()], &[&cwd]))
}

/// Waits for the session of an agent.
fn ready(connection: &mut Connection, name: &str) -> anyhow::Result<()> {
    let is_idle = |connection: &mut Connection| -> anyhow::Result<bool> {
        let view = connection.call("runtime/agent.get", json!({ "agent": name }))?;
        Ok(view.pointer("/status/activity") == Some(&json!("idle")))
    };
    for _ in 0..600 {
        if is_idle(connection)? {
            return Ok(());
        }
        pass(Duration::from_millis(50));
    }
    anyhow::bail!("agent `{name}` has no session after 30 s")
}

fn signal(connection: &mut Connection, name: &str, text: &str) -> anyhow::Result<()> {
    let params = json!({ "agent": name, "parts": [{ "type": "text", "text": text }] });
    connection.call("runtime/agent.signal", params).map(drop)
}

/// Times in the words of a turn, each said when it was.
fn times(words: &str) -> Vec<u64> {
    words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn updates(bench: &Bench) -> anyhow::Result<Row> {
    let count = bench.times(5_000, 200);
    let node = bench.node()?;
    let folder = bench.path("sessions");
    node.apply(&agent(bench, "a", &folder)?)?;
    let mut connection = node.connect()?;
    ready(&mut connection, "a")?;
    let mut events = node.connect()?;
    events.call(
        "stream/subscribe",
        json!({ "target": { "kind": "agent", "id": "a" }, "types": ["item.updated"] }),
    )?;
    let reader = std::thread::spawn(move || -> anyhow::Result<Vec<u64>> {
        let mut came = Vec::with_capacity(count);
        while came.len() < count {
            if events.read_line()?.windows(12).any(|window| window == b"item.updated") {
                came.push(now_ns());
            }
        }
        Ok(came)
    });
    let params = json!({ "agent": "a", "parts": [{ "type": "text", "text": format!("paced {count} {PACE}") }],
                         "timeout_ms": 50_000 });
    let answer = connection.call("runtime/agent.ask", params)?;
    let words = answer.pointer("/answer/text").and_then(Value::as_str).context("no answer")?;
    let said = times(words);
    let came = reader.join().map_err(|_panic| anyhow::anyhow!("the reader of events ended"))??;
    ensure!(said.len() == came.len(), "{} were said and {} came", said.len(), came.len());
    let late: Vec<u64> = said.iter().zip(&came).map(|(said, came)| came.saturating_sub(*said)).collect();
    let ours = Samples::millis(&late);
    let piped = Samples::millis(&piped(&program(bench), &folder, count)?);
    let disk = bare::paced_appends(bench.dir.path(), count, PACE as u64)?;
    Ok(Row::time("update of a session at 1,000 a second → durable → subscriber", "ms", &ours)
        .reference("the line on a pipe", &piped)
        .peer("disk alone", Some(&disk))
        .reach("p99 ≤ 10", ours.p99() <= REACH_UPDATE_P99_MS))
}

/// The program by hand, its session ready.
struct ByHand {
    child: std::process::Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl ByHand {
    fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new("python3");
        command.arg(program).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take().context("no input")?;
        let lines = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, lines })
    }

    fn ask(&mut self, id: &str, method: &str, params: &Value) -> anyhow::Result<()> {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Ok(writeln!(self.input, "{line}")?)
    }

    fn line(&mut self) -> anyhow::Result<Value> {
        let mut line = String::new();
        ensure!(self.lines.read_line(&mut line)? > 0, "the program ended");
        Ok(serde_json::from_str(&line)?)
    }

    fn answer(&mut self, id: &str) -> anyhow::Result<Value> {
        loop {
            let line = self.line()?;
            if line.get("id").and_then(Value::as_str) == Some(id) {
                return Ok(line);
            }
        }
    }

    /// Begins or goes on, asks, and leaves the turn's words to be read.
    fn prompt(&mut self, former: Option<&str>, words: &str) -> anyhow::Result<()> {
        self.ask("1", "initialize", &json!({ "protocolVersion": 1 }))?;
        self.answer("1")?;
        let session = match former {
            Some(session) => {
                self.ask(
                    "2",
                    "session/load",
                    &json!({ "sessionId": session, "cwd": "/", "mcpServers": [] }),
                )?;
                self.answer("2")?;
                session.to_owned()
            }
            None => {
                self.ask("2", "session/new", &json!({ "cwd": "/", "mcpServers": [] }))?;
                let answer = self.answer("2")?;
                let name = answer.pointer("/result/sessionId").and_then(Value::as_str);
                name.context("no session")?.to_owned()
            }
        };
        let text = json!([{ "type": "text", "text": words }]);
        self.ask("3", "session/prompt", &json!({ "sessionId": session, "prompt": text }))
    }

    /// The text of the next piece.
    fn piece(&mut self) -> anyhow::Result<String> {
        loop {
            let line = self.line()?;
            let text = line.pointer("/params/update/content/text").and_then(Value::as_str);
            if let Some(text) = text {
                return Ok(text.to_owned());
            }
        }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn piped(program: &Path, folder: &Path, count: usize) -> anyhow::Result<Vec<u64>> {
    let mut program = ByHand::start(program, folder)?;
    program.prompt(None, &format!("paced {count} {PACE}"))?;
    let mut late = Vec::with_capacity(count);
    while late.len() < count {
        let said = times(&program.piece()?);
        late.extend(said.iter().map(|said| now_ns().saturating_sub(*said)));
    }
    Ok(late)
}

fn idle(bench: &Bench) -> anyhow::Result<Row> {
    let count = bench.times(100, 5);
    let (settles, watched) = (Duration::from_secs(3), Duration::from_secs(bench.times(10, 1) as u64));
    let node = bench.node()?;
    let folder = bench.path("idle-sessions");
    let mut text = String::new();
    for number in 0..count {
        text.push_str(&agent(bench, &format!("a{number}"), &folder.join(number.to_string()))?);
    }
    node.apply(&text)?;
    node.wait_count("running", count)?;
    let mut connection = node.connect()?;
    for number in 0..count {
        ready(&mut connection, &format!("a{number}"))?;
    }
    pass(settles);
    let pids: Vec<u32> = std::iter::once(node.daemon_pid()).chain(node.shims()?).collect();
    let percent = percent_of_core(&pids, watched);
    Ok(Row::time(
        "100 idle agents with sessions: daemon and shims",
        "% of one core",
        &Samples::new(vec![percent]),
    )
    .reach("≤ 1", percent <= REACH_PERCENT))
}

fn rest(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let rounds = bench.times(20, 2);
    let node = bench.node()?;
    let folder = bench.path("rest");
    node.apply(&agent(bench, "a", &folder)?)?;
    let mut connection = node.connect()?;
    ready(&mut connection, "a")?;
    connection.call("runtime/agent.ask", words("say begun"))?;
    let (mut freed, mut woken) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let pids = processes(&node)?;
        let of_agent = held_by(&pids);
        let daemon = process::memory(node.daemon_pid())?.anonymous_kib;
        connection.call("runtime/agent.hibernate", json!({ "agent": "a" }))?;
        node.wait("a", "hibernated")?;
        let kept = held_by(&pids) + (process::memory(node.daemon_pid())?.anonymous_kib - daemon).max(0.0);
        freed.push((of_agent - kept).max(0.0) * 100.0 / of_agent);
        let mut events = node.connect()?;
        events.call(
            "stream/subscribe",
            json!({ "target": { "kind": "agent", "id": "a" }, "types": ["item.updated"] }),
        )?;
        let begin = now_ns();
        signal(&mut connection, "a", &format!("say awake {round}"))?;
        while !events.read_line()?.windows(12).any(|window| window == b"item.updated") {}
        woken.push(now_ns().saturating_sub(begin));
        ready(&mut connection, "a")?;
    }
    let session = connection.call("runtime/agent.get", json!({ "agent": "a" }))?;
    let session = session.pointer("/status/identities/session/resumeHandle").and_then(Value::as_str);
    let session = session.context("no session to go on with")?.to_owned();
    let mut by_hand = Vec::new();
    for _ in 0..rounds {
        let begin = now_ns();
        let mut program = ByHand::start(&self::program(bench), &folder)?;
        program.prompt(Some(&session), "say awake")?;
        while program.piece()? != "awake" {}
        by_hand.push(now_ns().saturating_sub(begin));
    }
    let (freed, woken, by_hand) = (Samples::new(freed), Samples::millis(&woken), Samples::millis(&by_hand));
    let added = woken.p50() - by_hand.p50();
    Ok(vec![
        Row::rate("memory of an agent that its rest frees", "%", &freed)
            .reach("≥ 95", freed.p50() >= REACH_FREED_PERCENT),
        Row::time("agent at rest: signal → first durable update", "ms", &woken)
            .reference("the program by hand", &by_hand)
            .reach("p50 ≤ by hand + 300", added <= REACH_WAKE_MS),
    ])
}

fn words(text: &str) -> Value {
    json!({ "agent": "a", "parts": [{ "type": "text", "text": text }] })
}

/// The shims and their programs.
fn processes(node: &Node) -> anyhow::Result<Vec<u32>> {
    Ok(node.shims()?.into_iter().flat_map(|shim| std::iter::once(shim).chain(process::tree(shim))).collect())
}

/// KiB that these processes hold, shared pages by the share. One that has ended holds nothing.
fn held_by(pids: &[u32]) -> f64 {
    pids.iter().map(|pid| process::memory(*pid).map_or(0.0, |memory| memory.pss_kib)).sum()
}
