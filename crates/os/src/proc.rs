//! What `/proc` says about processes.
//!
//! Owns its parsing and the rule that a pid is somebody only together with a start time. It deliberately sends nothing:
//! see [`crate::pidfd`].

use std::{collections::BTreeSet, fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use edgeplane_types::identity::ProcessIdentity;

/// Why something about a process is not known.
#[derive(Debug, thiserror::Error)]
pub enum ProcError {
    /// There is no such process, or no longer.
    #[error("process {pid} does not exist")]
    Gone {
        /// Its number.
        pid: u32,
    },
    /// The file is there and cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The file does not look as documented.
    #[error("cannot make sense of `{}`", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
    },
}

/// A process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its number.
    pub pid: u32,
    /// The kernel's letter for the state of its first thread, such as `R`, `S`, `T` or `Z`.
    pub state: u8,
    /// Its parent, zero if that is outside the namespace.
    pub parent: u32,
    /// Clock ticks between boot and its start.
    pub start_time: u64,
    /// Whether its first thread has begun to end: its memory, and its environment with it, may be gone.
    pub is_ending: bool,
    /// How many threads it has. Its first one counts until all are gone.
    pub threads: u32,
}

/// The kernel's flag of a task that has begun to end.
const PF_EXITING: u64 = 0x4;

impl Stat {
    /// Whether it still runs: a zombie has a number but does nothing. One whose first thread has ended runs on in the
    /// others.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1
    }
}

/// The kernel's id of this boot.
///
/// # Errors
/// When `/proc` is not there.
pub fn boot_id() -> Result<String, ProcError> {
    let path = PathBuf::from("/proc/sys/kernel/random/boot_id");
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(source) => Err(ProcError::Read { path, source }),
    }
}

/// State, parent and start time of `pid`.
///
/// # Errors
/// When it does not exist or `/proc` cannot be read.
pub fn stat(pid: u32) -> Result<Stat, ProcError> {
    let path = proc_path(pid, "stat");
    let bytes = read(pid, &path)?;
    parse_stat(pid, &bytes).ok_or(ProcError::Parse { path })
}

/// Fields 3, 4, 9, 20 and 22. The name before them is in parentheses and may hold parentheses, spaces and newlines, so the
/// fields are counted from the last closing one.
fn parse_stat(pid: u32, bytes: &[u8]) -> Option<Stat> {
    let end = bytes.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end.checked_add(1)?..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.bytes().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Field 9, where the parent was field 4; then fields 20 and 22.
    let flags: u64 = fields.nth(4)?.parse().ok()?;
    let threads = fields.nth(10)?.parse().ok()?;
    let start_time = fields.nth(1)?.parse().ok()?;
    Some(Stat { pid, state, parent, start_time, is_ending: flags & PF_EXITING != 0, threads })
}

fn proc_path(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

fn read(pid: u32, path: &PathBuf) -> Result<Vec<u8>, ProcError> {
    fs::read(path).map_err(|source| match source.raw_os_error() {
        // The process may end between opening and reading.
        Some(libc::ENOENT | libc::ESRCH) => ProcError::Gone { pid },
        _ => ProcError::Read { path: path.clone(), source },
    })
}

/// The identity of `pid` beyond doubt.
///
/// # Errors
/// When it does not exist or `/proc` cannot be read.
pub fn identity(pid: u32) -> Result<ProcessIdentity, ProcError> {
    Ok(ProcessIdentity { pid, start_time: stat(pid)?.start_time, boot_id: boot_id()? })
}

/// Whether `pid` is still the process that started then, be it alive or a zombie.
#[must_use]
pub fn is_same(pid: u32, start_time: u64) -> bool {
    stat(pid).is_ok_and(|found| found.start_time == start_time)
}

/// Whether this very process runs: same boot, same start, no zombie.
#[must_use]
pub fn is_running(process: &ProcessIdentity) -> bool {
    boot_id().is_ok_and(|boot| boot == process.boot_id)
        && stat(process.pid).is_ok_and(|found| found.start_time == process.start_time && found.is_alive())
}

/// Every process that `/proc` shows, in no order.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn all() -> Result<Vec<u32>, ProcError> {
    numbers_in(PathBuf::from("/proc"))
}

fn numbers_in(path: PathBuf) -> Result<Vec<u32>, ProcError> {
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(source) => return Err(ProcError::Read { path, source }),
    };
    // An entry that cannot be read belongs to a process that just ended.
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The children of `pid`, those of all its threads.
///
/// # Errors
/// When it does not exist or `/proc` cannot be read.
pub fn children(pid: u32) -> Result<Vec<u32>, ProcError> {
    let threads = match numbers_in(proc_path(pid, "task")) {
        Ok(threads) => threads,
        Err(ProcError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Err(ProcError::Gone { pid });
        }
        Err(other) => return Err(other),
    };
    let mut found = Vec::new();
    for thread in threads {
        let path = proc_path(pid, &format!("task/{thread}/children"));
        match fs::read_to_string(&path) {
            Ok(text) => {
                found.extend(text.split_ascii_whitespace().filter_map(|word| word.parse::<u32>().ok()))
            }
            // A thread that ended, or a kernel built without this file.
            Err(_) => return children_by_parent(pid),
        }
    }
    Ok(found)
}

