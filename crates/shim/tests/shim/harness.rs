//! Starting shims, talking to them, and reading what they recorded.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    io::{ErrorKind, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{ffi::OsStrExt, net::UnixStream},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use edgeplane_os::{
    Signal, pidfd, proc,
    process::{SpawnSpec, Spawned, User, spawn},
    sock,
    wait::{Deadline, until},
};
use edgeplane_types::life::ExitStatus;
use edgeplane_wire::{
    shim::{Exit, FromShim, InputKind, InputOutcome, OutputStream, Role, Status, ToShim, split_frame},
    spec::{LaunchSpec, OnFull},
};
use tempfile::TempDir;

/// Longer than anything here takes on a loaded machine.
pub(crate) const SOON: Duration = Duration::from_secs(30);

pub(crate) const KEY: [u8; 32] = [7; 32];

pub(crate) fn soon() -> Deadline {
    Deadline::after(SOON)
}

/// Waits for a condition that must come true.
pub(crate) fn eventually(what: &str, condition: impl FnMut() -> bool) {
    assert!(until(soon(), condition), "in vain: {what}");
}

pub(crate) fn is_alive(pid: u32) -> bool {
    proc::stat(pid).is_ok_and(|found| found.is_alive())
}

/// Says where people look that a test is passed over.
pub(crate) fn skip(what: &str, why: &str) {
    eprintln!("SKIPPED: {what}: {why}");
}

pub(crate) fn shim_program() -> &'static OsStr {
    OsStr::new(env!("CARGO_BIN_EXE_edgeplane-shim"))
}

pub(crate) fn strings(words: &[&str]) -> Vec<CString> {
    words.iter().map(|word| CString::new(*word).unwrap()).collect()
}

/// A folder for one epoch, removed with the value.
pub(crate) fn epoch_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// What launches `sh -c script` on pipes, in `dir`.
pub(crate) fn spec(dir: &Path, script: &str) -> LaunchSpec {
    let bytes = |path: PathBuf| path.as_os_str().as_bytes().to_vec();
    LaunchSpec {
        agent_id: [1; 16],
        name: b"shell".to_vec(),
        epoch: 3,
        key: KEY,
        epoch_dir: bytes(dir.to_owned()),
        socket: bytes(dir.join("sock")),
        program: b"/bin/sh".to_vec(),
        argv: ["sh", "-c", script].map(|word| word.as_bytes().to_vec()).to_vec(),
        env: vec![b"PATH=/usr/local/bin:/usr/bin:/bin".to_vec()],
        cwd: b"/".to_vec(),
        terminal: None,
        run_as: None,
        no_new_privs: true,
        limits: Vec::new(),
        cgroup: None,
        v1_procs: Vec::new(),
        stop_signal: Signal::TERM.as_raw(),
        grace_ms: 10_000,
        segment_bytes_max: 64 << 20,
        segment_age_max_ms: 3_600_000,
        on_full: OnFull::Gap,
    }
}

/// The same on a terminal.
pub(crate) fn terminal_spec(dir: &Path, script: &str) -> LaunchSpec {
    LaunchSpec { terminal: Some((80, 24)), ..spec(dir, script) }
}

/// How a shim is born.
#[derive(Clone, Copy)]
pub(crate) struct Birth<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) extra_fds: &'a [(BorrowedFd<'a>, i32)],
    pub(crate) new_session: bool,
    pub(crate) terminal: Option<BorrowedFd<'a>>,
    pub(crate) user: Option<User<'a>>,
}

impl Birth<'_> {
    /// As its daemon would.
    pub(crate) fn plain() -> Self {
        Self { program: shim_program(), extra_fds: &[], new_session: false, terminal: None, user: None }
    }
}

