//! The daemon's program: where it is, and running it for a moment.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use edgeplane_os::{
    dirs::{self, StateDirs},
    wait::{self, Deadline},
};
use edgeplane_types::ErrorName;

use crate::{
    command::agent::offline::is_executable,
    environment::{DAEMON, Environment, SHIM},
    failure::Failure,
};

/// Finds `edgeplaned`: where `EDGEPLANED` says, beside this program, or in `PATH`.
pub(crate) fn daemon(env: &Environment) -> anyhow::Result<PathBuf> {
    find(env, DAEMON, "edgeplaned").ok_or_else(|| {
        let failure = Failure::new(ErrorName::Unavailable, "cannot find the program `edgeplaned`");
        failure.hint(format!("put it beside `edgeplane` or into PATH, or name it in {DAEMON}")).into()
    })
}

/// Finds `edgeplane-shim`: where `EDGEPLANE_SHIM` says, or beside the daemon.
pub(crate) fn shim(env: &Environment) -> Option<PathBuf> {
    if let Some(named) = env.get(SHIM).map(PathBuf::from) {
        return is_executable(&named).then_some(named);
    }
    let beside = daemon(env).ok()?.parent()?.join("edgeplane-shim");
    is_executable(&beside).then_some(beside)
}

fn find(env: &Environment, variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(named) = env.get(variable).map(PathBuf::from) {
        return is_executable(&named).then_some(named);
    }
    let beside = env.executable.as_deref().and_then(Path::parent).map(|dir| dir.join(name));
    let search = env.get("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&search).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name));
    beside.into_iter().chain(in_path).find(|path| is_executable(path))
}

/// Runs a program to its end, for the node with these directories.
pub(crate) fn run(program: &Path, arguments: &[&str], dirs: &StateDirs) -> anyhow::Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.env(dirs::STATE_DIR, &dirs.state).env(dirs::RUNTIME_DIR, &dirs.runtime);
    command.output().with_context(|| format!("cannot run `{}`", program.display()))
}

/// Runs a program that answers quickly, and gives the first line of what it prints; `None` if it does not in time.
pub(crate) fn first_line(program: &Path, arguments: &[&str], time: Duration) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // What it prints fits the pipe; one that prints more is not what we look for.
    let ended = wait::until(Deadline::after(time), || matches!(child.try_wait(), Ok(Some(_)) | Err(_)));
    if !ended {
        // It may end at this moment by itself.
        drop(child.kill());
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (ended && output.status.success()).then(|| text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn named_program_stands_before_neighbour_and_path() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "#!/bin/sh\necho one\necho two\n").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            path
        };
        let (named, neighbour, in_path) = (make("x/other"), make("bin/edgeplaned"), make("path/edgeplaned"));
        let path = in_path.parent().unwrap().to_str().unwrap();
        let env = Environment::of(&[("PATH", path), (DAEMON, named.to_str().unwrap())]);
        assert_eq!(daemon(&env).unwrap(), named);
        let mut env = Environment::of(&[("PATH", path)]);
        assert_eq!(daemon(&env).unwrap(), in_path);
        env.executable = Some(dir.path().join("bin/edgeplane"));
        assert_eq!(daemon(&env).unwrap(), neighbour);
        assert!(daemon(&Environment::of(&[(DAEMON, "/nonexistent"), ("PATH", path)])).is_err());

        let time = Duration::from_secs(20);
        assert_eq!(first_line(&named, &[], time).as_deref(), Some("one"));
        assert_eq!(first_line(Path::new("/bin/false"), &[], time), None);
        assert_eq!(first_line(Path::new("/bin/sleep"), &["60"], Duration::from_millis(20)), None);
    }
}
