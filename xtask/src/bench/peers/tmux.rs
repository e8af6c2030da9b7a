//! tmux, on a socket and without the configuration of anybody.

use std::process::Command;

use crate::bench::{Bench, clock::now_ns, peers, process, reports::Reports};

/// A server with one idle session. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Tmux {
    socket: String,
}

impl Tmux {
    /// Nothing if tmux is not installed.
    pub(crate) fn start(bench: &Bench) -> anyhow::Result<Option<Self>> {
        if !peers::is_installed("tmux") {
            return Ok(None);
        }
        let tmux = Self { socket: bench.path("tmux").to_string_lossy().into_owned() };
        process::timed(&mut tmux.new_session("base", &["sleep", "86400"]))?;
        Ok(Some(tmux))
    }

    /// The words that call it, for a client on a terminal.
    pub(crate) fn words<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        ["tmux", "-S", &self.socket, "-f", "/dev/null"].iter().chain(arguments).copied().collect()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = process::silent("tmux");
        command.env_remove("TMUX").env("TERM", "xterm-256color");
        command.args(self.words(arguments).into_iter().skip(1));
        command
    }

    /// A detached session that runs a program without a shell.
    pub(crate) fn new_session(&self, name: &str, argv: &[&str]) -> Command {
        let mut command = self.command(&["new-session", "-d", "-x", "80", "-y", "24", "-s", name]);
        command.args(argv);
        command
    }

    /// Nanoseconds from calling `new-session` to the first instruction of the measured program.
    pub(crate) fn starts(&self, bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<Vec<u64>> {
        let path = reports.path().to_string_lossy();
        let mut took = Vec::new();
        for index in 0..count {
            let mut command = self.new_session(&format!("w{index}"), &[&bench.program, "first", &path]);
            let begin = now_ns();
            let mut client = command.spawn()?;
            took.push(reports.next()?.at_ns.saturating_sub(begin));
            client.wait()?;
        }
        Ok(took)
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        drop(self.command(&["kill-server"]).status());
    }
}
