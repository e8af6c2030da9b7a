//! `edgeplane output`: what turns came to.

use clap::{Args, Subcommand};
use edgeplane_types::{OutputId, ThreadId};
use edgeplane_wire::{
    api::conversation::output::{OUTPUT_BYTES_MAX, OutputListParams, OutputParams},
    catalogue::{OutputGet, OutputList},
};

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    output::Format,
    quantity::human_bytes,
    table::{Table, cell},
};

/// Read what turns came to
///
/// An output is what an agent answered at the end of a turn. Its id has the digits of the turn's.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane output list reviewer
  edgeplane output get out_01890000-0000-7000-8000-000000000002")]
pub(crate) struct OutputArgs {
    #[command(subcommand)]
    command: OutputCommand,
}

#[derive(Debug, Subcommand)]
enum OutputCommand {
    List(ListArgs),
    Get(GetArgs),
}

/// List outputs, the newest first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane output list reviewer
  edgeplane output list --thread thr_01890000-0000-7000-8000-000000000002 -o json")]
struct ListArgs {
    /// The agent's name or id
    #[arg(required_unless_present = "thread", conflicts_with = "thread")]
    name: Option<String>,
    /// Only those of this thread
    #[arg(long, value_name = "THREAD")]
    thread: Option<ThreadId>,
    /// Most to look through
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Print an output
///
/// All of its words, however long, without the characters by which a text could move the cursor. With `-o json` the first
/// part of it, and where it is cut.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane output get out_01890000-0000-7000-8000-000000000002
  edgeplane output get out_01890000-0000-7000-8000-000000000002 -o json | jq .digest")]
struct GetArgs {
    /// The output
    #[arg(value_name = "OUTPUT")]
    id: OutputId,
}

pub(crate) fn run(args: &OutputArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        OutputCommand::List(args) => {
            let params = OutputListParams {
                thread_id: args.thread,
                agent: args.name.clone(),
                newest: true,
                limit: args.limit,
                cursor: 0,
            };
            let answer = context.ask::<OutputList>(&params)?;
            context.show(&answer, |out, list| {
                if list.items.is_empty() {
                    out.note("no outputs");
                    return Ok(());
                }
                let mut table = Table::new(&["OUTPUT", "AT", "AGENT", "AUTHORITY", "SIZE"]);
                for output in &list.items {
                    table.row([
                        output.output_id.to_string(),
                        short_time(&output.created_at),
                        cell(&output.agent),
                        output.authority.map(|authority| authority.to_string()).unwrap_or_default(),
                        human_bytes(output.bytes),
                    ]);
                }
                Ok(out.table(&table)?)
            })?;
            Ok(Outcome::Done)
        }
        OutputCommand::Get(args) => get(args, context),
    }
}

fn get(args: &GetArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut params = OutputParams { output_id: args.id, offset: 0, bytes_max: OUTPUT_BYTES_MAX };
    if context.out.format() != Format::Table {
        let answer = context.ask::<OutputGet>(&params)?;
        context.show(&answer, |_out, _output| Ok(()))?;
        return Ok(Outcome::Done);
    }
    loop {
        let output = context.ask::<OutputGet>(&params)?.read()?;
        match (&output.text, &output.erased) {
            (Some(text), _) => context.out.text(text)?,
            (None, erased) => {
                let why = erased.as_deref().unwrap_or("its words are gone");
                context.out.note(&format!("the output has no words: {why}"));
                return Ok(Outcome::Found);
            }
        }
        match output.next_offset {
            Some(next) if next > params.offset => params.offset = next,
            _ => break,
        }
    }
    context.out.line("")?;
    Ok(Outcome::Done)
}
