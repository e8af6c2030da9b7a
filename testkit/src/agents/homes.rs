//! How each program is pointed at a model server: its HOME folder, its environment, its arguments.
//!
//! The configuration of a program is the same whether it speaks the Agent Client Protocol, draws on a terminal, or
//! answers once. Each function writes what the program reads below `home` and may be called again for the same one.

use std::path::Path;

use serde_json::{Value, json};

use super::{Launch, Programs};

/// What the model is called; any name does.
const MODEL: &str = "mock-model";

/// With a name that it does not know, gemini first asks another model which one to take.
const GEMINI_MODEL: &str = "gemini-2.5-flash";

/// What codex may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodexMode {
    /// Reading; it asks for everything else.
    ReadOnly,
    /// Everything.
    FullAccess,
}

impl Programs {
    /// `codex-acp`, which asks for nothing.
    #[must_use]
    pub fn codex_acp(&self, home: &Path, port: u16) -> Launch {
        self.codex_acp_in(CodexMode::FullAccess, home, port)
    }

    /// `codex-acp`, which asks for what its mode does not allow.
    #[must_use]
    pub fn codex_acp_in(&self, mode: CodexMode, home: &Path, port: u16) -> Launch {
        let mode = match mode {
            CodexMode::ReadOnly => "read-only",
            CodexMode::FullAccess => "agent-full-access",
        };
        let argv = self.script("@agentclientprotocol/codex-acp/dist/index.js");
        self.codex_launch(argv, home, port).with_env("INITIAL_AGENT_MODE", mode)
    }

    /// `gemini --acp`. Its client calls `authenticate` with the method [`GEMINI_AUTH_METHOD`] first.
    ///
    /// [`GEMINI_AUTH_METHOD`]: Self::GEMINI_AUTH_METHOD
    #[must_use]
    pub fn gemini_acp(&self, home: &Path, port: u16) -> Launch {
        self.gemini(home, port).arg("--acp")
    }

    /// How clients of `gemini --acp` authenticate.
    pub const GEMINI_AUTH_METHOD: &'static str = "gemini-api-key";

    /// `claude-agent-acp`.
    #[must_use]
    pub fn claude_acp(&self, home: &Path, port: u16) -> Launch {
        let argv = self.script("@agentclientprotocol/claude-agent-acp/dist/index.js");
        self.claude_launch(argv, home, port)
    }

    /// `codex` on a terminal, allowed everything, in `work`.
    #[must_use]
    pub fn codex(&self, home: &Path, work: &Path, port: u16) -> Launch {
        let launch = self.codex_launch(self.script("@openai/codex/bin/codex.js"), home, port);
        let trust = format!("[projects.{:?}]\ntrust_level = \"trusted\"\n", super::text(work));
        write(home, ".codex/config.toml", &(codex_config(port) + &trust));
        launch.arg("--dangerously-bypass-approvals-and-sandbox")
    }

    /// `codex exec`: answers one prompt and ends.
    #[must_use]
    pub fn codex_exec(&self, home: &Path, port: u16, prompt: &str) -> Launch {
        self.codex_launch(self.script("@openai/codex/bin/codex.js"), home, port)
            .arg("exec")
            .arg("--skip-git-repo-check")
            .arg("--dangerously-bypass-approvals-and-sandbox")
            .arg(prompt)
    }

    /// `gemini` on a terminal.
    #[must_use]
    pub fn gemini(&self, home: &Path, port: u16) -> Launch {
        let settings = json!({
            "security": { "folderTrust": { "enabled": false }, "auth": { "selectedType": "gemini-api-key" } },
            "model": { "name": GEMINI_MODEL },
            "general": { "disableAutoUpdate": true, "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        write_json(home, ".gemini/settings.json", &settings);
        let argv = self.script("@google/gemini-cli/bundle/gemini.js");
        Launch { argv, env: self.environment(home) }
            .with_env("GEMINI_API_KEY", "x")
            .with_env("GOOGLE_GEMINI_BASE_URL", &url(port))
            .with_env("GEMINI_MODEL", GEMINI_MODEL)
    }

    /// `gemini -p`: answers one prompt and ends.
    #[must_use]
    pub fn gemini_prompt(&self, home: &Path, port: u16, prompt: &str) -> Launch {
        self.gemini(home, port).arg("-p").arg(prompt)
    }

    /// `claude` on a terminal, past its first questions, in `work`.
    #[must_use]
    pub fn claude(&self, home: &Path, work: &Path, port: u16) -> Launch {
        let settled = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": ["x"], "rejected": [] },
            "projects": { (super::text(work)): {
                "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": [],
            } },
        });
        write_json(home, ".claude.json", &settled);
        self.claude_launch(vec![super::text(&self.claude)], home, port)
    }

    /// `claude -p`: answers one prompt and ends.
    #[must_use]
    pub fn claude_prompt(&self, home: &Path, port: u16, prompt: &str) -> Launch {
        self.claude_launch(vec![super::text(&self.claude)], home, port).arg("-p").arg(prompt)
    }

    fn codex_launch(&self, argv: Vec<String>, home: &Path, port: u16) -> Launch {
        write(home, ".codex/config.toml", &codex_config(port));
        Launch { argv, env: self.environment(home) }
    }

    fn claude_launch(&self, argv: Vec<String>, home: &Path, port: u16) -> Launch {
        Launch { argv, env: self.environment(home) }
            .with_env("IS_SANDBOX", "1")
            .with_env("ANTHROPIC_API_KEY", "x")
            .with_env("ANTHROPIC_BASE_URL", &url(port))
            .with_env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .with_env("DISABLE_AUTOUPDATER", "1")
            // Else it asks the model between turns what the user might say next.
            .with_env("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "false")
    }
}

fn codex_config(port: u16) -> String {
    format!(
        r#"model = "{MODEL}"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "{}/v1"
wire_api = "responses"

"#,
        url(port)
    )
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn write_json(home: &Path, below: &str, content: &Value) {
    write(home, below, &content.to_string());
}

fn write(home: &Path, below: &str, content: &str) {
    let path = home.join(below);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    }
    std::fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
