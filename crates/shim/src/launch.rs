//! From a trusted descriptor to a running program.
//!
//! Owns the order of a launch: whatever can fail comes before the program, and nothing waits for the disk. A launch that
//! fails leaves no process, no socket and no file.

use std::{
    ffi::{CString, OsStr},
    fs::{File, OpenOptions},
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{ffi::OsStrExt, net::UnixListener},
    },
    path::{Path, PathBuf},
};

use edgeplane_os::{
    Signal,
    atomic::Preallocated,
    fd,
    lock::DirLock,
    proc,
    process::{self, SpawnSpec, Spawned, User},
    pty::{self, Size, Slave},
    signals::{self, SignalFd},
    sock,
};
use edgeplane_types::AgentId;
use edgeplane_wire::{
    shim::{Exit, LaunchStep},
    spec::{LaunchSpec, ResourceLimit, RunAs},
};

use crate::{
    clients::Clients,
    commands::Commands,
    engine::{Engine, Facts, Parts, now_us},
    failure::Failure,
    limits,
    program::{Ends, Program},
    recording::{Plan, Recording},
    tree::Tree,
};

/// The exit record's name in the epoch's folder.
const EXIT_RECORD: &str = "exit";

/// File in the epoch's folder that a daemon leaves when it takes the epoch for over.
const FENCE_FILE: &str = "fenced";

/// What a launch made that must go if a later step fails.
struct Made {
    recording: Recording,
    socket: PathBuf,
    exit_record: PathBuf,
}

impl Made {
    fn discard(&self) {
        // What cannot be removed was not made or is gone; the failure that led here is the one to tell.
        drop(std::fs::remove_file(&self.socket));
        drop(std::fs::remove_file(&self.exit_record));
        self.recording.discard();
    }
}

/// The program's side of what connects it to the shim.
enum Inside {
    Terminal(Slave),
    Pipes([std::os::fd::OwnedFd; 3]),
}

/// Launches what `spec` describes, for the client that asked for it.
///
/// # Errors
/// When there is no program; nothing is left of the attempt then.
pub(crate) fn launch(spec: &LaunchSpec, signals: SignalFd) -> Result<Launched, Failure> {
    let stop_signal =
        signals::from_number(spec.stop_signal).ok_or_else(|| bad_spec("the stop signal is none"))?;
    let tree = Tree::open(spec.cgroup.as_deref().map(path), &spec.v1_procs).map_err(|error| {
        Failure::new(LaunchStep::Containment, &error).attempted("cannot open the control group")
    })?;
    let held = hold_epoch(path(&spec.epoch_dir))?;
    let recording = Recording::begin(recording_plan(spec), now_us())
        .map_err(|error| Failure::new(LaunchStep::Prepare, &error).attempted("cannot begin the recording"))?;
    let socket = path(&spec.socket).to_owned();
    let listener = match listen(&socket) {
        Ok(listener) => listener,
        Err(failure) => {
            recording.discard();
            return Err(failure);
        }
    };
    let exit_record = path(&spec.epoch_dir).join(EXIT_RECORD);
    let made = Made { recording, socket, exit_record };
    let rights = Rights::of(spec);
    match start(spec, &rights, &tree, &made) {
        Ok((program, exit_record)) => {
            let facts = facts(spec, made.socket, stop_signal);
            let recording = made.recording;
            let commands = Commands::new(path(&spec.epoch_dir), rights);
            Ok(Launched { facts, program, commands, tree, recording, signals, listener, exit_record, held })
        }
        Err(failure) => {
            made.discard();
            Err(failure)
        }
    }
}

/// Takes the epoch for this shim, unless a daemon has fenced it: that one has begun the next, or is about to.
fn hold_epoch(dir: &Path) -> Result<DirLock, Failure> {
    let held = DirLock::acquire(dir)
        .map_err(|error| Failure::new(LaunchStep::Prepare, &error).attempted("cannot take the epoch"))?;
    if dir.join(FENCE_FILE).exists() {
        let over = io::Error::other("the epoch is fenced: it is over");
        return Err(Failure::new(LaunchStep::Prepare, &over).attempted("cannot take the epoch"));
    }
    Ok(held)
}

