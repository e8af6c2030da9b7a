//! Aider on a terminal. It is large, so it is installed only where all agents are asked for.

use std::path::{Path, PathBuf};

use super::{Launch, More, text};

/// The installed program.
#[derive(Debug, Clone)]
pub struct Aider {
    program: PathBuf,
}

impl Aider {
    /// The program, or none with a loud word on what is not tested.
    ///
    /// # Panics
    /// If there is none and `EDGEPLANE_REQUIRE_AGENTS` is `all`.
    #[must_use]
    pub fn find_or_skip(what: &str) -> Option<Self> {
        let folders = More::Aider.find_or_skip(what)?;
        folders.first().map(|folder| Self { program: folder.join("aider") })
    }

    /// `aider` on a terminal, which may not touch anything without asking.
    ///
    /// # Panics
    /// If its folder for temporary files cannot be made.
    #[must_use]
    pub fn launch(&self, home: &Path, port: u16) -> Launch {
        let temporary = home.join("tmp");
        std::fs::create_dir_all(&temporary).expect("a folder for temporary files");
        let arguments = [
            "--model",
            "openai/mock-model",
            "--no-git",
            "--no-check-update",
            "--no-show-release-notes",
            "--no-show-model-warnings",
            "--analytics-disable",
            "--no-detect-urls",
        ];
        let argv = [text(&self.program)].into_iter().chain(arguments.map(str::to_owned)).collect();
        let env = [
            ("HOME", text(home)),
            ("TMPDIR", text(&temporary)),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("OPENAI_API_KEY", "x".to_owned()),
            ("OPENAI_API_BASE", format!("http://127.0.0.1:{port}/v1")),
            // Else it asks the network what each model costs.
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
        ];
        Launch { argv, env: env.map(|(name, value)| (name.to_owned(), value)).into() }
    }
}