fn children_by_parent(pid: u32) -> Result<Vec<u32>, ProcError> {
    Ok(all()?.into_iter().filter(|other| stat(*other).is_ok_and(|found| found.parent == pid)).collect())
}

/// Every descendant of `pid`, nearest first; those that move to another parent meanwhile may be missed.
///
/// # Errors
/// When it does not exist or `/proc` cannot be read.
pub fn descendants(pid: u32) -> Result<Vec<u32>, ProcError> {
    let mut found = children(pid)?;
    let mut seen: BTreeSet<u32> = found.iter().copied().chain([pid]).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next = next.saturating_add(1);
        found.extend(children(parent).unwrap_or_default().into_iter().filter(|child| seen.insert(*child)));
    }
    Ok(found)
}

/// The user that this process acts as.
#[must_use]
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user that owns `pid`.
///
/// # Errors
/// When it does not exist or `/proc` cannot be read.
pub fn uid(pid: u32) -> Result<u32, ProcError> {
    let path = PathBuf::from(format!("/proc/{pid}"));
    match fs::metadata(&path) {
        Ok(found) => Ok(found.uid()),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Err(ProcError::Gone { pid }),
        Err(source) => Err(ProcError::Read { path, source }),
    }
}

/// The processes that were started with exactly this `NAME=value` in their environment.
///
/// Processes whose environment may not be read are not found, nor are those that were given another one; it is
/// evidence, not proof.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn find_marked(mark: &[u8]) -> Result<Vec<u32>, ProcError> {
    Ok(all()?.into_iter().filter(|pid| is_marked(*pid, mark)).collect())
}

/// Whether a process was started with exactly this `NAME=value` in its environment.
#[must_use]
pub fn is_marked(pid: u32, mark: &[u8]) -> bool {
    environment(pid).split(|byte| *byte == 0).any(|entry| entry == mark)
}

/// What a process was started with as its environment, entries ended by zeros; nothing if it may not be read, or if its
/// memory is gone.
#[must_use]
pub fn environment(pid: u32) -> Vec<u8> {
    let read = |path: PathBuf| fs::read(path).unwrap_or_default();
    let own = read(proc_path(pid, "environ"));
    if !own.is_empty() || !stat(pid).is_ok_and(|stat| stat.threads > 1) {
        return own;
    }
    // Its first thread has given the memory back that the others still have.
    let threads = numbers_in(proc_path(pid, "task")).unwrap_or_default();
    let of_threads =
        threads.into_iter().map(|thread| read(proc_path(pid, &format!("task/{thread}/environ"))));
    of_threads.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_and_spaces_do_not_shift_the_fields() {
        let tail = "S 41 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 9";
        for name in ["sh", "a b", "x) R 1 (y", ")))", "", "new\nline"] {
            let line = format!("42 ({name}) {tail}\n");
            let expected =
                Stat { pid: 42, state: b'S', parent: 41, start_time: 123_456, is_ending: false, threads: 1 };
            assert_eq!(parse_stat(42, line.as_bytes()), Some(expected), "{name:?}");
        }
        let ending = format!("42 (sh) {}", tail.replace("4194560", "4194564"));
        assert!(parse_stat(42, ending.as_bytes()).unwrap().is_ending);
        let headless = tail.replace("S 41", "Z 41").replace(" 20 0 1 0 ", " 20 0 2 0 ");
        for (fields, is_alive) in [(tail, true), (&headless, true), (&tail.replace("S 41", "Z 41"), false)] {
            let line = format!("42 (sh) {fields}");
            assert_eq!(parse_stat(42, line.as_bytes()).unwrap().is_alive(), is_alive, "{line}");
        }
        for bad in ["", "42 (sh", "42 (sh)", "42 (sh) S x", "42 (sh) S 1 2 3"] {
            assert_eq!(parse_stat(42, bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn this_process_is_itself_and_not_another() {
        let me = std::process::id();
        let identity = identity(me).unwrap();
        assert!(is_same(me, identity.start_time) && is_running(&identity));
        assert!(!is_same(me, identity.start_time + 1));
        assert!(!is_running(&ProcessIdentity { boot_id: "another".to_owned(), ..identity }));
        assert_eq!(uid(me).unwrap(), rustix::process::geteuid().as_raw());
        assert!(all().unwrap().contains(&me));
    }

    #[test]
    fn missing_process_is_gone() {
        assert!(matches!(stat(u32::MAX), Err(ProcError::Gone { .. })));
        assert!(matches!(children(u32::MAX), Err(ProcError::Gone { .. })));
        assert!(matches!(uid(u32::MAX), Err(ProcError::Gone { .. })));
    }
}