/// A running program and what serves it, but for its clients.
#[derive(Debug)]
pub(crate) struct Launched {
    facts: Facts,
    program: Program,
    commands: Commands,
    tree: Tree,
    recording: Recording,
    signals: SignalFd,
    listener: UnixListener,
    exit_record: Preallocated,
    /// Held until the shim ends: it tells every daemon that this epoch lives.
    held: DirLock,
}

impl Launched {
    /// What serves it together with its clients.
    pub(crate) fn serve(self, clients: Clients) -> Engine {
        Engine::new(Parts {
            facts: self.facts,
            program: self.program,
            commands: self.commands,
            tree: self.tree,
            recording: self.recording,
            clients,
            signals: self.signals,
            listener: self.listener,
            exit_record: self.exit_record,
            held: self.held,
        })
    }
}

fn facts(spec: &LaunchSpec, socket: PathBuf, stop_signal: Signal) -> Facts {
    let shim_pid = std::process::id();
    Facts {
        epoch: spec.epoch,
        shim_pid,
        shim_start: proc::stat(shim_pid).map_or(0, |found| found.start_time),
        socket,
        stop_signal,
        grace_ms: spec.grace_ms,
        started_us: now_us(),
    }
}

fn listen(socket: &Path) -> Result<UnixListener, Failure> {
    let listener =
        sock::bind_listener(socket, None).map_err(|error| Failure::new(LaunchStep::Prepare, &error))?;
    listener.set_nonblocking(true).map_err(|error| Failure::new(LaunchStep::Prepare, &error))?;
    Ok(listener)
}

/// Sets the exit record aside and starts the program.
fn start(
    spec: &LaunchSpec,
    rights: &Rights,
    tree: &Tree,
    made: &Made,
) -> Result<(Program, Preallocated), Failure> {
    let exit_record = Preallocated::create_deferred(&made.exit_record, Exit::BYTES).map_err(|error| {
        Failure::new(LaunchStep::Prepare, &error).attempted("cannot set the exit record aside")
    })?;
    let (ends, inside) = open_ends(spec)?;
    let spawned = spawn(spec, rights, tree, &inside)?;
    Ok((Program::new(spawned, ends), exit_record))
}

fn open_ends(spec: &LaunchSpec) -> Result<(Ends, Inside), Failure> {
    if let Some((columns, rows)) = spec.terminal {
        let (master, slave) =
            pty::open(Size { columns, rows }).map_err(|error| Failure::new(LaunchStep::Terminal, &error))?;
        if let Some(user) = &spec.run_as {
            std::os::unix::fs::fchown(slave.as_fd(), Some(user.uid), None).map_err(|error| {
                Failure::new(LaunchStep::Terminal, &error).attempted("cannot give the terminal to its user")
            })?;
        }
        return Ok((Ends::Terminal(master), Inside::Terminal(slave)));
    }
    let error = |error: io::Error| {
        Failure::new(LaunchStep::Terminal, &error).attempted("cannot make the program's pipes")
    };
    let (inside_input, input) = fd::pipe().map_err(error)?;
    let (output, inside_output) = fd::pipe().map_err(error)?;
    let (errors, inside_errors) = fd::pipe().map_err(error)?;
    for end in [&input, &output, &errors] {
        fd::set_nonblocking(end).map_err(error)?;
    }
    let ends = Ends::Pipes { input: Some(input), output: Some(output), error: Some(errors) };
    Ok((ends, Inside::Pipes([inside_input, inside_output, inside_errors])))
}

fn spawn(spec: &LaunchSpec, rights: &Rights, tree: &Tree, inside: &Inside) -> Result<Spawned, Failure> {
    let what = What { program: &spec.program, argv: &spec.argv, env: &spec.env, cwd: &spec.cwd };
    match inside {
        Inside::Terminal(slave) => spawn_in(tree, rights, &what, [slave.as_fd(); 3], Some(slave.as_fd())),
        Inside::Pipes([input, output, error]) => {
            spawn_in(tree, rights, &what, [input.as_fd(), output.as_fd(), error.as_fd()], None)
        }
    }
}

