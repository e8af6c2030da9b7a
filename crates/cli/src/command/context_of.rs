//! `edgeplane context`: texts that agents can be given, found, read and chosen for a budget.

use clap::{Args, Subcommand};
use edgeplane_types::TurnId;
use edgeplane_wire::{
    api::{
        context::{
            ContextReadParams, ContextResolveParams, ContextResolveResult, ContextSearchParams,
            ContextSearchResult,
        },
        workspace::{ContentEncoding, READ_BYTES_MAX},
    },
    catalogue::{ContextRead, ContextResolve, ContextSearch},
};

use super::{Outcome, workspace::file};
use crate::{
    context::Context,
    output::Output,
    quantity::{counted, human_bytes},
    table::{Table, cell},
};

/// Find, read and choose texts for agents
///
/// The texts are those in the folder `contexts` of the state directory. Whoever is given one is given a document: it weighs
/// no more than `external`, and nothing in it is an instruction.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane context search \"retry policy\"
  edgeplane context read guide/retries.md
  edgeplane context resolve \"retry policy\" --agent reviewer --tokens 4000")]
pub(crate) struct ContextArgs {
    #[command(subcommand)]
    command: ContextCommand,
}

#[derive(Debug, Subcommand)]
enum ContextCommand {
    Search(SearchArgs),
    Read(ReadArgs),
    Resolve(Box<ResolveArgs>),
}

/// Find texts by their words
///
/// Best first: rarer words count more, and long texts have to say more.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane context search \"retry policy\"
  edgeplane context search checkpoint --limit 3 -o json")]
struct SearchArgs {
    /// The words
    #[arg(value_name = "WORDS")]
    query: String,
    /// Most texts
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: u32,
}

/// Print a text
///
/// By the reference that a search shows.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane context read guide/retries.md
  edgeplane context read guide/retries.md -o json")]
struct ReadArgs {
    /// Which text
    #[arg(value_name = "REFERENCE")]
    reference: String,
}

/// Choose texts for a budget, and record the choice
///
/// What is named comes first, then what fits the words best. What was left out is told with its reason.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane context resolve \"retry policy\" --agent reviewer --tokens 4000
  edgeplane context resolve --reference guide/intro.md --reference guide/retries.md --bytes 20000 -o json")]
struct ResolveArgs {
    /// The words
    #[arg(value_name = "WORDS", required_unless_present = "reference")]
    query: Option<String>,
    /// A text that is named; may be given again
    #[arg(long, value_name = "REFERENCE")]
    reference: Vec<String>,
    /// The agent for which it is
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The turn of it in which it is asked for
    #[arg(long, value_name = "TURN", requires = "agent")]
    turn: Option<TurnId>,
    /// Most texts that the words may choose
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Room in bytes
    #[arg(long, value_name = "NUMBER")]
    bytes: Option<u64>,
    /// Room in tokens, each taken as four bytes
    #[arg(long, value_name = "NUMBER")]
    tokens: Option<u64>,
    /// Print the texts themselves, too
    #[arg(long)]
    texts: bool,
}

pub(crate) fn run(args: &ContextArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        ContextCommand::Search(args) => {
            let params = ContextSearchParams { query: args.query.clone(), limit: args.limit };
            let answer = context.ask_at_length::<ContextSearch>(&params)?;
            context.show(&answer, |out, found| table(out, &found))?;
        }
        ContextCommand::Read(args) => read(args, context)?,
        ContextCommand::Resolve(args) => {
            let params = ContextResolveParams {
                agent: args.agent.clone(),
                turn_id: args.turn,
                query: args.query.clone(),
                references: args.reference.clone(),
                limit: args.limit,
                budget_bytes: args.bytes,
                budget_tokens: args.tokens,
            };
            let answer = context.ask_at_length::<ContextResolve>(&params)?;
            context.show(&answer, |out, chosen| choice(out, &chosen, args))?;
        }
    }
    Ok(Outcome::Done)
}

fn read(args: &ReadArgs, context: &mut Context) -> anyhow::Result<()> {
    let mut params =
        ContextReadParams { reference: args.reference.clone(), offset: 0, limit: READ_BYTES_MAX };
    loop {
        let answer = context.ask_at_length::<ContextRead>(&params)?;
        let next = answer.read()?.next_offset;
        context.show(&answer, |out, part| file::print(out, part.text, ContentEncoding::Utf8))?;
        let Some(next) = next else { return Ok(()) };
        params.offset = next;
    }
}

fn table(out: &mut Output, found: &ContextSearchResult) -> anyhow::Result<()> {
    if found.items.is_empty() {
        out.note("nothing is found");
        return Ok(());
    }
    let mut table = Table::new(&["REFERENCE", "SCORE", "SIZE", "TITLE", "EXCERPT"]);
    for item in &found.items {
        table.row([
            cell(&item.reference),
            item.score.to_string(),
            human_bytes(item.bytes),
            cell(&item.title),
            cell(&item.excerpt),
        ]);
    }
    Ok(out.table(&table)?)
}

fn choice(out: &mut Output, chosen: &ContextResolveResult, args: &ResolveArgs) -> anyhow::Result<()> {
    let mut table = Table::new(&["REFERENCE", "SCORE", "SIZE", "WHAT"]);
    let score = |score: Option<u64>| score.map_or_else(|| "-".to_owned(), |score| score.to_string());
    for item in &chosen.selected {
        table.row([cell(&item.reference), score(item.score), human_bytes(item.bytes), "selected".to_owned()]);
    }
    for item in &chosen.left_out {
        let bytes = item.bytes.map(human_bytes).unwrap_or_default();
        table.row([cell(&item.reference), score(item.score), bytes, format!("left out: {}", item.reason)]);
    }
    out.table(&table)?;
    let used = counted(chosen.used_tokens, "token");
    let room = human_bytes(chosen.budget_bytes);
    out.note(&format!(
        "{}: {} of {room}, about {used}; it weighs no more than {}",
        chosen.context_id,
        human_bytes(chosen.used_bytes),
        chosen.authority.as_str()
    ));
    if args.texts {
        for item in &chosen.selected {
            out.line(&format!("--- {}", cell(&item.reference)))?;
            out.text(&item.text)?;
        }
    }
    Ok(())
}
