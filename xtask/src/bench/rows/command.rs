//! The whole command that sends a message.

use crate::bench::{
    Bench, Group,
    node::manifest,
    peers::{bare, tmux::Tmux},
    process,
    row::Row,
    sample::Samples,
};

pub(crate) const GROUP: Group = Group {
    name: "command",
    how: "`edgeplane signal AGENT --content TEXT` from `posix_spawn` to its end, the message durable, the agent a \
          native program. Reference: `/bin/true`. Peer: `tmux send-keys`.",
    run,
};

/// Most milliseconds at the median.
const REACH_MS: f64 = 5.0;

fn run(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let count = bench.times(200, 20);
    let reports = bench.reports("command")?;
    let path = reports.path().to_string_lossy().into_owned();
    let node = bench.node()?;
    node.apply(&manifest("a", "native", &[&bench.program, "lines", &path], &[]))?;
    reports.next()?;
    node.wait("a", "running")?;
    let mut took = Vec::new();
    for _ in 0..count {
        took.push(process::timed(&mut node.cli(&["signal", "a", "--content", "Run /briefing"]))?);
        reports.next()?;
    }
    let ours = Samples::millis(&took);
    let nothing = Samples::millis(&bare::trues(count)?);
    let tmux = match Tmux::start(bench)? {
        None => None,
        Some(tmux) => {
            process::timed(&mut tmux.new_session("c", &["cat"]))?;
            let keys = (0..count).map(|_| process::timed(&mut tmux.command(&["send-keys", "-t", "c", "k"])));
            Some(Samples::millis(&keys.collect::<anyhow::Result<Vec<_>>>()?))
        }
    };
    let row = Row::time("whole `edgeplane signal` command", "ms", &ours)
        .reference("/bin/true", &nothing)
        .peer("tmux send-keys", tmux.as_ref())
        .reach("p50 ≤ 5", ours.p50() <= REACH_MS);
    Ok(vec![match &tmux {
        Some(tmux) => row.against("tmux", tmux.p50()),
        None => row,
    }])
}
