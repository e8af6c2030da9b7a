//! Builds what is measured: the release binaries, and the program that runs as an agent.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};

/// The measured program's source.
const PROGRAM: &str = include_str!("program.c");

/// The programs under test.
#[derive(Debug, Clone)]
pub(crate) struct Binaries {
    pub(crate) daemon: PathBuf,
    pub(crate) shim: PathBuf,
    pub(crate) cli: PathBuf,
    pub(crate) record_bench: PathBuf,
    pub(crate) policy_bench: PathBuf,
}

impl Binaries {
    /// Those of the release build that this program belongs to.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let dir = release_dir()?;
        Ok(Self {
            daemon: dir.join("edgeplaned"),
            shim: dir.join("edgeplane-shim"),
            cli: dir.join("edgeplane"),
            record_bench: dir.join("examples/record_bench"),
            policy_bench: dir.join("examples/policy_bench"),
        })
    }
}

/// Folder of release binaries beside the one that this program was built into.
fn release_dir() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent).context("this program lies in no target folder")?;
    Ok(target.join("release"))
}

/// Builds everything for release, this program included, and gives its path.
pub(crate) fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let packages = ["edgeplane-daemon", "edgeplane-shim", "edgeplane-cli", "xtask"];
    let selected = packages.iter().flat_map(|package| ["-p", package]);
    let runs: [Vec<&str>; 3] = [
        ["build", "--release", "--bins"].into_iter().chain(selected).collect(),
        vec!["build", "--release", "-p", "edgeplane-store", "--example", "record_bench"],
        vec!["build", "--release", "-p", "edgeplane-policy", "--example", "policy_bench"],
    ];
    for arguments in runs {
        let status = Command::new(&cargo).current_dir(root).args(&arguments).status()?;
        ensure!(status.success(), "`cargo {}` ended with {status}", arguments.join(" "));
    }
    Ok(release_dir()?.join("xtask"))
}

/// Compiles the measured program into a folder.
pub(crate) fn compile_program(dir: &Path) -> anyhow::Result<PathBuf> {
    let (source, program) = (dir.join("program.c"), dir.join("program"));
    std::fs::write(&source, PROGRAM)?;
    let status = Command::new("cc")
        .args(["-static", "-O2", "-o"])
        .args([&program, &source])
        .status()
        .context("cannot run the C compiler `cc`")?;
    ensure!(status.success(), "the measured program does not compile");
    Ok(program)
}
