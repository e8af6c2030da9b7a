//! A throw-away node: a daemon in folders of its own, and everything it started ended with it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use edgeplane_os::{
    Signal, pidfd,
    wait::{Deadline, until},
};
use serde_json::{Value, json};

use super::{Binaries, process, rpc::Connection};

/// How long anything may take that is not measured.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A node. Dropping it ends everything it started.
#[derive(Debug)]
pub(crate) struct Node {
    binaries: Binaries,
    dir: tempfile::TempDir,
    daemon: Option<Child>,
    /// Further variables of the daemon.
    more: Vec<(String, String)>,
}

impl Node {
    /// A running node below `parent`.
    pub(crate) fn start(binaries: &Binaries, parent: &Path) -> anyhow::Result<Self> {
        Self::start_with(binaries, parent, Vec::new())
    }

    /// The same with further variables of its daemon.
    pub(crate) fn start_with(
        binaries: &Binaries,
        parent: &Path,
        more: Vec<(String, String)>,
    ) -> anyhow::Result<Self> {
        // Its files stay until the whole benchmark ends: for five seconds after a file is deleted, ext4 passes over its
        // inode, slowly, for each file that anybody creates.
        let dir = tempfile::Builder::new().prefix("n-").disable_cleanup(true).tempdir_in(parent)?;
        let mut node = Self { binaries: binaries.clone(), dir, daemon: None, more };
        node.up()?;
        Ok(node)
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    pub(crate) fn runtime_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.runtime_dir().join("edgeplaned.sock")
    }

    /// What finds this node, as variables for its own commands.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        vec![
            ("EDGEPLANE_STATE_DIR".to_owned(), path(&self.dir.path().join("state"))),
            ("EDGEPLANE_RUNTIME_DIR".to_owned(), path(&self.runtime_dir())),
            ("EDGEPLANE_SHIM".to_owned(), path(&self.binaries.shim)),
            ("EDGEPLANE_LOG".to_owned(), "warn".to_owned()),
        ]
    }

    /// A command of the CLI, on this node.
    pub(crate) fn cli(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binaries.cli);
        command.env_remove("EDGEPLANE_SOCKET").envs(self.environment()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Starts the daemon without waiting for it.
    pub(crate) fn spawn_daemon(&mut self) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.dir.path().join("daemon.log"))?;
        let mut command = Command::new(&self.binaries.daemon);
        command.env_remove("EDGEPLANE_SOCKET").envs(self.environment()).envs(self.more.clone());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.daemon = Some(command.spawn().context("cannot start the daemon")?);
        Ok(())
    }

    /// Starts the daemon and waits until it answers.
    pub(crate) fn up(&mut self) -> anyhow::Result<()> {
        self.spawn_daemon()?;
        let answers = until(Deadline::after(PATIENCE), || Connection::open(&self.socket()).is_ok());
        if !answers {
            bail!("the daemon does not answer; it says:\n{}", self.log());
        }
        Ok(())
    }

    pub(crate) fn log(&self) -> String {
        let all = std::fs::read_to_string(self.dir.path().join("daemon.log")).unwrap_or_default();
        let last: Vec<&str> = all.lines().rev().take(10).collect();
        last.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn kill_daemon(&mut self) -> anyhow::Result<()> {
        let mut daemon = self.daemon.take().context("no daemon runs")?;
        daemon.kill()?;
        daemon.wait()?;
        Ok(())
    }

    pub(crate) fn daemon_pid(&self) -> u32 {
        self.daemon.as_ref().map_or(0, Child::id)
    }

    pub(crate) fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(&self.socket())
    }

    /// Applies manifests in one request.
    pub(crate) fn apply(&self, text: &str) -> anyhow::Result<()> {
        let params = apply_params(text, self.dir.path());
        self.connect()?.call("runtime/agent.apply", params).map(drop)
    }

    /// Parameters that apply a text.
    pub(crate) fn apply_params(&self, text: &str) -> Value {
        apply_params(text, self.dir.path())
    }

    pub(crate) fn wait(&self, agent: &str, phase: &str) -> anyhow::Result<()> {
        let params = json!({ "agent": agent, "phases": [phase], "timeout_ms": 60_000 });
        self.connect()?.call("runtime/agent.wait", params).map(drop)
    }

    /// Agents in a phase, as the node counts them.
    pub(crate) fn count(connection: &mut Connection, phase: &str) -> anyhow::Result<u64> {
        let status = connection.call("runtime/node.status", json!({}))?;
        Ok(status["agents"][phase].as_u64().unwrap_or(0))
    }

    /// Waits until so many agents are in a phase.
    pub(crate) fn wait_count(&self, phase: &str, count: usize) -> anyhow::Result<()> {
        let mut connection = self.connect()?;
        let count = u64::try_from(count)?;
        let mut seen = Ok(0);
        let there = until(Deadline::after(PATIENCE), || {
            seen = Self::count(&mut connection, phase);
            !matches!(&seen, Ok(number) if *number != count)
        });
        let seen = seen?;
        if !there {
            bail!("{seen} of {count} agents are {phase}; the daemon says:\n{}", self.log());
        }
        Ok(())
    }

    /// The pids of every agent's shim.
    pub(crate) fn shims(&self) -> anyhow::Result<Vec<u32>> {
        let list = self.connect()?.call("runtime/agent.list", json!({}))?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let pid = |item: &Value| item["status"]["identities"]["process"]["shim"]["pid"].as_u64();
        items.iter().map(|item| Ok(u32::try_from(pid(item).context("an agent without a shim")?)?)).collect()
    }

    /// Ends the daemon of a node whose agents do not run, and leaves the rest to the end of the benchmark.
    pub(crate) fn abandon(mut self) -> anyhow::Result<()> {
        self.kill_daemon()?;
        // What is left has no process; its folder goes with the others.
        std::mem::forget(self);
        Ok(())
    }

    /// Ends every agent and forgets it.
    pub(crate) fn retire_all(&self) -> anyhow::Result<()> {
        let mut connection = self.connect()?;
        let empty = until(Deadline::after(PATIENCE), || retire_listed(&mut connection).unwrap_or(true));
        if !empty {
            bail!("some agents do not end");
        }
        Ok(())
    }
}

