//! The real agent programs that tests run: where they are, and how each is pointed at a model server.
//!
//! `scripts/agents.sh` installs them, exactly as `testkit/agents/package-lock.json` says. This module only looks.
//!
//! ```no_run
//! use edgeplane_testkit::{agents::Programs, model::{ModelServer, Script}};
//!
//! let Some(programs) = Programs::find_or_skip("my test") else { return };
//! let server = ModelServer::start(Script::new());
//! let home = tempfile::tempdir().unwrap();
//! let launch = programs.codex_acp(home.path(), server.port());
//! let child = launch.command().current_dir(home.path()).spawn().unwrap();
//! ```

mod aider;
mod homes;
mod host;
mod more;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sha2::{Digest as _, Sha256};

pub use aider::Aider;
pub use homes::CodexMode;
pub use host::Host;
pub use more::More;

/// What pins the programs; the folder they are in is named by its digest.
const LOCK: &[u8] = include_bytes!("../agents/package-lock.json");

/// How much of the digest is in the folder's name, in bytes.
const NAME_BYTES: usize = 8;

/// Set to 1 where a test may not do without the programs, and to `all` where it may not do without the large ones either.
const REQUIRED: &str = "EDGEPLANE_REQUIRE_AGENTS";

/// Why there are no programs.
#[derive(Debug, thiserror::Error)]
pub enum Absent {
    /// No cache folder is known.
    #[error("neither XDG_CACHE_HOME nor HOME is set, so the agent programs cannot be looked for")]
    NoCache,
    /// They are not installed.
    #[error("the agent programs are not in `{folder}`: run `{how}`")]
    NotInstalled {
        /// Where they would be.
        folder: PathBuf,
        /// What installs them.
        how: &'static str,
    },
    /// They are installed, but not for this machine.
    #[error("`{path}` is missing: the agent programs are not to be had for this machine")]
    Incomplete {
        /// What is missing.
        path: PathBuf,
    },
}

/// The installed programs.
#[derive(Debug, Clone)]
pub struct Programs {
    modules: PathBuf,
    /// Where `node` is.
    node: PathBuf,
    claude: PathBuf,
}

/// A program with all that it needs, to be started with exactly this environment.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
}

impl Programs {
    /// The programs in the user's cache.
    ///
    /// # Errors
    /// If they are not there.
    pub fn find() -> Result<Self, Absent> {
        let folder = installed(LOCK)?;
        if !folder.is_dir() {
            return Err(Absent::NotInstalled { folder, how: "scripts/agents.sh" });
        }
        let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let modules = folder.join("node_modules");
        let node = modules.join(format!("node-linux-{architecture}/bin"));
        let claude = modules.join(format!("@anthropic-ai/claude-agent-sdk-linux-{architecture}/claude"));
        for path in [&node.join("node"), &claude] {
            if !path.is_file() {
                return Err(Absent::Incomplete { path: path.clone() });
            }
        }
        Ok(Self { modules, node, claude })
    }

    /// The programs, or none with a loud word on what is not tested.
    ///
    /// # Panics
    /// If there are none and `EDGEPLANE_REQUIRE_AGENTS` is 1 or `all`.
    #[must_use]
    pub fn find_or_skip(what: &str) -> Option<Self> {
        or_skip(Self::find(), what, &["1", "all"])
    }

    /// The folders of commands, as a person's PATH would have them: the pinned node first.
    #[must_use]
    pub fn path(&self) -> Vec<PathBuf> {
        let claude = self.claude.parent().map(Path::to_owned);
        [self.node.clone(), self.modules.join(".bin")].into_iter().chain(claude).collect()
    }

    /// The pinned node itself.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        self.node.join("node")
    }

    /// A script of an npm package, run by the pinned node.
    fn script(&self, below: &str) -> Vec<String> {
        vec![text(&self.node.join("node")), text(&self.modules.join(below))]
    }

    /// What every program gets: a folder of its own as HOME, the pinned node first, a place for temporary files.
    ///
    /// The latter is below HOME, since the sandbox of codex refuses a HOME that is below it.
    fn environment(&self, home: &Path) -> Vec<(String, String)> {
        let temporary = home.join("tmp");
        std::fs::create_dir_all(&temporary).expect("a folder for temporary files");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.node.display());
        [
            ("HOME", text(home)),
            ("TMPDIR", text(&temporary)),
            ("PATH", path),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

impl Launch {
    /// A command with its arguments and exactly its environment, not yet started and reading nothing.
    ///
    /// # Panics
    /// If there is no program.
    #[must_use]
    pub fn command(&self) -> Command {
        let (program, arguments) = self.argv.split_first().expect("a program");
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
        command
    }

    /// The same with one more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.argv.push(argument.into());
        self
    }

    /// The same with one more variable.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Where the programs of a list are installed, if they are.
fn installed(list: &[u8]) -> Result<PathBuf, Absent> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let name: String =
        Sha256::digest(list).iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect();
    Ok(cache.ok_or(Absent::NoCache)?.join("edgeplane/agents").join(name))
}

/// What was found, or nothing with a loud word; `required` are the values of the variable that forbid that.
fn or_skip<T>(found: Result<T, Absent>, what: &str, required: &[&str]) -> Option<T> {
    let is_required =
        || env::var_os(REQUIRED).is_some_and(|value| required.iter().any(|word| value == *word));
    match found {
        Ok(found) => Some(found),
        Err(absent) if is_required() => panic!("{what}: {absent}"),
        Err(absent) => {
            // Captured by the test runner and shown with the test.
            #[expect(clippy::print_stderr, reason = "a test that shows nothing must say so")]
            {
                eprintln!("SKIPPED: {what}: {absent}");
            }
            None
        }
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap_or_else(|| panic!("`{}` is no text", path.display())).to_owned()
}
