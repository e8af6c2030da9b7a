//! `edgeplane process`: the processes that agents' programs had the node run.

use std::{io::Read as _, time::Duration};

use anyhow::Context as _;
use base64::Engine as _;
use clap::{Args, Subcommand, builder::PossibleValuesParser, builder::TypedValueParser as _};
use edgeplane_os::poll;
use edgeplane_types::ProcessId;
use edgeplane_wire::{
    api::machine::{
        AgentProcess, ListProcessesParams, ProcessBytes, ProcessInputStatus, ProcessOutput, ProcessParams,
        ProcessStatus, ReadProcessParams, TerminateParams, Truncation, WriteProcessParams,
    },
    catalogue::{ProcessGet, ProcessList, ProcessRead, ProcessTerminate, ProcessWrite},
};
use serde_json::json;

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    lasting::{Lasting, Loss},
    output::{Color, Format, Output, paint},
    quantity::{self, human_bytes},
    table::{Table, cell},
    terminal::plain::Plain,
};

/// See, write to and end what agents' programs had the node run
///
/// A program that speaks the Agent Client Protocol has its commands run by its agent's shim. Each is a process of the
/// agent: it is recorded, ends with its epoch, and what it wrote is kept. Processes that a program starts by itself are
/// not among them.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane process list reviewer --status running
  edgeplane process get prc_01890000-0000-7000-8000-000000000002
  edgeplane process logs prc_01890000-0000-7000-8000-000000000002 -f
  edgeplane process terminate prc_01890000-0000-7000-8000-000000000002 --grace 5s --reason \"it hangs\"")]
pub(crate) struct ProcessArgs {
    #[command(subcommand)]
    command: ProcessCommand,
}

#[derive(Debug, Subcommand)]
enum ProcessCommand {
    List(ListArgs),
    Get(GetArgs),
    Logs(LogsArgs),
    Write(WriteArgs),
    Terminate(TerminateArgs),
}

/// List the processes of an agent
///
/// Newest first. What is beyond `--limit` is told by `-o json` as `next_cursor`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane process list reviewer
  edgeplane process list reviewer --status failed -o json | jq -r '.items[].command'")]
struct ListArgs {
    /// The agent's name or id
    #[arg(value_name = "AGENT")]
    agent: String,
    /// Only those that are so
    #[arg(long, value_name = "STATUS", value_parser = PossibleValuesParser::new(STATUSES).map(|word| status(&word)))]
    status: Option<ProcessStatus>,
    /// Most processes to look at, at most 500
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: u32,
    /// Where a former list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Show one, with the beginning and the end of what it wrote
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane process get prc_01890000-0000-7000-8000-000000000002
  edgeplane process get prc_01890000-0000-7000-8000-000000000002 --bytes 64KiB")]
struct GetArgs {
    /// The process's id
    #[arg(value_name = "PROCESS")]
    id: ProcessId,
    /// Most of its output to show, from the beginning and from the end each; at most 64KiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size)]
    bytes: Option<u64>,
}

/// Print what one wrote
///
/// Both of its outputs are one. Colours, cursor movements and everything else that steers a terminal are taken out. With
/// `-f` it goes on until the process has ended, also under the next daemon. What is not kept any more is said.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane process logs prc_01890000-0000-7000-8000-000000000002
  edgeplane process logs prc_01890000-0000-7000-8000-000000000002 -f
  edgeplane process logs prc_01890000-0000-7000-8000-000000000002 --from 65536")]
struct LogsArgs {
    /// The process's id
    #[arg(value_name = "PROCESS")]
    id: ProcessId,
    /// Go on as it writes, until it has ended
    #[arg(short, long)]
    follow: bool,
    /// With `-f`, end when the daemon does instead of waiting for the next one
    #[arg(long, requires = "follow")]
    no_reconnect: bool,
    /// Where to begin: bytes from the first that it wrote
    #[arg(long, value_name = "OFFSET", default_value_t = 0)]
    from: u64,
}

/// Write to the standard input of one
///
/// Its agent is declared with `driver.commandInput: true`. Without a text, standard input is written. With `--close` the
/// process reads the end of its input behind it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane process write prc_01890000-0000-7000-8000-000000000002 --line yes
  edgeplane process write prc_01890000-0000-7000-8000-000000000002 --close < answers.txt")]
struct WriteArgs {
    /// The process's id
    #[arg(value_name = "PROCESS")]
    id: ProcessId,
    /// A line to write; a line break is added
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    line: Option<String>,
    /// Nothing comes after it
    #[arg(long)]
    close: bool,
}

/// End one
///
/// It is killed with everything that it started. With `--grace` it is asked first.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane process terminate prc_01890000-0000-7000-8000-000000000002
  edgeplane process terminate prc_01890000-0000-7000-8000-000000000002 --grace 5s --reason \"it hangs\"")]
