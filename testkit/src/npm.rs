//! Programs of npm's registry that a test runs, pinned by a lock file that lies beside the test.
//!
//! `scripts/npm-programs.sh` installs them when they are first needed; this asks it where they are.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Installed programs.
#[derive(Debug, Clone)]
pub struct Npm {
    /// What runs them.
    pub runtime: PathBuf,
    modules: PathBuf,
}

impl Npm {
    /// What the lock file in this folder names, or nothing with a loud word on what is not tested.
    ///
    /// # Panics
    /// If it cannot be installed and `EDGEPLANE_REQUIRE_AGENTS` is 1 or `all`.
    #[must_use]
    pub fn find_or_skip(what: &str, folder: &Path) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/npm-programs.sh");
        let output = Command::new(script).arg(folder).output().expect("the script runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = said.lines().map(PathBuf::from);
        if let (true, Some(runtime), Some(modules)) = (output.status.success(), lines.next(), lines.next()) {
            return Some(Self { runtime, modules });
        }
        let why = String::from_utf8_lossy(&output.stderr);
        let is_required =
            env::var_os("EDGEPLANE_REQUIRE_AGENTS").is_some_and(|value| value == "1" || value == "all");
        assert!(!is_required, "{what} cannot be installed, and it is required here:\n{why}");
        #[expect(clippy::print_stderr, reason = "a test that shows nothing must say so")]
        {
            eprintln!("SKIPPED: {what} cannot be installed:\n{why}");
        }
        None
    }

    /// A file of a package.
    #[must_use]
    pub fn file(&self, below: &str) -> PathBuf {
        self.modules.join(below)
    }
}
