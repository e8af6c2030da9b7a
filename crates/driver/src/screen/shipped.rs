//! The adapters that come with EdgePlane, as files beside the code.

use super::Adapter;

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        /// Names and texts of the adapters that come along.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../adapters/", $name, ".toml")))),+];
    };
}

shipped! {
    "aider", "bash", "claude-code", "codex", "gemini-cli", "node", "opencode", "python", "qwen-code",
}

/// An adapter that comes along.
#[must_use]
pub fn shipped(name: &str) -> Option<Adapter> {
    let (_, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    // Each is read by a test.
    Adapter::parse(text).ok()
}
