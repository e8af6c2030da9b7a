//! What the machine offers: programs, kernel, cgroups, systemd.

use std::{path::Path, time::Duration};

use edgeplane_os::{
    cgroup::{Backend, Backing, Hierarchies, Sources},
    pidfd, signals,
};
use edgeplane_wire::api::core::Check;

use super::{fail, ok, warn};
use crate::{
    command::{
        agent::offline::is_executable,
        daemon::{program, unit},
    },
    context::Context,
};

/// How long a program may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(2);

pub(super) fn look(context: &Context) -> Vec<Check> {
    let programs = [daemon_program(context), shim_program(context), runner_program(context)];
    let mut checks: Vec<Check> = programs.into_iter().chain([kernel(), handles(), orphans()]).collect();
    checks.extend(cgroups());
    checks.push(systemd(context));
    checks.push(python(context));
    checks
}

fn daemon_program(context: &Context) -> Check {
    match program::daemon(&context.env) {
        Ok(path) => version("daemon program", &path),
        Err(error) => fail(
            "daemon program",
            format!("{error:#}"),
            "install `edgeplaned` beside `edgeplane`, or name it in EDGEPLANED",
        ),
    }
}

fn shim_program(context: &Context) -> Check {
    match program::shim(&context.env) {
        Some(path) => version("shim program", &path),
        None => fail(
            "shim program",
            "not found",
            "install `edgeplane-shim` beside `edgeplaned`, or name it in EDGEPLANE_SHIM",
        ),
    }
}

/// Only agents whose program ends with each turn need it.
fn runner_program(context: &Context) -> Check {
    let beside = program::shim(&context.env).map(|shim| shim.with_file_name("edgeplane-exec"));
    match beside.filter(|path| path.is_file()) {
        Some(path) => version("exec program", &path),
        None => warn(
            "exec program",
            "not found: agents with the driver `exec` will not start".to_owned(),
            "install `edgeplane-exec` beside `edgeplane-shim`",
        ),
    }
}

fn version(name: &str, path: &Path) -> Check {
    match program::first_line(path, &["--version"], VERSION_TIME) {
        Some(line) if !line.is_empty() => ok(name, format!("{}, {line}", path.display())),
        _ => warn(
            name,
            format!("{} does not tell its version", path.display()),
            "see whether it can be run on this machine",
        ),
    }
}

fn kernel() -> Check {
    let uname = rustix::system::uname();
    ok("kernel", format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()))
}

fn handles() -> Check {
    match pidfd::open(std::process::id()) {
        Ok(_handle) => ok("process handles", "the kernel has pidfds"),
        Err(error) => fail(
            "process handles",
            format!("{:#}", anyhow::Error::from(error)),
            "Linux 5.3 or newer is needed",
        ),
    }
}

/// Sets the switch on this process, which has no children to be affected.
fn orphans() -> Check {
    match signals::become_subreaper() {
        Ok(()) => ok("orphans", "a shim can adopt every descendant of its agent"),
        Err(error) => fail(
            "orphans",
            format!("{:#}", anyhow::Error::from(error)),
            "the container's rules may forbid prctl",
        ),
    }
}

fn cgroups() -> Vec<Check> {
    let report = Hierarchies::detect(&Sources::live()).report();
    let tree = [
        (
            "cgroup: membership",
            &report.membership,
            "without it an agent's processes are found by mark and ancestry, and doubt means quarantine",
        ),
        ("cgroup: freeze", &report.freeze, "agents cannot be frozen"),
        ("cgroup: kill", &report.kill, "a whole process tree is killed process by process"),
    ];
    let limits = [
        ("cgroup: memory limit", &report.memory, "`limits.memory` of a manifest is not enforced"),
        ("cgroup: process limit", &report.pids, "`limits.pids` of a manifest is not enforced"),
        ("cgroup: cpu limit", &report.cpu, "`limits.cpu` of a manifest is not enforced"),
    ];
    tree.into_iter().chain(limits).map(|(name, backing, without)| cgroup(name, backing, without)).collect()
}

fn cgroup(name: &str, backing: &Backing, without: &str) -> Check {
    match backing.backend {
        Backend::V2 => ok(name, format!("v2 at {}", backing.reason)),
        Backend::V1 => ok(name, format!("v1 at {}", backing.reason)),
        Backend::None => {
            let hint =
                format!("{without}; run as root, under systemd with Delegate=yes, or with a writable cgroup");
            warn(name, backing.reason.clone(), hint)
        }
    }
}

fn systemd(context: &Context) -> Check {
    let name = "systemd";
    if !unit::is_systemd_there() {
        return ok(name, "not there; a watchdog keeps the daemon alive");
    }
    match unit::linger_warning(context) {
        None => ok(name, "there; `edgeplane daemon up --systemd` lets it keep the daemon alive"),
        Some(warning) => warn(name, "there, without linger for you", warning),
    }
}

fn python(context: &Context) -> Check {
    let search = context.env.get("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&search).map(|dir| dir.join("python3")).find(|path| is_executable(path));
    match found {
        Some(path) => ok("python3", path.display().to_string()),
        None => warn(
            "python3",
            "not found",
            "only agents written in Python need it, among them one of the examples",
        ),
    }
}
