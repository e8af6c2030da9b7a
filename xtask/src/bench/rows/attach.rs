//! From attaching to the screen as it is.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::bench::{
    Bench, Group,
    clock::now_ns,
    node::{Node, manifest},
    peers::{dtach::Dtach, tmux::Tmux},
    process,
    pty::Prepared,
    reports::Reports,
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "attach",
    how: "`edgeplane attach` on a terminal of its own, from its start until a word that the agent wrote before is \
          shown; the second row is `runtime/agent.attach` on an open connection. That somebody attached is durable \
          before the answer. Reference: `cat` of the word on a terminal. Peers: `tmux attach`; `dtach -a`, which \
          restores no screen and is timed to its first byte.",
    run,
};

/// Most milliseconds at the median.
const REACH_MS: f64 = 8.0;

/// What the program wrote.
const WORD: &[u8] = b"MARKER";

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(100, 10);
    let reports = bench.reports("attach")?;
    let path = reports.path().to_string_lossy().into_owned();
    let argv = [bench.program.as_str(), "mark", &path];
    let node = bench.node()?;
    node.apply(&manifest("a", "terminal", &argv, &[]))?;
    reports.next()?;
    node.wait("a", "running")?;
    let open = on_open_connection(&node, count)?;
    let client =
        Prepared::new(&[&node.cli(&[]).get_program().to_string_lossy(), "attach", "a"], &node.environment())?;
    let whole = clients(&client, WORD, count)?;
    let word = bench.path("word");
    std::fs::write(&word, WORD)?;
    let cat = clients(&Prepared::new(&["cat", &word.to_string_lossy()], &[])?, WORD, count)?;
    let tmux = tmux(bench, &reports, &argv, count)?;
    let dtach = dtach(bench, &reports, &argv, count)?;
    let row = Row::time("`edgeplane attach` → screen restored", "ms", &whole)
        .reference("cat", &cat)
        .peer("tmux", tmux.as_ref())
        .peer("dtach", dtach.as_ref())
        .reach("p50 ≤ 8", whole.p50() <= REACH_MS);
    Ok(vec![
        match &tmux {
            Some(tmux) => row.against("tmux", tmux.p50()),
            None => row,
        },
        Row::time("the same on an open connection", "ms", &open),
    ])
}

/// Starts a client on a terminal again and again, until it shows a word.
fn clients(client: &Prepared, word: &[u8], count: usize) -> anyhow::Result<Samples> {
    let mut took = Vec::new();
    for _ in 0..count {
        let begin = now_ns();
        let terminal = client.start()?;
        terminal.read_until(word)?;
        took.push(now_ns() - begin);
    }
    Ok(Samples::millis(&took))
}

fn on_open_connection(node: &Node, count: usize) -> anyhow::Result<Samples> {
    let mut connection = node.connect()?;
    let mut took = Vec::new();
    for _ in 0..count {
        let (request, id) = connection.request("runtime/agent.attach", json!({ "agent": "a" }));
        let begin = now_ns();
        connection.send(&request)?;
        let attached = connection.answer(id)?;
        took.push(now_ns() - begin);
        let screen = STANDARD.decode(attached["screen"].as_str().unwrap_or_default())?;
        anyhow::ensure!(screen.windows(WORD.len()).any(|window| window == WORD), "the screen lacks the word");
        connection.call("runtime/agent.detach", json!({ "attachment": attached["attachment"] }))?;
    }
    Ok(Samples::millis(&took))
}

fn tmux(bench: &Bench, reports: &Reports, argv: &[&str], count: usize) -> anyhow::Result<Option<Samples>> {
    let Some(tmux) = Tmux::start(bench)? else { return Ok(None) };
    process::timed(&mut tmux.new_session("m", argv))?;
    reports.next()?;
    clients(&Prepared::new(&tmux.words(&["attach", "-t", "m"]), &[])?, WORD, count).map(Some)
}

fn dtach(bench: &Bench, reports: &Reports, argv: &[&str], count: usize) -> anyhow::Result<Option<Samples>> {
    let Some(dtach) = Dtach::new(bench)? else { return Ok(None) };
    process::timed(&mut dtach.detached("m", argv))?;
    reports.next()?;
    let client = Prepared::new(&["dtach", "-a", &dtach.socket("m"), "-E", "-r", "none"], &[])?;
    clients(&client, b"\x1b[", count).map(Some)
}
