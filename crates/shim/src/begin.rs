//! From the command line to one of the things the shim does.
//!
//! Owns what the process makes of itself before it launches anything: a session without a terminal, no descriptors but
//! its own, reaper of all orphans, closed to tracing.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::ExitCode,
    time::Duration,
};

use edgeplane_os::{
    Signal, fd,
    poll::{PollFlags, is_ready},
    proc,
    signals::{self, SignalFd},
    stdio,
};
use edgeplane_wire::{
    shim::{FromShim, LaunchStep, Role, ToShim},
    spec::LaunchSpec,
};

use crate::{
    arguments::{self, Command, HELP},
    client::{Client, Standing, Token},
    clients::Clients,
    delete::delete,
    failure::Failure,
    launch::{bad_spec, launch},
    nursery,
};

/// The number under which the daemon passes its connection.
const CONTROL_FD: i32 = 3;

/// Bytes taken from the connection at once while the launch comes in.
const READ_BYTES: usize = 8 << 10;

/// How long the daemon may take the report of a launch that failed.
const REPORT_MAX: Duration = Duration::from_secs(1);

/// What the command line was wrong about.
const EXIT_USAGE: u8 = 2;

/// Something may be left of a tree.
const EXIT_DOUBT: u8 = 3;

/// Signals that come as reads: ends of children, a shutdown, and those that must not end or stop the shim.
const SIGNALS: [Signal; 13] = [
    Signal::CHILD,
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::TTIN,
    Signal::TTOU,
    Signal::TSTP,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::XCPU,
    Signal::XFSZ,
];

/// Why the shim ended before there was anybody to tell.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("cannot take over the daemon's connection; only edgeplaned starts shims")]
    Control(#[from] fd::FdError),
    #[error("cannot set this process up")]
    Signals(#[from] signals::SignalError),
    #[error("cannot use a descriptor")]
    Descriptors(#[from] io::Error),
}

/// Does what the arguments behind the program's name say.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match arguments::parse(arguments) {
        Ok(Command::Run) => run().unwrap_or_else(|error| {
            complain(&error);
            ExitCode::FAILURE
        }),
        Ok(Command::Nursery) => nursery().unwrap_or_else(|error| {
            complain(&error);
            ExitCode::FAILURE
        }),
        Ok(Command::Delete(remains)) => {
            let report = delete(&remains);
            say(&report.line());
            if report.tree_empty { ExitCode::SUCCESS } else { ExitCode::from(EXIT_DOUBT) }
        }
        Ok(Command::Help) => {
            say(HELP.trim_end());
            ExitCode::SUCCESS
        }
        Ok(Command::Version) => {
            say(concat!("edgeplane-shim ", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// Serves one epoch.
fn run() -> Result<ExitCode, StartError> {
    let control = take_control()?;
    serve(UnixStream::from(control))
}

/// Makes shims until the daemon ends; in each that it makes, serves that one's epoch.
fn nursery() -> Result<ExitCode, StartError> {
    let control = take_control()?;
    signals::forbid_tracing()?;
    match nursery::tend(control)? {
        Some(link) => serve(link),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Takes over the daemon's connection and gives up everything else that came from it.
fn take_control() -> Result<OwnedFd, StartError> {
    let control = fd::take_inherited(CONTROL_FD)?;
    close_inherited()?;
    stdio::silence()?;
    signals::ignore_sigpipe()?;
    Ok(control)
}

fn serve(control: UnixStream) -> Result<ExitCode, StartError> {
    let signals = SignalFd::open(&SIGNALS)?;
    signals::become_subreaper()?;
    signals::forbid_tracing()?;
    // A shim that leads a group already, as one started by hand may, keeps its session; nothing depends on it.
    drop(signals::start_session());
    let mut client = Client::new(control, Token(0), Standing::Proven(Role::Control))?;
    let spec = match receive_launch(&mut client)? {
        Some(Ok(spec)) => spec,
        Some(Err(failure)) => return Ok(report(client, &failure)),
        // The daemon is gone, and with it the wish.
        None => return Ok(ExitCode::FAILURE),
    };
    match launch(&spec, signals) {
        Ok(launched) => {
            let own_uid = proc::own_uid();
            let clients = Clients::new(spec.key, own_uid, client);
            // Freed before the loop takes its own memory, which then lies where this was.
            drop(spec);
            launched.serve(clients).run();
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => Ok(report(client, &failure)),
    }
}

/// Closes what else was inherited. What this process opened itself cannot be taken over, and so is not touched.
fn close_inherited() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        drop(number.map(fd::take_inherited));
    }
    Ok(())
}

/// Reads the launch, and leaves what comes behind it; `None` if the connection ends before it.
fn receive_launch(client: &mut Client) -> io::Result<Option<Result<LaunchSpec, Failure>>> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let inbox = client.take_inbox();
        let (found, used) = match client.next_frame(&inbox) {
            Ok(None) => (None, 0),
            Ok(Some((body, len))) => (Some(decode(body)), len),
            Err(error) => (Some(Err(Failure::new(LaunchStep::Spec, &error))), inbox.len()),
        };
        client.give_back(inbox, used);
        if found.is_some() {
            return Ok(found);
        }
        is_ready(client.stream(), PollFlags::IN, Duration::MAX)?;
        client.receive(&mut buffer);
        if client.is_gone() {
            return Ok(None);
        }
    }
}

fn decode(body: &[u8]) -> Result<LaunchSpec, Failure> {
    match ToShim::decode(body) {
        Ok(ToShim::Launch { spec }) => {
            LaunchSpec::decode(spec).map_err(|error| Failure::new(LaunchStep::Spec, &error))
        }
        Ok(_) => Err(bad_spec("the first frame must be a launch")),
        Err(error) => Err(Failure::new(LaunchStep::Spec, &error)),
    }
}

/// Tells the daemon why there is no program, and waits a little that it is taken.
fn report(mut client: Client, failure: &Failure) -> ExitCode {
    let text = failure.text.as_bytes();
    client.send(&FromShim::LaunchFailed { step: failure.step, errno: failure.errno, text });
    while client.wants_to_send() && !client.is_gone() {
        match is_ready(client.stream(), PollFlags::OUT, REPORT_MAX) {
            Ok(true) => client.go_on(0),
            Ok(false) | Err(_) => break,
        }
    }
    ExitCode::FAILURE
}

fn say(line: &str) {
    let mut line = String::from(line);
    line.push('\n');
    // Nobody may be reading, which is theirs to know.
    drop(io::stdout().write_all(line.as_bytes()));
}

fn complain(error: &(dyn std::error::Error + 'static)) {
    let mut line = String::from("edgeplane-shim: ");
    line.push_str(&Failure::new(LaunchStep::Spec, error).text);
    line.push('\n');
    drop(io::stderr().write_all(line.as_bytes()));
}
