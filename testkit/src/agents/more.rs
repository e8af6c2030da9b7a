//! Programs that only the test of templates starts: what is installed together, and where its commands are.

use std::path::PathBuf;

use super::{Absent, installed, or_skip};

/// Programs that are installed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// Qwen Code, OpenCode and Goose.
    Npm,
    /// LangGraph and AutoGen, with what they need for a model.
    Frameworks,
    /// Aider: large, so not installed for every run of the tests.
    Aider,
    /// CrewAI: large as well.
    CrewAi,
}

impl More {
    /// What pins them.
    fn list(self) -> &'static [u8] {
        match self {
            Self::Npm => include_bytes!("../../agents/more/package-lock.json"),
            Self::Frameworks => include_bytes!("../../agents/python/frameworks.txt"),
            Self::Aider => include_bytes!("../../agents/python/aider.txt"),
            Self::CrewAi => include_bytes!("../../agents/python/crewai.txt"),
        }
    }

    fn is_large(self) -> bool {
        matches!(self, Self::Aider | Self::CrewAi)
    }

    /// The folders of their commands, as a person's PATH would have them.
    ///
    /// # Errors
    /// If they are not there.
    pub fn find(self) -> Result<Vec<PathBuf>, Absent> {
        let folder = installed(self.list())?;
        // The last that is made of each.
        let (last, path) = match self {
            Self::Npm => {
                let modules = folder.join("node_modules");
                let binaries = ["@aaif/goose-binary-linux-x64/bin", "opencode-linux-x64/bin"]
                    .map(|below| modules.join(below));
                (modules.clone(), [vec![modules.join(".bin")], binaries.into()].concat())
            }
            Self::Frameworks | Self::Aider | Self::CrewAi => {
                (folder.join("complete"), vec![folder.join("bin")])
            }
        };
        if !last.exists() {
            let how = if self.is_large() { "scripts/agents.sh all" } else { "scripts/agents.sh" };
            return Err(Absent::NotInstalled { folder, how });
        }
        match path.iter().find(|folder| !folder.is_dir()) {
            Some(path) => Err(Absent::Incomplete { path: path.clone() }),
            None => Ok(path),
        }
    }

    /// The same, or none with a loud word on what is not tested.
    ///
    /// # Panics
    /// If they are not there and `EDGEPLANE_REQUIRE_AGENTS` says that they must be: 1, or `all` for the large ones.
    #[must_use]
    pub fn find_or_skip(self, what: &str) -> Option<Vec<PathBuf>> {
        or_skip(self.find(), what, if self.is_large() { &["all"] } else { &["1", "all"] })
    }
}
