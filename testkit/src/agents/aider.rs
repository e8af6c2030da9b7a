//! Aider, which comes from another registry than the others: `scripts/aider.sh` installs it, this module only looks.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{Absent, Launch, NAME_BYTES, cache, required, text};

/// What pins it; the folder it is in is named by its digest.
const PIN: &[u8] = include_bytes!("../../agents/aider.txt");

/// The installed program.
#[derive(Debug, Clone)]
pub struct Aider {
    program: PathBuf,
}

impl Aider {
    /// The program in the user's cache.
    ///
    /// # Errors
    /// If it is not there.
    pub fn find() -> Result<Self, Absent> {
        let name: String =
            Sha256::digest(PIN).iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect();
        let folder = cache()?.join(format!("aider-{name}"));
        if !folder.join("installed").is_file() {
            return Err(Absent::NoAider { folder });
        }
        Ok(Self { program: folder.join("bin/aider") })
    }

    /// The program, or none with a loud word on what is not tested.
    ///
    /// # Panics
    /// If there is none and `EDGEPLANE_REQUIRE_AGENTS` is 1.
    #[must_use]
    pub fn find_or_skip(what: &str) -> Option<Self> {
        required(what, Self::find())
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
