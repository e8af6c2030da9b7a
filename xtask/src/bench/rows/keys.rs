//! A key and its echo.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use edgeplane_os::wait::{Deadline, until};
use serde_json::{Value, json};

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, PATIENCE, manifest},
    peers::dtach::Dtach,
    process,
    pty::{Prepared, Terminal},
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "keys",
    how: "The agent is `cat` on a terminal; `edgeplane attach --control` runs on a terminal of its own, whose own echo \
          is off; from writing a key there to reading its echo. The second row is `runtime/agent.write` on an open \
          connection until the `attach/output` with the echo. Reference: `cat` on a bare terminal. Peer: `dtach -a`.",
    run,
};

/// Most multiples of dtach at the median.
const REACH_DTACH: f64 = 3.0;

/// Most microseconds of all but one in a hundred.
const REACH_P99_US: f64 = 5_000.0;

/// A line is begun anew after so many keys: a terminal keeps no longer ones.
const KEYS_IN_LINE: usize = 500;

/// How long a client is silent once it has shown everything.
const SILENT: Duration = Duration::from_millis(100);

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(2_000, 100);
    let node = bench.node()?;
    node.apply(&manifest("a", "terminal", &["cat"], &[]))?;
    node.wait("a", "running")?;
    let open = on_open_connection(&node, count)?;
    let program = node.cli(&[]).get_program().to_string_lossy().into_owned();
    let attach = Prepared::new(&[&program, "attach", "a", "--control"], &node.environment())?;
    let through = keys(&ready(&attach)?, count)?;
    let bare = keys(&ready_bare()?, count)?;
    let dtach = match Dtach::new(bench)? {
        None => None,
        Some(dtach) => {
            process::timed(&mut dtach.detached("k", &["cat"]))?;
            let client = Prepared::new(&["dtach", "-a", &dtach.socket("k"), "-E", "-r", "none"], &[])?;
            Some(keys(&ready(&client)?, count)?)
        }
    };
    let in_time = through.p99() <= REACH_P99_US;
    let row = Row::time("key → echo through `edgeplane attach`", "µs", &through)
        .reference("bare terminal", &bare)
        .peer("dtach", dtach.as_ref());
    Ok(vec![
        match &dtach {
            Some(dtach) => row
                .against("dtach", dtach.p50())
                .reach("p50 ≤ 3 × dtach, p99 ≤ 5,000", in_time && through.p50() <= REACH_DTACH * dtach.p50()),
            None => row.reach("p99 ≤ 5,000", in_time),
        },
        Row::time("the same on an open connection", "µs", &open),
    ])
}

/// A client that has attached, and whose terminal leaves the echo to the other end.
fn ready(client: &Prepared) -> anyhow::Result<Terminal> {
    let terminal = client.start()?;
    let raw = until(Deadline::after(PATIENCE), || !terminal.echoes_itself().unwrap_or(true));
    anyhow::ensure!(raw, "the client's own terminal echoes");
    first_key(terminal)
}

fn ready_bare() -> anyhow::Result<Terminal> {
    first_key(Prepared::new(&["cat"], &[])?.start()?)
}

/// A key goes all the way before any is measured.
fn first_key(terminal: Terminal) -> anyhow::Result<Terminal> {
    terminal.drain(SILENT)?;
    terminal.write(b"a")?;
    terminal.read_until(b"a")?;
    terminal.drain(SILENT)?;
    Ok(terminal)
}

fn keys(terminal: &Terminal, count: usize) -> anyhow::Result<Samples> {
    let mut took = Vec::new();
    for index in 0..count {
        if index % KEYS_IN_LINE == KEYS_IN_LINE - 1 {
            terminal.write(b"\r")?;
            terminal.drain(SILENT)?;
        }
        let begin = now_ns();
        terminal.write(b"k")?;
        terminal.read_until(b"k")?;
        took.push(now_ns() - begin);
    }
    Ok(Samples::micros(&took))
}

fn on_open_connection(node: &Node, count: usize) -> anyhow::Result<Samples> {
    let mut connection = node.connect()?;
    let attached = connection.call("runtime/agent.attach", json!({ "agent": "a", "control": true }))?;
    let attachment = attached["attachment"].clone();
    let mut took = Vec::new();
    for _ in 0..count {
        let params = json!({ "attachment": attachment, "data": STANDARD.encode("k") });
        let (request, id) = connection.request("runtime/agent.write", params);
        let (mut answered, mut echoed) = (false, false);
        let begin = now_ns();
        connection.send(&request)?;
        while !(answered && echoed) {
            let line = connection.read()?;
            let is_output = line.get("method").and_then(Value::as_str) == Some("attach/output");
            if is_output && !echoed {
                echoed = true;
                took.push(now_ns() - begin);
            }
            answered |= line.get("id").and_then(Value::as_i64) == Some(id);
        }
        if took.len() % KEYS_IN_LINE == 0 {
            begin_line(&mut connection, &attachment)?;
        }
    }
    connection.call("runtime/agent.detach", json!({ "attachment": attachment }))?;
    Ok(Samples::micros(&took))
}

/// Ends the line, and reads what comes of it: `cat` gives the line back.
fn begin_line(connection: &mut crate::bench::rpc::Connection, attachment: &Value) -> anyhow::Result<()> {
    let params = json!({ "attachment": attachment, "data": STANDARD.encode("\r") });
    let (request, _) = connection.request("runtime/agent.write", params);
    connection.send(&request)?;
    let mut lines = 0;
    // The echo of the line's end and the line itself, each with a line's end.
    while lines < 2 {
        let line = connection.read()?;
        let data = STANDARD.decode(line["params"]["data"].as_str().unwrap_or_default())?;
        lines += data.iter().filter(|byte| **byte == b'\n').count();
    }
    Ok(())
}
