//! A token in a file, shown to the node before anything is asked of it.
//!
//! Owns the reading of the file and its check. A token stands in a file and not in the environment, where every child,
//! every crash report and everybody who may look at the process would see it.

use std::{io::Read as _, os::unix::fs::MetadataExt as _, path::Path};

use anyhow::Context as _;
use edgeplane_client::CallError;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::core::{InitializeParams, PROTOCOL_VERSIONS},
    catalogue::{Call as _, CoreInitialize},
};
use serde_json::value::RawValue;

use crate::{
    failure::Failure,
    node::{Node, Patience},
};

/// Names the file of a token by which this program is to be known.
pub(crate) const TOKEN_FILE: &str = "EDGEPLANE_TOKEN_FILE";

/// Longest text that is read as a token.
const TOKEN_BYTES_MAX: u64 = 4_096;

/// A token. What it is made of is not shown.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Reads the token in a file that only its owner, or a group that was meant, can read.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let mut file =
            std::fs::File::open(path).with_context(|| format!("cannot read the token in `{shown}`"))?;
        let found = file.metadata().with_context(|| format!("cannot look at `{shown}`"))?;
        let mode = found.mode() & 0o7777;
        if mode & 0o027 != 0 && found.is_file() {
            let what =
                format!("`{shown}` has mode {mode:04o}: others may read the token or put another there");
            let failure = Failure::new(ErrorName::Unauthenticated, what);
            return Err(failure
                .hint(format!("`chmod 600 {shown}`; if others use the machine, revoke it"))
                .into());
        }
        let mut text = String::new();
        let read = std::io::Read::by_ref(&mut file).take(TOKEN_BYTES_MAX).read_to_string(&mut text);
        read.with_context(|| format!("cannot read the token in `{shown}`"))?;
        let text = text.trim();
        if text.is_empty() {
            let failure = Failure::new(ErrorName::Unauthenticated, format!("`{shown}` holds no token"));
            return Err(failure.hint("`edgeplane token create --into FILE` makes one").into());
        }
        Ok(Self(text.to_owned()))
    }

    /// Its text, for a connection that this program makes in another way.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// Greets a node; with a token, as its bearer.
pub(crate) fn greet(
    node: &mut Node,
    token: Option<&Token>,
    patience: Patience,
) -> Result<Box<RawValue>, CallError> {
    let client = Some(concat!("edgeplane/", env!("CARGO_PKG_VERSION")).to_owned());
    let versions = PROTOCOL_VERSIONS.iter().map(|version| (*version).to_owned()).collect();
    let token = token.map(|token| token.0.clone());
    node.call(CoreInitialize::NAME, InitializeParams { versions, client, token }, patience)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Proves SEC-042.
    #[test]
    fn token_that_others_can_read_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        edgeplane_os::atomic::write_atomic(&path, b"  ept_x\n", 0o600).unwrap();
        assert_eq!(Token::read(&path).unwrap().0, "ept_x");
        for (mode, good) in [(0o400, true), (0o440, true), (0o604, false), (0o620, false), (0o666, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(Token::read(&path).is_ok(), good, "{mode:o}");
        }
        edgeplane_os::atomic::write_atomic(&path, b"\n", 0o600).unwrap();
        assert!(Token::read(&path).is_err());
        assert!(Token::read(&dir.path().join("none")).is_err());
    }
}
