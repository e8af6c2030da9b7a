//! Commands beside the program: started when the node asks, written to, known by their files, ended with the epoch.
//!
//! Owns their processes, and writing their files. A command is born where the program was, with the program's user and
//! limits, and is a child of the shim like it: whatever ends the epoch's tree ends it. Its two outputs are one pipe,
//! which is read until the command has ended; what it left behind is heard no longer. It deliberately does not know why
//! a command is run, and nothing of it goes into the recording.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use edgeplane_os::{
    Clock, Signal, SystemClock,
    fd::{self, Transfer},
    group, pidfd,
    process::Spawned,
};
use edgeplane_types::life::ExitStatus;
use edgeplane_wire::{
    command::{CommandSpec, CommandState, FOLDER, Head, RUNNING_MAX, file_name},
    shim::{InputOutcome, LaunchStep},
};

use crate::{
    client::Token,
    command_input::{CommandInput, Settled},
    failure::Failure,
    launch::{Rights, What, bad_spec, spawn_in},
    tree::{Tree, kill_descendants},
};

/// Reads from one command before the others and the clients have their turn.
const READS_IN_TURN: usize = 8;

/// Bytes that are still read after a command has ended. The kernel lets nobody but root make a pipe hold more, so what
/// comes behind them was written by somebody that the command left behind.
const DRAIN_BYTES_MAX: usize = 1 << 20;

/// An input of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) id: [u8; 16],
    pub(crate) bytes: &'a [u8],
    pub(crate) closes: bool,
}

/// The commands of an epoch that have not ended.
#[derive(Debug)]
pub(crate) struct Commands {
    dir: PathBuf,
    rights: Rights,
    running: Vec<Command>,
}

/// A command that was started, and our ends of its streams.
struct Started {
    process: Spawned,
    output: OwnedFd,
    input: Option<OwnedFd>,
}

#[derive(Debug)]
struct Command {
    id: [u8; 16],
    process: Spawned,
    /// Its output, until it has none any more.
    output: Option<OwnedFd>,
    input: CommandInput,
    log: Log,
}

impl Commands {
    /// None yet, of the epoch in this folder.
    pub(crate) fn new(epoch_dir: &Path, rights: Rights) -> Self {
        Self { dir: epoch_dir.join(FOLDER), rights, running: Vec::new() }
    }

    /// Runs a command, unless one with this id was run before, and says whether that is over already.
    ///
    /// # Errors
    /// When it cannot be run. Its file says so too, if there could be one.
    pub(crate) fn run(&mut self, id: [u8; 16], spec: &CommandSpec, tree: &Tree) -> Result<bool, Failure> {
        let failed = |error: &io::Error| {
            Failure::new(LaunchStep::Prepare, error).attempted("cannot make the command's file")
        };
        let mut log = match Log::create(&self.dir, &id, spec.output_bytes_max) {
            Ok(log) => log,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Ok(!self.running.iter().any(|command| command.id == id));
            }
            Err(error) => return Err(failed(&error)),
        };
        match self.start(spec, tree) {
            Ok(Started { process, output, input }) => {
                log.head.pid = process.pid;
                log.head.start = process.start_time;
                log.keep_head();
                let input = CommandInput::new(input);
                self.running.push(Command { id, process, output: Some(output), input, log });
                Ok(false)
            }
            Err(failure) => {
                log.write(failure.text.as_bytes());
                log.end(CommandState::Failed);
                Err(failure)
            }
        }
    }

    fn start(&self, spec: &CommandSpec, tree: &Tree) -> Result<Started, Failure> {
        if self.running.len() >= RUNNING_MAX {
            return Err(bad_spec("too many commands run in this epoch"));
        }
        let failed = |error: io::Error| {
            Failure::new(LaunchStep::Terminal, &error).attempted("cannot make the command's streams")
        };
        let (its_input, input) = match spec.has_input {
            true => fd::pipe().map(|(its_end, our_end)| (its_end, Some(our_end))),
            false => File::open("/dev/null").map(|nothing| (OwnedFd::from(nothing), None)),
        }
        .map_err(failed)?;
        if let Some(input) = &input {
            fd::set_nonblocking(input).map_err(failed)?;
        }
        let (output, its_output) = fd::pipe().map_err(failed)?;
        fd::set_nonblocking(&output).map_err(failed)?;
        let what = What { program: &spec.program, argv: &spec.argv, env: &spec.env, cwd: &spec.cwd };
        let stdio = [its_input.as_fd(), its_output.as_fd(), its_output.as_fd()];
        let process = spawn_in(tree, &self.rights, &what, stdio, None)?;
        Ok(Started { process, output, input })
    }

    /// What they write to, by command.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = ([u8; 16], BorrowedFd<'_>)> {
        let open = |command: &'_ Command| command.output.is_some();
        let open = self.running.iter().filter(move |command| open(command));
        open.filter_map(|command| Some((command.id, command.output.as_ref()?.as_fd())))
    }

    /// Takes what a command has said, until its turn is over.
    pub(crate) fn take_output(&mut self, id: &[u8; 16], buffer: &mut [u8]) {
        let Some(command) = self.running.iter_mut().find(|command| command.id == *id) else { return };
        for _turn in 0..READS_IN_TURN {
            if command.take(buffer) == 0 {
                return;
            }
        }
    }

    /// Writes to a command, or says at once what becomes of that. One that has ended, or never was, is unknown.
    pub(crate) fn write(
        &mut self,
        id: &[u8; 16],
        asked_by: Token,
        input: Wanted<'_>,
    ) -> Option<InputOutcome> {
        let Some(command) = self.running.iter_mut().find(|command| command.id == *id) else {
            return Some(InputOutcome::Unknown);
        };
        command.input.push(asked_by, input.id, input.bytes, input.closes)
    }

    /// What they read from, of those that something waits for, by command.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = ([u8; 16], BorrowedFd<'_>)> {
        self.running.iter().filter_map(|command| Some((command.id, command.input.awaited()?)))
    }

    /// Writes what a command takes now.
    pub(crate) fn pump(&mut self, id: &[u8; 16], settled: &mut dyn FnMut(Settled)) {
        if let Some(command) = self.running.iter_mut().find(|command| command.id == *id) {
            command.input.pump(settled);
        }
    }

    /// Ends a command and what came from it. One that has ended needs none of it.
    pub(crate) fn end(&self, id: &[u8; 16]) {
        let Some(command) = self.running.iter().find(|command| command.id == *id) else { return };
        let pid = command.process.pid;
        // It is not reaped yet, so its number is its own, and that of the group that it leads.
        let _signalled = kill_descendants(pid);
        drop(group::signal(pid, Signal::KILL));
        drop(pidfd::send_signal(&command.process.pidfd, Signal::KILL));
    }

    /// A child was reaped: the command that it was, if it was one.
    pub(crate) fn reaped(
        &mut self,
        (pid, status): (u32, ExitStatus),
        buffer: &mut [u8],
        settled: &mut dyn FnMut([u8; 16], Settled),
    ) -> Option<[u8; 16]> {
        let at = self.running.iter().position(|command| command.process.pid == pid)?;
        let mut command = self.running.swap_remove(at);
        let mut drained = 0_usize;
        while drained < DRAIN_BYTES_MAX {
            match command.take(buffer) {
                0 => break,
                count => drained = drained.saturating_add(count),
            }
        }
        command.input.close(&mut |one| settled(command.id, one));
        command.log.end(CommandState::Ended(status));
        Some(command.id)
    }
}

