//! The command line: global flags and the list of commands.
//!
//! Owns the order and the grouping of `--help`. What a command takes stands beside what it does, in [`crate::command`].

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{command, output::Format, quantity};

const FOOTER: &str = "\
EXAMPLES:
  edgeplane daemon up                                  start the node on this machine
  edgeplane apply -f agents.yaml                       declare agents and let them run
  edgeplane ps                                         see them
  edgeplane signal reviewer --content \"Run /briefing\"  say something to one
  edgeplane attach reviewer                            watch it work; ctrl-] leaves

WHERE THE NODE IS:
  EDGEPLANE_STATE_DIR    record, recordings, agents' folders
  EDGEPLANE_RUNTIME_DIR  sockets
  EDGEPLANE_SOCKET       the socket itself; set inside every agent, so commands work there too
  EDGEPLANE_TOKEN_FILE   a file with a token by which to be known there

EXIT CODES:
  0 done            1 failed, or a check found something  64 wrong usage or parameters
  65 wrong input    66 no such thing                      69 daemon not running, or not served
  70 defect         73 conflict                           74 disk or record
  75 not now, not in time, or outcome unknown             77 not allowed
  130 cancelled     With `-o json` errors are JSON on standard error, with a stable name.";

/// Keep AI agents alive, reachable by name and accountable.
///
/// An agent is a named, supervised program with a durable history: it survives its own crash, its supervisor's and the
/// daemon's; it can be watched, signalled, stopped and replayed. `edgeplane` speaks to the daemon of this machine.
#[derive(Debug, Parser)]
#[command(name = "edgeplane", version, after_help = FOOTER, max_term_width = 110)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// How to print: a table for people, or JSON or YAML for programs
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value = "table",
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub(crate) output: Format,
    /// The daemon's socket [env: EDGEPLANE_SOCKET]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Where the node keeps its state [env: EDGEPLANE_STATE_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Where the node keeps its sockets [env: EDGEPLANE_RUNTIME_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) runtime_dir: Option<PathBuf>,
    /// Longest wait, such as 500ms, 10s or 5m
    #[arg(long, global = true, value_name = "TIME", value_parser = quantity::parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// No colours, also on a terminal [env: NO_COLOR]
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// No notices on standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands, in the order of a first day.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Daemon(command::daemon::DaemonArgs),
    Apply(command::apply::ApplyArgs),
    Delete(command::delete::DeleteArgs),
    Agent(Box<command::agent::AgentArgs>),
    Ps(command::agent::list::ListArgs),
    Signal(Box<command::signal::SignalArgs>),
    Ask(Box<command::ask::AskArgs>),
    Publish(Box<command::spread::PublishArgs>),
    Broadcast(Box<command::spread::BroadcastArgs>),
    Inbox(command::inbox::InboxArgs),
    Action(command::action::ActionArgs),
    Message(Box<command::message::MessageArgs>),
    Turn(Box<command::turn::TurnArgs>),
    Thread(Box<command::thread::ThreadArgs>),
    Task(Box<command::task::TaskArgs>),
    Run(Box<command::run::RunArgs>),
    Job(Box<command::job::JobArgs>),
    Subagent(Box<command::subagent::SubagentArgs>),
    Workspace(command::workspace::WorkspaceArgs),
    Checkpoint(Box<command::checkpoint::CheckpointArgs>),
    Artifact(Box<command::artifact::ArtifactArgs>),
    Benchmark(command::benchmark::BenchmarkArgs),
    Context(command::context_of::ContextArgs),
    Queue(command::queue::QueueArgs),
    Output(command::output_of::OutputArgs),
    Attach(command::attach::AttachArgs),
    Logs(command::logs::LogsArgs),
    Transcript(command::transcript::TranscriptArgs),
    Trace(command::trace::TraceArgs),
    Tap(command::tap::TapArgs),
    Replay(command::replay::ReplayArgs),
    Snapshot(command::snapshot::SnapshotArgs),
    Events(command::events::EventsArgs),
    Audit(command::audit::AuditArgs),
    Evidence(command::evidence::EvidenceArgs),
    Memory(command::memory::MemoryArgs),
    Mcp(command::mcp::McpArgs),
    Override(command::overrides::OverrideArgs),
    Stdio(command::stdio::StdioArgs),
    Policy(command::policy::PolicyArgs),
    Process(command::process::ProcessArgs),
    Resource(command::resource::ResourceArgs),
    Capability(command::capability::CapabilityArgs),
    Automation(command::automation::AutomationArgs),
    Inference(command::inference::InferenceArgs),
    Projection(command::projection::ProjectionArgs),
    Adapter(command::adapter::AdapterArgs),
    Node(command::node::NodeArgs),
    Host(command::host::HostArgs),
    Token(command::token::TokenArgs),
    Schedule(command::schedule::ScheduleArgs),
    Doctor(command::doctor::DoctorArgs),
    DescribeApi(command::describe::DescribeArgs),
    Completion(command::completion::CompletionArgs),
    #[command(hide = true)]
    Hook(command::hook::HookArgs),
    #[command(name = "__watchdog", hide = true)]
    Watchdog(command::daemon::watchdog::WatchdogArgs),
    #[command(name = "__trial", hide = true)]
    TrialKeeper(command::agent::probe::keeper::KeeperArgs),
}