/// Asks every agent to end for good, and says whether none was left to ask.
fn retire_listed(connection: &mut Connection) -> anyhow::Result<bool> {
    let list = connection.call("runtime/agent.list", json!({}))?;
    let items = list["items"].as_array().cloned().unwrap_or_default();
    for item in &items {
        let method = match item["status"]["phase"].as_str() {
            Some("quarantined") => "runtime/agent.release",
            _ => "runtime/agent.retire",
        };
        // One that ends already refuses; the next look tells.
        drop(connection.call(method, json!({ "agent": item["metadata"]["name"] })));
    }
    Ok(items.is_empty())
}

fn apply_params(text: &str, folder: &Path) -> Value {
    json!({ "documents": [{ "file": "bench.yaml", "text": text, "folder": folder.to_string_lossy() }] })
}

/// An agent as a document: `more` holds further lines of `spec`.
pub(crate) fn manifest(name: &str, driver: &str, argv: &[&str], more: &[&str]) -> String {
    let mut text = format!(
        "---\napiVersion: edgeplane.dev/v1alpha1\nkind: Agent\nmetadata: {{ name: {name} }}\nspec:\n  driver: {{ type: {driver} }}\n  command: {}\n  stop: {{ signal: KILL, grace: 0s }}\n",
        json!(argv)
    );
    text.extend(more.iter().map(|line| format!("  {line}\n")));
    text
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.daemon.is_none() {
            drop(self.up());
        }
        drop(self.retire_all());
        if let Some(mut daemon) = self.daemon.take() {
            if let Ok(fd) = pidfd::open(daemon.id()) {
                drop(pidfd::send_signal(&fd, Signal::TERM));
                drop(pidfd::is_exited_within(&fd, Duration::from_secs(5)));
            }
            drop(daemon.kill());
            drop(daemon.wait());
        }
        process::end_marked(&self.runtime_dir());
    }
}
