//! Calls of tools of connectors: what the way through the node adds.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::bench::{Bench, Group, clock::now_ns, peers::bare, row::Row, sample::Samples};

pub(crate) const GROUP: Group = Group {
    name: "capabilities",
    how: "`capability/invoke` of a tool that only says its input again, over the unix socket, of a server over standard \
          streams: let pass by a rule, meant and told in the record, each durable. The same tool of another process of \
          the same server is called in turn with it, by lines that are written to it and read from it with nothing in \
          between; what a pair differs by is what the node adds. Reference: two bare appends of 512 bytes to a file, each \
          with `fdatasync`, as the intent and the outcome are two.",
    run,
};

/// The server.
const SERVER: &str = include_str!("capabilities.py");

/// Milliseconds that the node may add at the median.
const REACH_MILLIS: f64 = 1.0;

/// Commits of one call.
const COMMITS: f64 = 2.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let script = bench.path("capabilities.py");
    std::fs::write(&script, SERVER)?;
    let node = bench.node()?;
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: bench}}
spec:
  transport: {{stdio: {{command: [python3, -u, {}]}}}}
  policy: {{allow: [echo]}}
",
        script.display()
    ))?;
    let times = bench.times(2_000, 50);
    let appends = bare::appends(bench.dir.path(), times)?.scaled(COMMITS);
    let mut connection = node.connect()?;
    let mut direct = Direct::start(&script)?;
    let (mut through, mut bare, mut added) = (Vec::new(), Vec::new(), Vec::new());
    let warm_up = times / 10;
    for number in 0..times + warm_up {
        let input = json!({ "text": format!("call {number}") });
        let params = json!({ "capability": "bench/echo", "input": input });
        let (line, id) = connection.request("capability/invoke", params);
        let begin = now_ns();
        connection.send(&line)?;
        let said = connection.answer(id)?;
        let ours = now_ns() - begin;
        ensure!(said["output"]["content"][0]["text"] == input["text"], "not what was asked for: {said}");
        let begin = now_ns();
        direct.call("tools/call", &json!({ "name": "echo", "arguments": input }))?;
        let theirs = now_ns() - begin;
        // The first ones warm everything up.
        if number >= warm_up {
            through.push(ours);
            bare.push(theirs);
            added.push(ours.saturating_sub(theirs));
        }
    }
    let (through, bare, added) = (Samples::millis(&through), Samples::millis(&bare), Samples::millis(&added));
    let appends = appends.scaled(1e-3);
    Ok(vec![
        Row::time("tool of a connector called through the node", "ms", &through)
            .reference("called directly", &bare)
            .against("called directly", bare.p50()),
        Row::time("what the node adds to a call of a tool", "ms", &added)
            .reference("two fsync'd appends", &appends)
            .against("two fsync'd appends", appends.p50())
            .reach(format!("p50 ≤ {REACH_MILLIS}"), added.p50() <= REACH_MILLIS),
    ])
}

/// The server, spoken to by nothing but lines.
struct Direct {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    line: String,
}

impl Direct {
    fn start(script: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new("python3")
            .arg("-u")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let input = child.stdin.take().context("it has an input")?;
        let output = BufReader::new(child.stdout.take().context("it has an output")?);
        let mut direct = Self { child, input, output, next: 0, line: String::new() };
        let ours = json!({ "name": "bench", "version": "1" });
        let greeting = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": ours });
        direct.call("initialize", &greeting)?;
        direct.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(direct)
    }

    fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.input.write_all(format!("{request}\n").as_bytes())?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        let mut answer: Value = serde_json::from_str(&self.line)?;
        ensure!(answer.get("error").is_none(), "it refused: {answer}");
        Ok(answer["result"].take())
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