impl Command {
    /// Takes one chunk of output and says how long it was.
    fn take(&mut self, buffer: &mut [u8]) -> usize {
        let Some(output) = &self.output else { return 0 };
        match fd::read(output, buffer) {
            Ok(Transfer::Moved(count)) => {
                self.log.write(buffer.get(..count).unwrap_or_default());
                count
            }
            Ok(Transfer::WouldBlock) => 0,
            Ok(Transfer::Ended) | Err(_) => {
                self.output = None;
                0
            }
        }
    }
}

/// A command's file.
#[derive(Debug)]
struct Log {
    file: File,
    head: Head,
}

impl Log {
    fn create(dir: &Path, id: &[u8; 16], output_bytes_max: u64) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let path = dir.join(file_name(id));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let head = Head::begin(output_bytes_max, SystemClock.now().as_micros());
        if let Err(error) = file.write_all_at(&head.encode(), 0) {
            // A file without a head would keep the command from ever being run.
            drop(std::fs::remove_file(&path));
            return Err(error);
        }
        Ok(Self { file, head })
    }

    /// Appends output. What finds no space is counted, and its place in the ring stays as it was.
    fn write(&mut self, bytes: &[u8]) {
        let count = u64::try_from(bytes.len()).unwrap_or(0);
        self.head.reserved = self.head.committed.saturating_add(count);
        self.keep_head();
        let mut rest = bytes;
        let mut offset = self.head.committed;
        while !rest.is_empty() {
            let at = offset.checked_rem(self.head.capacity).unwrap_or(0);
            let room = usize::try_from(self.head.capacity.saturating_sub(at)).unwrap_or(rest.len());
            let Some((now, later)) = rest.split_at_checked(room.min(rest.len())) else { return };
            let begin = u64::try_from(Head::BYTES).unwrap_or(0).saturating_add(at);
            if self.file.write_all_at(now, begin).is_err() {
                self.head.reserved = self.head.committed;
                self.head.missing = self.head.missing.saturating_add(count);
                return self.keep_head();
            }
            offset = offset.saturating_add(u64::try_from(now.len()).unwrap_or(0));
            rest = later;
        }
        self.head.committed = self.head.reserved;
        self.keep_head();
    }

    fn end(&mut self, state: CommandState) {
        self.head.state = state;
        self.head.ended_at = SystemClock.now().as_micros();
        self.keep_head();
    }

    fn keep_head(&self) {
        // Its place is there since the file was made, so only a broken disk fails; the end is told by frame as well.
        drop(self.file.write_all_at(&self.head.encode(), 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves SHIM-040.
    #[test]
    #[expect(clippy::indexing_slicing, reason = "a test that looks beyond the end has failed")]
    fn ring_holds_the_last_bytes_and_knows_how_many_there_were() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::create(dir.path(), &[3; 16], 10).unwrap();
        let capacity = usize::try_from(log.head.capacity).unwrap();
        let all: Vec<u8> = (0..capacity * 2 + 7).map(|number| u8::try_from(number % 251).unwrap()).collect();
        all.chunks(8_000).for_each(|chunk| log.write(chunk));
        log.end(CommandState::Ended(ExitStatus::Code(4)));
        let bytes = std::fs::read(dir.path().join(file_name(&[3; 16]))).unwrap();
        let head = Head::decode(&bytes[..Head::BYTES]).unwrap();
        assert_eq!(head.committed, all.len() as u64);
        assert_eq!(head.state, CommandState::Ended(ExitStatus::Code(4)));
        let ring = &bytes[Head::BYTES..];
        assert_eq!(ring.len(), capacity);
        let end = all.len() % capacity;
        assert_eq!([&ring[end..], &ring[..end]].concat(), all[all.len() - capacity..]);
        assert!(Log::create(dir.path(), &[3; 16], 10).is_err(), "a command is run once");
    }
}
