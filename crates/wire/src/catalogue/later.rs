//! What the protocol has a name for and this version does not serve.
//!
//! A caller that asks for one of these hears `unsupported` and not `method_not_found`: the name is taken, and what it
//! will mean is known. No row here has parameters, so that nobody builds on half a method.

use super::MethodEffect;

/// A method that is not served yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Later {
    /// `profile/object.action`.
    pub name: &'static str,
    /// What it will do.
    pub summary: &'static str,
    /// Whether it will change anything.
    pub effect: MethodEffect,
}

macro_rules! later {
    ($($name:literal $effect:ident $summary:literal;)+) => {
        /// Every method that is not served yet.
        pub const LATER: &[Later] =
            &[$(Later { name: $name, summary: $summary, effect: MethodEffect::$effect },)+];
    };
}

/// The row of a method that is not served yet.
#[must_use]
pub fn find(name: &str) -> Option<&'static Later> {
    LATER.iter().find(|later| later.name == name)
}

later! {
    "runtime/host.register" Write "Makes a machine known to a fleet.";
    "runtime/host.heartbeat" Write "Says that a machine lives.";
    "runtime/host.drain" Write "Lets a machine take nothing new.";
    "runtime/handoff.prepare" Write "Readies a run for another machine.";
    "runtime/handoff.complete" Write "Lets a run go on at another machine.";
    "runtime/handoff.abort" Write "Leaves a run where it is.";

    "sync/feed.pull" Read "Reads changes of a workspace.";
    "sync/feed.push" Write "Writes changes of a workspace.";
    "sync/conflict.list" Read "Lists conflicts.";
    "sync/conflict.resolve" Write "Decides a conflict.";

    "stream/channel.connect" Write "Links a remote peer.";
    "stream/channel.resume" Write "Lets a link to a peer go on.";
    "stream/channel.disconnect" Write "Ends a link to a peer.";
    "stream/channel.list" Read "Lists links to peers.";
    "inference/generate" Write "Asks a model.";
    "evidence/replay.run" Write "Runs a replay case.";
    "evidence/review.export" Write "Writes a case for reviewers.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn no_method_is_served_and_not_served() {
        for later in LATER {
            assert!(catalogue::find(later.name).is_none(), "{}", later.name);
            assert_eq!(LATER.iter().filter(|other| other.name == later.name).count(), 1, "{}", later.name);
            assert!(later.summary.ends_with('.'), "{}", later.name);
        }
    }
}