/// Starts a shim that waits for its launch; it is killed with the thread that started it.
pub(crate) fn start(birth: Birth<'_>) -> (Spawned, Conn) {
    let (ours, theirs) = sock::pair().unwrap();
    let argv = strings(&["edgeplane-shim", "run", "shell", "3"]);
    let null = File::options().read(true).write(true).open("/dev/null").unwrap();
    let mut extra_fds = birth.extra_fds.to_vec();
    extra_fds.push((theirs.as_fd(), 3));
    let spec = SpawnSpec {
        extra_fds: &extra_fds,
        death_signal: Some(Signal::KILL),
        new_session: birth.new_session,
        controlling_tty: birth.terminal,
        user: birth.user,
        ..SpawnSpec::bare(birth.program, &argv, &[], [null.as_fd(); 3])
    };
    (spawn(&spec).unwrap(), Conn::new(ours))
}

/// A shim with its program, and the connection that it was born with.
pub(crate) struct Shim {
    pub(crate) spawned: Spawned,
    pub(crate) control: Conn,
    pub(crate) started: Status,
    pub(crate) spec: LaunchSpec,
}

impl Shim {
    /// Launches and subscribes from the first byte.
    pub(crate) fn launch(spec: LaunchSpec) -> Self {
        Self::launch_in(start(Birth::plain()), spec)
    }

    pub(crate) fn launch_in((spawned, mut control): (Spawned, Conn), spec: LaunchSpec) -> Self {
        // In one write, so that the subscription is there before the first byte of output.
        let mut frames = Vec::new();
        ToShim::Launch { spec: &spec.encode() }.encode(&mut frames);
        ToShim::Subscribe.encode(&mut frames);
        control.stream.write_all(&frames).unwrap();
        let started = control.expect("start", |frame| match frame {
            FromShim::Started(status) => Some(*status),
            FromShim::LaunchFailed { text, .. } => panic!("{}", String::from_utf8_lossy(text)),
            _ => None,
        });
        Self { spawned, control, started, spec }
    }

    pub(crate) fn dir(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.spec.epoch_dir))
    }

    /// A new connection that says hello.
    pub(crate) fn connect(&self, key: [u8; 32], role: Role) -> Conn {
        let mut conn = self.dial();
        conn.send(&ToShim::Hello { version_min: 1, version_max: 1, key, role });
        conn
    }

    /// A new connection that says nothing.
    pub(crate) fn dial(&self) -> Conn {
        Conn::new(sock::connect(Path::new(OsStr::from_bytes(&self.spec.socket))).unwrap())
    }

    /// Waits for the report of the end and for the shim itself to end well.
    pub(crate) fn finish(&mut self) -> Exit {
        let exit = self.control.exit();
        assert_eq!(self.ended(), ExitStatus::Code(0));
        assert!(!Path::new(OsStr::from_bytes(&self.spec.socket)).exists(), "the socket is left");
        exit
    }

    /// Waits for the shim to end.
    pub(crate) fn ended(&self) -> ExitStatus {
        assert!(pidfd::is_exited_within(&self.spawned.pidfd, SOON).unwrap(), "the shim lives on");
        pidfd::wait(&self.spawned.pidfd).unwrap()
    }

    pub(crate) fn kill_shim(&self) {
        assert!(pidfd::send_signal(&self.spawned.pidfd, Signal::KILL).unwrap());
        assert_eq!(self.ended(), ExitStatus::Signal(Signal::KILL.as_raw()));
    }

    /// The exit record, as the daemon would read it.
    pub(crate) fn exit_record(&self) -> Option<Exit> {
        exit_record(self.dir())
    }
}

pub(crate) fn exit_record(dir: &Path) -> Option<Exit> {
    let bytes = edgeplane_os::atomic::read_preallocated(&dir.join("exit")).unwrap()?;
    Some(Exit::decode(&bytes).unwrap())
}

/// One end of a conversation. What is said beside what is waited for is kept.
pub(crate) struct Conn {
    pub(crate) stream: UnixStream,
    inbox: Vec<u8>,
    /// Live output, in the order in which it came.
    pub(crate) live: Vec<(u64, OutputStream, Vec<u8>)>,
    /// Ranges that were not sent.
    pub(crate) lags: Vec<(u64, u64)>,
}

