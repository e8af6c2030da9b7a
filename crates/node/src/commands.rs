//! What is known of a command that a shim runs beside its program, read from its file.
//!
//! The shim may be writing while it is read; what was overwritten meanwhile is not shown.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
};

use edgeplane_types::ProcessId;
use edgeplane_wire::command::{CommandState, FOLDER, Head, KEPT_BYTES_MAX, SLACK_BYTES, file_name, id_of};

/// Looks at a head until two in a row are the same.
const LOOKS_MAX: u32 = 16;

/// A command as its file shows it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) state: CommandState,
    /// What was asked for of its output, as far as that is kept.
    pub(crate) output: Vec<u8>,
    /// Offset of the first byte of it.
    pub(crate) from: u64,
    /// Bytes that it has written, those included for which there was no space.
    pub(crate) written: u64,
    /// Bytes that are kept of it.
    pub(crate) limit: usize,
    /// Its process: pid and start, zero if it never ran.
    pub(crate) process: (u32, u64),
}

/// Which bytes of a command's output are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All that are kept.
    Kept,
    /// The last ones, so many.
    Last(usize),
    /// Those from an offset on, at most so many.
    From(u64, usize),
}

impl Seen {
    /// Whether there was more behind or before what was asked for.
    pub(crate) fn is_cut(&self) -> bool {
        u64::try_from(self.output.len()).unwrap_or(u64::MAX) < self.written
    }

    /// Asks its process to end, if it is there still and that is allowed.
    pub(crate) fn ask_to_end(&self) -> bool {
        let (pid, start) = self.process;
        if self.state != CommandState::Running || pid == 0 {
            return false;
        }
        // Opened first: once it is the one that was started, it stays the one that is meant.
        let Ok(pidfd) = edgeplane_os::pidfd::open(pid) else { return false };
        edgeplane_os::proc::is_same(pid, start)
            && edgeplane_os::pidfd::send_signal(&pidfd, edgeplane_os::Signal::TERM).unwrap_or(false)
    }
}

/// The files of an epoch's commands.
pub(crate) fn folder(epoch_dir: &Path) -> PathBuf {
    epoch_dir.join(FOLDER)
}

/// The commands of which there is a file.
pub(crate) fn ids(epoch_dir: &Path) -> Vec<ProcessId> {
    let entries = std::fs::read_dir(folder(epoch_dir)).into_iter().flatten().flatten();
    entries.filter_map(|entry| id_of(entry.file_name().to_str()?).map(ProcessId::from_bytes)).collect()
}

/// The file of a command.
pub(crate) fn file_of(epoch_dir: &Path, id: ProcessId) -> PathBuf {
    folder(epoch_dir).join(file_name(id.as_bytes()))
}

/// Looks at a command; `None` if there is no file of it.
///
/// # Errors
/// When the file cannot be read, or is none.
pub(crate) fn look(epoch_dir: &Path, id: ProcessId, part: Part) -> io::Result<Option<Seen>> {
    let file = match File::open(file_of(epoch_dir, id)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let head = steady(&file)?;
    let limit = head.capacity.saturating_sub(SLACK_BYTES).min(KEPT_BYTES_MAX);
    let kept_from = head.committed.saturating_sub(limit);
    let (wanted, bytes_max) = match part {
        Part::Kept => (kept_from, usize::MAX),
        Part::Last(count) => {
            (head.committed.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX)), usize::MAX)
        }
        Part::From(offset, bytes_max) => (offset, bytes_max),
    };
    let from = wanted.clamp(kept_from, head.committed);
    let mut output = ring(&file, &head, from, bytes_max)?;
    let later = steady(&file)?;
    let overwritten = later.reserved.saturating_sub(head.capacity).saturating_sub(from);
    let lost = usize::try_from(overwritten).unwrap_or(usize::MAX).min(output.len());
    output.drain(..lost);
    Ok(Some(Seen {
        state: head.state,
        output,
        from: from.saturating_add(u64::try_from(lost).unwrap_or(0)),
        written: head.committed.saturating_add(head.missing),
        limit: usize::try_from(limit).unwrap_or(0),
        process: (head.pid, head.start),
    }))
}