struct TerminateArgs {
    /// The process's id
    #[arg(value_name = "PROCESS")]
    id: ProcessId,
    /// How long it may take to end by itself after it was asked to, such as 5s
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    grace: Option<Duration>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

const STATUSES: [&str; 5] = ["idle", "running", "exited", "failed", "unknown"];

fn status(word: &str) -> ProcessStatus {
    // The parser lets no other words pass.
    serde_json::from_value(serde_json::Value::String(word.to_owned())).unwrap_or(ProcessStatus::Unknown)
}

pub(crate) fn run(args: &ProcessArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        ProcessCommand::List(args) => {
            let params = ListProcessesParams {
                agent: args.agent.clone(),
                status: args.status,
                limit: Some(args.limit),
                cursor: args.cursor.clone(),
            };
            let answer = context.ask::<ProcessList>(&params)?;
            context.show(&answer, |out, result| list(out, &result.items))?;
        }
        ProcessCommand::Get(args) => {
            let output_bytes = args.bytes.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
            let answer = context.ask::<ProcessGet>(&ProcessParams { process_id: args.id, output_bytes })?;
            context.show(&answer, |out, process| shown(out, &process))?;
        }
        ProcessCommand::Logs(args) => logs(args, context)?,
        ProcessCommand::Write(args) => {
            let data = match &args.line {
                Some(line) => format!("{line}\n").into_bytes(),
                None => {
                    let mut bytes = Vec::new();
                    std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
                    bytes
                }
            };
            let params = WriteProcessParams {
                process_id: args.id,
                text: None,
                data: Some(base64::engine::general_purpose::STANDARD.encode(data)),
                close: args.close,
                input_id: None,
                wait_ms: None,
            };
            let answer = context.ask::<ProcessWrite>(&params)?;
            context.show(&answer, |out, written| {
                let how = match written.status {
                    ProcessInputStatus::Written => "written",
                    ProcessInputStatus::Queued => "waiting to be read",
                };
                Ok(out.line(&format!("{} {how}, {}", human_bytes(written.input_bytes), written.input_id))?)
            })?;
        }
        ProcessCommand::Terminate(args) => {
            let params = TerminateParams {
                process_id: args.id,
                grace_ms: args.grace.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
                reason: args.reason.clone(),
            };
            let answer = context.ask::<ProcessTerminate>(&params)?;
            context.show(&answer, |out, process| {
                let line = format!("{} is to end; it is {} now", process.process_id, how(&process));
                Ok(out.line(&line)?)
            })?;
        }
    }
    Ok(Outcome::Done)
}

/// Pause between two looks for more: a process writes to a file, and nobody announces that.
const LOOK_EVERY: Duration = Duration::from_millis(100);