impl Conn {
    pub(crate) fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.set_write_timeout(Some(SOON)).unwrap();
        Self { stream, inbox: Vec::new(), live: Vec::new(), lags: Vec::new() }
    }

    pub(crate) fn send(&mut self, frame: &ToShim<'_>) {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        match self.stream.write_all(&bytes) {
            // Refused already; why is still there to be read.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            result => result.unwrap(),
        }
    }

    /// The next frame's body, or `None` when the shim closed the connection.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; 64 << 10];
        loop {
            if let Some((body, len)) = split_frame(&self.inbox).unwrap() {
                let body = body.to_vec();
                self.inbox.drain(..len);
                return Some(body);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.inbox.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("no frame: {error}"),
            }
        }
    }

    /// Reads on until `pick` finds what it wants.
    pub(crate) fn expect<T>(&mut self, what: &str, mut pick: impl FnMut(&FromShim<'_>) -> Option<T>) -> T {
        loop {
            let body = self.next().unwrap_or_else(|| panic!("closed before: {what}"));
            let frame = FromShim::decode(&body).unwrap();
            match frame {
                FromShim::Output { offset, stream, bytes } => {
                    self.live.push((offset, stream, bytes.to_vec()))
                }
                FromShim::Lagged { from, to } => self.lags.push((from, to)),
                _ => {}
            }
            if let Some(found) = pick(&frame) {
                return found;
            }
        }
    }

    pub(crate) fn exit(&mut self) -> Exit {
        self.expect("exit", |frame| if let FromShim::Exited(exit) = frame { Some(*exit) } else { None })
    }

    pub(crate) fn hello(&mut self) -> Status {
        self.expect("hello", |frame| match frame {
            FromShim::Hello { status, .. } => Some(*status),
            FromShim::Refused { text } => panic!("refused: {}", String::from_utf8_lossy(text)),
            _ => None,
        })
    }

    pub(crate) fn refusal(&mut self) -> String {
        let text = self.expect("refusal", |frame| match frame {
            FromShim::Refused { text } => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        });
        assert_eq!(self.next(), None, "a refused connection is closed");
        text
    }

    pub(crate) fn status(&mut self) -> Status {
        self.send(&ToShim::Status);
        self.expect("status", |frame| if let FromShim::Status(status) = frame { Some(*status) } else { None })
    }

    /// Subscribes, and says from which offset on.
    pub(crate) fn subscribe(&mut self) -> u64 {
        self.send(&ToShim::Subscribe);
        self.expect("subscription", |frame| match frame {
            FromShim::Subscribed { head } => Some(*head),
            _ => None,
        })
    }

    pub(crate) fn input(&mut self, id: u8, kind: InputKind, bytes: &[u8]) -> InputOutcome {
        self.send(&ToShim::Input { id: [id; 16], kind, bytes });
        self.outcome(id)
    }

    pub(crate) fn outcome(&mut self, id: u8) -> InputOutcome {
        self.expect("outcome", |frame| match frame {
            FromShim::Input { id: found, outcome } if *found == [id; 16] => Some(*outcome),
            _ => None,
        })
    }

    /// Reads on until the live output holds `text`, and returns all of it.
    pub(crate) fn until_shown(&mut self, text: &str) -> String {
        loop {
            let shown = self.shown_text();
            if shown.contains(text) {
                return shown;
            }
            self.expect(text, |frame| matches!(frame, FromShim::Output { .. }).then_some(()));
        }
    }

    /// All live output so far, checked to be without a hole that was not told.
    pub(crate) fn shown(&self) -> Vec<u8> {
        let mut next = self.live.first().map_or(0, |(offset, ..)| *offset);
        let mut bytes = Vec::new();
        for (offset, _, more) in &self.live {
            assert!(*offset == next || self.lags.iter().any(|(_, to)| to == offset), "a hole at {next}");
            next = offset + more.len() as u64;
            bytes.extend_from_slice(more);
        }
        bytes
    }

    pub(crate) fn shown_text(&self) -> String {
        String::from_utf8_lossy(&self.shown()).into_owned()
    }
}
