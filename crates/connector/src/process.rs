//! The program of a server: its start, its streams, its end and that of everything it started.
//!
//! A thread of its own starts it, so that the kernel ends it when the daemon dies, waits for it and reaps it. Whatever
//! it starts is found by its session's group and by a mark in the environment, and ends with it.

use std::{
    collections::VecDeque,
    ffi::{CString, OsStr},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use edgeplane_os::{
    Signal, fd, group, pidfd, proc,
    process::{SpawnSpec, Spawned, spawn},
};
use edgeplane_types::life::ExitStatus;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::unix::pipe,
    sync::{oneshot, watch},
    time::timeout,
};

use crate::{
    Failure, Limits, Program,
    limits::{STDERR_LINE_BYTES_MAX, STDERR_LINES_MAX},
};

/// The variable that marks everything a server's program starts, the same for each start of it.
pub const MARK: &str = "EDGEPLANE_CONNECTOR";

/// The variable that marks what one start of it started: while an old one ends, a new one may run already.
const RUN: &str = "EDGEPLANE_CONNECTOR_RUN";

/// How many programs this process has started.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// How often the kernel is asked who carries a mark, while those who do are ended: they may start others meanwhile.
const ROUNDS_MAX: usize = 16;

/// Room for the lines of standard error that are read at one go.
const STDERR_BUFFER_BYTES: usize = 8 << 10;

/// A program that runs, or has ended.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    run: String,
    /// Whether its number may mean somebody else by now.
    reaped: Arc<Mutex<bool>>,
    ended: watch::Receiver<Option<ExitStatus>>,
    tail: Tail,
}

/// The streams by which it is spoken to.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) input: pipe::Sender,
    pub(crate) output: pipe::Receiver,
}

/// The last lines of its standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line.get(..STDERR_LINE_BYTES_MAX).unwrap_or(line));
        let text = crate::failure::said(&text);
        if text.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= STDERR_LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}

impl Process {
    /// Starts it.
    ///
    /// # Errors
    /// When it does not start; nothing of it is left then.
    pub(crate) async fn start(program: &Program) -> Result<(Self, Streams), Failure> {
        let (its_in, input) = pipe_pair()?;
        let (output, its_out) = pipe_pair()?;
        let (errors, its_err) = pipe_pair()?;
        for ours in [&input, &output, &errors] {
            fd::set_nonblocking(ours).map_err(|error| start_failure(&error))?;
        }
        let (started, starting) = oneshot::channel();
        let (ended, ending) = watch::channel(None);
        let program = program.clone();
        let run = format!("{}.{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let of_keeper = run.clone();
        let reaped = Arc::new(Mutex::new(false));
        let reaping = Arc::clone(&reaped);
        let keeper = thread::Builder::new().name("connector".to_owned());
        keeper
            .spawn(move || {
                keep((&program, &of_keeper), [its_in, its_out, its_err], started, (&reaping, &ended))
            })
            .map_err(|error| start_failure(&error))?;
        let begun = starting.await.map_err(|_gone| Failure::Start("its keeper is gone".to_owned()))?;
        let pid = begun.map_err(Failure::Start)?;
        let input = pipe::Sender::from_owned_fd(input).map_err(|error| start_failure(&error))?;
        let output = pipe::Receiver::from_owned_fd(output).map_err(|error| start_failure(&error))?;
        let errors = pipe::Receiver::from_owned_fd(errors).map_err(|error| start_failure(&error))?;
        let tail = Tail::default();
        drop(tokio::spawn(read_errors(errors, tail.clone())));
        Ok((Self { pid, run, reaped, ended: ending, tail }, Streams { input, output }))
    }

    pub(crate) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// How it ended, if it has.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        *self.ended.borrow()
    }

    /// Waits until it has ended, at most for this time.
    pub(crate) async fn ended_within(&self, time: Duration) -> bool {
        let mut ended = self.ended.clone();
        // A keeper that is gone has seen the end.
        timeout(time, ended.wait_for(Option::is_some)).await.is_ok()
    }

    /// Ends it: its input is closed already, then it is asked, then it is made to.
    pub(crate) async fn end(&self, limits: &Limits) {
        if self.ended_within(limits.end).await {
            return self.end_rest().await;
        }
        self.signal(Signal::TERM);
        if !self.ended_within(limits.end).await {
            self.signal(Signal::KILL);
            self.end_rest().await;
            // Nothing outlives this signal but what the kernel itself holds.
            self.ended_within(limits.end).await;
        }
        self.end_rest().await;
    }

    /// Ends what it started and left behind.
    async fn end_rest(&self) {
        let entry = format!("{RUN}={}", self.run);
        drop(tokio::task::spawn_blocking(move || end_all(&entry)).await);
    }

