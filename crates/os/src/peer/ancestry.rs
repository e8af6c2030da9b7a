//! The line of parents above a process.
//!
//! Owns the walk and its guard against numbers that change hands meanwhile.

use crate::proc::{self, Stat};

/// How far a walk goes; no honest tree is this deep, and it bounds the work a hostile one causes.
const LEVELS_MAX: usize = 1_024;

/// How often one level is looked at again when its process changes parents meanwhile.
const LOOKS_MAX: usize = 8;

/// A process by number and start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcRef {
    /// Its number.
    pub pid: u32,
    /// Clock ticks between boot and its start.
    pub start_time: u64,
}

/// Why a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AncestryEnd {
    /// The caller's condition held for the last process of the chain.
    Stopped,
    /// There is nothing above the last process.
    Root,
    /// A process vanished or its number changed hands: what is above the last one is not known.
    Lost,
    /// The bound was reached.
    TooDeep,
}

/// A process, its parent, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestry {
    /// The process itself first; empty if it does not exist.
    pub chain: Vec<ProcRef>,
    /// Why it goes no further.
    pub end: AncestryEnd,
}

/// Walks from `pid` to its parents until `stop` holds for one, which is then the last of the chain.
///
/// Each parent is read between two equal readings of its child, and must not be younger than it: at the second
/// reading it was the parent, so its number cannot have meant another process.
#[must_use]
pub fn ancestry(pid: u32, stop: impl Fn(u32) -> bool) -> Ancestry {
    let mut chain = Vec::new();
    let Ok(mut current) = proc::stat(pid) else {
        return Ancestry { chain, end: AncestryEnd::Lost };
    };
    loop {
        chain.push(ProcRef { pid: current.pid, start_time: current.start_time });
        if stop(current.pid) {
            return Ancestry { chain, end: AncestryEnd::Stopped };
        }
        if chain.len() >= LEVELS_MAX {
            return Ancestry { chain, end: AncestryEnd::TooDeep };
        }
        match parent_of(current) {
            Above::Parent(parent) => current = parent,
            Above::Nothing => return Ancestry { chain, end: AncestryEnd::Root },
            Above::Unknown => return Ancestry { chain, end: AncestryEnd::Lost },
        }
    }
}

enum Above {
    Parent(Stat),
    Nothing,
    Unknown,
}

fn parent_of(mut child: Stat) -> Above {
    for _look in 0..LOOKS_MAX {
        if child.parent == 0 {
            return Above::Nothing;
        }
        let parent = proc::stat(child.parent);
        match proc::stat(child.pid) {
            Ok(again) if again.start_time != child.start_time => return Above::Unknown,
            // The parent died and the child was given another one: look at that.
            Ok(again) if again.parent != child.parent => child = again,
            Ok(_) => match parent {
                Ok(parent) if parent.start_time <= child.start_time => return Above::Parent(parent),
                _ => return Above::Unknown,
            },
            Err(_) => return Above::Unknown,
        }
    }
    Above::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_ends_at_the_root_or_where_it_is_told_to() {
        let me = std::process::id();
        let whole = ancestry(me, |_pid| false);
        assert_eq!(whole.end, AncestryEnd::Root);
        assert_eq!(whole.chain.first().map(|first| first.pid), Some(me));
        let parent = std::os::unix::process::parent_id();
        let short = ancestry(me, |pid| pid == parent);
        assert_eq!(short.end, AncestryEnd::Stopped);
        assert_eq!(short.chain.iter().map(|entry| entry.pid).collect::<Vec<_>>(), [me, parent]);
    }

    #[test]
    fn missing_process_has_no_chain() {
        let none = ancestry(u32::MAX, |_pid| false);
        assert_eq!(none, Ancestry { chain: Vec::new(), end: AncestryEnd::Lost });
    }
}
