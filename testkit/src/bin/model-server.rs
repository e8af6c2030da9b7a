//! The scripted model server, started by hand: `cargo model-server --port 8900 --script FILE`.
//!
//! Owns its command line only. It prints where it listens, then each request, and runs until it is killed; the bodies
//! of the requests go to a file, one a line, if one is named.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it says is this program's output")]

use std::{fs::File, io::Write as _, path::Path, process::ExitCode, time::Duration};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::model::{ModelServer, Script};

/// How long it serves: longer than anybody looks at it, and not for ever if it is forgotten.
const TIME_MAX: Duration = Duration::from_hours(24);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(because) = cause {
                eprintln!("  because: {because}");
                cause = because.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let (mut port, mut script, mut bodies) = (0, Script::new(), None);
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--port" => port = value.parse()?,
            [name, value] if name == "--script" => script = Script::read(Path::new(value))?,
            [name, value] if name == "--bodies" => bodies = Some(File::create(value)?),
            _ => {
                return Err(
                    "usage: cargo model-server [--port NUMBER] [--script FILE] [--bodies FILE]".into()
                );
            }
        }
    }
    let server = ModelServer::start_at(port, script)?;
    println!("{}", server.url());
    let mut shown = 0;
    let mut failed = None;
    until(Deadline::after(TIME_MAX), || {
        for request in server.requests().into_iter().skip(shown) {
            shown += 1;
            println!("{} {:?} rule {:?} call {}", request.path, request.prompt, request.rule, request.calls);
            failed = bodies.as_mut().and_then(|file| writeln!(file, "{}", request.body).err());
        }
        failed.is_some()
    });
    failed.map_or(Ok(()), |error| Err(error.into()))
}