/// What holds for everything that is started in an epoch: the program, and commands beside it.
#[derive(Debug)]
pub(crate) struct Rights {
    run_as: Option<RunAs>,
    no_new_privs: bool,
    limits: Vec<ResourceLimit>,
    v1_procs: Vec<Vec<u8>>,
}

impl Rights {
    fn of(spec: &LaunchSpec) -> Self {
        Self {
            run_as: spec.run_as.clone(),
            no_new_privs: spec.no_new_privs,
            limits: spec.limits.clone(),
            v1_procs: spec.v1_procs.clone(),
        }
    }
}

/// What is started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct What<'a> {
    pub(crate) program: &'a [u8],
    pub(crate) argv: &'a [Vec<u8>],
    pub(crate) env: &'a [Vec<u8>],
    pub(crate) cwd: &'a [u8],
}

/// Starts something in the epoch's group and with its rights; it ends with this process.
///
/// # Errors
/// When it cannot be started; there is no process then.
pub(crate) fn spawn_in(
    tree: &Tree,
    rights: &Rights,
    what: &What<'_>,
    stdio: [BorrowedFd<'_>; 3],
    terminal: Option<BorrowedFd<'_>>,
) -> Result<Spawned, Failure> {
    let argv = strings(what.argv)?;
    let envp = strings(what.env)?;
    let cwd = string(what.cwd)?;
    let rlimits =
        limits::of(&rights.limits).ok_or_else(|| bad_spec("a resource limit is none of this system"))?;
    let v1_files = open_v1(&rights.v1_procs)?;
    let v1_procs: Vec<BorrowedFd<'_>> = v1_files.iter().map(AsFd::as_fd).collect();
    let run_as = rights.run_as.as_ref();
    let wanted = SpawnSpec {
        search_path: search_path(what.env),
        cwd: Some(&cwd),
        controlling_tty: terminal,
        new_session: true,
        no_new_privs: rights.no_new_privs,
        death_signal: Some(Signal::KILL),
        cgroup: tree.cgroup(),
        v1_procs: &v1_procs,
        rlimits: &rlimits,
        user: run_as.map(|user| User { uid: user.uid, gid: user.gid, groups: &user.groups }),
        ..SpawnSpec::bare(OsStr::from_bytes(what.program), &argv, &envp, stdio)
    };
    process::spawn(&wanted).map_err(|error| Failure::of_spawn(&error))
}

fn open_v1(paths: &[Vec<u8>]) -> Result<Vec<File>, Failure> {
    let open = |bytes: &Vec<u8>| {
        OpenOptions::new().write(true).open(path(bytes)).map_err(|error| {
            let mut attempt = String::from("cannot open `");
            attempt.push_str(&String::from_utf8_lossy(bytes));
            attempt.push('`');
            Failure::new(LaunchStep::Containment, &error).attempted(&attempt)
        })
    };
    paths.iter().map(open).collect()
}

fn recording_plan(spec: &LaunchSpec) -> Plan {
    Plan {
        dir: path(&spec.epoch_dir).to_owned(),
        name: String::from_utf8_lossy(&spec.name).into_owned(),
        agent: AgentId::from_bytes(spec.agent_id).to_string(),
        epoch: spec.epoch,
        size: spec.terminal.unwrap_or((0, 0)),
        pipes: spec.terminal.is_none(),
        segment_bytes_max: spec.segment_bytes_max,
        segment_age_max_us: spec.segment_age_max_ms.saturating_mul(1_000),
        on_full: spec.on_full,
    }
}

fn search_path(env: &[Vec<u8>]) -> &OsStr {
    let found = env.iter().find_map(|entry| entry.strip_prefix(b"PATH="));
    OsStr::from_bytes(found.unwrap_or_default())
}

fn strings(items: &[Vec<u8>]) -> Result<Vec<CString>, Failure> {
    items.iter().map(|item| string(item)).collect()
}

fn string(bytes: &[u8]) -> Result<CString, Failure> {
    CString::new(bytes).map_err(|_zero| bad_spec("an argument, variable or folder holds a zero byte"))
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The specification cannot be carried out as it stands.
pub(crate) fn bad_spec(text: &str) -> Failure {
    Failure { step: LaunchStep::Spec, errno: 0, text: String::from(text) }
}
