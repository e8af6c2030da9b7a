//! What the kernel knows of processes: memory, time on a processor, and who is left.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use edgeplane_os::{
    Signal, pidfd,
    wait::{Deadline, until},
};

use super::clock::now_ns;

/// KiB of memory of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) rss_kib: f64,
    /// Shared pages count by the share.
    pub(crate) pss_kib: f64,
    /// Not of a file: nobody gets it back while the process holds it.
    pub(crate) anonymous_kib: f64,
}

pub(crate) fn memory(pid: u32) -> anyhow::Result<Memory> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))
        .with_context(|| format!("cannot read the memory of process {pid}"))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
    };
    Ok(Memory { rss_kib: field("Rss:"), pss_kib: field("Pss:"), anonymous_kib: field("Anonymous:") })
}

/// Nanoseconds that all threads of a process were on a processor.
pub(crate) fn cpu_ns(pid: u32) -> u64 {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let of_task = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0)
    };
    tasks.filter_map(Result::ok).map(of_task).sum()
}

/// Children of a process and theirs.
pub(crate) fn tree(pid: u32) -> Vec<u32> {
    edgeplane_os::proc::descendants(pid).unwrap_or_default()
}

pub(crate) fn kill(pid: u32, signal: Signal) -> anyhow::Result<()> {
    pidfd::send_signal(&pidfd::open(pid)?, signal)?;
    Ok(())
}

/// Runs a command to its end and gives the nanoseconds from its start; its failure is an error.
pub(crate) fn timed(command: &mut Command) -> anyhow::Result<u64> {
    let begin = now_ns();
    let status = command.status()?;
    let took = now_ns() - begin;
    anyhow::ensure!(status.success(), "{:?} ended with {status}", command.get_program());
    Ok(took)
}

/// A command that reads and says nothing.
pub(crate) fn silent(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Ends every process that has the folder in its environment or command line.
pub(crate) fn end_marked(folder: &Path) {
    let folder = folder.to_string_lossy().into_owned();
    until(Deadline::after(Duration::from_secs(5)), || {
        let left = marked(folder.as_bytes());
        for pid in &left {
            drop(kill(*pid, Signal::KILL));
        }
        left.is_empty()
    });
}

fn marked(folder: &[u8]) -> Vec<u32> {
    let names_it = |pid: &u32| {
        ["environ", "cmdline"].iter().any(|file| {
            let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            text.windows(folder.len()).any(|window| window == folder)
        })
    };
    let all = edgeplane_os::proc::all().unwrap_or_default();
    all.into_iter().filter(|pid| *pid != std::process::id()).filter(names_it).collect()
}