    fn signal(&self, signal: Signal) {
        // Its number is its own until it is reaped, which the keeper does only under this lock.
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*reaped {
            drop(group::signal(self.pid, signal));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Ends every process that was started with this mark, and says how many were found.
pub fn end_marked(mark: &str) -> usize {
    end_all(&format!("{MARK}={mark}"))
}

fn end_all(entry: &str) -> usize {
    let mut count = 0;
    for _ in 0..ROUNDS_MAX {
        let found = proc::find_marked(entry.as_bytes()).unwrap_or_default();
        let handles: Vec<_> =
            found.into_iter().filter_map(|pid| Some((pid, pidfd::open(pid).ok()?))).collect();
        if handles.is_empty() {
            break;
        }
        // Whoever carries the mark after its handle was opened is who the handle means.
        let again = proc::find_marked(entry.as_bytes()).unwrap_or_default();
        for (pid, handle) in handles {
            if again.contains(&pid) && pidfd::send_signal(&handle, Signal::KILL).is_ok_and(|there| there) {
                count += 1;
                drop(pidfd::is_exited_within(&handle, Duration::from_secs(1)));
            }
        }
    }
    count
}

fn pipe_pair() -> Result<(OwnedFd, OwnedFd), Failure> {
    fd::pipe().map_err(|error| start_failure(&error))
}

fn start_failure(error: &io::Error) -> Failure {
    Failure::Start(error.to_string())
}

/// Starts the program, waits for its end and tells it. The thread lives as long as the program: the kernel ends the
/// program if the thread is gone, and it is gone before only if the daemon is.
fn keep(
    (program, run): (&Program, &str),
    streams: [OwnedFd; 3],
    started: oneshot::Sender<Result<u32, String>>,
    (reaped, ended): (&Mutex<bool>, &watch::Sender<Option<ExitStatus>>),
) {
    let spawned = match start(program, run, &streams) {
        Ok(spawned) => spawned,
        Err(why) => return drop(started.send(Err(why))),
    };
    drop(streams);
    let is_wanted = started.send(Ok(spawned.pid)).is_ok();
    if !is_wanted {
        drop(group::signal(spawned.pid, Signal::KILL));
    }
    while !pidfd::is_exited_within(&spawned.pidfd, Duration::from_secs(3_600)).unwrap_or(true) {}
    // Before it is reaped, its number still means its own group and nobody else's.
    drop(group::signal(spawned.pid, Signal::KILL));
    let mut reaped = reaped.lock().unwrap_or_else(PoisonError::into_inner);
    let status = pidfd::wait(&spawned.pidfd).unwrap_or(ExitStatus::Unknown);
    *reaped = true;
    drop(reaped);
    ended.send_modify(|ended| *ended = Some(status));
}

fn start(program: &Program, run: &str, streams: &[OwnedFd; 3]) -> Result<Spawned, String> {
    let zero = |_zero| "a word of it holds a zero byte".to_owned();
    let words = program.command.iter().map(|word| CString::new(word.as_bytes()));
    let argv = words.collect::<Result<Vec<_>, _>>().map_err(zero)?;
    let name = program.command.first().ok_or("it names no program")?;
    let marks = [(MARK.to_owned(), program.mark.clone()), (RUN.to_owned(), run.to_owned())];
    let given = program.environment.iter().filter(|(name, _)| name != MARK && name != RUN);
    let variables = given.chain(&marks);
    let envp = variables
        .map(|(name, value)| CString::new(format!("{name}={value}")))
        .collect::<Result<Vec<_>, _>>()
        .map_err(zero)?;
    let folder = CString::new(program.folder.as_os_str().as_bytes()).map_err(zero)?;
    let [its_in, its_out, its_err] = streams;
    let spec = SpawnSpec {
        search_path: &program.search_path,
        cwd: Some(&folder),
        new_session: true,
        no_new_privs: true,
        death_signal: Some(Signal::KILL),
        ..SpawnSpec::bare(OsStr::new(name), &argv, &envp, [its_in.as_fd(), its_out.as_fd(), its_err.as_fd()])
    };
    spawn(&spec).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{error}{cause}")
    })
}

/// Reads standard error to its end, so that nobody who floods it ever waits, and keeps the last lines.
async fn read_errors(errors: pipe::Receiver, tail: Tail) {
    let mut errors = BufReader::with_capacity(STDERR_BUFFER_BYTES, errors);
    let mut line: Vec<u8> = Vec::new();
    while let Ok(bytes) = errors.fill_buf().await {
        if bytes.is_empty() {
            break;
        }
        let taken = bytes.len();
        for byte in bytes {
            if *byte == b'\n' {
                tail.add(&line);
                line.clear();
            } else if line.len() < STDERR_LINE_BYTES_MAX {
                line.push(*byte);
            }
        }
        errors.consume(taken);
    }
    tail.add(&line);
}