/// The commands that programs call many times a second, without the words of all the others.
#[derive(Debug, Parser)]
#[command(name = "edgeplane", disable_help_flag = true, disable_help_subcommand = true)]
struct Quick {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: QuickCommand,
}

#[derive(Debug, Subcommand)]
enum QuickCommand {
    Signal(Box<command::signal::SignalArgs>),
    Hook(command::hook::HookArgs),
}

/// Reads a command line. Building the words of every command takes half the time that `signal` takes in all, so that
/// command is tried alone first; whatever is not plainly it takes the ordinary way, with its help and its errors.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    if words.iter().any(|word| word == "signal" || word == "hook")
        && let Ok(Quick { global, command }) = Quick::try_parse_from(words)
    {
        let command = match command {
            QuickCommand::Signal(args) => Command::Signal(args),
            QuickCommand::Hook(args) => Command::Hook(args),
        };
        return Ok(Cli { global, command });
    }
    Cli::try_parse_from(words)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn quick_way_reads_what_the_ordinary_way_reads() {
        let check = |words: &[&str]| {
            let words: Vec<OsString> = ["edgeplane"].iter().chain(words).map(OsString::from).collect();
            let quick = parse(&words).map(|cli| format!("{cli:?}")).map_err(|error| error.to_string());
            let ordinary =
                Cli::try_parse_from(&words).map(|cli| format!("{cli:?}")).map_err(|error| error.to_string());
            assert_eq!(quick, ordinary, "{words:?}");
        };
        check(&["signal", "a", "--content", "Run /briefing"]);
        check(&["-q", "-o", "json", "signal", "a", "--stdin", "--timeout", "5s"]);
        check(&["signal", "--help"]);
        check(&["signal", "a"]);
        check(&["signal", "a", "--content", "x", "--mode", "fly"]);
        check(&["inbox", "signal"]);
        check(&["inbox", "signal", "a", "--content", "x"]);
        check(&["hook", "claude-code"]);
        check(&["--quiet", "hook", "codex", "{}"]);
        check(&["hook", "--help"]);
        check(&["hook", "vi"]);
    }

    fn each_leaf(command: &clap::Command, path: &str, visit: &mut dyn FnMut(&str, &clap::Command)) {
        visit(path, command);
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            each_leaf(inner, &format!("{path} {}", inner.get_name()), visit);
        }
    }

    #[test]
    fn every_command_teaches() {
        let mut command = Cli::command();
        command.build();
        each_leaf(&command, "edgeplane", &mut |path, command| {
            assert!(command.get_about().is_some(), "{path} says nothing about itself");
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("EXAMPLES:"), "{path} has no examples");
            let examples = after.lines().filter(|line| line.contains("edgeplane ")).count();
            assert!(examples >= 2, "{path} has {examples} examples");
        });
    }

    /// The examples of the help are commands that the command line takes.
    #[test]
    fn examples_are_right() {
        let mut command = Cli::command();
        command.build();
        let mut examples = Vec::new();
        each_leaf(&command, "edgeplane", &mut |path, command| {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines = after.lines().filter(|line| line.starts_with("  "));
            let commands = lines.flat_map(|line| line.split(" && ")).flat_map(|line| line.split(" | "));
            examples.extend(commands.filter_map(|command| Some((path.to_owned(), example(command)?))));
        });
        assert!(examples.len() > 40, "{}", examples.len());
        for (path, words) in examples {
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("example of `{path}` {words:?}: {error}");
            }
        }
    }

    /// The words of `edgeplane …` in a command, up to a redirection, a pipe or the explanation.
    fn example(line: &str) -> Option<Vec<String>> {
        // `xargs` hands it the rest of its words.
        let start = line
            .find("edgeplane ")
            .filter(|start| !line.get(..*start).is_some_and(|ahead| ahead.contains("xargs")))?;
        let mut words = vec![String::new()];
        let mut quote = None;
        let mut chars = line.get(start..)?.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                ('"' | '\'', None) => quote = Some(c),
                (' ', None) if chars.peek() == Some(&' ') => break,
                ('|' | '>' | '<' | ')' | '&', None) => break,
                (' ', None) => words.push(String::new()),
                (c, _) => words.last_mut()?.push(c),
            }
        }
        words.retain(|word| !word.is_empty());
        Some(words)
    }
}
