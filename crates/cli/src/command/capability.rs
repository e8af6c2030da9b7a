//! `edgeplane capability`: what connectors and agents offer, and calls of it.

mod offer;
mod serve;

use std::{io::Read as _, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_types::{AgentName, ErrorName, InvocationId, InvocationState};
use edgeplane_wire::{
    api::capability::{
        AWAIT_MS_MAX, AwaitInvocationParams, CapabilitiesResult, CapabilityParams, CapabilityView,
        InvocationParams, InvocationView, InvokeMode, InvokeParams, ListCapabilitiesParams,
        SearchCapabilitiesParams,
    },
    catalogue::{
        CapabilityGet, CapabilityInvoke, CapabilityList, CapabilitySearch, InvocationAwait, InvocationCancel,
        InvocationGet,
    },
};
use serde_json::Value;

use super::Outcome;
use crate::{
    context::Context,
    failure::Failure,
    json,
    output::Output,
    table::{Table, cell},
};

/// See what connectors and agents offer, call it, and offer something
///
/// A connector is a server of the Model Context Protocol that the node speaks to; `edgeplane apply` declares one with
/// `kind: Connector`. What it offers are capabilities, named CONNECTOR/TOOL, CONNECTOR/resource:URI or
/// CONNECTOR/prompt:NAME. What an agent offers is named agent:AGENT/NAME. What a server or an agent says of itself is
/// shown and never believed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability list
  edgeplane capability get files/read_file
  edgeplane capability invoke files/read_file --json '{\"path\": \"notes.md\"}'")]
pub(crate) struct CapabilityArgs {
    #[command(subcommand)]
    command: CapabilityCommand,
}

#[derive(Debug, Subcommand)]
enum CapabilityCommand {
    List(ListArgs),
    Get(GetArgs),
    Search(SearchArgs),
    Invoke(InvokeArgs),
    Show(ShowArgs),
    Await(AwaitArgs),
    Cancel(CancelArgs),
    Register(offer::RegisterArgs),
    Withdraw(offer::WithdrawArgs),
    Serve(serve::ServeArgs),
}

/// List capabilities
///
/// By name, with what holds for a call. Connectors that do not answer are named below with the reason.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability list
  edgeplane capability list files -o json | jq -r '.items[].name'")]
struct ListArgs {
    /// Only those of this connector
    #[arg(value_name = "CONNECTOR")]
    connector: Option<AgentName>,
}

/// Show a capability with its schemas
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability get files/read_file
  edgeplane capability get files/read_file -o json | jq .input_schema")]
struct GetArgs {
    /// Its name or id
    #[arg(value_name = "CAPABILITY")]
    capability: String,
}

/// Find capabilities by words
///
/// Those whose name, title or description holds all of the words.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability search read file
  edgeplane capability search weather -o json")]
struct SearchArgs {
    /// The words
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
}

/// Call a capability
///
/// What it is given is a JSON object, from `--json`, a file or standard input. The call is recorded before it is made
/// and again with what came of it; what looks like a secret is masked there.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability invoke files/read_file --json '{\"path\": \"notes.md\"}'
  edgeplane capability invoke files/write_file --file input.json --async
  edgeplane capability invoke memory/read_graph --json '{}' -o json | jq .output")]
struct InvokeArgs {
    /// Its name or id
    #[arg(value_name = "CAPABILITY")]
    capability: String,
    /// What it is given
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    json: Option<String>,
    /// A file with what it is given; `-` is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Call it only if its digest is this
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
    /// Do not wait for it
    #[arg(long = "async")]
    is_async: bool,
    /// How long it may take, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,
}

/// Show a call and what came of it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability show inv_01990000-0000-7000-8000-000000000001
  edgeplane capability show inv_01990000-0000-7000-8000-000000000001 -o json | jq .output")]
struct ShowArgs {
    /// Its id
    #[arg(value_name = "INVOCATION")]
    invocation: InvocationId,
}

/// Take a call back
///
/// One that waits for leave is not made. The server of one that is made is told; what it did until then is not undone.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability cancel inv_01990000-0000-7000-8000-000000000001
  edgeplane capability cancel inv_01990000-0000-7000-8000-000000000001 -o json | jq -r .status")]
struct CancelArgs {
    /// Its id
    #[arg(value_name = "INVOCATION")]
    invocation: InvocationId,
}

/// Wait until a call is over
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane capability await inv_01990000-0000-7000-8000-000000000001
  edgeplane capability await inv_01990000-0000-7000-8000-000000000001 --timeout-ms 5000")]
struct AwaitArgs {
    /// Its id
    #[arg(value_name = "INVOCATION")]
    invocation: InvocationId,
    /// How long at most, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = AWAIT_MS_MAX)]
    timeout_ms: u64,
}

pub(crate) fn run(args: &CapabilityArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        CapabilityCommand::List(args) => {
            let connector = args.connector.clone();
            let params = ListCapabilitiesParams { connector, limit: Some(500), ..Default::default() };
            let answer = context.ask::<CapabilityList>(&params)?;
            context.show(&answer, |out, result| capabilities(out, &result))?;
        }
        CapabilityCommand::Get(args) => {
            let answer =
                context.ask::<CapabilityGet>(&CapabilityParams { capability: args.capability.clone() })?;
            context.show(&answer, |out, view| one(out, &view))?;
        }
        CapabilityCommand::Search(args) => {
            let query = args.words.join(" ");
            let params = SearchCapabilitiesParams { query, kind: None, limit: Some(500) };
            let answer = context.ask::<CapabilitySearch>(&params)?;
            context.show(&answer, |out, result| capabilities(out, &result))?;
        }
        CapabilityCommand::Invoke(args) => {
            let answer = context.ask::<CapabilityInvoke>(&call(args)?)?;
            context.show(&answer, |out, view| called(out, &view))?;
        }
        CapabilityCommand::Show(args) => {
            let answer =
                context.ask::<InvocationGet>(&InvocationParams { invocation_id: args.invocation })?;
            context.show(&answer, |out, view| called(out, &view))?;
        }
        CapabilityCommand::Await(args) => {
            let (invocation_id, timeout_ms) = (args.invocation, args.timeout_ms);
            let answer =
                context.ask::<InvocationAwait>(&AwaitInvocationParams { invocation_id, timeout_ms })?;
            context.show(&answer, |out, view| called(out, &view))?;
        }
        CapabilityCommand::Cancel(args) => {
            let answer =
                context.ask::<InvocationCancel>(&InvocationParams { invocation_id: args.invocation })?;
            context.show(&answer, |out, view| called(out, &view))?;
        }
        CapabilityCommand::Register(args) => offer::register(args, context)?,
        CapabilityCommand::Withdraw(args) => offer::withdraw(args, context)?,
        CapabilityCommand::Serve(args) => return serve::run(args, context),
    }
    Ok(Outcome::Done)
}

