//! Where and when was measured, and how busy others kept the machine.

use std::{fmt, path::Path, process::Command, time::Duration};

use serde::Serialize;

use super::clock::{now_ns, pass};

/// Below this share of all processors the machine counts as quiet.
const QUIET_BELOW: f64 = 0.12;

/// Looks in a row that must find it quiet.
const QUIET_LOOKS: u32 = 2;

/// How long one look takes when quiet is waited for, and otherwise.
const LOOK: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(200);

/// The machine, the sources and the day.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) kernel: String,
    pub(crate) commit: String,
    pub(crate) date: String,
}

impl Machine {
    pub(crate) fn look(root: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let after = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_once(':').map_or("unknown", |(_, value)| value.trim()).to_owned()
        };
        let kib = after(&read("/proc/meminfo"), "MemTotal");
        let kib: u64 = kib.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let head = said(Command::new("git").arg("-C").arg(root).args(["rev-parse", "--short=12", "HEAD"]));
        let changed = said(Command::new("git").arg("-C").arg(root).args(["status", "--porcelain"]));
        Self {
            cpu: after(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: (kib + (1 << 19)) >> 20,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            commit: if changed.is_empty() { head } else { format!("{head} with changes") },
            date: said(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"])),
        }
    }
}

fn said(command: &mut Command) -> String {
    let output = command.output().ok().filter(|output| output.status.success());
    output.map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The share of all processors that others used before and after a measurement.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Busy {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Busy {
    pub(crate) fn worst(self) -> f64 {
        self.before.max(self.after)
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.0}–{:.0} %", self.before * 100.0, self.after * 100.0)
    }
}

/// Busy and total ticks of all processors.
fn ticks() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let fields: Vec<u64> =
        first.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    let total: u64 = fields.iter().sum();
    let idle: u64 = fields.iter().skip(3).take(2).sum();
    (total.saturating_sub(idle), total)
}

/// The share of all processors that is in use at this moment.
pub(crate) fn glance() -> f64 {
    busy(GLANCE)
}

/// The share that others use after a measurement: the least of some looks, because what was measured takes a moment to
/// end.
pub(crate) fn glance_after() -> f64 {
    let mut least = busy(LOOK);
    for _ in 0..2 {
        if is_quiet(least) {
            break;
        }
        least = least.min(busy(LOOK));
    }
    least
}

/// Whether so little is in use that measurements are not disturbed.
pub(crate) fn is_quiet(busy: f64) -> bool {
    busy < QUIET_BELOW
}

fn busy(look: Duration) -> f64 {
    let before = ticks();
    pass(look);
    let after = ticks();
    after.0.saturating_sub(before.0) as f64 / after.1.saturating_sub(before.1).max(1) as f64
}

/// Waits for a quiet moment, at most so long, and says how busy the machine was in the end.
pub(crate) fn wait_for_quiet(longest: Duration) -> f64 {
    if longest.is_zero() {
        return glance();
    }
    // What former rows wrote is on the disk then, and does not stand before what this one writes.
    rustix::fs::sync();
    let begin = now_ns();
    let mut quiet = 0;
    loop {
        let busy = busy(LOOK);
        quiet = if is_quiet(busy) { quiet + 1 } else { 0 };
        if quiet >= QUIET_LOOKS || u128::from(now_ns() - begin) >= longest.as_nanos() {
            return busy;
        }
    }
}