fn logs(args: &LogsArgs, context: &mut Context) -> anyhow::Result<()> {
    let loss = if args.follow { Loss::of_flag(args.no_reconnect) } else { Loss::Ends };
    let mut node = Lasting::open(context, loss)?;
    let mut plain = Plain::new();
    let mut from = args.from;
    loop {
        let params = ReadProcessParams { process_id: args.id, from, bytes_max: None };
        let part: ProcessBytes = node.ask::<ProcessRead>(&params, context)?.read()?;
        if part.from > from {
            let missing = quantity::missing_output(part.from.saturating_sub(from));
            context.out.note(&format!("-- {missing} --"));
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(&part.data)?;
        let mut text = String::new();
        plain.feed(&bytes, &mut text);
        let is_last = part.end || (bytes.is_empty() && !args.follow);
        match is_last {
            true => plain.finish(&mut text),
            false if bytes.is_empty() => plain.flush(&mut text),
            false => {}
        }
        if !text.is_empty() {
            match context.out.format() {
                Format::Table => context.out.text(&text)?,
                Format::Json | Format::Yaml => {
                    context.out.item(&json!({ "from": part.from, "next": part.next, "text": text }))?;
                }
            }
        }
        context.out.flush()?;
        from = part.next;
        if is_last {
            return Ok(());
        }
        if bytes.is_empty() {
            poll::wait(&mut [], Some(LOOK_EVERY))?;
        }
    }
}

/// How a process is, in one word or with how it ended.
fn how(process: &AgentProcess) -> String {
    let (word, color) = match process.status {
        ProcessStatus::Idle => ("idle", Color::Yellow),
        ProcessStatus::Running => ("running", Color::Green),
        ProcessStatus::Exited => ("exited", Color::Dim),
        ProcessStatus::Failed => ("failed", Color::Red),
        ProcessStatus::Unknown => ("unknown", Color::Yellow),
    };
    paint(color, word)
}

fn end(process: &AgentProcess) -> String {
    match (&process.exit, &process.reason) {
        (Some(exit), _) => exit.to_string(),
        (None, Some(reason)) => cell(reason),
        (None, None) => String::new(),
    }
}

fn list(out: &mut Output, items: &[AgentProcess]) -> anyhow::Result<()> {
    if items.is_empty() {
        out.note("no process was run for it");
        return Ok(());
    }
    let mut table = Table::new(&["PROCESS", "EPOCH", "STATUS", "STARTED", "END", "COMMAND"]);
    for process in items {
        table.row([
            process.process_id.to_string(),
            process.epoch.to_string(),
            how(process),
            short_time(&process.started_at),
            end(process),
            cell(&process.command),
        ]);
    }
    Ok(out.table(&table)?)
}

fn shown(out: &mut Output, process: &AgentProcess) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("process", process.process_id.to_string());
    row("agent", format!("{}, epoch {}", process.agent, process.epoch));
    row("command", cell(&process.command));
    row("folder", cell(&process.cwd));
    row("variables", cell(process.variables.join(" ")));
    row("status", how(process));
    row("authority", process.authority.as_str().to_owned());
    if let Some(turn) = &process.turn_id {
        row("turn", turn.to_string());
    }
    row("started", short_time(&process.started_at));
    if let Some(at) = &process.ended_at {
        row("ended", format!("{}: {}", short_time(at), end(process)));
    }
    out.table(&table)?;
    process.output.as_ref().map_or(Ok(()), |output| wrote(out, output))
}

fn wrote(out: &mut Output, output: &ProcessOutput) -> anyhow::Result<()> {
    out.line("")?;
    out.line(&format!("OUTPUT  {}", human_bytes(output.written_bytes)))?;
    if output.truncation == Truncation::Head {
        out.line(&paint(Color::Dim, "… its beginning is not kept"))?;
    }
    for line in output.head.lines() {
        out.line(&cell(line))?;
    }
    if output.truncation == Truncation::Middle {
        out.line(&paint(Color::Dim, "…"))?;
    }
    for line in output.tail.lines() {
        out.line(&cell(line))?;
    }
    Ok(())
}
