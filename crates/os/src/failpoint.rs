//! Points at which a test lets a process die, as `kill -9` at that moment would.
//!
//! Only in builds with debug assertions; in others nothing of it is there. A point is armed by a file of its name: a
//! test can arm one in a process that runs, and one that a process begot.

#[cfg(debug_assertions)]
use std::fs;
use std::path::Path;

/// The folder of armed points beside what a process works on.
pub const FOLDER: &str = "failpoints";

/// Ends this process if `name` is armed in the [`FOLDER`] of `dir`: at the passage whose number stands in the file,
/// counted over all processes. The file is gone by then, so that whoever comes next passes.
#[cfg(debug_assertions)]
pub fn pass(dir: &Path, name: &str) {
    let armed = dir.join(FOLDER).join(name);
    let Ok(text) = fs::read_to_string(&armed) else { return };
    if let Ok(passages @ 2..) = text.trim().parse::<u32>() {
        // A point that cannot be counted down is passed; the test that waits for a death says so.
        drop(fs::write(&armed, passages.saturating_sub(1).to_string()));
        return;
    }
    drop(fs::remove_file(&armed));
    let _never_refused = rustix::process::kill_process(rustix::process::getpid(), crate::Signal::KILL);
}

/// Nothing: this build has no points.
#[cfg(not(debug_assertions))]
#[inline]
pub fn pass(_dir: &Path, _name: &str) {}
