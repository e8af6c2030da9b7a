//! Why a connection ended, said once by whoever saw it first.

use std::sync::{Arc, OnceLock};

/// Why a connection ended; the first to say it is believed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict(Arc<OnceLock<String>>);

impl Verdict {
    /// Says why, unless it is said already.
    pub(crate) fn say(&self, why: impl Into<String>) {
        drop(self.0.set(why.into()));
    }

    /// What was said.
    pub(crate) fn get(&self) -> Option<String> {
        self.0.get().cloned()
    }
}
