//! EdgePlane's reference agent: keeps notes across restarts, briefs, relays to peers.
//!
//! It is whole without a key and without a network. All it remembers lies in its key-value memory at the node, so
//! it may be killed at any moment. The same agent in Python lies in `../python`; both hold the conversations in
//! `../conversations`. It depends on no crate of EdgePlane's, as any third party's agent would not.
#![forbid(unsafe_code)]

mod briefing;
mod command;
mod model;
mod native;
mod notes;

use std::{io::Write, process::ExitCode, time::Duration};

use crate::{model::Model, native::Node, notes::NotesAgent};

/// How long a peer has to answer unless `--ask-timeout` says otherwise.
const ASK_TIMEOUT: Duration = Duration::from_secs(60);

const USAGE: &str = "usage: edgeplane-notes-agent [--ask-timeout SECONDS]\n\n\
    EdgePlane's reference agent; the node starts it.\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return said(&mut std::io::stdout(), USAGE, ExitCode::SUCCESS);
    }
    let Some(ask_timeout) = ask_timeout(&arguments) else {
        return said(&mut std::io::stderr(), USAGE, ExitCode::from(2));
    };
    match Model::from_environment(&|name| std::env::var(name).ok()) {
        Ok(model) => {
            NotesAgent::new(Node::on_standard_streams(), model, ask_timeout).run();
            ExitCode::SUCCESS
        }
        Err(error) => {
            said(&mut std::io::stderr(), &format!("edgeplane-notes-agent: {error}\n"), ExitCode::FAILURE)
        }
    }
}

fn said(to: &mut dyn Write, text: &str, code: ExitCode) -> ExitCode {
    if to.write_all(text.as_bytes()).is_ok() { code } else { ExitCode::FAILURE }
}

fn ask_timeout(arguments: &[String]) -> Option<Duration> {
    match arguments {
        [] => Some(ASK_TIMEOUT),
        [name, seconds] if name == "--ask-timeout" => {
            seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        }
        _ => None,
    }
}
