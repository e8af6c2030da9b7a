//! Shims out of one that runs already, where that is faster than starting the program.
//!
//! Owns the process that makes them and the questions to it. Whatever goes wrong with it is no failure of a launch: the
//! caller starts the shim itself then, and the next launch has a new nursery.

use std::{
    ffi::CString,
    fs::File,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use edgeplane_os::{
    Signal, pidfd,
    poll::{PollFlags, is_ready},
    proc,
    process::{SpawnSpec, Spawned, spawn},
    sock::{pair_of_messages, recv_with_fds, send_with_fds},
};

use crate::Place;

/// How long a birth may take before the nursery is given up: it is a millisecond's work.
const BIRTH_TIME_MAX: Duration = Duration::from_secs(2);

/// Room for the arguments of a shim: two words, the longest name, the longest epoch.
const ARGUMENTS_BYTES: usize = 128;

/// Room for the mark of a shim: the variable's name, an id, the longest epoch.
const MARK_BYTES: usize = 96;

/// The process that makes shims, if it runs.
#[derive(Debug)]
pub(crate) struct Nursery {
    program: PathBuf,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    control: OwnedFd,
    process: Spawned,
}

impl Nursery {
    /// One for shims of this program. It starts with the first question.
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program, running: Mutex::new(None) }
    }

    /// A shim with this connection, born in `cgroup`; none if the nursery cannot make one.
    ///
    /// A connection that was given must not be used for another shim: one that was made too late may hold it.
    pub(crate) fn bear(
        &self,
        place: &Place,
        link: BorrowedFd<'_>,
        cgroup: BorrowedFd<'_>,
    ) -> Option<Spawned> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            *running = Running::start(&self.program);
        }
        let born = running.as_ref()?.ask(place, link, cgroup);
        if born.is_none()
            && let Some(broken) = running.take()
        {
            broken.end();
        }
        born
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.take() {
            running.end();
        }
    }
}

impl Running {
    fn start(program: &std::path::Path) -> Option<Self> {
        let (ours, theirs) = pair_of_messages().ok()?;
        let null = File::options().read(true).write(true).open("/dev/null").ok()?;
        let room = CString::new(vec![b'-'; ARGUMENTS_BYTES]).ok()?;
        let argv = [c"edgeplane-shim".to_owned(), c"nursery".to_owned(), room];
        // No variable that means anything: what stands here is room as well.
        let envp = [CString::new([b"_=".as_slice(), &[b'-'; MARK_BYTES]].concat()).ok()?];
        let fds = [(theirs.as_fd(), 3)];
        let mut spec = SpawnSpec::bare(program.as_os_str(), &argv, &envp, [null.as_fd(); 3]);
        spec.extra_fds = &fds;
        spec.new_session = true;
        spec.cwd = Some(c"/");
        Some(Self { control: ours, process: spawn(&spec).ok()? })
    }

    fn ask(&self, place: &Place, link: BorrowedFd<'_>, cgroup: BorrowedFd<'_>) -> Option<Spawned> {
        let request = format!("{}\0{}\0{}\0", place.name, place.epoch, place.mark());
        send_with_fds(&self.control, request.as_bytes(), &[link, cgroup]).ok()?;
        if !is_ready(&self.control, PollFlags::IN, BIRTH_TIME_MAX).ok()? {
            return None;
        }
        let mut answer = [0; 4];
        let received = recv_with_fds(&self.control, &mut answer).ok()?;
        let [pidfd] = <[OwnedFd; 1]>::try_from(received.fds).ok()?;
        let pid = u32::from_ne_bytes(answer);
        // Ours to reap, so the number stays its own until then.
        let start_time = proc::stat(pid).ok()?.start_time;
        Some(Spawned { pid, pidfd, start_time })
    }

    /// Ends it and waits for that, which is at once: it holds nothing.
    fn end(self) {
        drop(pidfd::send_signal(&self.process.pidfd, Signal::KILL));
        drop(pidfd::wait(&self.process.pidfd));
    }
}
