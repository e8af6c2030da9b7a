//! dtach: a terminal that outlives its viewer, and nothing else.

use std::process::Command;

use crate::bench::{Bench, peers, process};

/// Some detached programs. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Dtach {
    dir: tempfile::TempDir,
}

impl Dtach {
    /// Nothing if dtach is not installed.
    pub(crate) fn new(bench: &Bench) -> anyhow::Result<Option<Self>> {
        if !peers::is_installed("dtach") {
            return Ok(None);
        }
        let dir = tempfile::Builder::new().prefix("d-").disable_cleanup(true).tempdir_in(bench.dir.path())?;
        Ok(Some(Self { dir }))
    }

    pub(crate) fn socket(&self, name: &str) -> String {
        self.dir.path().join(name).to_string_lossy().into_owned()
    }

    /// A detached program, not yet started.
    pub(crate) fn detached(&self, name: &str, argv: &[&str]) -> Command {
        let mut command = process::silent("dtach");
        command.args(["-n", &self.socket(name)]).args(argv);
        command
    }

    /// The processes that keep the terminals.
    pub(crate) fn masters(&self) -> Vec<u32> {
        let own = self.dir.path().to_string_lossy().into_owned();
        let is_master = |pid: &u32| {
            let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            text.starts_with("dtach\0") && text.contains(&own)
        };
        edgeplane_os::proc::all().unwrap_or_default().into_iter().filter(is_master).collect()
    }
}

impl Drop for Dtach {
    fn drop(&mut self) {
        let masters = self.masters();
        let programs: Vec<u32> = masters.iter().flat_map(|pid| process::tree(*pid)).collect();
        for pid in programs.into_iter().chain(masters) {
            drop(process::kill(pid, edgeplane_os::Signal::KILL));
        }
    }
}
