//! The environment of this process, as a value.
//!
//! Owns the only reading of it. Everything below gets it passed, so that a test can pass another.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

/// Names a daemon's program other than the one beside this program.
pub(crate) const DAEMON: &str = "EDGEPLANED";

/// Names a shim's program other than the one beside the daemon.
pub(crate) const SHIM: &str = "EDGEPLANE_SHIM";

/// Variables and who this process is.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    variables: BTreeMap<OsString, OsString>,
    pub(crate) uid: u32,
    /// The file of this program.
    pub(crate) executable: Option<PathBuf>,
}

impl Environment {
    pub(crate) fn of_this_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            uid: rustix::process::geteuid().as_raw(),
            executable: std::env::current_exe().ok(),
        }
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, uid: 1_000, executable: None }
    }

    /// A variable that is set to something.
    pub(crate) fn get(&self, name: &str) -> Option<OsString> {
        self.variables.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
    }
}
