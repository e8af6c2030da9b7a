//! runit and s6: supervisors that scan a folder of services and keep one small process for each.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _, path::Path, process::Child};

use edgeplane_os::Signal;

use crate::bench::{
    Bench,
    clock::now_ns,
    peers, process,
    reports::{Report, Reports},
};

/// Which supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Runit,
    S6,
}

/// A supervisor with its services. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Scanner {
    kind: Kind,
    dir: tempfile::TempDir,
    root: Option<Child>,
}

/// Started services.
#[derive(Debug)]
pub(crate) struct Started {
    /// Nanoseconds from starting the supervisor to the first instruction of the last program.
    pub(crate) took_ns: u64,
    pub(crate) programs: Vec<Report>,
}

impl Scanner {
    /// With `count` services that run the measured program; nothing if the supervisor is not installed.
    pub(crate) fn prepare(
        kind: Kind,
        bench: &Bench,
        count: usize,
        reports: &Reports,
    ) -> anyhow::Result<Option<Self>> {
        if !peers::is_installed(kind.program()) {
            return Ok(None);
        }
        let dir = tempfile::Builder::new().prefix("r-").disable_cleanup(true).tempdir_in(bench.dir.path())?;
        for index in 0..count {
            let service = dir.path().join(format!("a{index}"));
            std::fs::create_dir(&service)?;
            let script =
                format!("#!/bin/sh\nexec {} first {}\n", bench.program, reports.path().to_string_lossy());
            write_script(&service.join("run"), &script)?;
        }
        Ok(Some(Self { kind, dir, root: None }))
    }

    pub(crate) fn start(&mut self, reports: &Reports, count: usize) -> anyhow::Result<Started> {
        let mut command = process::silent(self.kind.program());
        if self.kind == Kind::S6 {
            command.args(["-c", &(count + 10).to_string()]);
        }
        command.arg(self.dir.path());
        let begin = now_ns();
        self.root = Some(command.spawn()?);
        let programs = reports.take(count)?;
        let last = programs.iter().map(|report| report.at_ns).max().unwrap_or(begin);
        Ok(Started { took_ns: last.saturating_sub(begin), programs })
    }

    /// The supervising processes, the scanner first.
    pub(crate) fn supervisors(&self, started: &Started) -> Vec<u32> {
        let root = self.root.as_ref().map_or(0, Child::id);
        let is_program = |pid: &u32| started.programs.iter().any(|report| report.pid == *pid);
        let below = process::tree(root).into_iter().filter(|pid| !is_program(pid));
        std::iter::once(root).chain(below).collect()
    }
}

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Self::Runit => "runsvdir",
            Self::S6 => "s6-svscan",
        }
    }
}

fn write_script(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text)?;
    Ok(std::fs::set_permissions(path, Permissions::from_mode(0o755))?)
}

impl Drop for Scanner {
    fn drop(&mut self) {
        let Some(mut root) = self.root.take() else { return };
        // Supervisors first: they would start again what is ended below them.
        let below = process::tree(root.id());
        drop(process::kill(root.id(), Signal::KILL));
        let is_supervisor = |pid: &&u32| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            ["runsv", "s6-supervise"].contains(&name.trim())
        };
        let (supervisors, programs): (Vec<&u32>, Vec<&u32>) = below.iter().partition(is_supervisor);
        for pid in supervisors.into_iter().chain(programs) {
            drop(process::kill(*pid, Signal::KILL));
        }
        drop(root.wait());
    }
}