/// Reads the head as it was at one moment.
fn steady(file: &File) -> io::Result<Head> {
    let read = || {
        let mut bytes = [0; Head::BYTES];
        file.read_exact_at(&mut bytes, 0).map(|()| bytes)
    };
    let mut last = read()?;
    for _look in 0..LOOKS_MAX {
        let again = read()?;
        if again == last {
            break;
        }
        last = again;
    }
    Head::decode(&last).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The output from an offset on: to the end of what was written, but no more than `bytes_max`.
fn ring(file: &File, head: &Head, from: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
    let count = usize::try_from(head.committed.saturating_sub(from)).unwrap_or(0).min(bytes_max);
    let mut bytes = vec![0; count];
    let at = from.checked_rem(head.capacity).unwrap_or(0);
    let first = usize::try_from(head.capacity.saturating_sub(at)).unwrap_or(count).min(count);
    let (now, later) = bytes.split_at_mut(first);
    let begin = u64::try_from(Head::BYTES).unwrap_or(0);
    file.read_exact_at(now, begin.saturating_add(at))?;
    file.read_exact_at(later, begin)?;
    Ok(bytes)
}

/// Removes what is left of a command.
pub(crate) fn forget(epoch_dir: &Path, id: ProcessId) {
    let path = file_of(epoch_dir, id);
    // What cannot be removed goes with the epoch's folder.
    drop(std::fs::remove_file(path.with_extension("asked")));
    drop(std::fs::remove_file(path));
}

/// What a program asked of a command, that a later daemon must know.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The lines that ask how it ends.
    pub(crate) waits: Vec<u64>,
    /// Whether it was released.
    pub(crate) is_released: bool,
    /// How many of the last bytes of its output it is shown, unless those are all that are kept.
    pub(crate) shown: Option<usize>,
}

impl Asked {
    /// What is noted of a command.
    pub(crate) fn read(epoch_dir: &Path, id: ProcessId) -> Self {
        let path = file_of(epoch_dir, id).with_extension("asked");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let waits = text.lines().filter_map(|line| line.strip_prefix("wait ")?.parse().ok()).collect();
        let shown = text.lines().rev().find_map(|line| line.strip_prefix("show ")?.parse().ok());
        Self { waits, is_released: text.lines().any(|line| line == "release"), shown }
    }

    /// Notes one thing more.
    pub(crate) fn note(epoch_dir: &Path, id: ProcessId, line: &str) -> io::Result<()> {
        use std::io::Write as _;
        std::fs::create_dir_all(folder(epoch_dir))?;
        let path = file_of(epoch_dir, id).with_extension("asked");
        let mut file = File::options().create(true).append(true).open(path)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u8; 16] = [7; 16];

    fn keep(dir: &Path, bytes: &[u8]) {
        std::fs::create_dir_all(folder(dir)).unwrap();
        std::fs::write(folder(dir).join(file_name(&ID)), bytes).unwrap();
    }

    /// Proves DRV-058.
    #[test]
    fn end_of_the_output_is_read_around_the_ring() {
        let dir = tempfile::tempdir().unwrap();
        let id = ProcessId::from_bytes(ID);
        let all = |dir| look(dir, id, Part::Kept);
        assert!(all(dir.path()).unwrap().is_none());
        let mut head = Head::begin(4, 0);
        let capacity = usize::try_from(head.capacity).unwrap();
        let mut ring = vec![b'.'; capacity];
        ring[..2].copy_from_slice(b"cd");
        ring[capacity - 2..].copy_from_slice(b"ab");
        head.committed = head.capacity + 2;
        head.reserved = head.committed;
        keep(dir.path(), &[head.encode().as_slice(), &ring].concat());
        let seen = all(dir.path()).unwrap().unwrap();
        assert_eq!((seen.output.as_slice(), seen.is_cut(), seen.limit), (b"abcd".as_slice(), true, 4));
        let at = |part| {
            let seen = look(dir.path(), id, part).unwrap().unwrap();
            (String::from_utf8(seen.output).unwrap(), head.committed - seen.from)
        };
        assert_eq!(at(Part::Last(3)), ("bcd".to_owned(), 3));
        assert_eq!(at(Part::From(0, 3)), ("abc".to_owned(), 4), "what was before is not kept");
        assert_eq!(at(Part::From(head.committed - 1, 9)), ("d".to_owned(), 1));
        assert_eq!(at(Part::From(head.committed + 7, 9)), (String::new(), 0));
        assert_eq!(ids(dir.path()), [id]);
        head.reserved = head.committed + head.capacity - 1;
        keep(dir.path(), &[head.encode().as_slice(), &ring].concat());
        assert_eq!(all(dir.path()).unwrap().unwrap().output, b"d", "the rest is being overwritten");
        keep(dir.path(), b"garbage");
        assert!(all(dir.path()).is_err());
    }

    #[test]
    fn what_was_asked_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let id = ProcessId::from_bytes(ID);
        assert_eq!(Asked::read(dir.path(), id), Asked::default());
        Asked::note(dir.path(), id, "wait 12").unwrap();
        Asked::note(dir.path(), id, "release").unwrap();
        Asked::note(dir.path(), id, "show 20").unwrap();
        assert_eq!(
            Asked::read(dir.path(), id),
            Asked { waits: vec![12], is_released: true, shown: Some(20) }
        );
        forget(dir.path(), id);
        assert_eq!(Asked::read(dir.path(), id), Asked::default());
    }
}