fn call(args: &InvokeArgs) -> anyhow::Result<InvokeParams> {
    let text = match (&args.json, &args.file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) if file.as_os_str() == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
            text
        }
        (None, Some(file)) => {
            std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?
        }
        (None, None) => "{}".to_owned(),
    };
    let input: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::new(ErrorName::InvalidParams, format!("what it is given is no JSON: {error}"))
    })?;
    Ok(InvokeParams {
        capability: args.capability.clone(),
        digest: args.digest.clone(),
        input,
        mode: if args.is_async { InvokeMode::Async } else { InvokeMode::Await },
        timeout_ms: args.timeout_ms,
    })
}

fn capabilities(out: &mut Output, result: &CapabilitiesResult) -> anyhow::Result<()> {
    if result.items.is_empty() {
        out.note("no capabilities");
    } else {
        let mut table = Table::new(&["CAPABILITY", "KIND", "EFFECT", "CALL", "TITLE"]);
        for item in &result.items {
            table.row([
                cell(&item.name),
                item.kind.to_string(),
                item.effect.class.to_string(),
                item.policy.decision.to_string(),
                cell(item.title.as_deref().or(item.description.as_deref()).unwrap_or_default()),
            ]);
        }
        out.table(&table)?;
    }
    for standing in &result.connectors {
        if let Some(failure) = &standing.failure {
            out.note(&format!("connector {}: {}", standing.connector, cell(failure)));
        }
        for left_out in &standing.left_out {
            out.note(&format!("connector {}: {}", standing.connector, cell(left_out)));
        }
    }
    if result.next_cursor.is_some() {
        out.note("there are more: `-o json` and `capability/list` with `cursor` show them");
    }
    Ok(())
}

fn one(out: &mut Output, view: &CapabilityView) -> anyhow::Result<()> {
    let mut table = Table::new(&["", ""]);
    let vouched = if view.effect.vouched { "vouched for" } else { "nobody vouches for it" };
    for (key, value) in [
        ("name", cell(&view.name)),
        ("id", view.capability_id.to_string()),
        ("kind", view.kind.to_string()),
        ("what it is for", cell(view.description.as_deref().unwrap_or_default())),
        ("effect", format!("{}, {vouched}", view.effect.class)),
        ("call", format!("{}: {}", view.policy.decision, view.policy.reason)),
        ("timeout", format!("{} ms", view.timeout_ms)),
        ("digest", view.digest.clone()),
    ] {
        table.row([key.to_owned(), value]);
    }
    out.table(&table)?;
    if let Some(schema) = &view.input_schema {
        out.text(&json::pretty(schema))?;
        out.line("")?;
    }
    Ok(())
}

fn called(out: &mut Output, view: &InvocationView) -> anyhow::Result<()> {
    let why = view.reason.as_deref().map(|reason| format!(": {}", cell(reason))).unwrap_or_default();
    out.note(&format!("{} {} {}{why}", view.invocation_id, cell(&view.name), view.status));
    if let (InvocationState::Waiting, Some(action)) = (view.status, &view.action_id) {
        out.note(&format!("`edgeplane action show {action}` shows what is asked"));
    }
    for run in &view.hooks {
        let said = run.decision.map_or("failed", |decision| decision.as_str());
        let words =
            [&run.reason, &run.context].into_iter().flatten().map(|words| format!(": {}", cell(words)));
        out.note(&format!("hook {} {said}{}", cell(run.hook.as_str()), words.collect::<String>()));
    }
    let Some(output) = &view.output else { return Ok(()) };
    // Texts are what people read; all else is shown as it came.
    let texts: Option<Vec<&str>> = output
        .get("content")
        .and_then(Value::as_array)
        .and_then(|parts| parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect());
    match texts {
        Some(texts) => {
            for text in texts {
                out.text(text)?;
                out.line("")?;
            }
        }
        None => {
            out.text(&json::pretty(output))?;
            out.line("")?;
        }
    }
    Ok(())
}
