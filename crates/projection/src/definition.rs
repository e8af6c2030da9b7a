//! Which projections there are.

use std::fmt;

use edgeplane_wire::api::stream::TargetKind;
use serde_json::Value;

use crate::{
    fold::{self, AnyFold},
    folds,
    subject::Subject,
};

/// A projection: its name, its version and what it is about.
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Grows whenever the same events give other envelopes or another state.
    pub version: u32,
    /// What it shows, in one sentence.
    pub summary: &'static str,
    /// What it can be about.
    pub targets: &'static [TargetKind],
    /// Whether it takes events of this type. The others need not be read.
    pub takes: fn(&str) -> bool,
    pub(crate) make: fn(&Subject) -> Box<dyn AnyFold>,
    pub(crate) load: fn(Value) -> Option<Box<dyn AnyFold>>,
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

macro_rules! projections {
    ($($name:literal $version:literal $fold:ty, [$($target:ident),+], $takes:expr, $summary:literal;)+) => {
        /// Every projection.
        pub static PROJECTIONS: &[Definition] = &[$(Definition {
            name: $name,
            version: $version,
            summary: $summary,
            targets: &[$(TargetKind::$target),+],
            takes: $takes,
            make: fold::make::<$fold>,
            load: fold::load::<$fold>,
        },)+];
    };
}

projections! {
    "audit.chain" 1 folds::audit::Audit, [Node, Agent], |_| true,
        "The place and hash of every event, and the newest of each stream.";
}

/// The projection of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Definition> {
    PROJECTIONS.iter().find(|definition| definition.name == name)
}
