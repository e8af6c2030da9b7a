//! `edgeplane stdio`: the protocol itself over standard input and output.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::Context as _;
use clap::Args;
use edgeplane_client::CallError;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::core::InitializeParams,
    catalogue::{Call as _, CoreInitialize},
    rpc::{self, Id, Incoming},
};

use super::Outcome;
use crate::{context::Context, failure::Failure};

/// Speak the node's protocol over standard input and output
///
/// Each line of standard input is one message of JSON-RPC 2.0 for the node, each line of standard output one of the node:
/// answers, and notifications such as the events of a subscription. Nothing else is printed there; errors of this program
/// go to standard error. A program that starts it needs no socket and no library: with ssh or a container's exec in front
/// it speaks to a node elsewhere.
///
/// Who calls is what the node can prove of this process, as with every command; with EDGEPLANE_TOKEN_FILE it is the token's
/// bearer. When standard input ends, what was asked is still answered, and then the program ends. `edgeplane describe-api`
/// lists the methods.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"core/health\"}' | edgeplane stdio
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"runtime/agent.list\",\"params\":{}}' | edgeplane stdio
  ssh build-host edgeplane stdio

EXIT CODES:
  0 standard input has ended and all is answered, or nobody reads the output any more
  69 the node is not running, or ended the conversation    77 the token is not taken")]
pub(crate) struct StdioArgs {}

/// Bytes that are passed on at a time.
const PIECE_BYTES: usize = 64 << 10;

pub(crate) fn run(_args: &StdioArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    // Read first: a token that cannot be used is no reason to speak as somebody else.
    let token = context.token()?.map(|token| token.into_text());
    let path = context.socket()?;
    let stream = edgeplane_os::sock::connect(&path).map_err(|error| {
        let failure = Failure::new(ErrorName::Unavailable, "the daemon is not running");
        anyhow::Error::new(error).context(failure.hint("start it with `edgeplane daemon up`"))
    })?;
    let cannot = "cannot use the connection to the node";
    stream.set_nonblocking(false).context(cannot)?;
    if let Some(token) = token {
        show(&stream, token)?;
    }
    let has_said_all = Arc::new(AtomicBool::new(false));
    let (to_node, says_all) = (stream.try_clone().context(cannot)?, Arc::clone(&has_said_all));
    // It ends with its input, or with the process.
    let said = thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        pass(std::io::stdin().lock(), &to_node);
        says_all.store(true, Ordering::SeqCst);
        // The node answers what it was asked, and then ends the conversation as well.
        drop(to_node.shutdown(Shutdown::Write));
    });
    said.context("cannot start to read standard input")?;
    match pass(&stream, std::io::stdout().lock()) {
        Passed::Reader(error) => Err(error).context(cannot),
        Passed::Writer => Ok(Outcome::Done),
        Passed::All if has_said_all.load(Ordering::SeqCst) => Ok(Outcome::Done),
        Passed::All => {
            let failure = Failure::new(ErrorName::Unavailable, "the node ended the conversation");
            Err(failure
                .hint("it may have been restarted: what was asked meanwhile may have been done")
                .into())
        }
    }
}

/// How passing on has ended.
enum Passed {
    /// There is nothing more.
    All,
    /// Nothing more can be read.
    Reader(std::io::Error),
    /// Nobody takes it any more.
    Writer,
}

fn pass(mut reader: impl Read, mut writer: impl Write) -> Passed {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = match reader.read(&mut piece) {
            Ok(0) => return Passed::All,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // The node's end of a conversation that it gave up.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Passed::All,
            Err(error) => return Passed::Reader(error),
        };
        let piece = piece.get(..read).unwrap_or_default();
        if writer.write_all(piece).and_then(|()| writer.flush()).is_err() {
            return Passed::Writer;
        }
    }
}

/// Shows a token before anything else is said.
fn show(mut stream: &UnixStream, token: String) -> anyhow::Result<()> {
    let params = InitializeParams { token: Some(token), ..InitializeParams::default() };
    let line = rpc::request(&Id::Number(0), CoreInitialize::NAME, params);
    stream.write_all(&line).context("cannot speak to the node")?;
    // Nothing stands behind the answer before anything else is asked, so nothing is lost with the buffer.
    let mut answer = Vec::new();
    BufReader::new(stream).read_until(b'\n', &mut answer).context("cannot hear the node")?;
    match rpc::parse_line(&answer) {
        Ok(Incoming::Response { outcome: Ok(_greeting), .. }) => Ok(()),
        Ok(Incoming::Response { outcome: Err(error), .. }) => Err(CallError::Rpc(error).into()),
        _ => Err(CallError::Closed { method: CoreInitialize::NAME.to_owned() }.into()),
    }
}
